#include "target/compat.h"

#include <gtest/gtest.h>

#include <string>

#include "target/table.h"

namespace cuproof {
namespace {

// One that nobody can name may still be in a machine.
Gpu GpuOf(uint32_t sm) {
  if (auto found = FindGpus("sm_" + std::to_string(sm))) return found->front();
  Gpu gpu;
  gpu.sm = sm;
  gpu.in_data = false;
  return gpu;
}

std::string Word(Fit fit) { return fit == Fit::kYes ? "yes" : fit == Fit::kNo ? "no" : "unknown"; }

struct Row {
  const char* code;
  uint32_t gpu;
  const char* fits;
};

void ExpectSass(const Row& row) {
  EXPECT_EQ(Word(SassFits(ParseArch(row.code), GpuOf(row.gpu))), row.fits)
      << "sm_" << row.code << " on sm_" << row.gpu;
}

// The cases of public reports, each by its id.
TEST(SassFits, TheTruthTableOfThePublicReports) {
  const Row rows[] = {
      {"80", 86, "yes"},   {"80", 89, "yes"},  // R20: same major, minor equal or higher
      {"89", 86, "no"},                        // R20
      {"87", 89, "no"},                        // R03: Tegra code
      {"70", 75, "yes"},                       // R18
      {"90a", 90, "yes"},                      // R01
      {"90a", 100, "no"},                      // R06
      {"100a", 103, "no"},                     // R01
      {"120a", 121, "no"},                     // R24
  };
  for (const Row& row : rows) ExpectSass(row);
}

TEST(SassFits, PlainTargetsRunOnTheSameMajorAndAnEqualOrHigherMinor) {
  const Row rows[] = {{"75", 75, "yes"},   {"75", 80, "no"},   {"80", 75, "no"},
                      {"80", 80, "yes"},   {"86", 80, "no"},   {"86", 89, "yes"},
                      {"89", 90, "no"},    {"90", 90, "yes"},  {"90", 100, "no"},
                      {"100", 103, "yes"}, {"103", 100, "no"}, {"100", 120, "no"},
                      {"120", 121, "yes"}, {"121", 120, "no"}, {"60", 61, "yes"},
                      {"50", 52, "yes"},   {"120", 100, "no"}};
  for (const Row& row : rows) ExpectSass(row);
}

TEST(SassFits, TegraAndDesktopNeverServeEachOther) {
  const Row rows[] = {{"87", 87, "yes"},   {"80", 87, "no"},  {"86", 87, "no"}, {"72", 75, "no"},
                      {"70", 72, "no"},    {"53", 60, "no"},  {"52", 53, "no"}, {"110", 110, "yes"},
                      {"101", 110, "yes"}, {"110", 120, "no"}};
  for (const Row& row : rows) ExpectSass(row);
}

TEST(SassFits, ArchitectureSpecificTargetsRunOnExactlyThatCapability) {
  const Row rows[] = {{"100a", 100, "yes"}, {"103a", 103, "yes"}, {"103a", 100, "no"},
                      {"120a", 120, "yes"}, {"121a", 121, "yes"}, {"90a", 80, "no"},
                      {"101a", 110, "yes"}, {"110a", 110, "yes"}};
  for (const Row& row : rows) ExpectSass(row);
}

TEST(SassFits, FamilyTargetsRunInTheirFamily) {
  const Row rows[] = {{"100f", 100, "yes"}, {"100f", 103, "yes"}, {"100f", 107, "yes"},
                      {"100f", 110, "no"},  {"100f", 120, "no"},  {"100f", 90, "no"},
                      {"103f", 103, "yes"}, {"103f", 100, "no"},  {"110f", 110, "yes"},
                      {"101f", 110, "yes"}, {"120f", 120, "yes"}, {"120f", 121, "yes"},
                      {"121f", 121, "yes"}, {"121f", 120, "no"}};
  for (const Row& row : rows) ExpectSass(row);
}

// r580 finds nothing to load in a container that claims sm_90f.
TEST(SassFits, AFamilyThatNoToolkitHasFitsNothing) {
  ExpectSass({"90f", 90, "no"});
  ExpectSass({"80f", 86, "no"});
}

TEST(SassFits, WhatTheTablesDoNotKnowIsUnknown) {
  ExpectSass({"130f", 130, "unknown"});
  ExpectSass({"100f", 108, "unknown"});
  ExpectSass({"120", 125, "unknown"});  // the same major, but what part is a 12.5?
  ExpectSass({"80", 88, "unknown"});    // nobody says what part an 8.8 is
  ExpectSass({"125", 130, "no"});       // another major in any case
  ExpectSass({"130", 130, "yes"});      // the same number in any case
  ExpectSass({"130a", 130, "yes"});
  ExpectSass({"120a", 130, "no"});
}

// Found with ptxas 13.0 by assembling each target for each GPU.
TEST(PtxFits, WhatPtxasAssembles) {
  const uint32_t gpus[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
  const std::pair<const char*, std::vector<uint32_t>> table[] = {
      {"75", {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121}},
      {"80", {80, 86, 87, 89, 90, 100, 103, 110, 120, 121}},
      {"86", {86, 87, 89, 90, 100, 103, 110, 120, 121}},
      {"89", {89, 90, 100, 103, 110, 120, 121}},
      {"90", {90, 100, 103, 110, 120, 121}},
      {"90a", {90}},
      {"100", {100, 103, 110, 120, 121}},
      {"100f", {100, 103}},
      {"100a", {100}},
      {"103", {103, 110, 120, 121}},
      {"103f", {103}},
      {"110f", {110}},
      {"120", {120, 121}},
      {"120f", {120, 121}},
      {"121f", {121}}};
  for (const auto& [target, fits] : table) {
    for (const uint32_t gpu : gpus) {
      const bool expected = std::find(fits.begin(), fits.end(), gpu) != fits.end();
      EXPECT_EQ(Word(PtxFits(ParseArch(target), GpuOf(gpu))), expected ? "yes" : "no")
          << "compute_" << target << " on sm_" << gpu;
    }
  }
}

TEST(PtxFits, PlainTargetsServeGpusYetToCome) {
  EXPECT_EQ(PtxFits({75, 0}, GpuOf(130)), Fit::kYes);
  EXPECT_EQ(PtxFits({120, 0}, GpuOf(130)), Fit::kYes);
  EXPECT_EQ(PtxFits({130, 'f'}, GpuOf(131)), Fit::kUnknown);
  EXPECT_EQ(PtxFits({120, 'f'}, GpuOf(125)), Fit::kUnknown);
  EXPECT_EQ(PtxFits({120, 'a'}, GpuOf(130)), Fit::kNo);
}

TEST(PtxFits, TheOldNumberOfThor) {
  EXPECT_EQ(PtxFits({101, 0}, GpuOf(110)), Fit::kYes);
  EXPECT_EQ(PtxFits({101, 'a'}, GpuOf(110)), Fit::kYes);
  // 101 is 110 today, and that is above 10.3.
  EXPECT_EQ(PtxFits({101, 0}, GpuOf(103)), Fit::kNo);
}

Image MakeImage(ImageKind kind, Arch arch, uint16_t raw_kind = 2) {
  Image image;
  image.kind = kind;
  image.arch = arch;
  image.raw_kind = raw_kind;
  return image;
}

TEST(WhyNot, SaysWhatTheImageIsFor) {
  const auto why = [](Arch arch, uint32_t gpu) {
    return WhyNot(MakeImage(ImageKind::kCubin, arch), GpuOf(gpu));
  };
  EXPECT_EQ(why({100, 'a'}, 103), "sm_100a is for compute capability 10.0 only, this GPU has 10.3");
  EXPECT_EQ(why({100, 'f'}, 120), "sm_100f covers its own family only, and sm_120 is not in it");
  EXPECT_EQ(why({90, 0}, 100), "sm_90 runs on compute capability 9.x, this GPU has 10.0");
  EXPECT_EQ(why({89, 0}, 86),
            "sm_89 needs compute capability 8.9 or higher of major 8, this GPU has 8.6");
  EXPECT_EQ(why({87, 0}, 89), "sm_87 is Tegra (Jetson) code, this GPU is a desktop part");
  EXPECT_EQ(why({80, 0}, 87), "sm_80 is desktop code, this GPU is a Tegra part");
}

TEST(WhyNot, SaysItOfPtxAndOtherKinds) {
  EXPECT_EQ(WhyNot(MakeImage(ImageKind::kPtx, {90, 0}), GpuOf(80)),
            "compute_90 needs compute capability 9.0 or higher, this GPU has 8.0");
  EXPECT_EQ(WhyNot(MakeImage(ImageKind::kLtoIr, {75, 0}), GpuOf(80)),
            "lto_75 is LTO-IR: it must be linked by nvJitLink first");
  EXPECT_EQ(WhyNot(MakeImage(ImageKind::kUnknown, {90, 0}, 64), GpuOf(80)),
            "arch_90 is of kind 64, which this version does not know");
}

TEST(CapabilityText, HasADotBeforeTheLastDigit) {
  EXPECT_EQ(CapabilityText(90), "9.0");
  EXPECT_EQ(CapabilityText(103), "10.3");
  EXPECT_EQ(CapabilityText(121), "12.1");
}

}  // namespace
}  // namespace cuproof
