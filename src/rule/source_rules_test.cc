#include "rule/source_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source/test_source.h"
#include "target/table.h"

// One case and its nearest true negative for each rule; tests/source_check_test.py has more.
namespace cuproof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Finding> Of(const std::string& path, std::string text, std::string_view cuda = "",
                        std::string_view gpu = "") {
  Target target;
  if (!cuda.empty()) target.cuda = ParseVersion(cuda);
  if (!gpu.empty()) target.gpus = *FindGpus(gpu);
  target.named = !gpu.empty();
  std::vector<Finding> findings;
  RunSourceRules(TestSource(path, std::move(text)), target, findings);
  return findings;
}

std::vector<std::string> Ids(const std::vector<Finding>& findings) {
  std::vector<std::string> ids;
  for (const Finding& finding : findings) ids.push_back(finding.id);
  return ids;
}

TEST(SourceRules, ListsAreWrittenAsTheFileWritesThem) {
  const auto fix = [](const std::string& path, std::string text) {
    return Of(path, std::move(text), "13.0", "B200").at(0).fix;
  };
  EXPECT_EQ(fix("Makefile", "F = -gencode arch=compute_90a,code=sm_90a\n"),
            "-gencode arch=compute_90a,code=sm_90a -gencode arch=compute_100,code=sm_100");
  EXPECT_EQ(fix("setup.py", "TORCH_CUDA_ARCH_LIST = '8.6;9.0'\n"),
            "TORCH_CUDA_ARCH_LIST=\"8.6;9.0;10.0\"");
  EXPECT_EQ(fix("CMakeLists.txt", "set(CMAKE_CUDA_ARCHITECTURES 80-real)\n"),
            "set(CMAKE_CUDA_ARCHITECTURES \"80-real;100-real\")");
  EXPECT_EQ(fix("CMakeLists.txt", "set_property(TARGET x PROPERTY CUDA_ARCHITECTURES 80-real)\n"),
            "CUDA_ARCHITECTURES \"80-real;100-real\"");
  EXPECT_EQ(
      fix("CMakeLists.txt", "set_target_properties(x PROPERTIES\n  CUDA_ARCHITECTURES 80-real)\n"),
      "CUDA_ARCHITECTURES \"80-real;100-real\"");
  EXPECT_THAT(Of("Makefile", "F = -gencode arch=compute_100,code=sm_100\n", "13.0", "B200"),
              IsEmpty());
  // A toolkit that the tables do not know is held against nobody.
  EXPECT_THAT(Of("Makefile", "F = -arch=sm_70\n", "19.0"), IsEmpty());
}

TEST(SourceRules, AToolkitThatCannotBuildForTheGpuIsSaid) {
  const auto found = Of("setup.py", "TORCH_CUDA_ARCH_LIST = '8.6;9.0'\n", "12.4", "B200");
  ASSERT_THAT(Ids(found), ElementsAre("CP701"));
  EXPECT_THAT(found[0].message, testing::HasSubstr("CUDA 12.4 cannot build for it"));
  EXPECT_EQ(found[0].fix,
            "build with CUDA 12.8 or newer, or keep PTX: TORCH_CUDA_ARCH_LIST=\"8.6;9.0+PTX\"");
  EXPECT_EQ(Of("pyproject.toml", "CMAKE_CUDA_ARCHITECTURES = \"60;80\"\n", "13.0").at(0).fix,
            "CMAKE_CUDA_ARCHITECTURES = \"80\"");
}

TEST(SourceRules, MembersOfOtherStructsAreTheirOwn) {
  const std::string device = "void g(cudaDeviceProp p) { ";
  const auto of = [&](const std::string& text) { return Ids(Of("k.cu", text, "13.0")); };
  EXPECT_THAT(
      of("struct Stat { int memoryClockRate; };\nint f(const Stat& st, cudaDeviceProp* p) { return "
         "st.memoryClockRate; }"),
      IsEmpty());
  EXPECT_THAT(of("struct Stat { int a, clockRate; };\n" + device + "h().clockRate; }"), IsEmpty());
  EXPECT_THAT(of("int f(Other& o) { return o.clockRate; }\n" + device + "}"), IsEmpty());
  EXPECT_THAT(of(device + "int clockRate = p.clockRate; }"), ElementsAre("CP702"));
  EXPECT_THAT(
      of("void f() { auto* p = getCurrentDeviceProperties(); int clockRate = p->clockRate; }"),
      ElementsAre("CP702"));
}

TEST(SourceRules, CodeOfBothSidesOfABorder) {
  const std::string code = "void f(cudaDeviceProp p) { use(p.clockRate); }\n";
  EXPECT_THAT(Ids(Of("k.cu", code, "13.0")), ElementsAre("CP702"));
  EXPECT_EQ(Of("k.cu", code).at(0).severity, Severity::kNote);
  EXPECT_THAT(Of("k.cu", code, "12.9"), IsEmpty());
  // A folder that moved may be in a list that cannot be seen here.
  EXPECT_EQ(Of("k.cpp", "#include <cub/cub.cuh>\n", "13.0").at(0).severity, Severity::kNote);
}

TEST(SourceRules, TheRest) {
  EXPECT_THAT(Ids(Of("setup.py", "import torch\nf = '-D_GLIBCXX_USE_CXX11_ABI=0'\n")),
              ElementsAre("CP703"));
  EXPECT_THAT(
      Ids(Of("k.cu", "void f() { int n; cublasLtMatmulAlgoGetHeuristic(a, b, &r, &n); use(r); }")),
      ElementsAre("CP704"));
  EXPECT_THAT(Ids(Of("Makefile", "nvcc -ccbin clang++-21\n", "13.0")), ElementsAre("CP705"));
  EXPECT_THAT(Of("Makefile", "nvcc -ccbin clang++-20\n", "13.0"), IsEmpty());
  EXPECT_THAT(Ids(Of("k.h", "#define TORCH_TARGET_VERSION 0x0210000000000000\n")),
              ElementsAre("CP706"));
  EXPECT_THAT(Of("k.h", "#define TORCH_TARGET_VERSION 0x020B000000000000\n"), IsEmpty());
}

TEST(SourceRules, HoldForFilesThatAreNothing) {
  for (const char* path : {"k.cu", "setup.py", "CMakeLists.txt", "Makefile", "pyproject.toml"}) {
    EXPECT_THAT(Of(path, ""), IsEmpty());
    EXPECT_THAT(Of(path, std::string(100, '\0'), "13.0", "B200"), IsEmpty());
    EXPECT_THAT(Of(path, "-gencode code= -arch TORCH_CUDA_ARCH_LIST CUDA_ARCHITECTURES \" ( \\",
                   "13.0", "B200"),
                IsEmpty());
  }
}

}  // namespace
}  // namespace cuproof
