#include "link/python_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "link/test_tree.h"

namespace cuproof {
namespace {

using build::DynamicElf;
using testing::ElementsAre;
using testing::SizeIs;

DynamicElf Library(std::string soname, std::vector<std::string> needed = {},
                   const std::vector<std::string>& exports = {}) {
  DynamicElf elf = Needing(std::move(needed));
  elf.soname = std::move(soname);
  for (const std::string& name : exports) elf.symbols.push_back({name});
  return elf;
}

/// An environment with a torch of two libraries and a CUDA library in nvidia/.
class TorchTree : public TestTree {
 public:
  explicit TorchTree(const std::string& cuda_folder = "cu13") : cuda_folder_(cuda_folder) {
    DynamicElf python;
    python.symbols = {{"PyInit"}};
    environment.python = Add("bin/python3", python);
    const std::string site = At("site");
    environment.site_packages = {site};
    environment.torch = TorchInstall{site + "/torch", "2.11.0", "13.0", true, ""};
    Add("site/nvidia/" + cuda_folder + "/lib/libcudart.so.13",
        Library("libcudart.so.13", {}, {"cudaMalloc"}));
    DynamicElf global = Library("libtorch_global_deps.so", {"libcudart.so.13"});
    global.rpath = "$ORIGIN/../../nvidia/" + cuda_folder + "/lib";
    global_deps = Add("site/torch/lib/libtorch_global_deps.so", global);
    Add("site/torch/lib/libc10.so", Library("libc10.so", {}, {"c10_f"}));
    DynamicElf python_library = Library("libtorch_python.so", {"libc10.so"}, {"THPVariableClass"});
    python_library.rpath = "$ORIGIN";
    Add("site/torch/lib/libtorch_python.so", python_library);
    DynamicElf module = Needing({"libtorch_python.so"});
    module.rpath = "$ORIGIN/lib";
    Add("site/torch/_C.cpython-311-x86_64-linux-gnu.so", module);
  }

  std::string global_deps;

 private:
  std::string cuda_folder_;
};

TEST(PythonProcess, ThePythonThenTorchInItsOrder) {
  TorchTree tree;
  const PreparedProcess prepared = PrepareProcess(tree.environment, tree.files);
  EXPECT_TRUE(prepared.has_program);
  EXPECT_TRUE(prepared.has_torch);
  ASSERT_THAT(prepared.steps, SizeIs(3));
  EXPECT_EQ(prepared.steps[1].path, tree.global_deps);
  EXPECT_TRUE(prepared.steps[1].global);
  EXPECT_FALSE(prepared.steps[2].global);
}

TEST(PythonProcess, AnExtensionFindsTorchWithoutAnyRpath) {
  TorchTree tree;
  const PreparedProcess prepared = PrepareProcess(tree.environment, tree.files);
  DynamicElf extension = Needing({"libc10.so", "libtorch_python.so", "libcudart.so.13"});
  for (const char* name : {"c10_f", "THPVariableClass", "PyInit", "cudaMalloc"}) {
    extension.symbols.push_back({name, false});
  }
  const std::string path = tree.Add("ext.so", extension);
  EXPECT_TRUE(TryLoad(prepared, path).loads());
  // Before torch it does not load: nothing is wrong with the file.
  PrepareOptions options;
  options.torch = false;
  const PreparedProcess bare = PrepareProcess(tree.environment, tree.files, options);
  EXPECT_THAT(MissingNames(TryLoad(bare, path)),
              ElementsAre("libc10.so", "libtorch_python.so", "libcudart.so.13"));
}

// What libtorch_global_deps brings is global; what torch._C brings is not.
TEST(PythonProcess, AnExtensionThatIsNotLinkedToWhatItUses) {
  TorchTree tree;
  const PreparedProcess prepared = PrepareProcess(tree.environment, tree.files);
  DynamicElf extension;
  extension.symbols = {{"cudaMalloc", false}, {"c10_f", false}};
  const LoadReport report = TryLoad(prepared, tree.Add("ext.so", extension));
  ASSERT_THAT(report.missing_symbols, SizeIs(1));
  EXPECT_EQ(report.missing_symbols[0].name, "c10_f");
  EXPECT_EQ(report.missing_symbols[0].reason, MissingReason::kNotInScope);
}

TEST(PythonProcess, TorchLoadsItsLibrariesByPathWhereTheLoaderFindsNone) {
  TorchTree tree("cuda_runtime");
  DynamicElf lost = Library("libtorch_global_deps.so", {"libcudart.so.13"});
  tree.Add("site/torch/lib/libtorch_global_deps.so", lost);
  const std::string init =
      "    cuda_libs: dict = {\n \"cuda_runtime\": \"libcudart.so.*[0-9]\",\n    }\n";
  EXPECT_FALSE(PrepareProcess(tree.environment, tree.files).steps[1].report.loads());
  tree.Write("site/torch/__init__.py", init);
  const PreparedProcess prepared = PrepareProcess(tree.environment, tree.files);
  ASSERT_THAT(prepared.steps, SizeIs(5));
  EXPECT_FALSE(prepared.steps[1].report.loads());
  EXPECT_EQ(prepared.steps[2].path, tree.At("site/nvidia/cuda_runtime/lib/libcudart.so.13"));
  EXPECT_TRUE(prepared.steps[3].report.loads());
  EXPECT_TRUE(prepared.has_torch);
}

// What it loads after libtorch_global_deps: up to 2.14 an absent library ends it.
TEST(PythonProcess, TorchLoadsWhatIsThereOrUpToWhatIsNot) {
  for (const bool required : {true, false}) {
    TorchTree tree("cuda_runtime");
    tree.Add("site/nvidia/cusolver/lib/libcusolver.so.12", Library("libcusolver.so.12", {}));
    const std::string call =
        required ? "_preload_cuda_deps()" : "_preload_cuda_deps(required=False)";
    tree.Write("site/torch/__init__.py",
               "    cuda_libs: list = [\n (\"cublas\", \"libcublas.so.*[0-9]\"),\n"
               " (\"cusolver\", \"libcusolver.so.*[0-9]\"),\n    ]\n\n"
               "def _load_global_deps():\n"
               "    try:\n        ctypes.CDLL(global_deps_lib_path, mode=ctypes.RTLD_GLOBAL)\n"
               "        " +
                   call + "\n    except OSError as err:\n        pass\n");
    const PreparedProcess prepared = PrepareProcess(tree.environment, tree.files);
    const bool loaded = prepared.process.FindLoaded("libcusolver.so.12") != kNoObject;
    EXPECT_EQ(loaded, !required);
  }
}

TEST(PythonProcess, ATorchThatDoesNotLoadIsSaidAndTheRestGoesOn) {
  TorchTree tree;
  std::filesystem::remove(tree.At("site/torch/lib/libc10.so"));
  const PreparedProcess prepared = PrepareProcess(tree.environment, tree.files);
  EXPECT_FALSE(prepared.has_torch);
  EXPECT_THAT(MissingNames(prepared.steps.back().report), ElementsAre("libc10.so"));
  EXPECT_TRUE(TryLoad(prepared, tree.Add("ext.so", {})).loads());
}

TEST(PythonProcess, ALoadLeavesThePreparedProcessAlone) {
  TorchTree tree;
  const PreparedProcess prepared = PrepareProcess(tree.environment, tree.files);
  const size_t objects = prepared.process.objects().size();
  Process after = prepared.process;
  TryLoad(prepared, tree.Add("ext.so", {}), after);
  EXPECT_EQ(prepared.process.objects().size(), objects);
  EXPECT_EQ(after.objects().size(), objects + 1);
}

TEST(PythonProcess, LddKnowsNothingOfPythonAndTorch) {
  TorchTree tree;
  DynamicElf extension = Needing({"libc10.so"});
  extension.symbols = {{"PyInit", false}};
  const LoadReport report = TryLdd(tree.environment, tree.files, tree.Add("ext.so", extension));
  EXPECT_THAT(MissingNames(report), ElementsAre("libc10.so"));
  EXPECT_THAT(report.missing_symbols, SizeIs(1));
}

}  // namespace
}  // namespace cuproof
