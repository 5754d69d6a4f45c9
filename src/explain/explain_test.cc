#include "explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "build_fatbin.h"
#include "container/test_folder.h"
#include "trace/reader.h"
#include "trace/test_run.h"

namespace cuproof {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using trace::Op;
using trace::test::Launch;
using trace::test::RingBytes;

constexpr const char* kHopper =
    R"({"event":"driver","version":13000})"
    "\n"
    R"({"event":"device","device":0,"name":"H200","attributes":{"75":9,"76":0}})"
    "\n";

/// A run of one process, made of event lines, a ring and images.
class Recorded {
 public:
  explicit Recorded(std::string events, std::string ring = {}) : events_(std::move(events)) {
    if (!ring.empty()) folder_.Write("70.ring", ring);
  }
  Recorded& Image(const std::string& name, const std::string& bytes) {
    folder_.Write("images/" + name, bytes);
    return *this;
  }
  Recorded& RunJson(const std::string& text) {
    folder_.Write("run.json", text);
    return *this;
  }
  Recorded& Process(const std::string& name) {  // of the same events
    folder_.Write(name, events_);
    return *this;
  }
  std::vector<Explanation> Explain() {
    folder_.Write("70.jsonl", events_);
    run_ = trace::ReadRun(folder_.path());
    EXPECT_TRUE(run_->ok());
    return ExplainRun(**run_);
  }
  Explanation One() {
    auto all = Explain();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Explanation{} : all[0];
  }

 private:
  TestFolder folder_;
  std::string events_;
  std::optional<Result<trace::Run>> run_;
};

std::string LaunchError(int result, const char* block, const char* more = "") {
  return R"({"event":"error","tid":1,"ts":9,"api":"cuLaunchKernel","result":)" +
         std::to_string(result) + R"(,"function":1,"grid":[2,1,1],"block":)" + block +
         R"(,"shared":0)" + more + "}\n";
}

std::string Kernel(const char* attributes = "") {
  return std::string(R"({"event":"function","id":1,"name":"_Z5scalePf","image":1})") + "\n" +
         attributes;
}

std::string Attribute(int number, int value) {
  return R"({"event":"attribute","function":1,"attribute":)" + std::to_string(number) +
         R"(,"value":)" + std::to_string(value) + "}\n";
}

TEST(Explain701, HasTheProductTheBlockAndTheCap) {
  const Explanation found =
      Recorded(kHopper + Kernel() + Attribute(4, 168) + LaunchError(701, "[32,32,1]")).One();
  EXPECT_EQ(found.finding.id, "CP502");
  EXPECT_EQ(found.finding.severity, Severity::kError);
  EXPECT_EQ(found.finding.subject, "scale(float*)");
  EXPECT_THAT(found.finding.message, HasSubstr("scale(float*) wants 1024 threads of 168 registers, "
                                               "172,032 in all, and sm_90 (H200) has 65,536"));
  EXPECT_THAT(found.finding.evidence, Contains(HasSubstr("is 384 threads")));
  EXPECT_THAT(found.finding.evidence, Contains("1024 threads fit with 64 registers or fewer"));
  EXPECT_THAT(found.finding.fix, HasSubstr("-maxrregcount=64"));
  EXPECT_THAT(found.finding.fix, Not(HasSubstr("CU_JIT"))) << "no PTX is known";
}

TEST(Explain701, WithoutRegistersOrGpuSaysWhatIsNotKnown) {
  EXPECT_THAT(Recorded(kHopper + Kernel() + LaunchError(701, "[1024,1,1]")).One().finding.message,
              HasSubstr("how many registers its threads take is not known"));
  EXPECT_THAT(
      Recorded(Kernel() + Attribute(4, 168) + LaunchError(701, "[1024,1,1]")).One().finding.message,
      HasSubstr("the program did not ask for its compute capability"));
}

TEST(Explain701, RegistersThatFitAreNotBlamed) {
  EXPECT_THAT(Recorded(kHopper + Kernel() + Attribute(4, 64) + LaunchError(701, "[1024,1,1]"))
                  .One()
                  .finding.message,
              HasSubstr("although its registers fit; what ran out is not known"));
}

TEST(Explain701, OfAGraphTheNodeIsNamed) {
  const Explanation found =
      Recorded(kHopper + Kernel() + Attribute(4, 168) +
               R"({"event":"error","tid":1,"api":"cuGraphInstantiateWithFlags","result":701,)"
               R"("kernels":[{"function":1,"grid":[1,1,1],"block":[384,1,1],"shared":0},)"
               R"({"function":1,"grid":[1,1,1],"block":[385,1,1],"shared":0}]})"
               "\n")
          .One();
  EXPECT_THAT(found.finding.message, HasSubstr("kernel node 2 of 2, scale(float*), wants 385"));
}

TEST(Explain701, OfTwoGpusThatDifferNeitherIsTaken) {
  const std::string other = R"({"event":"device","device":1,"attributes":{"75":8,"76":0}})"
                            "\n";
  const std::string context = R"({"event":"context","id":2,"device":0})"
                              "\n";
  const std::string both = kHopper + other + context + Kernel() + Attribute(4, 168);
  EXPECT_THAT(Recorded(both + LaunchError(701, "[1024,1,1]")).One().finding.message,
              HasSubstr("not known"));
  EXPECT_THAT(
      Recorded(both + LaunchError(701, "[1024,1,1]", R"(,"context":2)")).One().finding.message,
      HasSubstr("sm_90"));
}

TEST(ExplainRange, NamesTheNumber) {
  const auto message = [](const char* block, const std::string& more = {}) {
    return Recorded(kHopper + Kernel() + more + LaunchError(1, block)).One().finding.message;
  };
  EXPECT_THAT(message("[0,1,1]"), HasSubstr("block.x is 0"));
  EXPECT_THAT(message("[1,1,65]"), HasSubstr("block.z is 65, and 64 is the most"));
  EXPECT_THAT(message("[64,32,1]"), HasSubstr("2,048 threads, and 1,024 is the most"));
  EXPECT_THAT(message("[512,1,1]", Attribute(0, 256) + Attribute(4, 32)),
              HasSubstr("512 threads, and the kernel was compiled for 256"));
  EXPECT_THAT(message("[512,1,1]", Attribute(0, 256)), HasSubstr("not known"))
      << "a limit of 256 can be one of registers";
  EXPECT_THAT(message("[64,1,1]"), HasSubstr("within the limits that are known"));
}

TEST(ExplainRange, SharedMemoryCountsWhatIsStaticAndWhatWasOptedIn) {
  const auto message = [](uint64_t shared, const std::string& attributes = {}) {
    return Recorded(kHopper + Kernel() + attributes +
                    R"({"event":"error","api":"cuLaunchKernel","result":1,"function":1,)"
                    R"("grid":[1,1,1],"block":[32,1,1],"shared":)" +
                    std::to_string(shared) + "}\n")
        .One()
        .finding.message;
  };
  EXPECT_THAT(message(49152), HasSubstr("within the limits"));
  EXPECT_THAT(message(49153), HasSubstr("49,152 is the most without opt-in"));
  EXPECT_THAT(message(49152, Attribute(1, 1024)), HasSubstr("48,128 is the most without opt-in"));
  EXPECT_THAT(message(60000, Attribute(8, 65536)), HasSubstr("within the limits"));
  EXPECT_THAT(message(232449, Attribute(8, 232448)), HasSubstr("sm_90 (H200) can have 232,448"));
}

TEST(ExplainRange, AnInvalidValueThatIsNoLaunchIsANote) {
  const Explanation found = Recorded(R"({"event":"error","api":"cuMemFree","result":1})"
                                     "\n")
                                .One();
  EXPECT_EQ(found.finding.id, "CP507");
  EXPECT_EQ(found.finding.severity, Severity::kNote);
}

std::string Load(const char* dumped, int result) {
  return R"({"event":"image","id":1,"api":"cuModuleLoadData","kind":"fatbin","size":99,"dumped":")" +
         std::string(dumped) + R"(","result":)" + std::to_string(result) + "}\n" +
         R"({"event":"error","api":"cuModuleLoadData","image":1,"result":)" +
         std::to_string(result) + "}\n";
}

TEST(ExplainImage, IsTheVerdictOnTheBytes) {
  const std::string ampere = build::Fatbin({build::Sass({80, 0})});
  Recorded refused(kHopper + Load("a.fatbin", 209));
  const Explanation found = refused.Image("a.fatbin", ampere).One();
  EXPECT_EQ(found.finding.id, "CP501");
  EXPECT_THAT(found.finding.message, HasSubstr("209 (CUDA_ERROR_NO_BINARY_FOR_GPU)"));
  EXPECT_THAT(found.finding.evidence, Contains(HasSubstr("CP101")));
  EXPECT_THAT(found.finding.evidence, Contains(HasSubstr("sm_80")));
  EXPECT_FALSE(found.finding.fix.empty());
}

TEST(ExplainImage, PtxIsHeldToTheDriversVersion) {
  const std::string ptx = build::PtxText({9, 1}, "sm_90");
  Recorded refused(kHopper + Load("a.ptx", 222));
  const Finding found = refused.Image("a.ptx", ptx).One().finding;
  EXPECT_THAT(found.evidence, Contains(HasSubstr("CP102")));
  EXPECT_THAT(found.message, HasSubstr("9.1"));
}

TEST(ExplainImage, WhatShouldRunIsNotExplainedAway) {
  const std::string hopper = build::Fatbin({build::Sass({90, 0})});
  Recorded refused(kHopper + Load("a.fatbin", 209));
  EXPECT_THAT(refused.Image("a.fatbin", hopper).One().finding.message,
              HasSubstr("why is not known: by its headers the image runs on sm_90"));
}

TEST(ExplainImage, WithoutBytesSaysWhatToRun) {
  const Finding found = Recorded(kHopper + Load("", 209)).One().finding;
  EXPECT_THAT(found.message, HasSubstr("what the image holds is not known"));
  EXPECT_THAT(found.fix, HasSubstr("--dump-images"));
}

TEST(ExplainImage, NoFileOutsideTheFolderOfImagesIsOpened) {
  for (const char* name : {"../run.json", "..", "/etc/passwd", "."}) {
    EXPECT_THAT(Recorded(kHopper + Load(name, 209)).One().finding.message,
                HasSubstr("what the image holds is not known"))
        << name;
  }
}

TEST(ExplainImage, AMissingCompilerIsNotTheImagesFault) {
  EXPECT_THAT(Recorded(Load("", 221)).One().finding.message, HasSubstr("no PTX compiler"));
  EXPECT_THAT(Recorded(Load("", 223)).One().finding.fix, HasSubstr("CUDA_DISABLE_PTX_JIT"));
}

TEST(ExplainImage, BytesOfNoKindAreNotAskedForAgain) {
  const std::string load =
      R"({"event":"image","id":1,"api":"cuModuleLoadData","kind":"unknown","result":200})"
      "\n"
      R"({"event":"error","api":"cuModuleLoadData","image":1,"result":200})"
      "\n";
  for (const char* gpu : {kHopper, ""}) {
    const Finding found = Recorded(gpu + load).One().finding;
    EXPECT_THAT(found.message, HasSubstr("these bytes are no ELF, fatbin or PTX"));
    EXPECT_EQ(found.fix, "");
    for (const std::string& fact : found.evidence)
      EXPECT_THAT(fact, Not(HasSubstr("record again")));
  }
  EXPECT_THAT(Recorded(kHopper + Load("a.bin", 200)).Image("a.bin", "text").One().finding.message,
              HasSubstr("these bytes are no ELF, fatbin or PTX"));
}

TEST(ExplainImage, WhoHasCopiedImagesIsNotToldToDoSo) {
  Recorded copied(kHopper + Load("", 209));
  copied.RunJson(R"({"options":{"dump_images":true}})");
  const Finding found = copied.One().finding;
  EXPECT_EQ(found.fix, "");
  for (const std::string& fact : found.evidence) EXPECT_THAT(fact, Not(HasSubstr("record again")));
  Recorded registers(kHopper + Kernel() + LaunchError(701, "[1024,1,1]"));
  registers.RunJson(R"({"options":{"dump_images":true}})");
  EXPECT_EQ(registers.One().finding.fix, "");
}

TEST(ExplainImage, TargetsThatAreNewerThanTheTablesAreNotKnown) {
  const std::string device = R"({"event":"device","device":0,"attributes":{"75":9,"76":0}})"
                             "\n";
  const std::string images[] = {build::PtxText({9, 9}, "sm_200"), build::PtxText({9, 0}, "sm_200"),
                                build::Fatbin({build::Ptx({200, 0}, {9, 9})}),
                                build::Fatbin({build::Ptx({200, 0}, {9, 0})})};
  for (const std::string& events : {kHopper + std::string(), device}) {
    for (const std::string& image : images) {
      Recorded refused(events + Load("a.bin", 218));
      const std::string message = refused.Image("a.bin", image).One().finding.message;
      EXPECT_THAT(message, HasSubstr("compute_200 is newer than this cuproof's tables: not known"));
    }
  }
}

TEST(ExplainFork, AllThatFailsBehindAForkIsOneError) {
  RingBytes ring(70, 2, 16);
  for (int i = 0; i < 10; ++i) ring.Add(1, Op::kLaunchKernel, Launch(1, 1000, 1, 3));
  ring.PutRing(1, offsetof(trace::RingHeader, errors), uint64_t{12});
  const std::string events = R"({"event":"fork","parent":60})"
                             "\n" +
                             Kernel() +
                             R"({"event":"error","api":"cuCtxSetCurrent","result":3})"
                             "\n" +
                             LaunchError(3, "[1,1,1]") + LaunchError(3, "[1,1,1]", R"(,"count":8)");
  const Explanation found = Recorded(events, ring.bytes()).One();
  EXPECT_EQ(found.finding.id, "CP508");
  EXPECT_EQ(found.finding.severity, Severity::kError);
  EXPECT_THAT(found.finding.message, HasSubstr("fork of process 60"));
  EXPECT_THAT(found.finding.evidence, Contains("10 launches, 10 of them failed"));
  EXPECT_THAT(found.finding.fix, HasSubstr("forkserver"));
  EXPECT_EQ(found.count, 9u);
  EXPECT_FALSE(found.exact) << "the ring counts twelve errors";
}

TEST(ExplainFork, WithoutAForkTheNumberIsOnlyANumber) {
  EXPECT_EQ(Recorded(kHopper + Kernel() + LaunchError(3, "[1,1,1]")).One().finding.id, "CP507");
  EXPECT_EQ(Recorded(R"({"event":"fork","parent":60})"
                     "\n" +
                     LaunchError(2, "[1,1,1]"))
                .One()
                .finding.id,
            "CP506");
}

TEST(ExplainRun, NotesOfSeveralProcessesAreOne) {
  Recorded run(R"({"event":"error","api":"cuCtxGetDevice","result":201})"
               "\n");
  run.Process("71.jsonl").Process("72.jsonl");
  const Explanation found = run.One();
  EXPECT_EQ(found.count, 3u);
  EXPECT_EQ(found.processes, 3u);
}

TEST(ExplainAsynchronous, ListsWhatNothingHadWaitedFor) {
  RingBytes ring(70, 2, 16);
  ring.Add(1, Op::kLaunchKernel, Launch(1, 1000, 1));
  ring.Add(1, Op::kStreamSynchronize, Launch(0, 2000, 1));
  ring.Add(1, Op::kLaunchKernel, Launch(1, 3000, 1));
  ring.Add(1, Op::kLaunchKernel, Launch(1, 3500, 2));
  ring.Add(1, Op::kLaunchKernel, Launch(1, 3600, 2, 701));  // did not start
  ring.Add(1, Op::kLaunchKernel, Launch(1, 9000, 3));       // after the error
  const std::string error =
      R"({"event":"error","ts":5000,"api":"cuStreamSynchronize","result":700})"
      "\n";
  const Explanation found = Recorded(kHopper + Kernel() + error + error, ring.bytes()).One();
  EXPECT_EQ(found.finding.id, "CP504");
  EXPECT_EQ(found.count, 2u);
  EXPECT_THAT(found.finding.message, HasSubstr("only reports it"));
  EXPECT_THAT(found.finding.evidence,
              Contains(HasSubstr("stream 1: 1 launched and not known to be complete")));
  EXPECT_THAT(found.finding.evidence,
              Contains(HasSubstr("stream 2: 1 launched and not known to be complete")));
  EXPECT_THAT(found.finding.evidence, Not(Contains(HasSubstr("stream 3"))));
  EXPECT_THAT(found.finding.evidence,
              Contains(HasSubstr("scale(float*) (4 x 1 x 1 blocks of 256")));
}

TEST(ExplainAsynchronous, WithoutRecordsNothingIsBlamed) {
  const Finding found = Recorded(R"({"event":"error","api":"cuCtxSynchronize","result":719})"
                                 "\n")
                            .One()
                            .finding;
  EXPECT_THAT(found.evidence, Contains(HasSubstr("no launch that could have been running")));
}

TEST(ExplainRun, EqualErrorsAreOneAndTheWorstComesFirst) {
  const auto found = Recorded(kHopper + Kernel() +
                              R"({"event":"error","api":"cuFuncGetModule","result":500})"
                              "\n" +
                              LaunchError(2, "[1,1,1]") + LaunchError(720, "[1,1,1]") +
                              LaunchError(720, "[1,1,1]", R"(,"count":7)"))
                         .Explain();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].finding.id, "CP505");
  EXPECT_EQ(found[0].count, 7u) << "a line has the number of equal errors so far";
  EXPECT_EQ(found[1].finding.id, "CP506");
  EXPECT_EQ(found[2].finding.id, "CP507");
}

TEST(ExplainRun, HostileNumbersAreOnlyNumbers) {
  const std::string huge = "[18446744073709551615,18446744073709551615,18446744073709551615]";
  for (const int result : {1, 701}) {
    const auto found = Recorded(kHopper + Kernel() + Attribute(4, 2147483647) +
                                Attribute(1, 2147483647) + LaunchError(result, huge.c_str()))
                           .Explain();
    EXPECT_THAT(found, Not(IsEmpty()));
  }
}

}  // namespace
}  // namespace cuproof
