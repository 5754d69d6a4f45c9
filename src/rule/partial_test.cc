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

std::string Many(const std::string& container, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += container;
  return bytes;
}

std::vector<Finding> Find(const std::string& fatbins, const std::vector<std::string>& gpus,
                          std::string_view driver = "") {
  return Findings(RulePartial, JudgedFiles({{"_C.so", SharedObject(fatbins, 12)}}, gpus, driver));
}

Finding Only(const std::vector<Finding>& findings) {
  EXPECT_EQ(findings.size(), 1u);
  return findings.empty() ? Finding{} : findings[0];
}

const std::string kRuns = Fatbin({Sass({80, 0}, {12, 9}), Sass({90, 0}, {12, 9})});

// Report R25: one file of many was built 7.5;8.0+PTX.
TEST(Partial, PtxNewerThanTheDriverIsAWarning) {
  const std::string built_otherwise =
      Fatbin({Sass({75, 0}, {12, 9}), Sass({80, 0}, {12, 9}), Ptx({80, 0}, {8, 8})});
  const std::string fatbins = Many(kRuns, 5) + built_otherwise;
  const Finding finding = Only(Find(fatbins, {"H100"}, "12.8"));
  EXPECT_EQ(finding.id, "CP106");
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.subject, "sm_90");
  EXPECT_THAT(finding.message, HasSubstr("1 of 6"));
  EXPECT_THAT(Joined(finding.evidence), HasSubstr("newer than the driver (error 222)"));
  EXPECT_THAT(Find(fatbins, {"A100"}, "12.8"), IsEmpty());
  EXPECT_THAT(Find(fatbins, {"H100"}, "12.9"), IsEmpty());
}

TEST(Partial, PtxNewerThanTheDriverIsSaidOfManyModulesToo) {
  const std::string fatbins = kRuns + Many(Fatbin({Ptx({80, 0}, {8, 8})}), 5);
  EXPECT_EQ(Only(Find(fatbins, {"H100"}, "12.8")).severity, Severity::kWarning);
}

TEST(Partial, PtxNewerThanTheDriverHasItsOwnSentenceCountAndDriver) {
  const std::string fatbins = Many(kRuns, 8) +
                              Fatbin({Sass({75, 0}, {12, 9}), Sass({80, 0}, {12, 9})}) +
                              Fatbin({Ptx({80, 0}, {8, 8})});
  const auto findings = Find(fatbins, {"H100"}, "570.124.06");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].message,
            "modules with PTX for sm_90 that is newer than driver 570.124.06: 1 of 10; a kernel in "
            "one of them fails when it is launched");
  EXPECT_THAT(findings[0].fix, HasSubstr("or use driver 575"));
  EXPECT_EQ(findings[1].message,
            "modules without code for sm_90: 1 of 10; a kernel in one of them fails when it is "
            "launched");
  EXPECT_EQ(findings[1].evidence.size(), 1u);
}

// The list of failing modules ends after 64.
TEST(Partial, PtxNewerThanTheDriverIsSaidAfterManyOtherFailures) {
  const std::string fatbins =
      Many(kRuns, 2) + Many(Fatbin({Sass({75, 0}, {12, 9})}), 70) + Fatbin({Ptx({80, 0}, {8, 8})});
  const Finding finding = Only(Find(fatbins, {"H100"}, "12.8"));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.message, HasSubstr("newer than a driver for CUDA 12.8: 1 of 73"));
  EXPECT_THAT(Joined(finding.evidence), HasSubstr("module 72, compute_80 (PTX ISA 8.8)"));
}

// Report R03: one kernel family was built for other targets than the rest.
TEST(Partial, AFewModulesForOlderGpusAreANote) {
  const std::string fatbins =
      Many(kRuns, 4) + Fatbin({Sass({75, 0}, {12, 9}), Sass({80, 0}, {12, 9})});
  const Finding finding = Only(Find(fatbins, {"H100"}));
  EXPECT_EQ(finding.severity, Severity::kNote);
  EXPECT_THAT(finding.message, HasSubstr("1 of 5"));
  EXPECT_THAT(Joined(finding.evidence), HasSubstr("module 4, sm_80 at byte"));
}

// The libraries of NVIDIA give each architecture its module.
TEST(Partial, IsSilentWhenManyModulesFail) {
  std::string fatbins;
  for (const uint32_t sm : {50u, 60u, 70u, 75u, 80u, 86u, 90u}) fatbins += Fatbin({Sass({sm, 0})});
  EXPECT_THAT(Find(fatbins, {"H100", "T4"}), IsEmpty());
}

TEST(Partial, IsSilentAboutAModuleOfOneTarget) {
  EXPECT_THAT(Find(Many(kRuns, 8) + Fatbin({Sass({70, 0}, {12, 9})}), {"H100"}), IsEmpty());
}

TEST(Partial, IsSilentAboutModulesForNewerGpusOrChips) {
  const std::string hopper = Fatbin({Sass({90, 'a'}, {12, 9}), Ptx({90, 'a'}, {8, 0})});
  EXPECT_THAT(Find(Many(kRuns, 8) + hopper, {"A100"}), IsEmpty());
  const std::string newer = Fatbin({Sass({100, 0}, {12, 9}), Sass({120, 0}, {12, 9})});
  EXPECT_THAT(Find(Many(kRuns, 8) + newer, {"H100"}), IsEmpty());
}

TEST(Partial, IsSilentWhenNoGpuWasNamedOrAllRunsOrNone) {
  const std::string fatbins =
      Many(kRuns, 4) + Fatbin({Sass({75, 0}, {12, 9}), Sass({80, 0}, {12, 9})});
  EXPECT_THAT(Find(fatbins, {}), IsEmpty());
  EXPECT_THAT(Find(Many(kRuns, 4), {"H100"}), IsEmpty());
  EXPECT_THAT(Find(fatbins, {"B200"}), IsEmpty());
}

TEST(Partial, ShowsTheFirstFewModules) {
  const std::string fatbins =
      Many(kRuns, 40) + Many(Fatbin({Sass({75, 0}, {12, 9}), Sass({80, 0}, {12, 9})}), 10);
  EXPECT_EQ(Only(Find(fatbins, {"H100"})).evidence.size(), 3u);
}

TEST(FewFail, IsAtMostAQuarterOfAFileThatRuns) {
  FileImages images;
  images.modules.resize(8);
  FileVerdict verdict;
  verdict.outcome = Outcome::kRunsSass;
  EXPECT_FALSE(FewFail(images, verdict));
  verdict.failed_modules = 2;
  EXPECT_TRUE(FewFail(images, verdict));
  verdict.failed_modules = 3;
  EXPECT_FALSE(FewFail(images, verdict));
  verdict.failed_modules = 1;
  verdict.outcome = Outcome::kDoesNotRun;
  EXPECT_FALSE(FewFail(images, verdict));
}

}  // namespace
}  // namespace cuproof
