#include "output/summary.h"

#include <gtest/gtest.h>

#include "output/test_report.h"

namespace cuproof {
namespace {

TEST(ExitCode, FollowsTheLevel) {
  Report report;
  EXPECT_EQ(ExitCode(report, FailOn::kWarning), 0);
  report.findings = {test::MakeFinding("CP103", Severity::kNote, "", "n")};
  EXPECT_EQ(ExitCode(report, FailOn::kWarning), 0);
  report.findings.push_back(test::MakeFinding("CP106", Severity::kWarning, "", "w"));
  EXPECT_EQ(ExitCode(report, FailOn::kWarning), 1);
  EXPECT_EQ(ExitCode(report, FailOn::kError), 0);
  report.findings.push_back(test::MakeFinding("CP101", Severity::kError, "", "e"));
  EXPECT_EQ(ExitCode(report, FailOn::kError), 1);
  EXPECT_EQ(ExitCode(report, FailOn::kNever), 0);
  report.problems = {{ErrorCode::kNotFound, "no such file", "x", std::nullopt}};
  EXPECT_EQ(ExitCode(report, FailOn::kNever), 2);
}

TEST(ParseFailOn, Words) {
  EXPECT_EQ(ParseFailOn("warning"), FailOn::kWarning);
  EXPECT_EQ(ParseFailOn("all"), std::nullopt);
}

}  // namespace
}  // namespace cuproof
