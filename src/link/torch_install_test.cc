#include "link/torch_install.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "container/test_folder.h"

namespace cuproof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> Patterns(const std::vector<TorchPreload::Library>& libraries) {
  std::vector<std::string> patterns;
  patterns.reserve(libraries.size());
  for (const auto& library : libraries) patterns.push_back(library.folder + '/' + library.pattern);
  return patterns;
}

TEST(TorchInstall, VersionAndCudaFromVersionPy) {
  const TestFolder folder;
  folder.Write("site-packages/torch/version.py",
               "from typing import Optional\n\n__version__ = '2.10.0+cu128'\ndebug = False\n"
               "cuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n");
  const auto torch = FindTorch(folder.At("site-packages"));
  ASSERT_TRUE(torch.has_value());
  EXPECT_EQ(torch->version, "2.10.0+cu128");
  EXPECT_EQ(torch->cuda, "12.8");
  EXPECT_TRUE(torch->has_cuda);
}

TEST(TorchInstall, ABuildForProcessorsHasNoCuda) {
  const TestFolder folder;
  folder.Write("torch/version.py", "__version__ = \"2.3.1+cpu\"\ncuda = None\n");
  const auto torch = FindTorch(folder.path());
  ASSERT_TRUE(torch.has_value());
  EXPECT_EQ(torch->version, "2.3.1+cpu");
  EXPECT_EQ(torch->cuda, "");
  EXPECT_FALSE(torch->has_cuda);
}

TEST(TorchInstall, MetadataWhereVersionPyIsGone) {
  const TestFolder folder;
  folder.Write("torch/lib/libc10.so", "x");
  folder.Write("torch-2.6.0.dist-info/METADATA",
               "Metadata-Version: 2.1\nName: torch\nVersion: 2.6.0\n\nVersion: 9\n");
  const auto torch = FindTorch(folder.path());
  ASSERT_TRUE(torch.has_value());
  EXPECT_EQ(torch->version, "2.6.0");
  EXPECT_EQ(torch->source, folder.At("torch-2.6.0.dist-info/METADATA"));
}

TEST(TorchInstall, AFolderOfThatNameIsNoTorch) {
  const TestFolder folder;
  folder.Write("torch/readme.txt", "x");
  EXPECT_FALSE(FindTorch(folder.path()).has_value());
  EXPECT_FALSE(FindTorch(folder.At("nowhere")).has_value());
}

// The shape of torch/__init__.py of 2.1 to 2.4: a dict, and nothing loaded when all goes well.
TEST(TorchPreload, OfTheOlderReleases) {
  const TorchPreload preload = ReadTorchPreload(R"(
def _preload_cuda_deps(lib_folder, lib_name):
    pass

def _load_global_deps():
    try:
        ctypes.CDLL(global_deps_lib_path, mode=ctypes.RTLD_GLOBAL)
    except OSError as err:
        # Can only happen for wheel with cuda libs as PYPI deps
        cuda_libs: Dict[str, str] = {
            'cublas': 'libcublas.so.*[0-9]',
            'cudnn': 'libcudnn.so.*[0-9]',
        }
        is_cuda_lib_err = [lib for lib in cuda_libs.values() if lib.split('.')[0] in err.args[0]]
        for lib_folder, lib_name in cuda_libs.items():
            _preload_cuda_deps(lib_folder, lib_name)
        ctypes.CDLL(global_deps_lib_path, mode=ctypes.RTLD_GLOBAL)


if True:
    pass
)");
  EXPECT_THAT(Patterns(preload.all),
              ElementsAre("cublas/libcublas.so.*[0-9]", "cudnn/libcudnn.so.*[0-9]"));
  EXPECT_THAT(preload.always, IsEmpty());
}

// The shape of 2.5 and 2.6: some libraries after all went well, under conditions.
TEST(TorchPreload, SomeUnderConditions) {
  const TorchPreload preload = ReadTorchPreload(R"(
def _load_global_deps() -> None:
    try:
        ctypes.CDLL(global_deps_lib_path, mode=ctypes.RTLD_GLOBAL)
        # Workaround
        if version.cuda not in ["12.4", "12.6"]:  # type: ignore[name-defined]
            return
        try:
            with open("/proc/self/maps") as f:
                _maps = f.read()
            # libtorch_global_deps.so always depends in cudart, check if its installed via wheel
            if "nvidia/cuda_runtime/lib/libcudart.so" not in _maps:
                return
            _preload_cuda_deps("cuda_nvrtc", "libnvrtc.so.*[0-9]")
            _preload_cuda_deps("nvjitlink", "libnvJitLink.so.*[0-9]")
        except Exception:
            pass
    except OSError as err:
        pass

def other():
    pass
)");
  EXPECT_THAT(Patterns(preload.always),
              ElementsAre("cuda_nvrtc/libnvrtc.so.*[0-9]", "nvjitlink/libnvJitLink.so.*[0-9]"));
  EXPECT_EQ(preload.only_if_loaded, "nvidia/cuda_runtime/lib/libcudart.so");
  EXPECT_THAT(preload.only_cuda, ElementsAre("12.4", "12.6"));
}

// The shape of 2.9 and later: the whole list, a list of pairs.
TEST(TorchPreload, TheWholeList) {
  const TorchPreload preload = ReadTorchPreload(R"(
def _preload_cuda_deps(err: OSError | None = None) -> None:
    cuda_libs: list[tuple[str, str]] = [
        # NOTE: Order matters!
        ("cublas", "libcublasLt.so.*[0-9]"),
        ("cublas", "libcublas.so.*[0-9]"),
    ]

def _load_global_deps() -> None:
    try:
        ctypes.CDLL(global_deps_lib_path, mode=ctypes.RTLD_GLOBAL)
        try:
            if "libcudart.so" not in _maps:
                return
            _preload_cuda_deps()
        except Exception:
            pass
    except OSError as err:
        _preload_cuda_deps(err)
)");
  EXPECT_THAT(Patterns(preload.all),
              ElementsAre("cublas/libcublasLt.so.*[0-9]", "cublas/libcublas.so.*[0-9]"));
  EXPECT_THAT(preload.always, SizeIs(2));
  EXPECT_TRUE(preload.required);
  EXPECT_EQ(preload.only_if_loaded, "libcudart.so");
}

TEST(TorchPreload, TheWholeListAsFarAsItIsThere) {
  const TorchPreload preload = ReadTorchPreload(R"(
def _preload_cuda_deps(err: OSError | None = None, required: bool = True) -> None:
    cuda_libs: list[tuple[str, str]] = [
        ("cusolver", "libcusolver.so.*[0-9]"),
    ]

def _load_global_deps() -> None:
    try:
        ctypes.CDLL(global_deps_lib_path, mode=ctypes.RTLD_GLOBAL)
        try:
            if "libcudart.so" not in _maps:
                return
            _preload_cuda_deps(required=False)
        except Exception:
            pass
    except OSError as err:
        _preload_cuda_deps(err)
)");
  EXPECT_THAT(preload.always, SizeIs(1));
  EXPECT_FALSE(preload.required);
}

TEST(TorchPreload, OtherTextGivesNothing) {
  for (const char* text : {"", "def _load_global_deps", "    cuda_libs: ", "cuda_libs: [\n(\"a"}) {
    const TorchPreload preload = ReadTorchPreload(text);
    EXPECT_THAT(preload.all, IsEmpty());
    EXPECT_THAT(preload.always, IsEmpty());
  }
}

}  // namespace
}  // namespace cuproof
