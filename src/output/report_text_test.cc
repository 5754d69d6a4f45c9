#include "output/report_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "container/test_folder.h"
#include "output/layout.h"
#include "output/report_json.h"
#include "output/report_perfetto.h"
#include "trace/reader.h"
#include "trace/summary.h"
#include "trace/test_run.h"

namespace cuproof {
namespace {

using testing::HasSubstr;
using testing::Not;
using trace::Op;
using trace::test::Launch;
using trace::test::RingBytes;

constexpr const char* kEvents =
    R"({"event":"process","pid":70,"exe":"/x/app","command":["app","a b"]})"
    "\n"
    R"({"event":"device","device":0,"name":"H200","attributes":{"75":9,"76":0}})"
    "\n"
    R"({"event":"image","id":1,"kind":"ptx","size":1000,"result":0,"ns":1500000000})"
    "\n"
    R"({"event":"image","id":2,"kind":"ptx","size":1000,"result":0,"ns":90000})"
    "\n"
    R"({"event":"function","id":1,"name":"_Z5scalePf","image":1})"
    "\n"
    R"({"event":"function","id":2,"name":"\u001b[2Jevil","image":1})"
    "\n"
    R"({"event":"graph","id":1,"origin":"capture","nodes":{"kernel":12,"memcpy":1},"complete":false,"result":0,"ns":3000000})"
    "\n"
    R"({"event":"capture","id":1,"stream":1,"mode":"global"})"
    "\n"
    R"({"event":"error","tid":1,"api":"cuLaunchKernel","result":720,"function":1,"grid":[9,1,1],"block":[32,1,1]})"
    "\n"
    R"({"event":"log","tid":1,"level":0,"text":"what the driver says"})"
    "\n";

class ReportOfARun : public testing::Test {
 protected:
  void SetUp() override {
    RingBytes ring(70);
    for (int i = 0; i < 20; ++i) ring.Add(1, Op::kLaunchKernel, Launch(1, 2'000'000, 1));
    ring.Add(1, Op::kLaunchKernel, Launch(2, 3'000'000, 1));
    folder_.Write("70.ring", ring.bytes());
    folder_.Write("70.jsonl", kEvents);
    folder_.Write("run.json",
                  R"({"command":["app","a b"],"exit_code":3,"start":{"clock":0,"monotonic_ns":0},)"
                  R"("end":{"clock":9,"monotonic_ns":2000000000},"notes":["a note"]})");
  }
  std::string Text(const Style& style = {}) {
    const auto run = trace::ReadRun(folder_.path());
    return ReportText(MakeRunReport(*run), style);
  }
  TestFolder folder_;
};

TEST_F(ReportOfARun, HasEveryPart) {
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("app 'a b'\n"));
  EXPECT_THAT(text, HasSubstr("exit code 3 after 2.0 s"));
  EXPECT_THAT(text, HasSubstr("H200 (sm_90)"));
  EXPECT_THAT(text, HasSubstr("error[CP505]"));
  EXPECT_THAT(text, HasSubstr("the driver: what the driver says"));
  EXPECT_THAT(text, HasSubstr("20  scale(float*)"));
  EXPECT_THAT(text, HasSubstr("1 PTX text compiled in 1.5 s; 1 found compiled in the cache"));
  EXPECT_THAT(text, HasSubstr("12 kernel, 1 memcpy, perhaps more"));
  EXPECT_THAT(text, HasSubstr("1 global; 1 not ended"));
  EXPECT_THAT(text, HasSubstr("the first 13 made room"));
  EXPECT_THAT(text, HasSubstr("a note"));
}

TEST_F(ReportOfARun, NamesAreEscapedForTheTerminal) {
  EXPECT_THAT(Text(), Not(HasSubstr("\x1b")));
  EXPECT_THAT(Text(), HasSubstr("\\x1b[2Jevil"));
}

TEST_F(ReportOfARun, LinesFitTheTerminal) {
  for (const size_t width : {60u, 100u}) {
    Style style;
    style.width = width;
    style.terminal = true;
    std::istringstream lines(Text(style));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), width) << line;
  }
}

TEST_F(ReportOfARun, TheSummaryIsShort) {
  const auto summary = trace::SummariseRun(folder_.path(), Style{});
  ASSERT_TRUE(summary);
  EXPECT_THAT(*summary, HasSubstr("21 launches of 2 kernels by 1 process; 2 images loaded"));
  EXPECT_THAT(*summary, HasSubstr("CP505"));
  EXPECT_LE(std::count(summary->begin(), summary->end(), '\n'), 15);
}

TEST_F(ReportOfARun, JsonIsAscii) {
  const auto run = trace::ReadRun(folder_.path());
  for (const std::string& text : {ReportJson(MakeRunReport(*run), "0"), ReportPerfetto(*run)}) {
    for (const char c : text) ASSERT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7F));
  }
}

TEST(Report, OfAnEmptyRunSaysSo) {
  const TestFolder folder;
  folder.Write("run.json", "{}");
  const auto run = trace::ReadRun(folder.path());
  const std::string text = ReportText(MakeRunReport(*run), Style{});
  EXPECT_THAT(text, HasSubstr("none of the program's called the driver"));
  EXPECT_THAT(text, HasSubstr("no end is recorded"));
}

}  // namespace
}  // namespace cuproof
