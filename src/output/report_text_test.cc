#include "output/report_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
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
    "\n"
    R"({"event":"log","tid":1,"level":0,"text":"Returning 720 (X) from cuLaunchKernel"})"
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
  EXPECT_THAT(text, HasSubstr("no process called the driver"));
  EXPECT_THAT(text, HasSubstr("the launcher was not there to see the end"));
  EXPECT_THAT(text, Not(HasSubstr("0 launches")));
  const auto summary = trace::SummariseRun(folder.path(), Style{});
  EXPECT_THAT(*summary, HasSubstr("no process called the driver"));
}

TEST(Report, OfModeIdleSaysThatNothingWasRecorded) {
  const TestFolder folder;
  folder.Write("run.json", R"({"options":{"mode":"idle"},"exit_code":0})");
  const auto run = trace::ReadRun(folder.path());
  const RunReport report = MakeRunReport(*run);
  const std::string text = ReportText(report, Style{});
  EXPECT_THAT(text, HasSubstr("nothing was recorded"));
  EXPECT_THAT(text, Not(HasSubstr("called the driver")));
  EXPECT_THAT(text, Not(HasSubstr("exact")));
  EXPECT_THAT(*trace::SummariseRun(folder.path(), Style{}), HasSubstr("nothing was recorded"));
  const auto json = nlohmann::json::parse(ReportJson(report, "0"));
  EXPECT_EQ(json["recorded"], false);
  EXPECT_TRUE(json["kernel_launches"].is_null());
}

TEST(Report, WhatLostEventsWouldHaveSaidIsNotKnown) {
  const TestFolder folder;
  folder.Write("run.json", "{}");
  RingBytes ring(70);
  ring.Add(1, Op::kLaunchKernel, Launch(1, 2000));
  folder.Write("70.ring", ring.bytes());
  std::string text = ReportText(MakeRunReport(*trace::ReadRun(folder.path())), Style{});
  EXPECT_THAT(text, HasSubstr("not known (events were lost)"));
  EXPECT_THAT(text, HasSubstr("70.jsonl is missing or empty"));
  EXPECT_THAT(text, HasSubstr("1 launch by calls"));
  folder.Write("70.jsonl", R"({"event":"lost","what":"ring","errno":28})"
                           "\n");
  text = ReportText(MakeRunReport(*trace::ReadRun(folder.path())), Style{});
  EXPECT_THAT(text, HasSubstr("lost: a ring (No space left on device)"));
  EXPECT_THAT(text, HasSubstr("driver version not asked for"));
  ring.Put(offsetof(trace::FileHeader, ring_failures), uint32_t{2});
  folder.Write("70.ring", ring.bytes());
  text = ReportText(MakeRunReport(*trace::ReadRun(folder.path())), Style{});
  EXPECT_THAT(text, HasSubstr("2 threads got no ring of their own (No space left on device)"));
  EXPECT_THAT(text, Not(HasSubstr("lost:"))) << "one cause, once";
}

TEST(Report, DamagedCountersAreNotCalledExact) {
  const TestFolder folder;
  folder.Write("run.json", "{}");
  RingBytes ring(70);
  ring.Add(1, Op::kLaunchKernel, Launch(1, 2000));
  ring.PutRing(1, offsetof(trace::RingHeader, launches) + 8, uint64_t{1} << 40);
  folder.Write("70.ring", ring.bytes());
  folder.Write("70.jsonl", "{}");
  const auto run = trace::ReadRun(folder.path());
  const RunReport report = MakeRunReport(*run);
  EXPECT_FALSE(report.exact);
  EXPECT_THAT(ReportText(report, Style{}), HasSubstr("the counters of 1 ring contradict"));
  EXPECT_THAT(ReportText(report, Style{}), HasSubstr("not exact"));
}

TEST(Report, LongCommandsAndNamesAreCut) {
  const TestFolder folder;
  const std::string name = "_ZN" + std::string(900, 'x');
  const std::string command = std::string(900, 'y');
  folder.Write("run.json", R"({"command":[")" + command + R"("]})");
  folder.Write("70.jsonl",
               R"({"event":"process","command":[")" + command + "\"]}\n" +
                   R"({"event":"function","id":1,"name":")" + name + "\"}\n" +
                   R"({"event":"error","api":"cuLaunchKernel","result":720,"function":1})" + "\n");
  RingBytes ring(70);
  ring.Add(1, Op::kLaunchKernel, Launch(1, 2000));
  folder.Write("70.ring", ring.bytes());
  const auto run = trace::ReadRun(folder.path());
  Style style;
  std::string text = ReportText(MakeRunReport(*run), style);
  EXPECT_THAT(text, Not(HasSubstr(std::string(300, 'x'))));
  EXPECT_THAT(text, Not(HasSubstr(std::string(300, 'y'))));
  EXPECT_THAT(text, HasSubstr("with --verbose"));
  style.verbose = true;
  text = ReportText(MakeRunReport(*run), style);
  EXPECT_THAT(text, HasSubstr(name));
  EXPECT_THAT(text, HasSubstr(command));
}

TEST(Report, RepeatedErrorsAreCountedAtLeast) {
  const TestFolder folder;
  folder.Write("run.json", "{}");
  folder.Write("70.jsonl",
               R"({"event":"error","api":"cuLaunchKernel","result":720,"function":1})"
               "\n"
               R"({"event":"error","api":"cuLaunchKernel","result":720,"function":1,"count":512})"
               "\n");
  Style style;
  style.width = 1000;
  for (const uint64_t errors : {1000U, 512U}) {
    RingBytes ring(70);
    ring.PutRing(1, offsetof(trace::RingHeader, errors), errors);
    folder.Write("70.ring", ring.bytes());
    const auto run = trace::ReadRun(folder.path());
    EXPECT_THAT(ReportText(MakeRunReport(*run), style),
                HasSubstr(errors == 512 ? "(512 times)" : "(at least 512 times)"));
  }
}

class TimedRun : public testing::Test {
 protected:
  void SetUp() override {
    folder_.Write("run.json", R"({"options":{"mode":"timed"}})");
    folder_.Write("70.jsonl", R"({"event":"function","id":1,"name":"k"})"
                              "\n");
  }
  void Add(uint64_t clock, uint32_t duration, uint16_t flags = trace::kTimed,
           Op op = Op::kLaunchKernel) {
    trace::Record record = Launch(1, clock);
    record.flags = flags;
    record.duration = duration;
    ring_.Add(1, op, record);
  }
  RunReport Report() {
    folder_.Write("70.ring", ring_.bytes());
    run_ = trace::ReadRun(folder_.path());
    return MakeRunReport(**run_);
  }
  std::vector<nlohmann::json> Slices() {
    Report();
    std::vector<nlohmann::json> slices;
    const auto trace = nlohmann::json::parse(ReportPerfetto(**run_));
    for (const auto& event : trace["traceEvents"]) {
      if (event["ph"] == "X") slices.push_back(event);
    }
    return slices;
  }
  TestFolder folder_;
  RingBytes ring_{70};
  std::optional<Result<trace::Run>> run_;
};

TEST_F(TimedRun, HasMedianAndLongestOfEachKernel) {
  for (const uint32_t ns : {2000U, 9000U, 3000U}) Add(10'000, ns);
  Add(10'000, 0, 0);
  const RunReport report = Report();
  ASSERT_EQ(report.kernels.size(), 1u);
  EXPECT_EQ(report.kernels[0].timed, 3u);
  EXPECT_THAT(ReportText(report, Style{}), HasSubstr("3.0 us   9.0 us  k"));
  const auto json = nlohmann::json::parse(ReportJson(report, "0"));
  EXPECT_EQ(json["kernels"][0]["host_time"]["median_ns"], 3000);
  EXPECT_EQ(json["kernels"][0]["host_time"]["longest_ns"], 9000);
}

TEST_F(TimedRun, InOtherModesTheFirstLaunchIsNoMeasure) {
  folder_.Write("run.json", R"({"options":{"mode":"flight"}})");
  Add(10'000, 90'000, trace::kTimed | trace::kFirstLaunch);
  Add(10'000, 0, 0);
  const RunReport report = Report();
  EXPECT_THAT(ReportText(report, Style{}), Not(HasSubstr("median")));
  EXPECT_FALSE(nlohmann::json::parse(ReportJson(report, "0"))["kernels"][0].contains("host_time"));
}

TEST_F(TimedRun, SlicesWithoutTimesEndWithTheNextCall) {
  Add(10'000, 0, 0);
  Add(10'400, 0, 0, Op::kMemcpy);
  Add(90'000, 0, 0);
  const auto slices = Slices();
  ASSERT_EQ(slices.size(), 3u) << "a launch is one slice";
  EXPECT_DOUBLE_EQ(slices[0]["dur"].get<double>(), 0.4);
  EXPECT_DOUBLE_EQ(slices[1]["dur"].get<double>(), 1.0);
  EXPECT_EQ(slices[0]["args"]["duration"], "not recorded");
  EXPECT_EQ(slices[0]["name"], "k");
  EXPECT_TRUE(slices[0]["args"].contains("grid"));
  EXPECT_EQ(slices[1]["name"], "cuMemcpy");
  EXPECT_FALSE(slices[1]["args"].contains("grid"));
}

TEST_F(TimedRun, SlicesOfATrackLieInOneAnother) {
  Add(10'000, 5000);
  Add(11'000, 1000);
  Add(12'500, 9000);  // overlaps the first: of another thread, that took over the ring
  Add(14'900, 0, 0);
  const auto slices = Slices();
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_FALSE(slices[0]["args"].contains("duration"));
  EXPECT_DOUBLE_EQ(slices[2]["dur"].get<double>(), 0.1);
}

}  // namespace
}  // namespace cuproof
