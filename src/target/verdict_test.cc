#include "target/verdict.h"

#include <gtest/gtest.h>

#include <string>

#include "build_fatbin.h"

namespace cuproof {
namespace {

using build::Compressed;
using build::Entry;
using build::Fatbin;
using build::LtoIr;
using build::Ptx;
using build::Sass;

FileImages Read(const std::string& bytes, bool deep = false) {
  FileImages file = ListImages(ByteView(bytes));
  if (deep) {
    ReadDeep(ByteView(bytes), file, 1);
  } else {
    ReadToolkits(ByteView(bytes), file);
  }
  return file;
}

FileVerdict Judge(const FileImages& file, std::string_view gpu, std::string_view driver = "") {
  std::optional<Driver> found;
  if (!driver.empty()) found = *FindDriver(driver);
  return JudgeFile(file, FindGpus(gpu)->front(), found);
}

// "sass sm_80", "no ptx-newer-than-driver compute_90".
std::string Text(const FileImages& file, const FileVerdict& verdict) {
  std::string text = OutcomeId(verdict.outcome);
  if (verdict.reason != Reason::kNone) text += std::string(" ") + ReasonId(verdict.reason);
  if (verdict.image >= 0) {
    text += ' ' + ImageTarget(file.images[static_cast<size_t>(verdict.image)]);
  }
  return text;
}

std::string Say(const FileImages& file, std::string_view gpu, std::string_view driver = "") {
  return Text(file, Judge(file, gpu, driver));
}

std::string Say(const std::string& bytes, std::string_view gpu, std::string_view driver = "") {
  return Say(Read(bytes), gpu, driver);
}

std::string FloorOf(const std::string& bytes, std::string_view gpu) {
  const DriverFloor floor = Judge(Read(bytes), gpu).floor;
  return (floor.number.empty() ? "r" + std::to_string(floor.branch) : floor.number) + ", " +
         floor.because;
}

// One test a reason.

TEST(Verdict, SassThatFitsRuns) {
  EXPECT_EQ(Say(Fatbin({Sass({90, 0})}), "sm_90", "580"), "sass sm_90");
  EXPECT_EQ(Say(Fatbin({Sass({80, 0})}), "sm_89"), "sass sm_80");
}

TEST(Verdict, PtxThatFitsIsCompiled) {
  EXPECT_EQ(Say(Fatbin({Ptx({80, 0}, {8, 0})}), "sm_90", "580"), "jit compute_80");
}

TEST(Verdict, NothingThatFitsIs209AndNamesTheNearest) {
  EXPECT_EQ(Say(Fatbin({Sass({80, 0}), Sass({90, 'a'})}), "sm_100"), "no no-image sm_90a");
  EXPECT_EQ(Say(Fatbin({Ptx({100, 'a'}, {8, 6}), Sass({75, 0})}), "sm_103"),
            "no no-image compute_100a");
}

TEST(Verdict, PtxNewerThanTheDriverIs222) {
  EXPECT_EQ(Say(Fatbin({Ptx({80, 0}, {9, 1})}), "sm_90", "580"),
            "no ptx-newer-than-driver compute_80");
  EXPECT_EQ(Say(Fatbin({Ptx({80, 0}, {9, 1})}), "sm_90", "590"), "jit compute_80");
}

TEST(Verdict, PtxWhoseTargetItsIsaDoesNotHaveIs218) {
  const std::pair<Arch, Version> pairs[] = {{{75, 0}, {6, 2}}, {{80, 0}, {6, 5}},
                                            {{86, 0}, {7, 0}}, {{89, 0}, {7, 5}},
                                            {{90, 0}, {7, 5}}, {{90, 'a'}, {7, 8}}};
  for (const auto& [arch, isa] : pairs) {
    EXPECT_EQ(Say(Fatbin({Ptx(arch, isa)}), "sm_90", "580"),
              "no ptx-invalid compute_" + ArchText(arch));
  }
}

TEST(Verdict, APtxTextAloneForAnotherGpuIs218) {
  const auto say = [](Version isa, const char* target) {
    return Say(build::PtxText(isa, target), "sm_90", "580");
  };
  EXPECT_EQ(say({8, 6}, "sm_100"), "no ptx-target-above-gpu compute_100");
  EXPECT_EQ(say({8, 8}, "sm_120f"), "no ptx-target-above-gpu compute_120f");
  // Its ISA is looked at first.
  EXPECT_EQ(say({9, 1}, "sm_100"), "no ptx-newer-than-driver compute_100");
  EXPECT_EQ(say({8, 5}, "sm_100"), "no ptx-invalid compute_100");
  EXPECT_EQ(say({8, 6}, "sm_90f"), "no ptx-invalid compute_90f");
  EXPECT_EQ(say({8, 5}, "sm_99"), "no ptx-invalid compute_99");
}

TEST(Verdict, ARuntimeNewerThanTheDriverIs35ForEveryImage) {
  const std::string bytes = build::SharedObject(Fatbin({Sass({90, 0})}), 13);
  EXPECT_EQ(Say(bytes, "sm_90", "570.124.06"), "no runtime-newer-than-driver");
  EXPECT_EQ(Say(bytes, "sm_80", "570.124.06"), "no runtime-newer-than-driver");
  EXPECT_EQ(Say(bytes, "sm_90", "580.65.06"), "sass sm_90");
  EXPECT_EQ(Say(bytes, "sm_90", "580.40"), "no runtime-newer-than-driver");
  EXPECT_EQ(Say(bytes, "sm_90", "580"), "sass sm_90");
}

TEST(Verdict, MinorVersionsOfOneMajorRunOnItsFirstDriver) {
  const std::string twelve_nine = build::SharedObject(Fatbin({Sass({90, 0}, {12, 9})}), 12);
  EXPECT_EQ(Say(twelve_nine, "sm_90", "525.60.13"), "sass sm_90");
  EXPECT_EQ(Say(twelve_nine, "sm_90", "520.61.05"), "no runtime-newer-than-driver");
}

TEST(Verdict, ARuntimeMajorThatTheTablesDoNotHaveIsUnknown) {
  const std::string bytes = build::SharedObject(Fatbin({Sass({90, 0})}), 99);
  EXPECT_EQ(Say(bytes, "sm_90", "580"), "unknown newer-than-data");
  EXPECT_EQ(Say(bytes, "sm_90", "9999"), "unknown newer-than-data");
  EXPECT_EQ(Say(bytes, "sm_90"), "sass sm_90");
}

TEST(Verdict, WithoutALibcudartTheToolkitOfTheCubinsIsTheFloor) {
  const std::string bytes = build::SharedObject(Fatbin({Sass({90, 0}, {13, 1})}), 0);
  EXPECT_EQ(Say(bytes, "sm_90", "570"), "no runtime-newer-than-driver");
  EXPECT_EQ(FloorOf(bytes, "sm_90"), "580.65.06, CUDA 13 toolkit");
}

// The driver loads an image by itself, and what an older one does with it is not documented.
TEST(Verdict, AnImageAloneOfANewerMajorIsUnknown) {
  EXPECT_EQ(Say(Fatbin({Sass({90, 0}, {13, 0})}), "sm_90", "570"),
            "unknown runtime-newer-than-driver");
  EXPECT_EQ(Say(build::CubinBytes({}), "sm_90", "570"), "unknown runtime-newer-than-driver");
}

TEST(Verdict, ZstdBeforeR550Is200) {
  const std::string bytes = Fatbin({Compressed(Sass({80, 0}, {12, 2}), Compression::kZstd)});
  EXPECT_EQ(Say(bytes, "sm_80", "535.183.01"), "no zstd-image-old-driver sm_80");
  EXPECT_EQ(Say(bytes, "sm_80", "550.54.14"), "sass sm_80");
  const std::string ptx = Fatbin({Compressed(Ptx({80, 0}, {8, 2}), Compression::kZstd)});
  EXPECT_EQ(Say(ptx, "sm_80", "535"), "no zstd-image-old-driver compute_80");
  EXPECT_EQ(Say(ptx, "sm_80", "550"), "jit compute_80");
}

TEST(Verdict, TheImageThatIsTakenIsDamaged) {
  Entry lie = Compressed(Sass({90, 0}), Compression::kZstd);
  lie.stored_size = UINT32_MAX;
  EXPECT_EQ(Say(Fatbin({lie}), "sm_90"), "no damaged-image sm_90");
  EXPECT_EQ(Say(Fatbin({lie, Sass({80, 0})}), "sm_80"), "sass sm_80");
  const std::string cubin = build::CubinBytes({});
  EXPECT_EQ(Say(cubin.substr(0, 500), "sm_90"), "no damaged-image sm_90");
  EXPECT_EQ(Say(".version 8.0\n.target sm_80\n.entry k() {", "sm_80"),
            "no damaged-image compute_80");
}

TEST(Verdict, ADamagedContainerIsNotSaidToRun) {
  Entry lie = Sass({86, 0});
  lie.payload_size = UINT64_MAX;
  const FileImages file = Read(Fatbin({Sass({80, 0}), lie}));
  EXPECT_EQ(Say(file, "sm_80"), "unknown damaged-image sm_80");
  EXPECT_EQ(Say(file, "sm_90"), "no damaged-image sm_80");
}

TEST(Verdict, AHostFileThatIsCutIsNotSaidToRun) {
  const std::string bytes = build::SharedObject(Fatbin({Sass({90, 0})}));
  EXPECT_EQ(Say(bytes.substr(0, bytes.size() - 1), "sm_90"), "unknown damaged-image");
}

TEST(Verdict, ADriverThatDroppedTheGpu) {
  const std::string bytes = build::SharedObject(Fatbin({Sass({70, 0}, {12, 6})}), 12);
  EXPECT_EQ(Say(bytes, "V100", "580.95.05"), "sass sm_70");
  EXPECT_EQ(Say(bytes, "V100", "590"), "no gpu-dropped-by-driver");
  EXPECT_EQ(Say(bytes, "V100", "9999"), "no gpu-dropped-by-driver");
  EXPECT_EQ(Say(bytes, "V100", "14.0"), "no gpu-dropped-by-driver");
  EXPECT_EQ(Say(bytes, "V100"), "sass sm_70");
}

TEST(Verdict, LtoIrAloneIs209UntilItIsLinked) {
  EXPECT_EQ(Say(Fatbin({LtoIr({90, 0})}), "sm_90", "580"), "no lto-ir-only lto_90");
  EXPECT_EQ(Say(Fatbin({Sass({80, 0}), LtoIr({90, 0}, true)}), "sm_90", "580"),
            "no lto-ir-only lto_90");
  EXPECT_EQ(Say(Fatbin({Ptx({80, 0}, {9, 0}), LtoIr({90, 0})}), "sm_90", "580"), "jit compute_80");
}

TEST(Verdict, AFileWithoutKernelsClaimsNothing) {
  build::Cubin empty;
  empty.code = false;
  Entry entry = Sass({90, 0});
  entry.payload = build::CubinBytes(empty);
  const FileImages file = Read(build::SharedObject(Fatbin({entry})), true);
  EXPECT_EQ(Say(file, "sm_80"), "unknown no-kernels");
  // Beside one that has some it has no say.
  const FileImages two = Read(build::SharedObject(Fatbin({entry}) + Fatbin({Sass({80, 0})})), true);
  EXPECT_EQ(Say(two, "sm_80"), "sass sm_80");
  EXPECT_EQ(Say(two, "sm_100"), "no no-image sm_80");
}

TEST(Verdict, WhatTheTablesDoNotKnowIsUnknown) {
  EXPECT_EQ(Say(Fatbin({Sass({120, 0})}), "sm_125"), "unknown newer-than-data sm_120");
  EXPECT_EQ(Say(Fatbin({Sass({120, 'f'})}), "sm_125"), "unknown newer-than-data sm_120f");
  EXPECT_EQ(Say(Fatbin({Ptx({80, 0}, {9, 9})}), "sm_90", "9999"),
            "unknown newer-than-data compute_80");
  EXPECT_EQ(Say(Fatbin({Sass({120, 0})}), "sm_130"), "no no-image sm_120");
}

TEST(Verdict, ADriverThatIsNewerThanTheTablesRunsOldCode) {
  EXPECT_EQ(Say(Fatbin({Sass({90, 0})}), "sm_90", "9999"), "sass sm_90");
  EXPECT_EQ(Say(Fatbin({Ptx({80, 0}, {9, 0})}), "sm_90", "9999"), "jit compute_80");
}

TEST(Verdict, WithoutADriverNothingIsClaimedAboutIt) {
  EXPECT_EQ(Say(Fatbin({Ptx({80, 0}, {9, 1})}), "sm_90"), "jit compute_80");
  EXPECT_EQ(Say(build::SharedObject(Fatbin({Sass({90, 0})}), 13), "sm_90"), "sass sm_90");
}

TEST(Verdict, EntriesOfKindsThatWeDoNotKnow) {
  Entry other = Sass({90, 0});
  other.kind = 0x40;
  // r580 and older pass over them (tried), a newer one may not.
  EXPECT_EQ(Say(Fatbin({other}), "sm_90", "580"), "no no-image sm_90");
  EXPECT_EQ(Say(Fatbin({other}), "sm_90", "590"), "unknown newer-than-data sm_90");
  EXPECT_EQ(Say(Fatbin({other}), "sm_90"), "unknown newer-than-data sm_90");
  EXPECT_EQ(Say(Fatbin({other, Ptx({80, 0}, {8, 0})}), "sm_90", "580"), "jit compute_80");
  EXPECT_EQ(Say(Fatbin({other, Sass({90, 0})}), "sm_90", "590"), "sass sm_90");
  other.kind = 0;
  EXPECT_EQ(Say(Fatbin({other}), "sm_90", "580"), "no no-image sm_90");
}

TEST(Verdict, FilesWithNothingForAGpu) {
  const FileImages file = Read(build::HostElfBytes({}));
  EXPECT_EQ(Say(file, "sm_90", "580"), "unknown");
  EXPECT_EQ(Say(Fatbin({}), "sm_90", "580"), "no no-image");
}

// Which image is taken: tried on an H200 with r580, with images that tell which one ran.

TEST(ImageTaken, SassBeforePtx) {
  EXPECT_EQ(Say(Fatbin({Ptx({90, 0}, {9, 0}), Sass({90, 0})}), "sm_90", "580"), "sass sm_90");
  EXPECT_EQ(Say(Fatbin({Ptx({90, 0}, {9, 1}), Sass({90, 0})}), "sm_90", "580"), "sass sm_90");
  EXPECT_EQ(Say(Fatbin({Sass({80, 0}), Ptx({90, 0}, {9, 0})}), "sm_89", "580"), "sass sm_80");
}

TEST(ImageTaken, OfCubinsTheOneForThisChipAndASuffixBeforeNone) {
  EXPECT_EQ(Say(Fatbin({Sass({80, 0}), Sass({86, 0}), Sass({89, 0})}), "sm_89"), "sass sm_89");
  EXPECT_EQ(Say(Fatbin({Sass({86, 0}), Sass({80, 0})}), "sm_89"), "sass sm_86");
  EXPECT_EQ(Say(Fatbin({Sass({90, 0}), Sass({90, 'a'})}), "sm_90"), "sass sm_90a");
  EXPECT_EQ(Say(Fatbin({Sass({90, 'a'}), Sass({90, 0})}), "sm_90"), "sass sm_90a");
}

TEST(ImageTaken, OfEqualCubinsTheFirst) {
  const FileImages file = Read(Fatbin({Sass({90, 0}, {12, 9}), Sass({90, 0}, {13, 0})}));
  EXPECT_EQ(Judge(file, "sm_90").image, 0);
}

TEST(ImageTaken, OfPtxTheHighestTargetInReachAndOfEqualsTheLast) {
  const Entry old = Ptx({90, 0}, {7, 8});
  const Entry newer = Ptx({90, 0}, {8, 5});
  EXPECT_EQ(Judge(Read(Fatbin({old, newer})), "sm_90", "580").image, 1);
  EXPECT_EQ(Judge(Read(Fatbin({newer, old})), "sm_90", "580").image, 1);
  const Entry eighty = Ptx({80, 0}, {8, 0});
  EXPECT_EQ(Say(Fatbin({newer, eighty}), "sm_90", "580"), "jit compute_90");
  EXPECT_EQ(Say(Fatbin({eighty, newer}), "sm_90", "580"), "jit compute_90");
  EXPECT_EQ(Say(Fatbin({Ptx({100, 0}, {9, 1}), eighty}), "sm_90", "580"), "jit compute_80");
  EXPECT_EQ(Say(Fatbin({Ptx({90, 0}, {8, 0}), Ptx({90, 'a'}, {8, 0})}), "sm_90", "580"),
            "jit compute_90a");
}

TEST(ImageTaken, WhenTheOneTakenFailsThereIsNoSecondTry) {
  const Entry usable = Ptx({80, 0}, {8, 0});
  const Entry too_new = Ptx({90, 0}, {9, 1});
  EXPECT_EQ(Say(Fatbin({too_new, usable}), "sm_90", "580"), "no ptx-newer-than-driver compute_90");
  EXPECT_EQ(Say(Fatbin({usable, too_new}), "sm_90", "580"), "no ptx-newer-than-driver compute_90");
  EXPECT_EQ(Say(Fatbin({Ptx({90, 0}, {8, 0}), too_new}), "sm_90", "580"),
            "no ptx-newer-than-driver compute_90");
  EXPECT_EQ(Say(Fatbin({too_new, Ptx({90, 0}, {8, 0})}), "sm_90", "580"), "jit compute_90");
}

TEST(ImageTaken, OfAFatbinFileOnlyTheFirstContainer) {
  const std::string eighty = Fatbin({Sass({80, 0})});
  const std::string ninety = Fatbin({Sass({90, 0})});
  EXPECT_EQ(Say(eighty + ninety, "sm_90", "580"), "no no-image sm_80");
  EXPECT_EQ(Say(ninety + eighty, "sm_90", "580"), "sass sm_90");
  // The host code of a program loads each of them.
  EXPECT_EQ(Say(build::SharedObject(eighty + ninety), "sm_90", "580"), "sass sm_90");
}

// Files of several modules.

TEST(FileVerdict, RunsWhenOneModuleDoesAndCountsTheOthers) {
  const FileImages file = Read(build::SharedObject(
      Fatbin({Sass({90, 0})}) + Fatbin({Sass({80, 0})}) + Fatbin({Ptx({80, 0}, {9, 0})}) +
      Fatbin({Ptx({80, 0}, {9, 1})}) + Fatbin({Sass({75, 0})})));
  const FileVerdict verdict = Judge(file, "sm_90", "580");
  EXPECT_EQ(Text(file, verdict), "sass sm_90");
  EXPECT_EQ(verdict.sass_modules, 1u);
  EXPECT_EQ(verdict.jit_modules, 1u);
  EXPECT_EQ(verdict.failed_modules, 3u);
  EXPECT_EQ(verdict.unknown_modules, 0u);
  EXPECT_EQ(verdict.failed, (std::vector<uint32_t>{1, 3, 4}));
}

TEST(FileVerdict, KeepsTheFirstFailuresOnly) {
  std::string fatbins;
  for (int i = 0; i < 100; ++i) fatbins += Fatbin({Sass({80, 0})});
  const FileVerdict verdict = Judge(Read(build::SharedObject(fatbins)), "sm_90");
  EXPECT_EQ(verdict.failed_modules, 100u);
  EXPECT_EQ(verdict.failed.size(), 64u);
}

TEST(FileVerdict, OfAFileThatDoesNotRunTheFailureNearestToRunning) {
  const std::string miss = Fatbin({Sass({75, 0})});
  const std::string too_new = Fatbin({Ptx({80, 0}, {9, 1})});
  EXPECT_EQ(Say(build::SharedObject(miss + too_new), "sm_90", "580"),
            "no ptx-newer-than-driver compute_80");
  EXPECT_EQ(Say(build::SharedObject(too_new + miss), "sm_90", "580"),
            "no ptx-newer-than-driver compute_80");
  EXPECT_EQ(Say(build::SharedObject(miss + Fatbin({Sass({89, 0})})), "sm_90"), "no no-image sm_89");
}

TEST(FileVerdict, EmptyContainersBesideOthersHaveNoSay) {
  const FileImages file = Read(build::SharedObject(Fatbin({}) + Fatbin({Sass({90, 0})})));
  EXPECT_EQ(Judge(file, "sm_90").failed_modules, 0u);
}

TEST(FileVerdict, FloorsAreOfWhatRuns) {
  EXPECT_EQ(FloorOf(build::SharedObject(Fatbin({Sass({90, 0})}), 13), "sm_90"),
            "580.65.06, CUDA 13 runtime");
  EXPECT_EQ(FloorOf(build::SharedObject(Fatbin({Sass({90, 0}, {12, 4})}), 12), "sm_90"),
            "525.60.13, CUDA 12 runtime");
  EXPECT_EQ(FloorOf(build::SharedObject(Fatbin({Ptx({80, 0}, {9, 1})}), 13), "sm_90"),
            "590.44.01, PTX ISA 9.1");
  EXPECT_EQ(FloorOf(build::SharedObject(
                        Fatbin({Compressed(Sass({90, 0}, {12, 4}), Compression::kZstd)}), 12),
                    "sm_90"),
            "r550, zstd images");
  EXPECT_EQ(FloorOf(build::SharedObject(
                        Fatbin({Compressed(Ptx({80, 0}, {8, 0}), Compression::kZstd)}), 12),
                    "sm_90"),
            "r550, zstd images");
  // PTX that is not needed asks for nothing.
  EXPECT_EQ(
      FloorOf(build::SharedObject(Fatbin({Sass({90, 0}), Ptx({90, 0}, {9, 1})}), 13), "sm_90"),
      "580.65.06, CUDA 13 runtime");
}

TEST(FileVerdict, TheFloorOfAFileThatDoesNotRunIsWhatItWouldTake) {
  const FileImages file = Read(build::SharedObject(Fatbin({Ptx({80, 0}, {9, 1})}), 13));
  const FileVerdict verdict = Judge(file, "sm_90", "580.95.05");
  EXPECT_EQ(verdict.outcome, Outcome::kDoesNotRun);
  EXPECT_EQ(verdict.floor.number, "590.44.01");
}

TEST(FileVerdict, OldToolkitsHadOneDriverEach) {
  EXPECT_EQ(FloorOf(build::SharedObject(Fatbin({Sass({70, 0}, {10, 1})}), 0), "sm_70"),
            "418.39, CUDA 10.1");
}

TEST(JudgeModule, JudgesOneAlone) {
  const FileImages file =
      Read(build::SharedObject(Fatbin({Sass({90, 0})}) + Fatbin({Sass({80, 0})})));
  const Gpu gpu = FindGpus("sm_90")->front();
  EXPECT_EQ(JudgeModule(file, file.modules[0], gpu, std::nullopt).outcome, Outcome::kRunsSass);
  const ModuleVerdict second = JudgeModule(file, file.modules[1], gpu, std::nullopt);
  EXPECT_EQ(second.outcome, Outcome::kDoesNotRun);
  EXPECT_EQ(second.image, 1);
}

}  // namespace
}  // namespace cuproof
