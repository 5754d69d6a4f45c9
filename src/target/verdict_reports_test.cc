#include <gtest/gtest.h>

#include <string>

#include "build_fatbin.h"
#include "target/verdict.h"

// The cases of public bug reports, each by its id, and true negatives: files
// that are in order and must not be called broken.
namespace cuproof {
namespace {

using build::Compressed;
using build::Fatbin;
using build::Ptx;
using build::Sass;
using build::SharedObject;

std::string Say(const std::string& bytes, std::string_view gpu, std::string_view driver = "") {
  FileImages file = ListImages(ByteView(bytes));
  ReadDeep(ByteView(bytes), file, 1);
  std::optional<Driver> found;
  if (!driver.empty()) found = *FindDriver(driver);
  const FileVerdict verdict = JudgeFile(file, FindGpus(gpu)->front(), found);
  std::string text = OutcomeId(verdict.outcome);
  if (const int error = ReasonError(verdict.reason)) text += ' ' + std::to_string(error);
  if (verdict.image >= 0) {
    text += ' ' + ImageTarget(file.images[static_cast<size_t>(verdict.image)]);
  }
  return text;
}

TEST(Reports, R01AWheelWithArchitectureSpecificCubinsOnly) {
  const std::string bytes =
      SharedObject(Fatbin({Sass({80, 0}), Sass({90, 'a'}), Sass({100, 'a'})}));
  EXPECT_EQ(Say(bytes, "B300"), "no 209 sm_100a");
  EXPECT_EQ(Say(bytes, "B200"), "sass sm_100a");
  EXPECT_EQ(Say(bytes, "H100"), "sass sm_90a");
  // Both fixes of the report.
  EXPECT_EQ(Say(SharedObject(Fatbin({Sass({100, 'f'})})), "B300"), "sass sm_100f");
  EXPECT_EQ(Say(SharedObject(Fatbin({Ptx({100, 0}, {8, 6})})), "B300"), "jit compute_100");
}

TEST(Reports, R03AKernelFamilyBuiltForJetsonOnly) {
  const std::string bytes = SharedObject(Fatbin({Sass({87, 0})}));
  EXPECT_EQ(Say(bytes, "RTX 4090"), "no 209 sm_87");
  EXPECT_EQ(Say(bytes, "sm_87"), "sass sm_87");
  EXPECT_EQ(Say(SharedObject(Fatbin({Sass({87, 0}), Sass({80, 0})})), "RTX 4090"), "sass sm_80");
}

TEST(Reports, R04AReleaseFromBeforeTheGpu) {
  const std::string bytes = SharedObject(Fatbin({Sass({80, 0}, {12, 6}), Sass({86, 0}, {12, 6}),
                                                 Sass({89, 0}, {12, 6}), Sass({90, 0}, {12, 6})}),
                                         12);
  EXPECT_EQ(Say(bytes, "RTX 5090").substr(0, 6), "no 209");
  EXPECT_EQ(Say(bytes, "RTX 4090"), "sass sm_89");
}

TEST(Reports, R06ALoaderThatDoesNotLookAtArchitectures) {
  const std::string bytes = SharedObject(Fatbin({Sass({80, 0}), Sass({90, 'a'})}));
  EXPECT_EQ(Say(bytes, "B200").substr(0, 6), "no 209");
}

TEST(Reports, R10TorchWithoutPascal) {
  const std::string bytes = SharedObject(Fatbin({Sass({75, 0}), Sass({80, 0}), Sass({86, 0}),
                                                 Sass({90, 0}), Sass({100, 0}), Sass({120, 0})}));
  EXPECT_EQ(Say(bytes, "P100").substr(0, 6), "no 209");
  EXPECT_EQ(Say(bytes, "T4"), "sass sm_75");
}

TEST(Reports, R18TuringRunsCodeOfVolta) {
  EXPECT_EQ(Say(SharedObject(Fatbin({Sass({70, 0}, {12, 6}), Sass({80, 0}, {12, 6})}), 12), "T4"),
            "sass sm_70");
  EXPECT_EQ(Say(SharedObject(Fatbin({Sass({80, 0})})), "T4"), "no 209 sm_80");
}

TEST(Reports, R20ALowerMinorCannotRunAHigher) {
  EXPECT_EQ(Say(SharedObject(Fatbin({Sass({89, 0})})), "sm_86"), "no 209 sm_89");
  EXPECT_EQ(Say(SharedObject(Fatbin({Sass({80, 0})})), "sm_86"), "sass sm_80");
  EXPECT_EQ(Say(SharedObject(Fatbin({Sass({80, 0})})), "sm_89"), "sass sm_80");
}

TEST(Reports, R24Gb10CannotRun120a) {
  const std::string bytes =
      SharedObject(Fatbin({Sass({90, 'a'}), Sass({100, 'a'}), Sass({120, 'a'})}));
  EXPECT_EQ(Say(bytes, "GB10"), "no 209 sm_120a");
  EXPECT_EQ(Say(SharedObject(Fatbin({Sass({120, 'f'})})), "GB10"), "sass sm_120f");
  EXPECT_EQ(Say(SharedObject(Fatbin({Sass({120, 0})})), "GB10"), "sass sm_120");
}

TEST(Reports, R25OneFileMustJitPtxThatIsNewerThanTheDriver) {
  const std::string bytes = SharedObject(
      Fatbin({Sass({75, 0}, {12, 9}), Sass({80, 0}, {12, 9}), Ptx({80, 0}, {8, 8})}), 12);
  EXPECT_EQ(Say(bytes, "H100", "12.8"), "no 222 compute_80");
  EXPECT_EQ(Say(bytes, "H100", "12.9"), "jit compute_80");
  EXPECT_EQ(Say(bytes, "A100", "12.8"), "sass sm_80");
}

TEST(Reports, R27PtxOfAMinorReleaseOnAnOlderDriverOfTheSameMajor) {
  const std::string bytes = SharedObject(Fatbin({Ptx({70, 0}, {7, 7})}), 0);
  EXPECT_EQ(Say(bytes, "A100", "11.4"), "no 222 compute_70");
  EXPECT_EQ(Say(bytes, "A100", "11.7"), "jit compute_70");
}

TEST(Reports, R28ATextOfNvrtcThatIsNewerThanTheDriver) {
  const std::string text = build::PtxText({9, 1}, "sm_90");
  EXPECT_EQ(Say(text, "H100", "13.0"), "no 222 compute_90");
  EXPECT_EQ(Say(text, "H100", "13.1"), "jit compute_90");
}

// 12.5 and 12.6 have the same ISA.
TEST(Reports, R31TheTableOfCudaAndPtxVersions) {
  const std::string text = build::PtxText({8, 6}, "sm_80");
  EXPECT_EQ(Say(text, "A100", "12.6"), "no 222 compute_80");
  EXPECT_EQ(Say(text, "A100", "565"), "jit compute_80");
  EXPECT_EQ(Say(build::PtxText({8, 5}, "sm_80"), "A100", "12.5"), "jit compute_80");
  EXPECT_EQ(Say(build::PtxText({8, 5}, "sm_80"), "A100", "12.6"), "jit compute_80");
}

TEST(Reports, R33AFatbinInZstdOnADriverBeforeR550) {
  const std::string bytes =
      SharedObject(Fatbin({Compressed(Sass({86, 0}, {12, 8}), Compression::kZstd)}), 12);
  EXPECT_EQ(Say(bytes, "RTX 3090", "535.183.01"), "no 200 sm_86");
  EXPECT_EQ(Say(bytes, "RTX 3090", "550.54.14"), "sass sm_86");
  const std::string lz4 =
      SharedObject(Fatbin({Compressed(Sass({86, 0}, {12, 8}), Compression::kLz4Block)}), 12);
  EXPECT_EQ(Say(lz4, "RTX 3090", "535.183.01"), "sass sm_86");
}

TEST(Reports, R38ATargetThatItsIsaDoesNotHave) {
  EXPECT_EQ(Say(build::PtxText({8, 8}, "sm_107a"), "sm_107", "615"), "no 218 compute_107a");
  EXPECT_EQ(Say(build::PtxText({9, 4}, "sm_107a"), "sm_107", "615"), "jit compute_107a");
}

TEST(Reports, R127PtxOfTuringOnBlackwell) {
  EXPECT_EQ(Say(SharedObject(Fatbin({Ptx({75, 0}, {8, 7})}), 12), "RTX 5090", "570"),
            "jit compute_75");
}

// @node-llama-cpp/linux-x64-cuda 3.21.1, built with CUDA 13.1.
class WorkedExample : public testing::Test {
 protected:
  WorkedExample() {
    for (const Arch arch : {Arch{86, 0}, Arch{89, 0}, Arch{120, 'a'}, Arch{121, 'a'}}) {
      entries_.push_back(Compressed(Sass(arch, {13, 1}), Compression::kZstd));
    }
    for (const uint32_t arch : {75u, 80u, 90u}) {
      entries_.push_back(Compressed(Ptx({arch, 0}, {9, 1}), Compression::kZstd));
    }
    bytes_ = SharedObject(Fatbin(entries_), 13);
  }

  std::string Floor(std::string_view gpu) const {
    FileImages file = ListImages(ByteView(bytes_));
    ReadDeep(ByteView(bytes_), file, 1);
    return JudgeFile(file, FindGpus(gpu)->front(), std::nullopt).floor.number;
  }

  std::vector<build::Entry> entries_;
  std::string bytes_;
};

TEST_F(WorkedExample, OnlyPtxFitsH100A100AndB200SoTheyNeedR590) {
  for (const auto& [gpu, image] :
       {std::pair("H100", "compute_90"), std::pair("A100", "compute_80"),
        std::pair("B200", "compute_90"), std::pair("T4", "compute_75")}) {
    EXPECT_EQ(Floor(gpu), "590.44.01") << gpu;
    EXPECT_EQ(Say(bytes_, gpu, "580.95.05"), std::string("no 222 ") + image);
    EXPECT_EQ(Say(bytes_, gpu, "590.44.01"), std::string("jit ") + image);
  }
}

TEST_F(WorkedExample, SassRunsWithTheFirstDriverOfTheMajor) {
  for (const auto& [gpu, image] :
       {std::pair("RTX 3090", "sm_86"), std::pair("RTX 4090", "sm_89"),
        std::pair("RTX 5090", "sm_120a"), std::pair("GB10", "sm_121a")}) {
    EXPECT_EQ(Floor(gpu), "580.65.06") << gpu;
    EXPECT_EQ(Say(bytes_, gpu, "580.65.06"), std::string("sass ") + image);
    EXPECT_EQ(Say(bytes_, gpu, "575"), "no 35");
  }
}

TEST_F(WorkedExample, NothingIsForVolta) { EXPECT_EQ(Say(bytes_, "V100").substr(0, 6), "no 209"); }

// True negatives: each of these was called broken by a rule of thumb.

TEST(TrueNegatives, NewCodeBesideOldCodeHarmsNoOldGpu) {
  const std::string bytes = SharedObject(
      Fatbin({Sass({75, 0}), Sass({90, 'a'}), Sass({100, 'f'}), Ptx({120, 0}, {9, 1})}), 13);
  EXPECT_EQ(Say(bytes, "T4", "580.65.06"), "sass sm_75");
}

TEST(TrueNegatives, PtxThatIsNewerThanTheDriverIsHarmlessBesideSass) {
  const std::string bytes = SharedObject(Fatbin({Sass({90, 0}), Ptx({90, 0}, {9, 4})}), 13);
  EXPECT_EQ(Say(bytes, "H100", "580.65.06"), "sass sm_90");
}

TEST(TrueNegatives, ANewerDriverRunsOldCode) {
  const std::string bytes =
      SharedObject(Fatbin({Sass({75, 0}, {11, 8}), Ptx({75, 0}, {7, 8})}), 11);
  EXPECT_EQ(Say(bytes, "T4", "610"), "sass sm_75");
  EXPECT_EQ(Say(bytes, "B200", "610"), "jit compute_75");
}

TEST(TrueNegatives, ZstdPtxThatNobodyCompilesIsHarmless) {
  const std::string bytes = SharedObject(
      Fatbin({Sass({80, 0}, {12, 4}), Compressed(Ptx({80, 0}, {8, 4}), Compression::kZstd)}), 12);
  EXPECT_EQ(Say(bytes, "A100", "535"), "sass sm_80");
}

TEST(TrueNegatives, LibrariesWithAModuleForEachArchitecture) {
  std::string fatbins;
  for (const uint32_t sm : {50u, 60u, 70u, 75u, 80u, 86u, 89u, 90u, 100u, 120u}) {
    fatbins += Fatbin({Sass({sm, 0}, {12, 8})});
  }
  for (const char* gpu : {"V100", "T4", "A100", "H100", "B200", "RTX 5090"}) {
    EXPECT_EQ(Say(SharedObject(fatbins, 12), gpu, "570").substr(0, 4), "sass") << gpu;
  }
}

TEST(TrueNegatives, ACuda12ProgramOnTheFirstDriverOfItsMajor) {
  const std::string bytes = SharedObject(Fatbin({Sass({90, 0}, {12, 9})}), 12);
  EXPECT_EQ(Say(bytes, "H100", "525.60.13"), "sass sm_90");
}

}  // namespace
}  // namespace cuproof
