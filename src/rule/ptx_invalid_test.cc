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
  EXPECT_THAT(findings[0].message, HasSubstr("it needs another"));
}

TEST(PtxInvalid, IsSilentAboutPairsThatExist) {
  EXPECT_THAT(FindingsOf(RulePtxInvalid, {Ptx({90, 'a'}, {8, 0}), Ptx({100, 'f'}, {8, 8})}, {}),
              IsEmpty());
  EXPECT_THAT(FindingsOf(RulePtxInvalid, {Ptx({75, 0}, {9, 5})}, {"T4"}), IsEmpty());
}

}  // namespace
}  // namespace cuproof
