#include "source/build_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuproof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ArchRequests Requests(SourceKind kind, std::string text) {
  return ReadArchRequests(ReadBuildLines({"file", kind, std::move(text)}));
}

std::vector<std::string> Asked(SourceKind kind, std::string text) {
  std::vector<std::string> asked;
  for (const ArchRequest& request : Requests(kind, std::move(text)).archs) {
    asked.push_back(ArchText(request.arch) + (request.sass ? "s" : "") + (request.ptx ? "p" : ""));
  }
  return asked;
}

TEST(BuildLines, FlagsOfNvcc) {
  const auto python = SourceKind::kPython;
  EXPECT_THAT(Asked(python, "'-gencode', 'arch=compute_80,code=sm_80'"), ElementsAre("80s"));
  EXPECT_THAT(Asked(python, "'-gencode=arch=compute_90a,code=sm_90a',"), ElementsAre("90as"));
  EXPECT_THAT(Asked(python, "\"-gencode=arch=compute_90,code=\\\"sm_90,compute_90\\\"\""),
              ElementsAre("90s", "90p"));
  EXPECT_THAT(Asked(SourceKind::kMakefile, "F = -gencode arch=compute_70,code=[sm_70,compute_70]"),
              ElementsAre("70s", "70p"));
  EXPECT_THAT(Asked(SourceKind::kMakefile, "NVCC = nvcc -arch=sm_86 -O3"), ElementsAre("86sp"));
  EXPECT_THAT(Asked(SourceKind::kMakefile, "nvcc -arch sm_86"), ElementsAre("86sp"));
  EXPECT_TRUE(Requests(python, "f'-gencode=arch=compute_{n},code=sm_{n}'").open);
  EXPECT_TRUE(Requests(SourceKind::kMakefile, "nvcc -arch=native").open);
  EXPECT_THAT(Asked(python, "'-march=native', 'sm_90 is Hopper', 'encode=sm_90'"), IsEmpty());
}

TEST(BuildLines, ListsOfTorchAndCmake) {
  EXPECT_THAT(
      Asked(SourceKind::kPython, "os.environ['TORCH_CUDA_ARCH_LIST'] = '7.5;8.0 9.0a;10.0+PTX'"),
      ElementsAre("75s", "80s", "90as", "100sp"));
  EXPECT_THAT(Asked(SourceKind::kCmake, "set(TORCH_CUDA_ARCH_LIST \"8.6\")"), ElementsAre("86s"));
  EXPECT_THAT(Asked(SourceKind::kPython, "x = os.environ.get('TORCH_CUDA_ARCH_LIST')"), IsEmpty());
  EXPECT_THAT(Asked(SourceKind::kCmake, "set(CMAKE_CUDA_ARCHITECTURES 75 80-real 90-virtual)"),
              ElementsAre("75sp", "80s", "90p"));
  EXPECT_THAT(Asked(SourceKind::kCmake,
                    "set_target_properties(x PROPERTIES CUDA_ARCHITECTURES \"80;90a\")"),
              ElementsAre("80sp", "90asp"));
  EXPECT_TRUE(Requests(SourceKind::kCmake, "set(CMAKE_CUDA_ARCHITECTURES native)").open);
  EXPECT_TRUE(Requests(SourceKind::kCmake, "set(CMAKE_CUDA_ARCHITECTURES ${ARCHS})").open);
  EXPECT_THAT(Asked(SourceKind::kCmake, "if(NOT CMAKE_CUDA_ARCHITECTURES)"), IsEmpty());
  EXPECT_THAT(Asked(SourceKind::kCmake, "message(STATUS \"CMAKE_CUDA_ARCHITECTURES 80\")"),
              IsEmpty());
}

TEST(BuildLines, CommentsSayNothing) {
  EXPECT_THAT(Asked(SourceKind::kCmake, "# set(CMAKE_CUDA_ARCHITECTURES 80)"), IsEmpty());
  EXPECT_THAT(Asked(SourceKind::kPython,
                    "\"\"\"-gencode arch=compute_70,code=sm_70\nand code=sm_75 "
                    "-gencode\n\"\"\"\n'-gencode', 'arch=compute_80,code=sm_80' # code=sm_90"),
              ElementsAre("80s"));
  EXPECT_THAT(Asked(SourceKind::kPython, "'a#b -gencode code=sm_80'"), ElementsAre("80s"));
}

TEST(BuildLines, KnowWhatIsWithinACondition) {
  const auto conditional = [](SourceKind kind, std::string text) {
    std::string marks;
    for (const BuildLine& line : ReadBuildLines({"file", kind, std::move(text)})) {
      marks += line.conditional ? 'c' : '-';
    }
    return marks;
  };
  EXPECT_EQ(conditional(SourceKind::kPython, "a\nif x:\n    b\n    c\nd\n"), "--cc-");
  EXPECT_EQ(conditional(SourceKind::kCmake, "a\nif(X)\n  b\nendif()\nc\n"), "-cc--");
  EXPECT_EQ(conditional(SourceKind::kMakefile, "ifeq (a,b)\nx\nendif\ny\n"), "cc--");
}

TEST(BuildLines, LinesAreThoseOfTheFile) {
  const auto requests = Requests(SourceKind::kMakefile, "\n# x\n\nF = -arch=sm_80\n");
  ASSERT_EQ(requests.archs.size(), 1u);
  EXPECT_EQ(requests.archs[0].line, 4u);
}

}  // namespace
}  // namespace cuproof
