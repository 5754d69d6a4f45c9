#include "trace/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "container/test_folder.h"
#include "trace/event_reader.h"
#include "trace/test_run.h"

namespace cuproof::trace {
namespace {

using test::Launch;
using test::RingBytes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Process Read(const std::string& events, std::string ring = {}) {
  std::vector<Error> problems;
  return ReadProcess("70", ByteView(ring), ByteView(events), problems);
}

std::vector<std::string> Texts(const std::vector<LogLine>& lines) {
  std::vector<std::string> texts;
  for (const LogLine& line : lines) texts.push_back(line.text);
  return texts;
}

TEST(Events, AreJoinedByTheirIds) {
  RingBytes ring(70);
  for (int i = 0; i < 5; ++i) ring.Add(1, Op::kLaunchKernel, Launch(1, 2000));
  const Process process = Read(
      R"({"event":"process","ts":1,"tid":70,"pid":70,"ppid":5,"exe":"/x/app","command":["app","-v"],"cuproof":"0.1.0","clock_hz":0})"
      "\n"
      R"({"event":"driver","ts":1,"tid":70,"path":"/d/libcuda.so.1","version":13000,"symbols":682,"absent":["cuX"]})"
      "\n"
      R"({"event":"device","ts":1,"tid":70,"device":0,"name":"H200","attributes":{"75":9,"76":0}})"
      "\n"
      R"({"event":"device","ts":1,"tid":70,"device":0,"attributes":{"97":232448}})"
      "\n"
      R"({"event":"image","ts":2,"tid":70,"id":1,"api":"cuModuleLoadData","kind":"ptx","size":900,"hash":"00","result":0,"ns":5000000})"
      "\n"
      R"({"event":"function","ts":3,"tid":70,"id":1,"name":"_Z5scalePf","image":1,"handle":"0x1","api":"cuModuleGetFunction","ns":9})"
      "\n"
      R"({"event":"attribute","ts":3,"tid":70,"function":1,"attribute":4,"value":168,"set":false})"
      "\n"
      R"({"event":"unload","ts":4,"tid":70,"image":1})"
      "\n"
      R"({"event":"dump","ts":4,"tid":70,"image":1,"dumped":"ab.ptx"})"
      "\n"
      R"({"event":"first_launch","ts":4,"tid":70,"function":1,"ns":2500000})"
      "\n",
      ring.bytes());
  EXPECT_EQ(process.driver_version, 13000);
  EXPECT_EQ(process.absent_symbols, 1u);
  EXPECT_EQ(process.devices.at(0).name, "H200");
  EXPECT_EQ(process.devices.at(0).attributes.at(97), 232448);
  EXPECT_EQ(process.devices.at(0).attributes.at(75), 9);
  const Function& scale = process.functions.at(1);
  EXPECT_EQ(scale.shown, "scale(float*)");
  EXPECT_EQ(scale.launches, 5u);
  EXPECT_EQ(scale.attributes.at(4), 168);
  EXPECT_THAT(scale.set, IsEmpty());
  EXPECT_TRUE(process.images.at(1).unloaded);
  EXPECT_EQ(process.images.at(1).dumped, "ab.ptx");
  EXPECT_EQ(process.functions.at(1).first_launch_ns, 2'500'000U);
  EXPECT_EQ(FunctionName(process, 1), "scale(float*)");
  EXPECT_EQ(FunctionName(process, 9), "a kernel whose name is not known");
  EXPECT_EQ(KernelLaunches(process), 5u);
  EXPECT_EQ(process.damaged_lines, 0u);
}

TEST(Events, TheLastLineMayBeCutOffAndOthersMayBeDamaged) {
  const std::string stream = R"({"event":"stream","ts":1,"tid":70,"id":1,"handle":"0x1"})";
  Process process = Read(stream + "\nnot json\n[1,2]\n{\"event\":5}\n{\"event\":\"log\",\"te");
  EXPECT_EQ(process.streams.size(), 1u);
  EXPECT_EQ(process.damaged_lines, 3u);
  EXPECT_TRUE(process.cut_line);
  process = Read(stream);
  EXPECT_EQ(process.streams.size(), 1u) << "a whole line that only lacks its end counts";
  EXPECT_FALSE(process.cut_line);
}

TEST(Events, FieldsOfTheWrongTypeReadAsNothing) {
  const Process process = Read(
      R"({"event":"error","ts":-1,"tid":"x","api":7,"result":"701","grid":[1,2],"block":{"x":1},"kernels":[1,{"grid":["a",1.5,2]}],"count":-4})"
      "\n"
      R"({"event":"function","id":99999999999,"name":null})"
      "\n"
      R"({"event":"device","device":0,"attributes":{"x":1,"75":"9"}})"
      "\n"
      R"({"event":"of tomorrow"})"
      "\n");
  ASSERT_EQ(process.errors.size(), 1u);
  EXPECT_EQ(process.errors[0].result, 0);
  EXPECT_FALSE(process.errors[0].grid);
  EXPECT_EQ(process.errors[0].count, 1u);
  EXPECT_EQ(process.errors[0].kernels.at(0).grid, (Extent{0, 0, 2}));
  EXPECT_EQ(process.devices.at(0).attributes.size(), 1u);
  EXPECT_EQ(process.unknown_events, 1u);
  EXPECT_EQ(process.damaged_lines, 0u);
}

TEST(Events, AnEndlessLineAndDeepNestingAreDamage) {
  const std::string deep = R"({"event":"log","text":)" + std::string(500'000, '[');
  const std::string endless =
      R"({"event":"log","text":")" + std::string(kMaxLineBytes, 'x') + "\"}";
  const Process process = Read(deep + "\n" + endless + "\n");
  EXPECT_EQ(process.damaged_lines, 2u);
}

TEST(Events, OfEqualErrorsALineStandsForThoseSinceTheOneBefore) {
  const auto line = [](const char* more) {
    return std::string(R"({"event":"error","api":"a","result":1)") + more + "}\n";
  };
  const Process process = Read(line("") + line(R"(,"count":2)") + line(R"(,"result":2)") +
                               line(R"(,"count":8)") + line(R"(,"count":3)"));
  std::vector<uint64_t> counts;
  for (const ApiError& error : process.errors) counts.push_back(error.count);
  EXPECT_THAT(counts, ElementsAre(1, 1, 1, 6, 1)) << "a total that goes back is not believed";
}

std::string LogAt(int ts, int tid, const char* text) {
  return R"({"event":"log","ts":)" + std::to_string(ts) + R"(,"tid":)" + std::to_string(tid) +
         R"(,"level":0,"text":")" + text + "\"}\n";
}

std::string ErrorAt(int ts, int tid, int result, const char* api = "cuLaunchKernel") {
  return R"({"event":"error","ts":)" + std::to_string(ts) + R"(,"tid":)" + std::to_string(tid) +
         R"(,"api":")" + api + R"(","result":)" + std::to_string(result) + "}\n";
}

TEST(DriverLog, GoesToTheErrorThatItsLastLineNames) {
  const Process process = Read(
      LogAt(90, 1, "of an unrecorded call") +
      LogAt(91, 1, "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuFuncGetParamInfo") +
      LogAt(92, 1, "too large") + LogAt(92, 2, "other") +
      LogAt(93, 1, "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLaunchKernel") +
      ErrorAt(100, 1, 1, "cuLaunchKernel_ptsz") + LogAt(101, 1, "Returning 1 (X) from cuInit") +
      ErrorAt(150, 1, 701) + ErrorAt(160, 2, 701) + LogAt(170, 2, "late"));
  ASSERT_EQ(process.errors.size(), 3u);
  EXPECT_THAT(
      Texts(process.errors[0].log),
      ElementsAre("too large", "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLaunchKernel"));
  EXPECT_THAT(process.errors[1].log, IsEmpty()) << "the words are of another call";
  EXPECT_THAT(process.errors[2].log, IsEmpty()) << "of which call they are is not known";
  EXPECT_THAT(Texts(process.log),
              ElementsAre("of an unrecorded call",
                          "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuFuncGetParamInfo", "other",
                          "Returning 1 (X) from cuInit", "late"));
}

TEST(DriverLog, WordsBeforeTheRecordOfTheCallAreOfAnEarlierOne) {
  RingBytes ring(70);
  ring.Add(1, Op::kLaunchKernel, Launch(1, 95, 0, 1));
  ring.Add(1, Op::kLaunchKernel, Launch(1, 195, 0, 0));
  const Process process =
      Read(LogAt(90, 71, "before") + LogAt(96, 71, "too large") + ErrorAt(100, 71, 1) +
               LogAt(196, 71, "of a call without a record") + ErrorAt(200, 71, 1),
           ring.bytes());
  EXPECT_THAT(Texts(process.errors.at(0).log), ElementsAre("too large"));
  EXPECT_THAT(process.errors.at(1).log, IsEmpty());
}

TEST(FirstLaunches, ThatFailedAreNoSlowCompiles) {
  RingBytes ring(70);
  Record failed = Launch(1, 100, 0, 3);
  failed.flags = kFirstLaunch;
  Record good = Launch(2, 200);
  good.flags = kFirstLaunch;
  ring.Add(1, Op::kLaunchKernel, failed);
  ring.Add(1, Op::kLaunchKernel, good);
  const Process process = Read(R"({"event":"first_launch","tid":71,"function":1,"ns":90000000})"
                               "\n"
                               R"({"event":"first_launch","tid":71,"function":2,"ns":90000000})"
                               "\n"
                               R"({"event":"first_launch","tid":9,"function":1,"ns":20000000})"
                               "\n",
                               ring.bytes());
  EXPECT_EQ(process.functions.at(1).first_launch_ns, 20'000'000u) << "in another thread";
  EXPECT_EQ(process.functions.at(2).first_launch_ns, 90'000'000u);
  EXPECT_EQ(FailedKernelLaunches(process).count, 1u);
  EXPECT_TRUE(FailedKernelLaunches(process).exact);
}

TEST(FailedLaunches, AreAtLeastThoseThatAreStillInTheRings) {
  RingBytes ring(70, 2, 8);
  for (int i = 0; i < 10; ++i) ring.Add(1, Op::kLaunchKernel, Launch(1, 100, 0, 3));
  ring.PutRing(1, offsetof(RingHeader, errors), uint64_t{10});
  const Process process = Read("", ring.bytes());
  EXPECT_EQ(FailedKernelLaunches(process).count, 8u);
  EXPECT_FALSE(FailedKernelLaunches(process).exact);
}

TEST(Errors, AreCountedExactlyIfTheRingSaysTheSameNumber) {
  const std::string events = ErrorAt(1, 1, 1) + R"({"event":"error","api":"cuLaunchKernel",)"
                                                R"("result":1,"count":4})"
                                                "\n";
  for (const uint64_t errors : {4U, 7U}) {
    RingBytes ring(70);
    ring.PutRing(1, offsetof(RingHeader, errors), errors);
    const Process process = Read(events, ring.bytes());
    EXPECT_FALSE(process.errors.at(0).repeated);
    EXPECT_TRUE(process.errors.at(1).repeated);
    EXPECT_EQ(ErrorCountsExact(process), errors == 4);
  }
}

TEST(RunFolder, AFileOfItNamesIt) {
  const TestFolder folder;
  folder.Write("run.json",
               R"({"options":{"mode":"idle","dump_images":true},"notes":["a","b","a"]})");
  folder.Write("70.jsonl", "");
  for (const char* name : {"run.json", "70.jsonl"}) {
    const auto run = ReadRun(folder.At(name));
    ASSERT_TRUE(run);
    EXPECT_EQ(run->folder, folder.path());
    EXPECT_EQ(run->mode, "idle");
    EXPECT_TRUE(run->dump_images);
    EXPECT_THAT(run->notes, ElementsAre("a", "b"));
  }
}

TEST(RunFolder, AnEndingThatNoProcessHasIsDamage) {
  const TestFolder folder;
  for (const char* value : {"256", "-1", "18446744073709551615", "\"0\"", "1.5"}) {
    folder.Write("run.json", std::string(R"({"exit_code":)") + value + "}");
    const auto run = ReadRun(folder.path());
    ASSERT_TRUE(run);
    EXPECT_FALSE(run->exit_code) << value;
    ASSERT_EQ(run->problems.size(), 1u) << value;
    EXPECT_THAT(run->problems[0].Text(), HasSubstr("exit_code is damaged"));
  }
}

TEST(RunFolder, AProcessThatHasTheIdAndStartedElsewhenIsAnother) {
  const TestFolder folder;
  const auto runs = [&](uint64_t monotonic, uint64_t realtime, int pid) {
    folder.Write("run.json", R"({"pid":)" + std::to_string(pid) +
                                 R"(,"start":{"clock":1,"monotonic_ns":)" +
                                 std::to_string(monotonic) + R"(,"realtime_ns":)" +
                                 std::to_string(realtime) + "}}");
    return ReadRun(folder.path())->runs;
  };
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto monotonic = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000;
  EXPECT_FALSE(runs(monotonic + 100'000'000'000, 5, getpid()));
  EXPECT_FALSE(runs(1, 1, 0));
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_TRUE(runs(monotonic, 5, child));
  kill(child, SIGKILL);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  EXPECT_FALSE(runs(monotonic, 5, child)) << "it ended, and nobody has waited for it";
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(runs(monotonic, 5, child));
}

TEST(RunFolder, ProcessesComeParentsFirst) {
  const TestFolder folder;
  folder.Write("run.json",
               R"({"cuproof":"0.1.0","command":["python","x.py"],"pid":70,"exit_code":3,)"
               R"("start":{"clock":1,"monotonic_ns":2,"realtime_ns":3},"notes":["static"]})");
  for (const auto& [pid, parent] : {std::pair{70u, 1u}, {80u, 90u}, {90u, 70u}, {60u, 80u}}) {
    RingBytes ring(pid);
    ring.Put(offsetof(FileHeader, parent_pid), parent);
    folder.Write(std::to_string(pid) + ".ring", ring.bytes());
  }
  folder.Write("70.2.jsonl", "");
  folder.Write("images/1.ring", "not of a process");
  folder.Write("notes.ring", "neither");
  const auto run = ReadRun(folder.path() + "/");
  ASSERT_TRUE(run);
  EXPECT_THAT(run->problems, IsEmpty());
  EXPECT_EQ(run->exit_code, 3);
  EXPECT_FALSE(run->end);
  EXPECT_EQ(run->start->monotonic_ns, 2u);
  EXPECT_THAT(run->notes, ElementsAre("static"));
  std::vector<std::string> stems;
  for (const Process& process : run->processes) stems.push_back(process.stem);
  EXPECT_THAT(stems, ElementsAre("70", "70.2", "90", "80", "60"));
}

TEST(RunFolder, AShortProcessBorrowsTheRateOfTheLaunchersClocks) {
  const TestFolder folder;
  folder.Write("run.json", R"({"start":{"clock":1000000,"monotonic_ns":0,"realtime_ns":0},)"
                           R"("end":{"clock":9000000,"monotonic_ns":4000000,"realtime_ns":0}})");
  RingBytes ring(70);
  ring.Put(offsetof(FileHeader, clock_kind), ClockKind::kTsc);
  ring.Put(offsetof(FileHeader, start), ClockPair{3'000'000, 1'000'000, 0});
  ring.Put(offsetof(FileHeader, latest), ClockPair{3'000'000, 1'000'000, 0});
  folder.Write("70.ring", ring.bytes());
  const auto run = ReadRun(folder.path());
  ASSERT_TRUE(run);
  EXPECT_DOUBLE_EQ(run->processes.at(0).clock.MonotonicNs(3'000'002).value_or(0), 1'000'001);
}

TEST(RunFolder, ParentsInACircleEnd) {
  const TestFolder folder;
  for (const auto& [pid, parent] : {std::pair{70u, 80u}, {80u, 70u}}) {
    RingBytes ring(pid);
    ring.Put(offsetof(FileHeader, parent_pid), parent);
    folder.Write(std::to_string(pid) + ".ring", ring.bytes());
  }
  const auto run = ReadRun(folder.path());
  ASSERT_TRUE(run);
  EXPECT_EQ(run->processes.size(), 2u);
}

TEST(RunFolder, FilesThatCannotBeReadAreProblems) {
  const TestFolder folder;
  folder.Write("run.json", "{");
  folder.Write("70.ring", "short");
  folder.Write("71.ring", "");
  const auto run = ReadRun(folder.path());
  ASSERT_TRUE(run);
  EXPECT_EQ(run->processes.size(), 2u);
  ASSERT_EQ(run->problems.size(), 2u);
  EXPECT_THAT(run->problems[0].Text(), HasSubstr("run.json"));
  EXPECT_THAT(run->problems[1].Text(), HasSubstr("70.ring"));
}

TEST(RunFolder, OtherFoldersAreErrors) {
  const TestFolder folder;
  EXPECT_EQ(ReadRun(folder.path()).error().code, ErrorCode::kBadMagic);
  EXPECT_EQ(ReadRun(folder.At("none")).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace cuproof::trace
