#include "resource/ptxas_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace cuproof {
namespace {

using testing::HasSubstr;

const char kEntryA[] = "ptxas info    : Compiling entry function '_Z1aPf' for 'sm_80'\n";
const char kEntryB[] = "ptxas info    : Compiling entry function '_Z1bPf' for 'sm_90a'\n";
const char kPropertiesA[] = "ptxas info    : Function properties for _Z1aPf\n";
const char kPropertiesB[] = "ptxas info    : Function properties for _Z1bPf\n";
const char kFrameA[] = "    280 bytes stack frame, 332 bytes spill stores, 336 bytes spill loads\n";
const char kFrameB[] = "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
const char kUsedA[] =
    "ptxas info    : Used 32 registers, used 1 barriers, 280 bytes cumulative stack size, 2048 "
    "bytes "
    "smem, 360 bytes cmem[0], 8 bytes cmem[2]\n";
const char kUsedB[] = "ptxas info    : Used 8 registers, 360 bytes cmem[0]\n";

const std::string kA = std::string(kEntryA) + kPropertiesA + kFrameA + kUsedA;
const std::string kB = std::string(kEntryB) + kPropertiesB + kFrameB + kUsedB;

const LogKernel* Find(const PtxasLog& log, std::string_view name) {
  for (const LogKernel& kernel : log.kernels) {
    if (kernel.resources.name == name) return &kernel;
  }
  ADD_FAILURE() << name;
  return nullptr;
}

void ExpectA(const PtxasLog& log) {
  const LogKernel& a = *Find(log, "_Z1aPf");
  EXPECT_EQ(a.arch, "sm_80");
  EXPECT_TRUE(a.resources.is_entry);
  EXPECT_EQ(a.resources.registers, 32u);
  EXPECT_EQ(a.resources.barriers, 1u);
  EXPECT_EQ(a.resources.stack_frame, 280u);
  EXPECT_EQ(a.resources.cumulative_stack, 280u);
  ASSERT_TRUE(a.resources.spills);
  EXPECT_EQ(a.resources.spills->stores, 332u);
  EXPECT_EQ(a.resources.spills->loads, 336u);
  EXPECT_EQ(a.resources.static_shared, 2048u);
  ASSERT_EQ(a.resources.constants.size(), 2u);
  EXPECT_EQ(a.resources.constants[1].bank, 2u);
  EXPECT_EQ(a.resources.constants[1].bytes, 8u);
}

TEST(PtxasLog, HasEveryNumberOfAKernel) {
  const PtxasLog log = ReadPtxasLog(kA + kB);
  ASSERT_EQ(log.kernels.size(), 2u);
  ExpectA(log);
  const LogKernel& b = *Find(log, "_Z1bPf");
  EXPECT_EQ(b.resources.registers, 8u);
  EXPECT_FALSE(b.resources.barriers) << "CUDA 11 and 12.1 do not print them";
  EXPECT_FALSE(b.resources.cumulative_stack);
  EXPECT_EQ(b.line, 5u);
  EXPECT_EQ(log.unmatched, 0u);
}

TEST(PtxasLog, OfTwoCompilationsTheWorseCounts) {
  const auto compiled = [](int registers, int spilled) {
    return "ptxas info    : Compiling entry function '_Z1kv' for 'sm_90'\n"
           "ptxas info    : Function properties for _Z1kv\n    " +
           std::to_string(spilled) + " bytes stack frame, " + std::to_string(spilled) +
           " bytes spill stores, " + std::to_string(spilled) +
           " bytes spill loads\nptxas info    : Used " + std::to_string(registers) + " registers\n";
  };
  for (const std::string& text :
       {compiled(32, 848) + compiled(54, 0), compiled(54, 0) + compiled(32, 848)}) {
    const PtxasLog log = ReadPtxasLog(text);
    ASSERT_EQ(log.kernels.size(), 1u);
    EXPECT_EQ(log.kernels[0].resources.registers, 54u);
    EXPECT_EQ(log.kernels[0].resources.stack_frame, 848u);
    EXPECT_EQ(log.kernels[0].resources.spills->loads, 848u);
  }
  const std::string again = compiled(54, 0);
  const PtxasLog cut = ReadPtxasLog(compiled(32, 848) + again.substr(0, again.find("Used")));
  EXPECT_FALSE(cut.kernels.at(0).resources.registers) << "the later one is not told";
}

TEST(PtxasLog, DeviceFunctionsHaveAStackAndNoRegisters) {
  const PtxasLog log =
      ReadPtxasLog(kB + "ptxas info    : Function properties for _Z3devfi\n" + kFrameA + kA);
  const LogKernel& function = *Find(log, "_Z3devfi");
  EXPECT_FALSE(function.resources.is_entry);
  EXPECT_EQ(function.resources.stack_frame, 280u);
  EXPECT_FALSE(function.resources.registers);
  ExpectA(log);
}

TEST(PtxasLog, NoiseOfABuildIsPassedOver) {
  std::string log =
      "[3/12] Building CUDA object k.o\r\n\x1b[1mptxas info\x1b[0m    : 400 bytes gmem\n";
  for (const char* line : {kEntryA, "nvcc: 7% done, used 3 registers\n", kPropertiesA,
                           "warning: unused variable 'x'\n", kFrameA, "make[2]: Leaving\n"})
    log += line;
  log += "#12 34.5 \x1b[32m" + std::string(kUsedA);
  ExpectA(ReadPtxasLog(log));
  std::string windows;
  for (const char c : kA) windows += c == '\n' ? "\r\n" : std::string(1, c);
  ExpectA(ReadPtxasLog(windows));
}

TEST(PtxasLog, LinesOfTwoCompilationsThatCanBeToldApartAre) {
  const PtxasLog log = ReadPtxasLog(std::string(kEntryA) + kEntryB + kPropertiesB + kFrameB +
                                    kUsedB + kPropertiesA + kFrameA + kUsedA);
  ExpectA(log);
  EXPECT_EQ(Find(log, "_Z1bPf")->resources.registers, 8u);
}

TEST(PtxasLog, LinesThatCouldBeOfTwoKernelsAreGivenToNone) {
  const PtxasLog log = ReadPtxasLog(std::string(kEntryA) + kEntryB + kPropertiesA + kPropertiesB +
                                    kFrameA + kFrameB + kUsedA + kUsedB);
  ASSERT_EQ(log.kernels.size(), 2u);
  for (const LogKernel& kernel : log.kernels) {
    EXPECT_TRUE(kernel.mixed);
    EXPECT_FALSE(kernel.resources.registers);
    EXPECT_FALSE(kernel.resources.spills);
  }
  EXPECT_EQ(log.unmatched, 4u);
  // What comes after is not hurt.
  ExpectA(ReadPtxasLog(std::string(kEntryB) + kEntryA + kPropertiesA + kPropertiesB + kFrameA +
                       kFrameB + kUsedA + kUsedB + kA));
}

TEST(PtxasLog, OneKernelForTwoArchitecturesAtOnceIsGivenToNone) {
  std::string other = kEntryA;
  other.replace(other.find("sm_80"), 5, "sm_90");
  const PtxasLog log = ReadPtxasLog(std::string(kEntryA) + other + kPropertiesA + kFrameA + kUsedA +
                                    kPropertiesA + kFrameB + kUsedB);
  ASSERT_EQ(log.kernels.size(), 2u);
  EXPECT_FALSE(log.kernels[0].resources.registers);
  EXPECT_FALSE(log.kernels[1].resources.registers);
}

// The lines of one compilation of four kernels, one function before the last. The number of each
// kernel is in all that is said of it.
std::vector<std::string> Compilation(const std::string& arch, uint32_t first) {
  std::vector<std::string> lines;
  for (uint32_t i = 0; i < 4; ++i) {
    const std::string name = "_Z1" + std::string(1, static_cast<char>('a' + i)) + "v";
    const std::string number = std::to_string(first + i);
    if (i == 3) {
      lines.push_back("ptxas info    : Function properties for _Z1fv\n");
      lines.emplace_back(kFrameB);
    }
    lines.push_back("ptxas info    : Compiling entry function '" + name + "' for '" + arch + "'\n");
    lines.push_back("ptxas info    : Function properties for " + name + "\n");
    lines.push_back("    " + number + " bytes stack frame, " + number + " bytes spill stores, " +
                    number + " bytes spill loads\n");
    lines.push_back("ptxas info    : Used " + number + " registers, used 1 barriers\n");
    lines.push_back("ptxas info    : Compile time = 1.5 ms\n");
  }
  return lines;
}

TEST(PtxasLog, OfAnyMixtureOfThreeCompilationsNothingIsWrong) {
  const std::vector<std::vector<std::string>> all = {
      Compilation("sm_80", 10), Compilation("sm_90", 20), Compilation("sm_90", 30)};
  std::minstd_rand random(7);
  uint64_t told = 0;
  for (int round = 0; round < 2000; ++round) {
    // The third one has kernels of its own.
    std::vector<size_t> next(all.size());
    std::string text;
    for (;;) {
      std::vector<size_t> left;
      for (size_t i = 0; i < all.size(); ++i) {
        if (next[i] < all[i].size()) left.push_back(i);
      }
      if (left.empty()) break;
      const size_t from = left[random() % left.size()];
      for (size_t count = 1 + random() % 6; count > 0 && next[from] < all[from].size(); --count) {
        std::string line = all[from][next[from]++];
        const size_t name = from == 2 ? line.find("_Z1") : std::string::npos;
        if (name != std::string::npos) line.replace(name, 3, "_Z2x");
        text += line;
      }
    }
    for (const LogKernel& kernel : ReadPtxasLog(text).kernels) {
      if (!kernel.resources.registers) continue;
      ++told;
      const bool third = kernel.resources.name[2] == '2';
      const uint32_t first = third ? 30 : kernel.arch == "sm_80" ? 10 : 20;
      const auto kind = static_cast<uint32_t>(kernel.resources.name[third ? 4 : 3] - 'a');
      ASSERT_EQ(kernel.resources.registers, first + kind) << round << '\n' << text;
      if (kernel.resources.spills) {
        ASSERT_EQ(kernel.resources.spills->loads, first + kind) << round << '\n' << text;
      }
    }
  }
  EXPECT_GT(told, 2000u * 12 / 4) << "not much is left";
}

TEST(PtxasLog, CutAnywhereNothingIsWrong) {
  const std::string whole = kA + kB;
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    for (const LogKernel& kernel : ReadPtxasLog(whole.substr(0, cut)).kernels) {
      const bool a = kernel.resources.name == "_Z1aPf";
      if (kernel.resources.registers && cut < whole.size() - 40 && a) {
        EXPECT_EQ(kernel.resources.registers, 32u) << cut;
      }
    }
    ReadPtxasLog(whole.substr(cut));
  }
  // The first kernel's last lines are gone; the second one's are not taken for its.
  const PtxasLog log = ReadPtxasLog(std::string(kEntryA) + kPropertiesA + kB);
  EXPECT_FALSE(Find(log, "_Z1aPf")->resources.registers);
}

TEST(PtxasLog, ALinkersNumbersAreThoseOfTheWholeProgram) {
  const PtxasLog log = ReadPtxasLog(
      kB +
      "nvlink info    : 400 bytes gmem, 64 bytes cmem[3]\n"
      "nvlink info    : Function properties for '_Z1bPf':\n"
      "nvlink info    : used 24 registers, used 2 barriers, 40 stack, 2048 bytes smem, 540 bytes "
      "cmem[0], 0 bytes lmem\n");
  ASSERT_EQ(log.kernels.size(), 1u);
  EXPECT_EQ(log.kernels[0].arch, "sm_90a");
  EXPECT_EQ(log.kernels[0].resources.registers, 24u);
  EXPECT_EQ(log.kernels[0].resources.barriers, 2u);
  EXPECT_EQ(log.kernels[0].resources.cumulative_stack, 40u);
  EXPECT_FALSE(log.kernels[0].shared_known) << "it counts the system's kilobyte";
}

TEST(PtxasLog, RemarksHaveTheirFunctionAndLine) {
  const PtxasLog log = ReadPtxasLog(
      "ptxas warning : Registers are spilled to local memory in function '_Z5spillPf', 312 bytes "
      "spill stores, 316 bytes spill loads\n"
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to insufficient register resources for the wgmma pipeline in the function "
      "'_Z1kv'\n"
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to "
      "determine "
      "register count at entry.\n"
      "ptxas error   : Entry function '_Z1sv' uses too much shared data (0x12000 bytes, 0xc000 "
      "max)\n");
  ASSERT_EQ(log.remarks.size(), 4u);
  EXPECT_EQ(log.remarks[0].kind, LogRemarkKind::kSpilled);
  EXPECT_EQ(log.remarks[0].function, "_Z5spillPf");
  EXPECT_EQ(log.remarks[1].kind, LogRemarkKind::kSerialized);
  EXPECT_EQ(log.remarks[1].code, "C7510");
  EXPECT_EQ(log.remarks[1].function, "_Z1kv");
  EXPECT_EQ(log.remarks[1].line, 2u);
  EXPECT_THAT(log.remarks[1].text, HasSubstr("insufficient register resources"));
  EXPECT_EQ(log.remarks[2].kind, LogRemarkKind::kSetmaxnregIgnored);
  EXPECT_EQ(log.remarks[2].function, "");
  EXPECT_EQ(log.remarks[3].kind, LogRemarkKind::kTooMuchShared);
  EXPECT_EQ(log.remarks[3].function, "_Z1sv");
}

TEST(PtxasLog, IsKnownByWhatItSays) {
  EXPECT_TRUE(LooksLikePtxasLog("noise\n" + kA));
  EXPECT_TRUE(LooksLikePtxasLog("ptxas info    : (C7510) Potential Performance Loss: x\n"));
  EXPECT_FALSE(LooksLikePtxasLog("ptxas was not found\nCompiling entry function\n"));
  EXPECT_FALSE(LooksLikePtxasLog(std::string("\0ELF", 4) + kA));
  EXPECT_FALSE(LooksLikePtxasLog(""));
}

}  // namespace
}  // namespace cuproof
