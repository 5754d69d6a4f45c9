#include "rule/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "build_fatbin.h"
#include "container/test_folder.h"

namespace cuproof {
namespace {

using build::Fatbin;
using build::Ptx;
using build::Sass;
using build::SharedObject;
using testing::IsEmpty;

Target TargetOf(std::string_view gpu, std::string_view driver = "") {
  Target target;
  target.gpus = *FindGpus(gpu);
  target.named = true;
  if (!driver.empty()) target.driver = *FindDriver(driver);
  return target;
}

Report CheckFolder(const TestFolder& folder, const Target& target, bool deep = false) {
  CheckOptions options;
  options.deep = deep;
  options.threads = 4;
  return Check(TakeInventory({folder.path()}), target, options);
}

TEST(Check, JudgesEachFileAndSortsErrorsFirst) {
  const TestFolder folder;
  folder.Write("a.so", SharedObject(Fatbin({Sass({80, 0}), Ptx({80, 0}, {9, 0})})));
  folder.Write("b.so", SharedObject(Fatbin({Sass({80, 0})})));
  folder.Write("c.so", build::HostElfBytes({}));
  folder.Write("words", "no CUDA here");
  const Report report = CheckFolder(folder, TargetOf("H100", "580"));
  ASSERT_EQ(report.files.size(), 2u);
  EXPECT_EQ(report.files[0].path, folder.At("a.so"));
  EXPECT_EQ(report.files[0].verdicts.at(0).outcome, Outcome::kRunsJit);
  EXPECT_EQ(report.files[1].verdicts.at(0).outcome, Outcome::kDoesNotRun);
  EXPECT_EQ(report.files_without_cuda, 1u);
  EXPECT_EQ(report.files_seen, 4u);
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].id, "CP101");
  EXPECT_EQ(report.findings[1].id, "CP103");
  EXPECT_THAT(report.problems, IsEmpty());
}

// Headers make claims: before a file is called broken, what hides outside of containers is looked
// for.
TEST(Check, AFileThatWouldFailIsReadInFull) {
  const TestFolder folder;
  const std::string bare = build::Zstd(build::CubinBytes({}));
  folder.Write("a.so", SharedObject(Fatbin({Sass({80, 0})}) + "abc" + bare + "def"));
  folder.Write("b.so", SharedObject(Fatbin({Sass({90, 0})}) + "abc" + bare + "def"));
  const Report report = CheckFolder(folder, TargetOf("H100"));
  EXPECT_TRUE(report.files.at(0).images.deep);
  EXPECT_EQ(report.files[0].verdicts.at(0).outcome, Outcome::kRunsSass);
  EXPECT_FALSE(report.files.at(1).images.deep);
  EXPECT_THAT(report.findings, IsEmpty());
}

TEST(Check, TheLabelOfADamagedImageIsNotBelieved) {
  const TestFolder folder;
  build::Entry wrong = Sass({80, 0});
  wrong.arch = {90, 0};
  folder.Write("a.so", SharedObject(Fatbin({wrong})));
  EXPECT_EQ(CheckFolder(folder, TargetOf("H100"), true).files.at(0).verdicts.at(0).reason,
            Reason::kDamaged);
}

TEST(Check, ANamedFileIsReportedWhateverItIs) {
  const TestFolder folder;
  const std::string path = folder.Write("words", "no CUDA here");
  const Report report = Check(TakeInventory({path}), TargetOf("H100"), {});
  ASSERT_EQ(report.files.size(), 1u);
  EXPECT_THAT(report.files[0].verdicts, IsEmpty());
  EXPECT_THAT(report.findings, IsEmpty());
}

TEST(Check, AMissingFileIsAProblemAndTheOthersGoOn) {
  const TestFolder folder;
  const std::string path = folder.Write("a.so", SharedObject(Fatbin({Sass({90, 0})})));
  Inventory inventory = TakeInventory({path, folder.At("none")});
  EXPECT_EQ(Check(inventory, TargetOf("H100"), {}).problems.size(), 1u);
  // One that goes away between the two looks.
  std::filesystem::remove(path);
  const Report report = Check(inventory, TargetOf("H100"), {});
  ASSERT_EQ(report.problems.size(), 2u);
  EXPECT_EQ(report.problems[1].file, path);
}

TEST(Check, WhatWasNotLookedIntoIsANote) {
  const TestFolder folder;
  std::filesystem::create_symlink("gone", folder.At("dangling"));
  const Report report = CheckFolder(folder, TargetOf("H100"));
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].id, "CP116");
  EXPECT_EQ(report.findings[0].severity, Severity::kNote);
}

TEST(Check, ReportsProgressForEachUnit) {
  const TestFolder folder;
  uint64_t size = 0;
  for (const char* name : {"a.so", "b.so", "c.so"}) {
    const std::string bytes = SharedObject(Fatbin({Sass({90, 0})}));
    folder.Write(name, bytes);
    size += bytes.size();
  }
  std::atomic<uint64_t> done = 0;
  CheckOptions options;
  options.threads = 3;
  options.on_unit_done = [&](uint64_t bytes) { done += bytes; };
  const Report report = Check(TakeInventory({folder.path()}), TargetOf("H100"), options);
  EXPECT_EQ(done, size);
  EXPECT_EQ(report.bytes_read, size);
}

TEST(Inspect, ReadsAndDoesNotJudge) {
  const TestFolder folder;
  folder.Write("a.so", SharedObject(Fatbin({Sass({80, 0})})));
  const Report report = Inspect(TakeInventory({folder.path()}), {});
  ASSERT_EQ(report.files.size(), 1u);
  EXPECT_THAT(report.files[0].verdicts, IsEmpty());
  EXPECT_THAT(report.findings, IsEmpty());
}

}  // namespace
}  // namespace cuproof
