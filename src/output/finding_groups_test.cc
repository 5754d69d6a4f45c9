#include "output/finding_groups.h"

#include <gtest/gtest.h>

#include "output/test_report.h"

namespace cuproof {
namespace {

TEST(GroupFindings, SameMessageSameGroup) {
  const std::vector<Finding> findings = {
      test::MakeFinding("CP103", Severity::kNote, "c", "n"),
      test::MakeFinding("CP101", Severity::kError, "a", "m"),
      test::MakeFinding("CP101", Severity::kError, "b", "m"),
      test::MakeFinding("CP101", Severity::kNote, "d", "m"),
      test::MakeFinding("CP101", Severity::kError, "e", "other"),
  };
  const auto groups = GroupFindings(findings);
  ASSERT_EQ(groups.size(), 4u);
  ASSERT_EQ(groups[0].findings.size(), 2u);
  EXPECT_EQ(groups[0].findings[1]->file, "b");
  EXPECT_EQ(groups[1].findings[0]->file, "e");
  EXPECT_EQ(groups[2].findings[0]->file, "c");
  EXPECT_EQ(groups[3].findings[0]->file, "d");
}

}  // namespace
}  // namespace cuproof
