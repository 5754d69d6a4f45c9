#include "diff/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diff/log_findings.h"

namespace cuproof {
namespace {

using testing::HasSubstr;

MeasuredKernel Kernel(uint32_t registers, uint32_t threads = 0, const char* arch = "sm_90") {
  MeasuredKernel kernel;
  kernel.file = "build/lib.so";
  kernel.arch = arch;
  kernel.demangled = "propagate(float*)";
  kernel.resources.name = "_Z9propagatePf";
  kernel.resources.is_entry = true;
  kernel.resources.registers = registers;
  kernel.resources.stack_frame = 0;
  kernel.resources.spills = Spills{0, 0, SpillBasis::kExact};
  if (threads) kernel.resources.max_threads = {threads, 1, 1};
  return kernel;
}

std::vector<Finding> Compared(MeasuredKernel was, MeasuredKernel is,
                              const GateOptions& options = {}) {
  Measure(was, options);
  Measure(is, options);
  return CompareWithBaseline(MakeBaseline({was}), {is}, options);
}

std::vector<std::string> Ids(const std::vector<Finding>& findings) {
  std::vector<std::string> ids;
  for (const Finding& finding : findings) {
    ids.push_back(std::string(SeverityName(finding.severity)) + " " + finding.id);
  }
  return ids;
}

TEST(Baseline, AnUnchangedBuildHasNoFindings) {
  EXPECT_TRUE(Compared(Kernel(64, 256), Kernel(64, 256)).empty());
  EXPECT_TRUE(Compared(Kernel(64), Kernel(40)).empty()) << "less is no finding";
}

// Public report R116: a refactoring raised registers, and launches failed.
TEST(Baseline, RegistersThatLetABlockNoLongerLaunchAreAnError) {
  GateOptions options;
  options.block = 1024;
  const auto findings = Compared(Kernel(64), Kernel(72), options);
  ASSERT_EQ(Ids(findings).front(), "error CP402");
  EXPECT_THAT(findings[0].message, HasSubstr("72 registers a thread, 64 in the baseline: blocks of "
                                             "1024 threads no longer launch"));
  EXPECT_THAT(findings[0].fix, HasSubstr("-maxrregcount=64"));
  // Without a block it is a warning that names the largest one.
  const auto unknown = Compared(Kernel(64), Kernel(72));
  ASSERT_EQ(Ids(unknown), std::vector<std::string>{"warning CP402"});
  EXPECT_THAT(unknown[0].evidence[0], HasSubstr("896 threads, was 1024"));
}

// Public report R117: no spills before nvcc 13.0, some with it.
TEST(Baseline, NewSpillsAreAnError) {
  MeasuredKernel is = Kernel(64, 256, "sm_89");
  is.resources.spills = Spills{40, 44, SpillBasis::kExact};
  const auto findings = Compared(Kernel(64, 256, "sm_89"), is);
  ASSERT_EQ(Ids(findings), std::vector<std::string>{"error CP403"});
  EXPECT_EQ(findings[0].message, "spills 84 bytes a thread, none in the baseline");
  EXPECT_EQ(findings[0].subject, "propagate(float*) for sm_89");
}

// Public report R119: old spills exist, only new ones may fail.
TEST(Baseline, SpillsThatWereThereAreNone) {
  MeasuredKernel was = Kernel(64);
  was.resources.spills = Spills{16, 16, SpillBasis::kExact};
  EXPECT_TRUE(Compared(was, was).empty());
  MeasuredKernel is = was;
  is.resources.spills->loads = 20;
  EXPECT_THAT(Compared(was, is).at(0).message, HasSubstr("36 bytes a thread, 32 in the baseline"));
}

TEST(Baseline, SpillsThatAreNotKnownAreNotGuessed) {
  MeasuredKernel was = Kernel(64);
  was.resources.spills = Spills{100, 100, SpillBasis::kAtMost};
  MeasuredKernel is = Kernel(64);
  is.resources.spills = Spills{8, 8, SpillBasis::kExact};
  EXPECT_TRUE(Compared(was, is).empty());
  is.resources.stack_frame = 24;
  EXPECT_EQ(Ids(Compared(was, is)), std::vector<std::string>{"warning CP403"});
}

// Public report R122: 41 and 43 registers take the same.
TEST(Baseline, RegistersInsideOneUnitChangeNothing) {
  const auto findings = Compared(Kernel(41, 256), Kernel(43, 256));
  ASSERT_EQ(Ids(findings), std::vector<std::string>{"note CP402"});
  EXPECT_THAT(findings[0].evidence[0], HasSubstr("both take 48 a thread"));
}

TEST(Baseline, RegistersThatLimitNothingAreANote) {
  const auto findings = Compared(Kernel(16), Kernel(30));
  ASSERT_EQ(Ids(findings), std::vector<std::string>{"note CP402"});
  EXPECT_THAT(findings[0].evidence[0], HasSubstr("both leave registers for 64 warps"));
}

TEST(Baseline, LostOccupancyIsAnError) {
  const auto findings = Compared(Kernel(32, 256), Kernel(40, 256));
  EXPECT_EQ(Ids(findings), (std::vector<std::string>{"warning CP402", "error CP404"}));
  EXPECT_EQ(findings[1].message,
            "48 warps a multiprocessor in blocks of 256 threads, 64 in the baseline");
}

TEST(Baseline, VanishedKernelsAreSaidOnceForAnArchitecture) {
  MeasuredKernel other = Kernel(8);
  other.resources.name = "_Z1bv";
  MeasuredKernel third = Kernel(8, 0, "sm_80");
  const Baseline baseline = MakeBaseline({Kernel(8), other, third});
  const auto findings = CompareWithBaseline(baseline, {Kernel(8)}, {});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].message, "all 1 kernel for sm_80 of the baseline are gone");
  EXPECT_EQ(findings[1].message, "1 kernel for sm_90 of the baseline is gone");
  GateOptions filtered;
  filtered.whole = false;
  EXPECT_TRUE(CompareWithBaseline(baseline, {Kernel(8)}, filtered).empty());
}

TEST(Baseline, WhatIsComparedWithNothingIsSaid) {
  MeasuredKernel added = Kernel(8);
  added.resources.name = "_Z1bv";
  const auto findings = CompareWithBaseline(MakeBaseline({Kernel(8)}), {Kernel(8), added}, {});
  ASSERT_EQ(Ids(findings), std::vector<std::string>{"note CP409"});
  EXPECT_EQ(findings[0].message,
            "1 kernel for sm_90 is not in the baseline: compared with nothing");
  EXPECT_EQ(Ids(CompareWithBaseline({}, {Kernel(8)}, {})), std::vector<std::string>{"error CP409"});
  EXPECT_EQ(Ids(CompareWithBaseline(MakeBaseline({Kernel(8)}), {added}, {})),
            (std::vector<std::string>{"warning CP405", "error CP409"}));
}

TEST(Baseline, OneOfTwoFilesWithTheSameNameGrows) {
  MeasuredKernel first = Kernel(54);
  MeasuredKernel second = Kernel(128);
  first.file = "q1/lib.cubin";
  second.file = "q2/lib.cubin";
  const Baseline baseline = MakeBaseline({first, second});
  ASSERT_EQ(baseline.kernels.size(), 2u);
  first.resources.registers = 128;
  EXPECT_EQ(Ids(CompareWithBaseline(baseline, {first, second}, {})),
            std::vector<std::string>{"warning CP402"});
}

TEST(Baseline, TextThatIsNoJsonNamesItsLine) {
  const auto read = ParseBaseline("{\"schema\":\"cuproof.baseline/1\",\n<<<<<<< HEAD\n", "b.json");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().Text(), HasSubstr("line 2: expected JSON"));
  EXPECT_THAT(read.error().Text(), testing::Not(HasSubstr("make it again")));
}

TEST(Baseline, IsReadBackAsItWasWritten) {
  MeasuredKernel odd = Kernel(255);
  odd.resources.name = "\xff\"name\n";
  odd.resources.spills.reset();
  const Baseline baseline = MakeBaseline({Kernel(8, 256), odd, Kernel(9, 256)});
  ASSERT_EQ(baseline.kernels.size(), 2u) << "one name in one file is one row";
  const std::string text = BaselineText(baseline);
  const auto read = ParseBaseline(text, "b.json");
  ASSERT_TRUE(read) << read.error().Text();
  EXPECT_EQ(BaselineText(*read), text);
  EXPECT_EQ(read->kernels[0].registers, 9u) << "the larger one";
  for (const char* bad : {"", "[]", "{\"schema\":\"x\"}", "{\"schema\":\"cuproof.baseline/1\"}",
                          "{\"schema\":\"cuproof.baseline/1\",\"kernels\":[{}]}",
                          "{\"schema\":\"cuproof.baseline/1\",\"kernels\":[{\"file\":\"\","
                          "\"arch\":\"\",\"kernel\":\"\",\"registers\":-1}]}"})
    EXPECT_FALSE(ParseBaseline(bad, "b.json")) << bad;
}

BudgetFile Parsed(const char* text) {
  const auto file = ParseBudgetFile(text, "cuproof.toml");
  EXPECT_TRUE(file) << file.error().Text();
  return file ? *file : BudgetFile{};
}

std::vector<Finding> Checked(const char* text, MeasuredKernel kernel) {
  Measure(kernel, {});
  return CheckBudgets(Parsed(text), {kernel}, {});
}

TEST(Budget, EveryLimitIsChecked) {
  MeasuredKernel kernel = Kernel(72, 256);
  kernel.resources.spills = Spills{4, 8, SpillBasis::kExact};
  kernel.resources.static_shared = 2048;
  kernel.resources.stack_frame = 16;
  const auto findings = Checked(
      "[[budget]]\nkernel = \"propagate*\"\nregisters = 71\nspills = 11\nshared = 2047\n"
      "stack = 15\nblock = 1024\noccupancy = 0.01\nreason = \"why\"\n",
      kernel);
  EXPECT_EQ(Ids(findings), std::vector<std::string>(6, "error CP401"));
  EXPECT_EQ(findings[0].message, "72 registers a thread, its budget is 71");
  EXPECT_THAT(findings[0].evidence[0], HasSubstr("cuproof.toml line 1"));
  EXPECT_TRUE(Checked("[[budget]]\nkernel = \"*\"\nregisters = 72\nspills = 12\nshared = 2048\n"
                      "stack = 16\nblock = 256\noccupancy = 0.25\n",
                      kernel)
                  .empty());
}

TEST(Budget, OfAStackWithoutABoundNothingIsPassed) {
  MeasuredKernel kernel = Kernel(24);
  const char* const none = "[[budget]]\nkernel = \"*\"\nstack = 0\n";
  EXPECT_TRUE(Checked(none, kernel).empty());
  kernel.resources.recursion = true;
  EXPECT_EQ(Checked(none, kernel).at(0).id, "CP406");
  kernel.resources.recursion = false;
  kernel.resources.indirect_calls = true;
  kernel.resources.stack_frame.reset();
  EXPECT_EQ(Checked(none, kernel).at(0).id, "CP406");
  kernel.resources.cumulative_stack = 16;
  EXPECT_EQ(Checked(none, kernel).at(0).id, "CP401") << "at least 16";
  kernel.resources.indirect_calls = false;
  EXPECT_EQ(Checked("[[budget]]\nkernel = \"*\"\nstack = 15\n", kernel).at(0).message,
            "16 bytes of stack a thread, its budget is 15");
}

TEST(Budget, IsOnlyForItsKernelsAndArchitecture) {
  const char* const text =
      "[[budget]]\nkernel = \"other*\"\nregisters = 1\n[[budget]]\nkernel = \"*\"\n"
      "arch = \"sm_80\"\nregisters = 1\n";
  EXPECT_EQ(Ids(Checked(text, Kernel(72))),
            (std::vector<std::string>{"warning CP406", "warning CP406", "error CP406"}))
      << "nothing was checked";
  MeasuredKernel kernel = Kernel(72);
  GateOptions options;
  options.gpus = {90};
  const auto findings = CheckBudgets(Parsed(text), {kernel}, options);
  ASSERT_EQ(Ids(findings), (std::vector<std::string>{"warning CP406", "error CP406"}))
      << "sm_80 was not asked for";
  EXPECT_THAT(findings[0].message, HasSubstr("other*"));
}

TEST(Budget, ChosenGpusWithoutKernelsAreSaid) {
  GateOptions options;
  options.gpus = {75, 90};
  const auto findings = GpusNotChecked("b.toml", {90}, options);
  ASSERT_EQ(Ids(findings), std::vector<std::string>{"warning CP406"});
  EXPECT_THAT(findings[0].message, HasSubstr("nothing was checked for sm_75"));
}

TEST(Budget, WhatIsNotKnownIsSaidAndIsNoError) {
  MeasuredKernel kernel = Kernel(72);
  kernel.resources.spills = Spills{100, 100, SpillBasis::kAtMost};
  const auto findings =
      Checked("[[budget]]\nkernel = \"*\"\nspills = 0\noccupancy = 0.5\n", kernel);
  EXPECT_EQ(Ids(findings), std::vector<std::string>(2, "warning CP406"));
}

TEST(Allowance, TakesAwayWhatItNamesUntilItExpires) {
  MeasuredKernel is = Kernel(64);
  is.resources.spills = Spills{40, 44, SpillBasis::kExact};
  const BudgetFile file = Parsed(
      "[[allow]]\nkernel = \"propagate*\"\nid = \"CP403\"\nreason = \"r\"\nuntil = 2026-12-31\n");
  GateOptions options;
  options.today = "2026-12-31";
  auto findings = Compared(Kernel(64), is);
  ApplyAllowances(file, {is}, options, findings);
  EXPECT_TRUE(findings.empty());
  options.today = "2027-01-01";
  findings = Compared(Kernel(64), is);
  ApplyAllowances(file, {is}, options, findings);
  EXPECT_EQ(Ids(findings), (std::vector<std::string>{"error CP403", "warning CP406"}));
  EXPECT_THAT(findings[1].message, HasSubstr("expired on 2026-12-31: r"));
  options.today = "2026-12-31";
  findings.clear();
  ApplyAllowances(file, {is}, options, findings);
  EXPECT_EQ(Ids(findings), std::vector<std::string>{"note CP406"}) << "not needed any more";
}

TEST(LogFindings, SayThatALogWasCut) {
  const PtxasLog log = ReadPtxasLog(
      "ptxas info    : Compiling entry function '_Z1kv' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z1kv\n    0 bytes stack fr");
  const auto findings = FindingsOfRemarks(log, "build.log");
  ASSERT_EQ(Ids(findings), std::vector<std::string>{"warning CP407"});
  EXPECT_THAT(findings[0].message, HasSubstr("1 of 1 kernels are not in the log"));
}

TEST(LogFindings, SayWhatPtxasLost) {
  const PtxasLog log = ReadPtxasLog(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to x in the function '_Z1kv'\n"
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to x in the function '_Z1kv'\n"
      "ptxas warning : Registers are spilled to local memory in function '_Z1kv', 8 bytes spill "
      "stores, 8 bytes spill loads\n");
  const auto findings = FindingsOfRemarks(log, "build.log");
  ASSERT_EQ(Ids(findings), std::vector<std::string>{"warning CP407"});
  EXPECT_EQ(findings[0].subject, "k()");
  EXPECT_EQ(findings[0].evidence.size(), 2u);
}

TEST(Failure, OfABlockThatEveryNumberOfRegistersFitsTheRegistersAreNotTheCause) {
  LaunchFailure failure;
  failure.line = 3;
  GateOptions options;
  options.block = 33;
  const auto few = FindingsOfFailures({failure}, "run.log", {}, {"sm_90"}, options);
  ASSERT_EQ(few.size(), 1u);
  EXPECT_THAT(few[0].fix, HasSubstr("name the block of that launch"));
  options.block = 257;
  const auto many = FindingsOfFailures({failure}, "run.log", {}, {"sm_90"}, options);
  EXPECT_THAT(many[0].fix, HasSubstr("-maxrregcount="));
}

}  // namespace
}  // namespace cuproof
