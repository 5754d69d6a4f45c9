#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "target/table.h"
#include "target/target.h"

namespace cuproof {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<uint32_t> Numbers(std::string_view text) {
  std::vector<uint32_t> numbers;
  if (const auto gpus = FindGpus(text)) {
    for (const Gpu& gpu : *gpus) numbers.push_back(gpu.sm);
  }
  return numbers;
}

uint32_t Number(std::string_view text) {
  const std::vector<uint32_t> numbers = Numbers(text);
  return numbers.size() == 1 ? numbers[0] : 0;
}

std::string ErrorFor(std::string_view text) {
  const auto gpus = FindGpus(text);
  return gpus ? "found" : gpus.error().phrase;
}

TEST(FindGpus, TakesArchitecturesInEverySpelling) {
  for (const char* text : {"sm_90", "sm90", "compute_90", "90", "9.0", "sm_90a", "90a", "sm_9.0"}) {
    EXPECT_EQ(Number(text), 90u) << text;
  }
  EXPECT_EQ(Number("12.1"), 121u);
  EXPECT_EQ(Number("sm_100f"), 100u);
  EXPECT_EQ(Number("10.3"), 103u);
}

// "980" is a card, not an architecture yet to come.
TEST(FindGpus, ProductsThatAreNumbersComeBeforeArchitectures) {
  EXPECT_EQ(Number("980"), 52u);
  EXPECT_EQ(Number("1080"), 61u);
  EXPECT_EQ(Number("5090"), 120u);
}

TEST(FindGpus, TakesProductsInEverySpelling) {
  for (const char* text : {"H200", "h200", "nvidia h200", "NVIDIA H200", "NVIDIA-H200"}) {
    EXPECT_EQ(Number(text), 90u) << text;
  }
  for (const char* text :
       {"rtx4090", "RTX 4090", "rtx-4090", "GeForce RTX 4090", "NVIDIA GeForce RTX 4090"}) {
    EXPECT_EQ(Number(text), 89u) << text;
  }
  EXPECT_EQ(Number("4090"), 89u);
  EXPECT_EQ(Number("A100"), 80u);
  EXPECT_EQ(Number("Tesla T4"), 75u);
  EXPECT_EQ(Number("V100"), 70u);
  EXPECT_EQ(Number("rtx3090"), 86u);
}

// The confusions of the reports.
TEST(FindGpus, BlackwellHasFourNumbers) {
  EXPECT_EQ(Number("B200"), 100u);
  EXPECT_EQ(Number("GB200"), 100u);
  EXPECT_EQ(Number("B300"), 103u);
  EXPECT_EQ(Number("RTX 5090"), 120u);
  EXPECT_EQ(Number("GB10"), 121u);
  EXPECT_EQ(Number("DGX Spark"), 121u);
  EXPECT_EQ(Number("Jetson Thor"), 110u);
}

TEST(FindGpus, GivesProductChipAndPlatform) {
  const auto gpus = FindGpus("h200");
  ASSERT_TRUE(gpus);
  const Gpu& gpu = gpus->front();
  EXPECT_THAT(gpu.product, HasSubstr("H200"));
  EXPECT_EQ(gpu.chip, "GH100");
  EXPECT_EQ(gpu.platform, Platform::kDesktop);
  EXPECT_TRUE(gpu.in_data);
  EXPECT_FALSE(gpu.present);
  EXPECT_EQ(FindGpus("87")->front().platform, Platform::kTegra);
  EXPECT_EQ(FindGpus("sm_90")->front().product, "H100");
}

TEST(FindGpus, TheOldNumberOfThorIsItsNewOne) {
  EXPECT_EQ(Number("101"), 110u);
  EXPECT_EQ(Number("sm_101a"), 110u);
  EXPECT_EQ(Number("10.1"), 110u);
}

TEST(FindGpus, ANumberThatNoTableHasIsTakenAsNewer) {
  const auto gpus = FindGpus("130");
  ASSERT_TRUE(gpus);
  EXPECT_EQ(gpus->front().sm, 130u);
  EXPECT_FALSE(gpus->front().in_data);
  EXPECT_EQ(gpus->front().platform, Platform::kUnknown);
  EXPECT_EQ(gpus->front().product, "");
}

// Between or below the known ones nothing is yet to come.
TEST(FindGpus, ANumberThatNoGpuHasIsRefused) {
  EXPECT_EQ(ErrorFor("sm_91"), "--gpu: no GPU sm_91 is known; did you mean sm_90?");
  EXPECT_EQ(ErrorFor("9.9"), "--gpu: no GPU sm_99 is known; did you mean sm_90?");
  EXPECT_EQ(ErrorFor("compute_85"), "--gpu: no GPU sm_85 is known; did you mean sm_80?");
  EXPECT_EQ(ErrorFor("sm_35"), "--gpu: no GPU sm_35 is known; did you mean sm_50?");
  EXPECT_EQ(ErrorFor("12.7"), "found");
  EXPECT_EQ(ErrorFor("sm_999"), "found");
}

TEST(FindGpus, AnArchitectureWithoutAKnownProductHasNone) {
  EXPECT_EQ(FindGpus("88")->front().product, "");
  EXPECT_TRUE(FindGpus("88")->front().in_data);
}

TEST(FindGpus, AllIsOneOfEachArchitecture) {
  const std::vector<uint32_t> numbers = Numbers("all");
  EXPECT_THAT(numbers, testing::IsSupersetOf(
                           {50u, 70u, 75u, 80u, 86u, 87u, 89u, 90u, 100u, 103u, 110u, 120u, 121u}));
  EXPECT_THAT(numbers, Not(testing::Contains(101u)));
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

TEST(AllGpus, LeavesOutTegraPartsWhenAsked) {
  for (const Gpu& gpu : AllGpus(false)) EXPECT_EQ(gpu.platform, Platform::kDesktop) << gpu.sm;
  EXPECT_GT(AllGpus(true).size(), AllGpus(false).size());
}

TEST(FindGpus, UnknownNamesSuggestTheNearest) {
  EXPECT_THAT(ErrorFor("H2000"), HasSubstr("did you mean"));
  EXPECT_THAT(ErrorFor("H2000"), HasSubstr("H200"));
  EXPECT_THAT(ErrorFor("rtx 4900"), HasSubstr("RTX 4090"));
  EXPECT_THAT(ErrorFor("RTX PRO"), HasSubstr("RTX PRO"));
}

TEST(FindGpus, NamesThatAreLikeNothingSayWhatCouldBeGiven) {
  for (const char* text : {"", "xyzzy quux frobnicator", "sm_", "5.55.5", "-1", "!!!"}) {
    EXPECT_EQ(ErrorFor(text), std::string("--gpu: no GPU is known as '") + text +
                                  "'; give sm_90, 9.0, a product name such as H200, or all");
  }
}

TEST(FindGpus, EveryNameAndAliasLeadsToItsOwnRow) {
  const Table& table = Table::Get("gpus");
  for (size_t i = 0; i < table.size(); ++i) {
    const uint32_t sm = ParseNumber(table.At(i, "sm"));
    std::vector<std::string_view> names = SplitList(table.At(i, "aliases"), ';');
    names.push_back(table.At(i, "name"));
    for (const std::string_view name : names) {
      if (name.empty()) continue;
      EXPECT_THAT(Numbers(name), testing::Contains(sm)) << name;
    }
  }
}

TEST(GpuTarget, IsTheArchitecture) {
  Gpu gpu;
  gpu.sm = 103;
  EXPECT_EQ(GpuTarget(gpu), "sm_103");
}

}  // namespace
}  // namespace cuproof
