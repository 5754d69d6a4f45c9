#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Ptx;
using testing::HasSubstr;
using testing::IsEmpty;

// Report R38.
TEST(PtxInvalid, IsAnErrorWithOrWithoutANamedGpu) {
  for (const std::vector<std::string>& gpus : {std::vector<std::string>{"Rubin"}, {}}) {
    const auto findings = FindingsOf(RulePtxInvalid, {Ptx({107, 'a'}, {8, 8})}, gpus);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].id, "CP113");
    EXPECT_EQ(findings[0].severity, Severity::kError);
    EXPECT_EQ(findings[0].subject, "compute_107a");
    EXPECT_EQ(findings[0].message,
              "PTX ISA 8.8 does not have .target sm_107a; it needs 9.4 or newer");
    EXPECT_THAT(Joined(findings[0].evidence), HasSubstr("error 218"));
    EXPECT_EQ(findings[0].fix, "generate it with CUDA 13.4 or newer");
  }
}

TEST(PtxInvalid, ATargetThatNobodyHas) {
  const auto findings = Findings(
      RulePtxInvalid, JudgedFiles({{"k.ptx", build::PtxText({8, 6}, "sm_90f")}}, {"H100"}, "580"));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].message,
            "PTX ISA 8.6 does not have .target sm_90f; no PTX ISA has this target");
  EXPECT_EQ(findings[0].fix, "generate it for a target that exists, such as sm_90");
  const auto none = FindingsOf(RulePtxInvalid, {Ptx({77, 0}, {8, 6})}, {"H100"});
  ASSERT_EQ(none.size(), 1u);
  EXPECT_THAT(none[0].message, HasSubstr("no PTX ISA has this target"));
  EXPECT_THAT(none[0].fix, HasSubstr("a target that exists"));
}

// ISA 8.6 is that of CUDA 12.7, which was never public.
TEST(PtxInvalid, TheToolkitOfTheFixKnowsTheTargetToo) {
  const auto findings = FindingsOf(RulePtxInvalid, {Ptx({100, 0}, {8, 0})}, {"B200"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].message, HasSubstr("it needs 8.6 or newer"));
  EXPECT_EQ(findings[0].fix, "generate it with CUDA 12.8 or newer");
}

TEST(PtxInvalid, IsSilentAboutPairsThatExist) {
  EXPECT_THAT(FindingsOf(RulePtxInvalid, {Ptx({90, 'a'}, {8, 0}), Ptx({100, 'f'}, {8, 8})}, {}),
              IsEmpty());
  EXPECT_THAT(FindingsOf(RulePtxInvalid, {Ptx({75, 0}, {9, 5})}, {"T4"}), IsEmpty());
}

}  // namespace
}  // namespace cuproof
