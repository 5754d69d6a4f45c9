#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Ptx;
using build::Sass;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Jit, IsANoteForANamedGpuThatHasNoSass) {
  const auto findings = FindingsOf(RuleJit, {Sass({80, 0}), Ptx({80, 0}, {9, 0})}, {"H100"}, "580");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "CP103");
  EXPECT_EQ(findings[0].severity, Severity::kNote);
  EXPECT_EQ(findings[0].subject, "sm_90 (H100)");
  EXPECT_THAT(Joined(findings[0].evidence), HasSubstr("it compiles compute_80 (PTX ISA 9.0)"));
  EXPECT_THAT(findings[0].fix, HasSubstr("add SASS for sm_90"));
}

TEST(Jit, NamesEveryGpuAndWhatItCompiles) {
  const auto findings =
      FindingsOf(RuleJit, {Ptx({80, 0}, {9, 0}), Ptx({90, 0}, {9, 0})}, {"A100", "H100", "B200"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].fix, "to avoid the wait, add SASS for sm_80, sm_90, sm_100");
  ASSERT_EQ(findings[0].evidence.size(), 2u);
  EXPECT_THAT(findings[0].evidence[0], HasSubstr("for sm_80 (A100) it compiles compute_80 "));
  EXPECT_THAT(findings[0].evidence[1],
              HasSubstr("for sm_90 (H100) and sm_100 (B200) it compiles compute_90 "));
  EXPECT_THAT(findings[0].verified_on, HasSubstr("by document"));
}

TEST(Jit, IsSilentWhenNoGpuWasNamedOrSassFits) {
  EXPECT_THAT(FindingsOf(RuleJit, {Ptx({50, 0}, {9, 0})}, {}), IsEmpty());
  EXPECT_THAT(FindingsOf(RuleJit, {Sass({90, 0}), Ptx({90, 0}, {9, 0})}, {"H100"}), IsEmpty());
  EXPECT_THAT(FindingsOf(RuleJit, {Ptx({100, 0}, {9, 0})}, {"H100"}), IsEmpty());
}

}  // namespace
}  // namespace cuproof
