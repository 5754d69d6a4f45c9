#include "output/matrix_rows.h"

#include <gtest/gtest.h>

#include "output/test_report.h"

namespace cuproof {
namespace {

FileList FilesOf(const Report& report) {
  FileList files;
  for (const FileReport& file : report.files) files.push_back(&file);
  return files;
}

std::vector<MatrixRow> Rows(const Report& report, bool all) {
  const FileList files = FilesOf(report);
  return MatrixRows(report, files, MatrixColumns(report.target, files), all);
}

TEST(MatrixRows, ProblemsFirst) {
  Report report = test::EnvironmentReport(3, 1);
  std::swap(report.files[0], report.files[2]);
  const auto rows = Rows(report, false);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "pkg/lib100.so");
  EXPECT_EQ(rows[0].letters, "-S");
  EXPECT_EQ(rows[1].name, "pkg/lib101.so");
  EXPECT_EQ(rows[2].letters, "SS");
}

TEST(MatrixRows, ManyFilesThatRunAreOneLine) {
  const auto rows = Rows(test::EnvironmentReport(40, 1), false);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].name, "39 more files run on all of these");
  EXPECT_EQ(Rows(test::EnvironmentReport(40, 0), false).at(0).name, "40 files run on all of these");
  EXPECT_EQ(Rows(test::EnvironmentReport(40, 1), true).size(), 40u);
}

TEST(MatrixRows, ManyFilesThatFailAlikeAreCut) {
  const auto rows = Rows(test::EnvironmentReport(40, 20), false);
  ASSERT_EQ(rows.size(), 10u);
  EXPECT_EQ(rows[8].name, "and 12 more like these");
  EXPECT_EQ(rows[8].letters, "-S");
  EXPECT_EQ(rows[9].name, "20 more files run on all of these");
}

TEST(MatrixRows, HighestFloorOfWhatRuns) {
  Report report = test::EnvironmentReport(2, 1);
  report.files[0].verdicts[0].floor = {600, "600.1", "it does not run"};
  report.files[0].verdicts[1].floor = {550, "", "zstd images"};
  EXPECT_EQ(Rows(report, false).at(0).floor.branch, 550u);
}

TEST(MatrixRows, WhatFailsForTheDriverNamesTheDriverThatItNeeds) {
  Report report = test::EnvironmentReport(2, 1);
  FileVerdict& fails = report.files[0].verdicts[0];
  fails.floor = {590, "590.44.01", "PTX ISA 9.1"};
  for (const Reason reason : {Reason::kPtxTooNew, Reason::kRuntimeTooNew, Reason::kZstdOldDriver}) {
    fails.reason = reason;
    EXPECT_EQ(Rows(report, false).at(0).floor.number, "590.44.01");
  }
}

TEST(MatrixColumns, GpusOfOneArchitectureShareAColumn) {
  Report report = test::EnvironmentReport(2, 1);
  report.target.gpus = {test::MakeGpu(90, "H100"), test::MakeGpu(90, "H200")};
  EXPECT_EQ(MatrixColumns(report.target, FilesOf(report)).size(), 2u);  // lib100 tells them apart
  report.files[0].verdicts[0] = report.files[0].verdicts[1];
  EXPECT_EQ(MatrixColumns(report.target, FilesOf(report)).size(), 1u);
}

TEST(VerdictAt, MissingIsUnknown) { EXPECT_EQ(VerdictAt({}, 3).outcome, Outcome::kUnknown); }

}  // namespace
}  // namespace cuproof
