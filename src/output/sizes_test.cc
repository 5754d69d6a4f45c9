#include "output/sizes.h"

#include <gtest/gtest.h>

#include <random>

#include "output/test_report.h"

namespace cuproof {
namespace {

uint64_t Sum(const std::vector<SizeItem>& items) {
  uint64_t sum = 0;
  for (const SizeItem& item : items) sum += item.bytes;
  return sum;
}

uint64_t BytesOf(const std::vector<SizeItem>& items, SizeGroup group, const std::string& what) {
  for (const SizeItem& item : items) {
    if (item.group == group && item.what == what) return item.bytes;
  }
  return 0;
}

TEST(SizeBreakdown, CountsEachByteOnce) {
  FileImages file;
  file.size = 10'000;
  file.host.ranges = {{64, 1000, ".text"}, {2000, 3000, ".nv_fatbin"}, {6000, 500, ".rodata"}};
  test::AddContainer(file, 2000, {test::Cubin({90, 0}, 436), test::Ptx(90, {9, 0}, 136)});
  test::AddContainer(file, 6100, {test::Cubin({80, 0}, 36)}, ".rodata");
  test::AddContainer(file, 9000, {test::Cubin({90, 0}, 36)}, "");  // in no section
  const auto items = SizeBreakdown(file);
  EXPECT_EQ(Sum(items), file.size);
  EXPECT_EQ(BytesOf(items, SizeGroup::kImages, "sm_90"), 500u + 100);
  EXPECT_EQ(BytesOf(items, SizeGroup::kImages, "sm_80"), 100u);
  EXPECT_EQ(BytesOf(items, SizeGroup::kImages, "compute_90"), 200u);
  EXPECT_EQ(BytesOf(items, SizeGroup::kContainers, "container headers"), 3u * 16);
  EXPECT_EQ(BytesOf(items, SizeGroup::kSection, ".text"), 1000u);
  EXPECT_EQ(BytesOf(items, SizeGroup::kSection, ".nv_fatbin"), 3000u - 16 - 700);
  EXPECT_EQ(BytesOf(items, SizeGroup::kSection, ".rodata"), 500u - 116);
  EXPECT_EQ(BytesOf(items, SizeGroup::kRest, "rest"), 10'000u - 1000 - 3000 - 500 - 116);
}

TEST(SizeBreakdown, BareImage) {
  FileImages file;
  file.size = 1000;
  Image image = test::Cubin({90, 0});
  image.padded_size = 1000;
  file.images = {image};
  Module module;
  module.kind = ModuleKind::kCubin;
  module.size = 1000;
  module.image_count = 1;
  file.modules = {module};
  const auto items = SizeBreakdown(file);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].what, "sm_90");
  EXPECT_EQ(items[0].bytes, 1000u);
}

TEST(SizeBreakdown, LargestSectionsByName) {
  FileImages file;
  file.size = 10'000;
  for (uint64_t i = 0; i < 9; ++i) {
    file.host.ranges.push_back({i * 1000, 100 + i, "." + std::to_string(i)});
  }
  const auto items = SizeBreakdown(file, 2);
  ASSERT_EQ(items.size(), 4u);
  EXPECT_EQ(items[0].what, ".8");
  EXPECT_EQ(items[1].what, ".7");
  EXPECT_EQ(items[2].group, SizeGroup::kOtherSections);
  EXPECT_EQ(items[2].count, 7u);
  EXPECT_EQ(items[3].group, SizeGroup::kRest);
  EXPECT_EQ(Sum(items), file.size);
}

TEST(SizeBreakdown, EmptyFile) {
  const auto items = SizeBreakdown({});
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].bytes, 0u);
}

// Whatever tables claim: overlapping, nested, past the end, with sizes that would wrap.
TEST(SizeBreakdown, AddsUpWhateverIsClaimed) {
  std::mt19937_64 random(1);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  for (int round = 0; round < 2000; ++round) {
    FileImages file;
    file.size = below(3000);
    const auto size = [&] { return below(10) == 0 ? UINT64_MAX - below(50) : below(700); };
    const auto offset = [&] { return below(20) == 0 ? UINT64_MAX - below(50) : below(3500); };
    for (uint64_t i = below(6); i > 0; --i) {
      Image image = test::Cubin({static_cast<uint32_t>(70 + below(3)), 0});
      image.offset = offset();
      image.padded_size = size();
      file.images.push_back(image);
      Module module;
      module.offset = offset();
      module.size = size();
      file.modules.push_back(module);
    }
    for (uint64_t i = below(12); i > 0; --i) {
      file.host.ranges.push_back({offset(), size(), "." + std::to_string(below(9))});
    }
    ASSERT_EQ(Sum(SizeBreakdown(file, below(4))), file.size) << round;
  }
}

}  // namespace
}  // namespace cuproof
