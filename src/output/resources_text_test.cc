#include "output/resources_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "output/curve_text.h"
#include "output/kernel_name.h"
#include "output/layout.h"

namespace cuproof {
namespace {

using testing::HasSubstr;
using testing::Not;

Survey OneKernel(KernelResources kernel, const std::string& name = "_ZN3lib4scanIfEEvPT_") {
  Survey survey;
  survey.names = std::make_shared<KernelNames>();
  const auto [kept, wanted] = survey.names->Keep(name, [](const std::string&) { return true; });
  kernel.is_entry = true;
  FileKernels file;
  file.path = "x.so";
  file.kernels.push_back({kept, {90, 0}, {}, std::move(kernel)});
  survey.files.push_back(std::move(file));
  return survey;
}

KernelResources Kernel() {
  KernelResources kernel;
  kernel.registers = 168;
  kernel.stack_frame = kernel.cumulative_stack = 1344;
  kernel.barriers = 1;
  kernel.spills = Spills{1496, 1564, SpillBasis::kExact};
  return kernel;
}

std::string Text(const Survey& survey, size_t width, LaunchQuestion question = {}) {
  Style style;
  style.width = width;
  style.terminal = true;
  return ResourcesText(survey, {question, KernelOrder::kSpills, 0, false, {}}, style);
}

TEST(ResourcesText, FitsTheTerminal) {
  for (const size_t width : {80u, 100u, 120u, 200u}) {
    const std::string text =
        Text(OneKernel(Kernel(), "_Z" + std::string("300") + std::string(300, 'n') + "v"), width,
             {256, 0});
    size_t at = 0;
    while (at < text.size()) {
      const size_t end = text.find('\n', at);
      EXPECT_LE(DisplayWidth(text.substr(at, end - at)), width) << text;
      at = end + 1;
    }
  }
}

TEST(ResourcesText, SaysHowItKnows) {
  KernelResources kernel = Kernel();
  EXPECT_THAT(Text(OneKernel(kernel), 120), HasSubstr(" 1,496/1,564 "));
  kernel.spills->basis = SpillBasis::kAtMost;
  EXPECT_THAT(Text(OneKernel(kernel), 120), HasSubstr("<=1,496/1,564"));
  EXPECT_THAT(Text(OneKernel(kernel), 120), HasSubstr("those of arrays too"));
  kernel.indirect_calls = true;
  EXPECT_THAT(Text(OneKernel(kernel), 120), HasSubstr("1,344+"));
  kernel.spills.reset();
  EXPECT_THAT(Text(OneKernel(kernel), 120), HasSubstr("not told by this image"));
}

TEST(ResourcesText, ABlockThatDoesNotLaunch) {
  const std::string text = Text(OneKernel(Kernel()), 120, {512, 0});
  EXPECT_THAT(text, HasSubstr("none"));
  EXPECT_THAT(text, HasSubstr("1 does not launch"));
  EXPECT_THAT(text, Not(HasSubstr("under 25 %")));
}

TEST(ResourcesText, WhyThereAreNoKernels) {
  Survey survey;
  survey.files.resize(1);
  FileKernels& file = survey.files[0];
  EXPECT_THAT(Text(survey, 200), HasSubstr("nothing compiled for a GPU is inside"));
  file.ptx_images = 1;
  EXPECT_THAT(Text(survey, 200), HasSubstr("only PTX: the driver compiles it"));
  file.archs = {{75, 0}, {90, 'a'}};
  file.device_functions = 2;
  EXPECT_THAT(Text(survey, 200), HasSubstr("no kernels, 2 device functions"));
  file.other_kernels = 8;
  EXPECT_THAT(Text(survey, 200), HasSubstr("none of 8 kernels has such a name"));
  file.nothing_for = {80};
  EXPECT_THAT(Text(survey, 200),
              HasSubstr("nothing for sm_80: the code inside is for sm_75, sm_90a"));
  file.ptx_modules = 1;
  EXPECT_THAT(Text(survey, 200), HasSubstr("only PTX for this GPU, in 1 module"));
}

TEST(ResourcesText, AGpuThatNothingIsForIsNamed) {
  Survey survey = OneKernel(Kernel());
  survey.files[0].nothing_for = {75};
  EXPECT_THAT(Text(survey, 200), HasSubstr("; nothing for sm_75"));
}

TEST(KernelName, LosesNamespacesBeforeItIsCut) {
  EXPECT_EQ(ShortKernelName("_ZN3lib4scanIfEEvPT_", 30), "lib::scan<float>");
  EXPECT_EQ(ShortKernelName("_ZN3lib4scanIfEEvPT_", 12), "scan<float>");
  EXPECT_EQ(ShortKernelName("_ZN3lib4scanIfEEvPT_", 8), "scan<...");
  EXPECT_EQ(ShortKernelName("k\x1b[31m", 30), "k\\x1b[31m");
}

TEST(ResourcesText, WhatIsNotKnownIsNoZero) {
  KernelResources kernel = Kernel();
  kernel.registers.reset();
  EXPECT_THAT(Text(OneKernel(kernel), 120), Not(HasSubstr("up to 0")));
  kernel = Kernel();
  EXPECT_THAT(Text(OneKernel(kernel), 120, {0, uint64_t{1} << 20}), Not(HasSubstr("0*")));
}

TEST(KernelName, KeepsItsEndWhereInstancesDiffer) {
  const std::string start = "_Z4gemmILi16ELi16ELi16ELi16ELi";
  const std::string a = ShortKernelName(start + "64EEvv", 20);
  EXPECT_EQ(a, "gemm<16, 16...6, 64>");
  EXPECT_NE(a, ShortKernelName(start + "32EEvv", 20));
}

TEST(CurveText, MarksWhereTheKernelIs) {
  const auto curves = CurvesOf(Kernel(), 90, {256, 0});
  ASSERT_TRUE(curves);
  const std::string text = CurveText("k", *curves, Style{});
  EXPECT_THAT(text, HasSubstr("> "));
  EXPECT_THAT(text, HasSubstr("does not launch"));
  EXPECT_THAT(CurveSvg("a<b>&", *curves), HasSubstr("a&lt;b&gt;&amp;"));
}

TEST(CurveSvg, ABlockThatTakesAWarpMoreBeginsAtItsFirstThread) {
  Curves curves;
  curves.now.sm_warps = 64;
  curves.now.block = 32;
  curves.by_block = {{32, 32, 64}, {64, 64, 32}, {96, 96, 0}};
  // 640 pixels for 1,024 threads, from 56 on: 33 threads lie at 76.6, 65 at 96.6.
  EXPECT_THAT(CurveSvg("k", curves), HasSubstr("76.6,384.0 76.6,504.0 96.6,504.0 96.6,624.0"));
}

}  // namespace
}  // namespace cuproof
