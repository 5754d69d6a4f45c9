#include "target/facts.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

TEST(Facts, Architectures) {
  const ArchFact* hopper = FindArch(90);
  ASSERT_NE(hopper, nullptr);
  EXPECT_EQ(hopper->name, "Hopper");
  EXPECT_EQ(hopper->platform, Platform::kDesktop);
  EXPECT_EQ(hopper->first_cuda, (Version{11, 8}));
  EXPECT_FALSE(hopper->last_cuda.known());
  EXPECT_EQ(hopper->last_driver_branch, 0u);
  EXPECT_EQ(FindArch(70)->last_cuda, (Version{12, 9}));
  EXPECT_EQ(FindArch(70)->last_driver_branch, 580u);
  EXPECT_EQ(FindArch(87)->platform, Platform::kTegra);
  EXPECT_EQ(FindArch(88)->platform, Platform::kUnknown);
  EXPECT_EQ(FindArch(88)->example, "");
  EXPECT_EQ(FindArch(101), nullptr);
  EXPECT_EQ(FindArch(0), nullptr);
}

TEST(Facts, ArchitecturesComeLowestFirst) {
  for (size_t i = 1; i < ArchFacts().size(); ++i) {
    EXPECT_LT(ArchFacts()[i - 1].sm, ArchFacts()[i].sm);
  }
}

TEST(Facts, TheNumberThatCuda13Renamed) {
  EXPECT_EQ(CurrentSm(101), 110u);
  EXPECT_EQ(CurrentSm(110), 110u);
  EXPECT_EQ(CurrentSm(90), 90u);
  EXPECT_EQ(CurrentSm(0), 0u);
  EXPECT_EQ(CurrentSm(12345), 12345u);
}

TEST(Facts, Families) {
  EXPECT_EQ(InFamily(100, 100), true);
  EXPECT_EQ(InFamily(100, 103), true);
  EXPECT_EQ(InFamily(100, 107), true);
  EXPECT_EQ(InFamily(100, 110), false);
  EXPECT_EQ(InFamily(100, 120), false);
  EXPECT_EQ(InFamily(103, 100), false);
  EXPECT_EQ(InFamily(120, 121), true);
  EXPECT_EQ(InFamily(121, 120), false);
  EXPECT_EQ(InFamily(90, 90), std::nullopt);
  EXPECT_EQ(InFamily(130, 130), std::nullopt);
}

// Each was found by assembling for every ISA version.
TEST(Facts, TheFirstIsaOfATarget) {
  const std::pair<Arch, Version> cases[] = {
      {{75, 0}, {6, 3}},    {{80, 0}, {7, 0}},    {{86, 0}, {7, 1}},   {{87, 0}, {7, 4}},
      {{89, 0}, {7, 8}},    {{90, 0}, {7, 8}},    {{90, 'a'}, {8, 0}}, {{100, 0}, {8, 6}},
      {{100, 'a'}, {8, 6}}, {{100, 'f'}, {8, 8}}, {{103, 0}, {8, 8}},  {{120, 0}, {8, 7}},
      {{120, 'f'}, {8, 8}}, {{121, 0}, {8, 8}},   {{110, 0}, {9, 0}},  {{101, 0}, {8, 6}},
      {{107, 'a'}, {9, 4}}};
  for (const auto& [arch, isa] : cases) EXPECT_EQ(FirstIsa(arch), isa) << ArchText(arch);
  EXPECT_EQ(FirstIsa({90, 'f'}), std::nullopt);
  EXPECT_EQ(FirstIsa({99, 0}), std::nullopt);
}

// The table of the PTX ISA manual; 8.5 is that of two toolkits (report R31).
TEST(Facts, TheToolkitAndDriverOfAnIsa) {
  const std::tuple<Version, Version, uint32_t> cases[] = {
      {{7, 0}, {11, 0}, 450}, {{7, 7}, {11, 7}, 515}, {{7, 8}, {11, 8}, 520},
      {{8, 0}, {12, 0}, 525}, {{8, 2}, {12, 2}, 535}, {{8, 4}, {12, 4}, 550},
      {{8, 5}, {12, 5}, 555}, {{8, 6}, {12, 7}, 565}, {{8, 7}, {12, 8}, 570},
      {{8, 8}, {12, 9}, 575}, {{9, 0}, {13, 0}, 580}, {{9, 1}, {13, 1}, 590},
      {{9, 2}, {13, 2}, 595}, {{9, 3}, {13, 3}, 610}};
  for (const auto& [isa, cuda, branch] : cases) {
    const IsaFact* fact = FindIsa(isa);
    ASSERT_NE(fact, nullptr) << VersionText(isa);
    EXPECT_EQ(fact->cuda, cuda) << VersionText(isa);
    EXPECT_EQ(fact->branch, branch) << VersionText(isa);
  }
  EXPECT_EQ(FindIsa({9, 10}), nullptr);
  EXPECT_EQ(FindIsa({5, 1}), nullptr);
}

TEST(Facts, TheNewestIsaOfADriver) {
  EXPECT_EQ(NewestIsaOf({12, 5}), (Version{8, 5}));
  EXPECT_EQ(NewestIsaOf({12, 6}), (Version{8, 5}));
  EXPECT_EQ(NewestIsaOf({12, 7}), (Version{8, 6}));
  EXPECT_EQ(NewestIsaOf({12, 8}), (Version{8, 7}));
  EXPECT_EQ(NewestIsaOf({13, 0}), (Version{9, 0}));
  EXPECT_EQ(NewestIsaOf({11, 4}), (Version{7, 4}));
  EXPECT_EQ(NewestIsaOf({}), Version{});
}

TEST(Facts, TheFirstDriverOfAToolkit) {
  EXPECT_EQ(FirstDriverOf({13, 0})->number, "580.65.06");
  EXPECT_EQ(FirstDriverOf({13, 1})->number, "590.44.01");
  EXPECT_EQ(FirstDriverOf({12, 8})->number, "570.26");
  EXPECT_EQ(FirstDriverOf({11, 8})->number, "520.61.05");
  EXPECT_EQ(FirstDriverOf({13, 4})->branch, 615u);
  EXPECT_EQ(FirstDriverOf({13, 4})->number, "");
  EXPECT_EQ(FirstDriverOf({12, 7}), nullptr);
  EXPECT_EQ(FirstDriverOf({13, 5}), nullptr);
}

TEST(Facts, TheFloorOfAWholeMajor) {
  EXPECT_EQ(MinorCompatibilityFloor(11)->number, "450.80.02");
  EXPECT_EQ(MinorCompatibilityFloor(12)->number, "525.60.13");
  EXPECT_EQ(MinorCompatibilityFloor(13)->number, "580.65.06");
  EXPECT_EQ(MinorCompatibilityFloor(10), nullptr);
  EXPECT_EQ(MinorCompatibilityFloor(14), nullptr);
}

TEST(Facts, TheCudaOfADriverBranch) {
  const std::pair<uint32_t, Version> cases[] = {{450, {11, 0}}, {470, {11, 4}}, {525, {12, 0}},
                                                {535, {12, 2}}, {550, {12, 4}}, {560, {12, 6}},
                                                {565, {12, 7}}, {570, {12, 8}}, {575, {12, 9}},
                                                {580, {13, 0}}, {590, {13, 1}}, {595, {13, 2}}};
  for (const auto& [branch, cuda] : cases) EXPECT_EQ(CudaOfBranch(branch), cuda) << branch;
  EXPECT_EQ(CudaOfBranch(585), (Version{13, 0}));
  EXPECT_EQ(CudaOfBranch(100), Version{});
}

TEST(Facts, WhatNvccCanTarget) {
  EXPECT_TRUE(NvccTargets({13, 0}, {75, 0}));
  EXPECT_FALSE(NvccTargets({13, 0}, {70, 0}));
  EXPECT_TRUE(NvccTargets({12, 9}, {70, 0}));
  EXPECT_TRUE(NvccTargets({12, 9}, {100, 'f'}));
  EXPECT_FALSE(NvccTargets({12, 8}, {100, 'f'}));
  EXPECT_FALSE(NvccTargets({12, 6}, {100, 0}));
  EXPECT_FALSE(NvccTargets({99, 0}, {90, 0}));
}

TEST(Facts, ZstdNeedsR550) { EXPECT_EQ(ZstdBranch(), 550u); }

}  // namespace
}  // namespace cuproof
