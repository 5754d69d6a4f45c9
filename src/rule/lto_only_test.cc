#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::LtoIr;
using build::Ptx;
using build::Sass;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(LtoOnly, IsANoteSinceAProgramMayLinkIt) {
  const auto findings = FindingsOf(RuleLtoOnly, {LtoIr({75, 0}, true)}, {"H100"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "CP111");
  EXPECT_EQ(findings[0].severity, Severity::kNote);
  EXPECT_EQ(findings[0].subject, "sm_90 (H100)");
  EXPECT_THAT(findings[0].message, HasSubstr("nvJitLink"));
  EXPECT_THAT(Joined(findings[0].evidence), HasSubstr("lto_75"));
  EXPECT_THAT(findings[0].verified_on, HasSubstr("other GPUs and drivers by document"));
}

TEST(LtoOnly, IsSilentBesideAnImageThatFits) {
  EXPECT_THAT(FindingsOf(RuleLtoOnly, {LtoIr({75, 0}), Ptx({75, 0}, {9, 0})}, {"H100"}), IsEmpty());
  EXPECT_THAT(FindingsOf(RuleLtoOnly, {LtoIr({75, 0}), Sass({90, 0})}, {"H100"}), IsEmpty());
}

}  // namespace
}  // namespace cuproof
