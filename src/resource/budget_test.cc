#include "resource/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuproof {
namespace {

using testing::HasSubstr;

TEST(BudgetFile, HasBudgetsAndAllowances) {
  const auto file = ParseBudgetFile(
      "[[budget]]\n"
      "kernel = \"flash_fwd*\"\n"
      "arch = \"sm_90\"\n"
      "registers = 168\nspills = 0\nshared = 49152\noccupancy = 0.25\nblock = 384\n"
      "reason = \"three warp groups\"\n\n"
      "[[allow]]\n"
      "kernel = \"old*\"\nid = \"CP403\"\nreason = \"rewritten soon\"\nuntil = 2027-01-31\n",
      "cuproof.toml");
  ASSERT_TRUE(file) << file.error().Text();
  ASSERT_EQ(file->budgets.size(), 1u);
  EXPECT_EQ(file->budgets[0].kernel, "flash_fwd*");
  EXPECT_EQ(file->budgets[0].registers, 168u);
  EXPECT_EQ(file->budgets[0].spills, 0u);
  EXPECT_EQ(file->budgets[0].occupancy, 0.25);
  EXPECT_EQ(file->budgets[0].block, 384u);
  EXPECT_EQ(file->budgets[0].line, 1u);
  ASSERT_EQ(file->allowances.size(), 1u);
  EXPECT_EQ(file->allowances[0].until, "2027-01-31");
}

std::string ErrorOf(std::string_view text) {
  const auto file = ParseBudgetFile(text, "b.toml");
  return file ? std::string() : file.error().Text();
}

TEST(BudgetFile, SaysWhatIsWrongAndInWhichLine) {
  EXPECT_THAT(ErrorOf("[[budget]]\nkernel = \"k\"\nregister = 3\n"),
              HasSubstr("b.toml: line 3: no key 'register' is known here"));
  EXPECT_THAT(ErrorOf("[[budget]]\nkernel = \"k\"\nregisters = \"many\"\n"),
              HasSubstr("line 3: 'registers': expected a whole number"));
  EXPECT_THAT(ErrorOf("[[budget]]\nkernel = \"k\"\noccupancy = 50\n"),
              HasSubstr("expected a share from 0 to 1"));
  EXPECT_THAT(ErrorOf("[[budget]]\nregisters = 3\n"), HasSubstr("line 1: 'kernel' is missing"));
  EXPECT_THAT(ErrorOf("[[allow]]\nkernel = \"k\"\n"), HasSubstr("'reason' is missing"));
  EXPECT_THAT(ErrorOf("[[allow]]\nkernel = \"k\"\nreason = \"r\"\nuntil = \"2027\"\n"),
              HasSubstr("expected a date without quotes"));
  EXPECT_THAT(ErrorOf("[budget]\nkernel = \"k\"\n"), HasSubstr("expected [[budget]]"));
  EXPECT_THAT(ErrorOf("[[budgets]]\n"), HasSubstr("found 'budgets'"));
  EXPECT_THAT(ErrorOf("[[budget]\n"), HasSubstr("line 1: "));
  EXPECT_THAT(ErrorOf("[[budget]]\nkernel = \"k\"\n"), HasSubstr("the budget limits nothing"));
  EXPECT_THAT(ErrorOf("# nothing\n"), HasSubstr("found neither"));
  for (const char* threads : {"0", "1025", "-1", "\"many\""}) {
    EXPECT_THAT(ErrorOf(std::string("[[budget]]\nkernel = \"k\"\nblock = ") + threads + '\n'),
                HasSubstr(std::string("from 1 to 1024, got ") + threads));
  }
  EXPECT_THAT(
      ErrorOf("[[budget]]\nkernel = \"k\"\narch = \"banana\"\nregisters = 1\n"),
      HasSubstr("line 3: 'arch': expected an architecture such as \"sm_90\", got \"banana\""));
  EXPECT_THAT(ErrorOf("[[budget]]\nkernel = \"[heavy*\"\nregisters = 1\n"),
              HasSubstr("in which each [ has its ]"));
  EXPECT_THAT(ErrorOf("[[allow]]\nkernel = \"k\"\nreason = \"r\"\nid = \"CP999\"\n"),
              HasSubstr("line 4: 'id': expected CP401 to CP409, got \"CP999\""));
  EXPECT_THAT(ErrorOf("[[allow]]\nkernel = \"k\"\nreason = \"r\"\nuntil = tomorrow\n"),
              HasSubstr("dates without, as 2027-01-31"));
  EXPECT_EQ(ErrorOf("[[budget]]\nkernel = \"k\"\narch = \"sm_100f\"\nblock = 1024\n"), "");
  for (const char* text : {"[[", "[", "[)", "[[)", "[\n", "a.", "a.=1", "[a.)]"})
    EXPECT_THAT(ErrorOf(text), HasSubstr("line 1: ")) << text;
  EXPECT_THAT(ErrorOf("\n\xc3\x91 = 1\n"), HasSubstr("line 2: only texts in quotes"));
  EXPECT_THAT(ErrorOf("[[allow]]\nkernel = \"\"\"k\"\"\"\n"),
              HasSubstr("line 2: texts over several lines"));
  EXPECT_THAT(ErrorOf("# \xc3\x91\n[[allow]]\nkernel = \"\xc3\x91\\\"#\"\nreason = '\xc3\x91'\n"),
              "");
  EXPECT_THAT(ErrorOf(std::string(100'000, '[')), HasSubstr("line 1"));
}

TEST(BudgetFile, PatternsFitEitherName) {
  MeasuredKernel kernel;
  kernel.demangled = "void scale<float>(float*, int)";
  kernel.resources.name = "_Z5scaleIfEvPT_i";
  EXPECT_TRUE(MatchesKernel("*scale<float>*", kernel));
  EXPECT_TRUE(MatchesKernel("_Z5scale*", kernel));
  EXPECT_FALSE(MatchesKernel("scale", kernel));
}

TEST(StableName, HasNoHashes) {
  EXPECT_EQ(StableName("_ZN50_GLOBAL__N__c62ac6be_18_AbsKernel_cu_b4ed8cb4_6kernelEv"),
            "_ZN50_GLOBAL__N__########_18_AbsKernel_cu_########_6kernelEv");
  EXPECT_EQ(StableName("_ZN34_INTERNAL_0b8b6b5e_4_k_cu_a1b2c3d44kernelEv"),
            StableName("_ZN34_INTERNAL_aaaaaaaa_4_k_cu_bbbbbbbb4kernelEv"));
  // As nvcc 13.0 writes them.
  EXPECT_EQ(StableName("_ZN35_GLOBAL__N__fff66b9c_5_an_cu__Z1fPf3hidEPf"),
            "_ZN35_GLOBAL__N__########_5_an_cu__Z1fPf3hidEPf");
  EXPECT_EQ(StableName("__nv_static_24__fff66b9c_5_an_cu__Z1fPf__Z4statPf"),
            "__nv_static_24__########_5_an_cu__Z1fPf__Z4statPf");
  EXPECT_EQ(
      StableName("_ZN3cub49CUB_200200_500_600_700_750_800_860_890_900_NS_dev11EmptyKernelIvEEvv"),
      "_ZN3cub49CUB_200200_500_600_700_750_800_860_890_900_NS_dev11EmptyKernelIvEEvv");
  EXPECT_EQ(StableName("_ZN3cub26CUB_200700_750_800_1200_NS11EmptyKernelIvEEvv"),
            "_ZN3cub3CUB11EmptyKernelIvEEvv");
  EXPECT_EQ(StableName("_Z9deadbeef_v"), "_Z9deadbeef_v");
  EXPECT_EQ(StableName("999999999999999999999_GLOBAL__N__"), "999999999999999999999_GLOBAL__N__");
}

TEST(StableFile, HasNoTagsOfABuild) {
  EXPECT_EQ(StableFile("x.whl!pkg/_C.cpython-312-x86_64-linux-gnu.so"), "_C.so");
  EXPECT_EQ(StableFile("/a/_C.abi3.so"), "_C.so");
  EXPECT_EQ(StableFile("libx.so.1"), "libx.so.1");
  EXPECT_EQ(StableFile("k.cubin"), "k.cubin");
}

MeasuredKernel In(const char* file) {
  MeasuredKernel kernel;
  kernel.file = file;
  return kernel;
}

TEST(StableFiles, HaveTheFoldersThatTellThemApart) {
  const auto files = StableFiles({In("q1/lib.so"), In("/a/q2/lib.so"), In("q1/other.so"),
                                  In("p/x/_C.cpython-311-x.so"), In("p/x/_C.cpython-312-x.so"),
                                  In("a.whl!m/k.so"), In("b.whl!m/k.so"), In("z.so")});
  EXPECT_EQ(files.at("q1/lib.so"), "q1/lib.so");
  EXPECT_EQ(files.at("/a/q2/lib.so"), "q2/lib.so");
  EXPECT_EQ(files.at("q1/other.so"), "other.so");
  EXPECT_EQ(files.at("p/x/_C.cpython-311-x.so"), "_C.so");
  EXPECT_EQ(files.at("p/x/_C.cpython-312-x.so"), "_C.so");
  EXPECT_EQ(files.at("a.whl!m/k.so"), "a.whl/m/k.so");
  EXPECT_EQ(files.at("b.whl!m/k.so"), "b.whl/m/k.so");
  EXPECT_EQ(files.at("z.so"), "z.so");
}

}  // namespace
}  // namespace cuproof
