#include "output/check_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "output/layout.h"
#include "output/test_report.h"

namespace cuproof {
namespace {

using testing::HasSubstr;
using testing::Not;

Style Terminal(size_t width) {
  Style style;
  style.terminal = true;
  style.width = width;
  return style;
}

TEST(CheckText, OneFile) {
  EXPECT_EQ(CheckText(test::OneFileReport(), Style{}),
            R"(target: 3 GPUs, driver not given

a/libx.so  ELF x86-64, 2 images in 1 module, CUDA 13.0, zstd
  SASS  sm_90
  PTX   compute_90 (ISA 9.0)

  GPU               verdict             image                    driver
  sm_75   T4        does not run (209)  nearest: sm_90
  sm_90   H200      runs                sm_90                    580.65.06+ (CUDA 13 runtime)
  sm_120  RTX 5090  runs after JIT      PTX compute_90, ISA 9.0  580.65.06+ (PTX ISA 9.0)

error[CP101] a/libx.so: no image runs on sm_75
    it holds sm_90 compute_90
  fix: rebuild with -gencode arch=compute_75,code=sm_75
  why: cuproof explain CP101

1 file looked at, 1 with device code, 41.0 KB in 4 ms
exit 1: 1 error
)");
}

TEST(CheckText, OneFileFitsNarrowTerminals) {
  Report report = test::OneFileReport();
  report.target.gpus[2].product = "RTX PRO 6000 Blackwell Server Edition";
  for (const size_t width : {80u, 100u, 120u}) {
    std::istringstream lines(CheckText(report, Terminal(width)));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), width) << line;
  }
  EXPECT_THAT(CheckText(report, Terminal(80)), HasSubstr("RTX PRO 6000  runs"));
}

TEST(CheckText, SaysHowManyModulesAreLeftOut) {
  Report report = test::OneFileReport();
  FileVerdict& verdict = report.files[0].verdicts[1];
  verdict.sass_modules = 2741;
  verdict.jit_modules = 12;
  verdict.failed_modules = 412;
  EXPECT_THAT(CheckText(report, Style{}), HasSubstr("in 2,753 of 3,165 modules, 12 after JIT\n"));
}

TEST(CheckText, Environment) {
  Report report = test::EnvironmentReport(40, 7);
  report.files_seen = 1204;
  const std::string text = CheckText(report, Style{});
  EXPECT_THAT(text, HasSubstr(R"(.venv  environment, 40 files with device code

                                     sm_75  sm_90
  pkg/lib100.so                        -      S
)"));
  EXPECT_THAT(text, HasSubstr(R"(
  pkg/lib106.so                        -      S
  33 more files run on all of these    S      S

  S runs   - does not run

  sm_75: 7 of 40 files do not run

error[CP101] 7 files: no image runs on sm_75
    pkg/lib100.so
    pkg/lib101.so
    pkg/lib102.so
    pkg/lib103.so
    pkg/lib104.so
    and 2 more
  why: cuproof explain CP101

1,204 files looked at, 40 with device code,)"));
}

TEST(CheckText, NamesWhatSpoilsIt) {
  EXPECT_THAT(CheckText(test::EnvironmentReport(3, 1), Style{}),
              HasSubstr("  sm_75: pkg/lib100.so does not run\n"));
  EXPECT_THAT(CheckText(test::EnvironmentReport(3, 3), Style{}),
              HasSubstr("  sm_75: no file runs\n"));
}

TEST(CheckText, VerboseShowsEverything) {
  Style style;
  style.verbose = true;
  Report report = test::EnvironmentReport(40, 20);
  report.findings[0].source = "programming guide";
  const std::string text = CheckText(report, style);
  EXPECT_THAT(text, HasSubstr("pkg/lib139.so"));
  EXPECT_THAT(text, Not(HasSubstr(" more")));
  EXPECT_THAT(text, HasSubstr("  source: programming guide\n"));
}

TEST(CheckText, NotesAreShort) {
  Report report = test::OneFileReport();
  report.findings.clear();
  for (int i = 0; i < 9; ++i) {
    Finding note =
        test::MakeFinding("CP109", Severity::kNote, "a/libx.so", "note " + std::to_string(i));
    note.fix = "fix that";
    report.findings.push_back(note);
  }
  const std::string text = CheckText(report, Style{});
  EXPECT_THAT(text, HasSubstr("note[CP109] a/libx.so: note 2\n"
                              "note[CP109] and 6 more: --verbose shows all\n\n"));
  EXPECT_THAT(text, Not(HasSubstr("fix that")));
  EXPECT_THAT(text, HasSubstr("exit 0: 9 notes\n"));
}

TEST(CheckText, ManyGpusOnANarrowTerminal) {
  Report report = test::EnvironmentReport(3, 1);
  report.target.gpus.clear();
  for (uint32_t sm = 70; sm < 100; ++sm) report.target.gpus.push_back(test::MakeGpu(sm));
  for (FileReport& file : report.files) file.verdicts.resize(30, file.verdicts[1]);
  std::istringstream lines(CheckText(report, Terminal(60)));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), 60u) << line;
}

TEST(CheckText, EscapesNames) {
  Report report = test::OneFileReport();
  const std::string evil = "a\x1b[2J\nerror[CP999] forged\xff";
  report.roots[0].argument = report.files[0].path = report.findings[0].file = evil;
  Finding& finding = report.findings[0];
  finding.subject = finding.message = finding.fix = finding.id = evil;
  finding.evidence = {evil};
  report.target.notes = {evil};
  report.target.gpus[0].product = evil;
  report.files[0].images.host.machine = evil;
  report.files[0].verdicts[1].floor = {1, evil, evil};
  report.target.driver = Driver{evil, 1, {1}, {13, 0}, false};
  for (const bool verbose : {false, true}) {
    Style style;
    style.verbose = verbose;
    const std::string text = CheckText(report, style);
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\nerror[CP999]")));
    EXPECT_THAT(text, Not(HasSubstr("\xff")));
  }
}

TEST(CheckText, NothingToShow) {
  Report report;
  report.files_seen = 1;
  EXPECT_EQ(CheckText(report, Style{}),
            "1 file looked at, 0 with device code, 0 bytes in 0 ms\n"
            "exit 0: nothing found\n");
  report.problems = {{ErrorCode::kNotFound, "no such file", "x", std::nullopt}};
  EXPECT_THAT(CheckText(report, Style{}), HasSubstr("exit 2: 1 input could not be read\n"));
}

TEST(CheckText, NamesWhatHasNoDeviceCode) {
  Report report = test::OneFileReport();
  report.roots.push_back({RootKind::kFile, "empty.so", ""});
  report.roots.push_back({RootKind::kFolder, "gone", ""});
  report.problems = {{ErrorCode::kNotFound, "no such file", "gone", std::nullopt}};
  const std::string text = CheckText(report, Style{});
  EXPECT_THAT(text, HasSubstr("\nempty.so: no device code found in it\n"));
  EXPECT_THAT(text, Not(HasSubstr("libx.so: no device code")));
  EXPECT_THAT(text, Not(HasSubstr("gone: no device code")));
}

TEST(CheckText, SaysWhichGpusAreNewerThanTheData) {
  Report report = test::OneFileReport();
  report.target.gpus[2].in_data = false;
  EXPECT_THAT(CheckText(report, Style{}),
              HasSubstr("target: 3 GPUs (sm_120 newer than this data), driver not given\n"));
}

TEST(CheckText, SaysWhyErrorsDoNotFail) {
  RunInfo run;
  run.fail_on = FailOn::kNever;
  EXPECT_THAT(CheckText(test::OneFileReport(), Style{}, run),
              HasSubstr("exit 0: 1 error (--fail-on never)\n"));
}

}  // namespace
}  // namespace cuproof
