#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Fatbin;
using build::Ptx;
using build::Sass;
using build::SharedObject;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string Library(const std::vector<Arch>& archs) {
  std::vector<build::Entry> entries;
  for (const Arch arch : archs) entries.push_back(Sass(arch));
  return SharedObject(Fatbin(entries));
}

TEST(NoImage, IsAnErrorForAGpuThatWasNamed) {
  const auto findings =
      FindingsOf(RuleNoImage, {Sass({80, 0}), Sass({90, 'a'}), Sass({100, 'a'})}, {"B300"});
  ASSERT_EQ(findings.size(), 1u);
  const Finding& finding = findings[0];
  EXPECT_EQ(finding.id, "CP101");
  EXPECT_EQ(finding.severity, Severity::kError);
  EXPECT_EQ(finding.subject, "sm_103 (B300)");
  EXPECT_EQ(finding.message, "no image runs on sm_103 (B300)");
  const std::string evidence = Joined(finding.evidence);
  EXPECT_THAT(evidence, HasSubstr("it holds sm_80 sm_90a sm_100a"));
  EXPECT_THAT(evidence, HasSubstr("sm_100a is for compute capability 10.0 only"));
  EXPECT_THAT(evidence, HasSubstr("error 209"));
  EXPECT_THAT(finding.fix, HasSubstr("TORCH_CUDA_ARCH_LIST=\"10.3\""));
  EXPECT_THAT(finding.fix, HasSubstr("arch=compute_103,code=sm_103"));
  EXPECT_FALSE(finding.source.empty());
  EXPECT_FALSE(finding.verified_on.empty());
}

TEST(NoImage, IsANoteWhenNoGpuWasNamed) {
  const auto findings = FindingsOf(RuleNoImage, {Sass({90, 0})}, {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kNote);
}

TEST(NoImage, IsSilentWhenSomethingRuns) {
  EXPECT_THAT(FindingsOf(RuleNoImage, {Sass({80, 0})}, {"A100", "RTX 3090", "RTX 4090"}),
              IsEmpty());
  EXPECT_THAT(FindingsOf(RuleNoImage, {Sass({120, 0}), Ptx({75, 0}, {8, 0})}, {"H100", "T4"}),
              IsEmpty());
}

TEST(NoImage, IsSilentAboutOtherReasons) {
  EXPECT_THAT(FindingsOf(RuleNoImage, {Ptx({75, 0}, {9, 1})}, {"H100"}, "580"), IsEmpty());
  EXPECT_THAT(FindingsOf(RuleNoImage, {build::LtoIr({90, 0})}, {"H100"}, "580"), IsEmpty());
  EXPECT_THAT(FindingsOf(RuleNoImage, {Sass({80, 0})}, {"H100"}, "570"), IsEmpty());
}

TEST(NoImage, OneFindingForAllGpusWithAFixForEach) {
  const auto findings = FindingsOf(RuleNoImage, {Sass({80, 0})}, {"T4", "A100", "H100", "B200"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].subject, "sm_75 (T4), sm_90 (H100) and sm_100 (B200)");
  EXPECT_THAT(findings[0].fix, HasSubstr("\"7.5;9.0;10.0\""));
}

TEST(NoImage, TheFixSaysWhichToolkitsCan) {
  EXPECT_THAT(FindingsOf(RuleNoImage, {Sass({75, 0})}, {"V100"}).at(0).fix,
              HasSubstr("sm_70 up to CUDA 12.9"));
  EXPECT_THAT(FindingsOf(RuleNoImage, {Sass({75, 0})}, {"B200"}).at(0).fix,
              HasSubstr("sm_100 from CUDA 12.8"));
  Report report = JudgedFiles({{"libx.so", Library({{75, 0}})}}, {"V100"});
  report.target.cuda = Version{13, 0};
  EXPECT_THAT(Findings(RuleNoImage, report).at(0).fix, HasSubstr("(not 13.0)"));
}

TEST(NoImage, HintsAtTheConfusionsOfBlackwell) {
  const auto evidence = [](Arch arch, const char* gpu) {
    return Joined(FindingsOf(RuleNoImage, {Sass(arch)}, {gpu}).at(0).evidence);
  };
  EXPECT_THAT(evidence({120, 0}, "B200"), HasSubstr("B200 is sm_100"));
  EXPECT_THAT(evidence({100, 0}, "RTX 5090"), HasSubstr("RTX PRO Blackwell are sm_120"));
  EXPECT_THAT(evidence({100, 'a'}, "B300"), HasSubstr("covers B200 and B300"));
  EXPECT_THAT(evidence({120, 'a'}, "GB10"), HasSubstr("sm_120 and 120f run on 12.1 too"));
  EXPECT_THAT(evidence({80, 0}, "B200"), Not(HasSubstr("sm_120 is the consumer")));
}

TEST(NoImage, APtxTextAloneFailsWithAnotherError) {
  const auto findings = Findings(
      RuleNoImage, JudgedFiles({{"k.ptx", build::PtxText({8, 6}, "sm_100")}}, {"H100"}, "580"));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(Joined(findings[0].evidence), HasSubstr("error 218"));
  EXPECT_THAT(Joined(findings[0].evidence), Not(HasSubstr("error 209")));
  EXPECT_EQ(findings[0].fix, "generate it for compute_90");
}

TEST(NoImage, AHopperOnlyFileBesideAGeneralOneIsANoteOnAnA100) {
  const Report report = JudgedFiles(
      {{"pkg/flash_hopper.so", Library({{90, 'a'}})}, {"pkg/flash.so", Library({{80, 0}})}},
      {"A100"});
  const auto findings = Findings(RuleNoImage, report);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kNote);
  EXPECT_THAT(findings[0].message, HasSubstr("another file of the same set does"));
}

TEST(NoImage, AHopperOnlyFileAloneIsAnError) {
  const Report report = JudgedFiles(
      {{"pkg/flash_hopper.so", Library({{90, 'a'}})}, {"pkg/other.so", Library({{75, 0}})}},
      {"B200"});
  EXPECT_EQ(Findings(RuleNoImage, report).at(0).severity, Severity::kError);
}

TEST(NoImage, OneOfSeveralVariantsThatServesTheGpuIsEnough) {
  const Report report =
      JudgedFiles({{"bitsandbytes/libbitsandbytes_cuda118.so", Library({{80, 0}})},
                   {"bitsandbytes/libbitsandbytes_cuda130.so", Library({{80, 0}, {100, 0}})},
                   {"bitsandbytes/libother.so", Library({{80, 0}})}},
                  {"B200"});
  EXPECT_EQ(Findings(RuleNoImage, report, 0).at(0).severity, Severity::kNote);
  EXPECT_THAT(Findings(RuleNoImage, report, 1), IsEmpty());
  // A file of another name is no variant; a library that nothing links to is optional.
  EXPECT_EQ(Findings(RuleNoImage, report, 2).at(0).severity, Severity::kWarning);
}

TEST(NoImage, VariantsByArchitectureInTheirNames) {
  const Report report = JudgedFiles({{"pkg/kernels_sm80.so", Library({{80, 0}})},
                                     {"pkg/kernels_sm100a.so", Library({{100, 'a'}})}},
                                    {"B200", "A100"});
  EXPECT_EQ(Findings(RuleNoImage, report, 0).at(0).severity, Severity::kNote);
  EXPECT_EQ(Findings(RuleNoImage, report, 1).at(0).severity, Severity::kNote);
}

TEST(NoImage, ALibraryThatAnotherFileLinksToIsRequired) {
  build::HostElf user;
  user.sections = {{".nv_fatbin", SHT_PROGBITS, Fatbin({Sass({100, 0})})}};
  user.needed = {"libkernels.so"};
  const Report report = JudgedFiles(
      {{"pkg/libkernels.so", Library({{80, 0}})}, {"pkg/main.so", build::HostElfBytes(user)}},
      {"B200"});
  EXPECT_EQ(Findings(RuleNoImage, report).at(0).severity, Severity::kError);
}

TEST(NoImage, AnExtensionModuleIsRequired) {
  const Report report = JudgedFiles(
      {{"pkg/_C.abi3.so", Library({{80, 0}})}, {"pkg/libother.so", Library({{100, 0}})}}, {"B200"});
  EXPECT_EQ(Findings(RuleNoImage, report).at(0).severity, Severity::kError);
}

TEST(NoImage, AFileOfAnotherRootIsNoSibling) {
  Report report = JudgedFiles(
      {{"a/libx_cuda118.so", Library({{80, 0}})}, {"b/libx_cuda130.so", Library({{100, 0}})}},
      {"B200"});
  report.files[1].root = 1;
  report.needed.resize(2);
  EXPECT_EQ(Findings(RuleNoImage, report).at(0).severity, Severity::kError);
}

}  // namespace
}  // namespace cuproof
