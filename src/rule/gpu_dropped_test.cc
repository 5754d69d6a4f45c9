#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Sass;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Finding> Find(const std::vector<std::string>& gpus, std::string_view driver) {
  const std::string bytes = build::SharedObject(build::Fatbin({Sass({70, 0}, {12, 6})}), 12);
  return Findings(RuleGpuDropped, JudgedFiles({{"libx.so", bytes}}, gpus, driver));
}

TEST(GpuDropped, IsAnErrorForANamedGpuAndANoteElse) {
  const auto findings = Find({"V100"}, "590.48.01");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "CP114");
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_THAT(findings[0].message, HasSubstr("its last branch is r580"));
  EXPECT_THAT(findings[0].fix, HasSubstr("r580"));
  ASSERT_EQ(Find({}, "590").size(), 1u);
  EXPECT_EQ(Find({}, "590").at(0).severity, Severity::kNote);
}

TEST(GpuDropped, IsSilentForDriversThatServeIt) {
  EXPECT_THAT(Find({"V100"}, "580.95.05"), IsEmpty());
  EXPECT_THAT(Find({"V100"}, ""), IsEmpty());
  EXPECT_THAT(Find({"T4", "H100"}, "610"), IsEmpty());
}

}  // namespace
}  // namespace cuproof
