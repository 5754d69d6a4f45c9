#include "resource/bank.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

std::vector<LaneElements> Elements(std::string_view text, std::array<uint32_t, 3> block) {
  const auto access = BankAccess::Parse(text);
  EXPECT_TRUE(access) << text;
  const auto elements = ElementsOfBlock(*access, block);
  EXPECT_TRUE(elements) << text;
  return *elements;
}

uint32_t Wavefronts(std::string_view text, std::array<uint32_t, 3> block = {32, 1, 1}) {
  const auto access = BankAccess::Parse(text);
  return CostOfWarp(Elements(text, block).front(), access->element_bytes).wavefronts;
}

std::string Refusal(std::string_view text) {
  const auto access = BankAccess::Parse(text);
  if (!access) return access.error().phrase;
  const auto elements = ElementsOfBlock(*access, {32, 1, 1});
  return elements ? "" : elements.error().phrase;
}

TEST(Bank, WordsOfOneBankGoOneAfterTheOther) {
  EXPECT_EQ(Wavefronts("4: tx"), 1u);
  EXPECT_EQ(Wavefronts("4: tx*2"), 2u);
  EXPECT_EQ(Wavefronts("4: tx*3"), 1u);
  EXPECT_EQ(Wavefronts("4: tx*16"), 16u);
  EXPECT_EQ(Wavefronts("4: tx*32"), 32u);
  EXPECT_EQ(Wavefronts("4: tx*33"), 1u);
}

TEST(Bank, OneWordServesEveryLaneThatWantsIt) {
  EXPECT_EQ(Wavefronts("4: 7"), 1u);
  EXPECT_EQ(Wavefronts("4: tx/16"), 1u);
  EXPECT_EQ(Wavefronts("4: (tx % 2) * 32"), 2u);
}

TEST(Bank, SmallElementsShareWords) {
  EXPECT_EQ(Wavefronts("1: tx"), 1u);
  EXPECT_EQ(Wavefronts("2: tx"), 1u);
  EXPECT_EQ(Wavefronts("2: tx*2"), 1u);
  EXPECT_EQ(Wavefronts("2: tx*64"), 32u);
}

TEST(Bank, WideElementsGoInHalvesAndQuarters) {
  EXPECT_EQ(Wavefronts("8: tx"), 2u);
  EXPECT_EQ(Wavefronts("8: tx*2"), 4u);
  EXPECT_EQ(Wavefronts("8: tx*16"), 32u);
  EXPECT_EQ(Wavefronts("8: tx*17"), 2u);
  EXPECT_EQ(Wavefronts("16: tx"), 4u);
  EXPECT_EQ(Wavefronts("16: tx*2"), 8u);
  EXPECT_EQ(Wavefronts("16: tx*8"), 32u);
  EXPECT_EQ(Wavefronts("16: tx*9"), 4u);
}

uint32_t AsStore(std::string_view text) {
  const auto access = BankAccess::Parse(text);
  return CostOfWarp(Elements(text, {32, 1, 1}).front(), access->element_bytes).as_store;
}

TEST(Bank, PartsOfAStoreNeverGoTogether) {
  EXPECT_EQ(AsStore("4: 7"), 1u);
  EXPECT_EQ(AsStore("4: tx*32"), 32u);
  EXPECT_EQ(AsStore("8: tx/2"), 2u);
  EXPECT_EQ(AsStore("8: tx*16"), 32u);
  EXPECT_EQ(AsStore("16: tx/2"), 4u);
  EXPECT_EQ(AsStore("16: 3"), 4u);
  EXPECT_EQ(Wavefronts("16: 3"), 2u);
}

TEST(Bank, NeighboursThatWantTheSameGoTogether) {
  EXPECT_EQ(Wavefronts("8: tx/2"), 1u);
  EXPECT_EQ(Wavefronts("8: (tx & 1) + tx/4*2"), 1u);
  EXPECT_EQ(Wavefronts("8: tx % 16"), 2u);
  EXPECT_EQ(Wavefronts("16: tx/2"), 2u);
  EXPECT_EQ(Wavefronts("16: tx % 8"), 4u);
}

TEST(Bank, ThreadsAreDealtToWarpsByTheirNumber) {
  const auto warps = Elements("4: tx*32 + ty", {8, 8, 1});
  ASSERT_EQ(warps.size(), 2u);
  EXPECT_EQ(warps[1][0], 4u);
  EXPECT_EQ(Elements("4: tz", {4, 2, 4}).front().back(), 3u);
  EXPECT_EQ(Elements("4: lane", {40, 1, 1})[1].size(), 8u);
}

TEST(Bank, OperatorsBindAsInC) {
  EXPECT_EQ(Elements("4: 1 + 2 * 3 << 1 ^ 5 & 12 | 1", {1, 1, 1})[0][0], 11u);
  EXPECT_EQ(Elements("4: 20 - 5 - 3", {1, 1, 1})[0][0], 12u);
  EXPECT_EQ(Elements("4: ~-(0x10 >> 2) % 2 + 100 / 7 / 2", {1, 1, 1})[0][0], 8u);
  EXPECT_EQ(Elements("4:threadIdx.x*4", {32, 1, 1})[0][3], 12u);
}

TEST(Bank, ALeadingZeroIsOctalAsInC) {
  EXPECT_EQ(Wavefronts("4: 010*tx"), 8u);
  EXPECT_EQ(Wavefronts("4: 0x10*tx"), 16u);
  EXPECT_EQ(Wavefronts("4: 0*tx"), 1u);
  EXPECT_NE(Refusal("4: 08*tx"), "");
}

TEST(Bank, WhatHasNoValueIsRefused) {
  EXPECT_NE(Refusal("3: tx"), "");
  EXPECT_NE(Refusal("tx*33"), "");
  EXPECT_NE(Refusal("4:"), "");
  EXPECT_NE(Refusal("4: tx +"), "");
  EXPECT_NE(Refusal("4: (tx"), "");
  EXPECT_NE(Refusal("4: txx"), "");
  EXPECT_NE(Refusal("4: tx / ty"), "");
  EXPECT_NE(Refusal("4: tx - 1"), "");
  EXPECT_NE(Refusal("4: tx * 100000"), "");
  EXPECT_NE(Refusal("4: 9223372036854775807 + tx"), "");
  EXPECT_NE(Refusal("4: 1 << 63"), "");
  EXPECT_NE(Refusal("4: " + std::string(5000, '(')), "");
  EXPECT_NE(Refusal("4: " + std::string(900, '-') + "1"), "");
}

std::vector<BankFix> Fixes(const std::vector<std::string>& texts, std::array<uint32_t, 3> block) {
  std::vector<std::vector<LaneElements>> accesses;
  std::vector<uint64_t> rows;
  uint32_t bytes = 0;
  for (const std::string& text : texts) {
    const auto access = BankAccess::Parse(text);
    bytes = access->element_bytes;
    rows = access->index.Numbers();
    accesses.push_back(Elements(text, block));
  }
  return FixesOf(accesses, bytes, rows);
}

TEST(Bank, AColumnIsFreedByAnElementMoreInEachRowOrByASwizzle) {
  const auto fixes = Fixes({"4: tx*32 + ty", "4: ty*32 + tx"}, {32, 4, 1});
  ASSERT_EQ(fixes.size(), 2u);
  EXPECT_EQ(fixes[0].kind, BankFix::Kind::kPadding);
  EXPECT_EQ(fixes[0].every, 32u);
  EXPECT_EQ(fixes[0].elements, 1u);
  EXPECT_EQ(fixes[0].bytes, 31u * 4);
  EXPECT_EQ(fixes[0].wavefronts, 8u);
  EXPECT_EQ(fixes[1].kind, BankFix::Kind::kSwizzle);
  EXPECT_EQ(fixes[1].every, 32u);
  EXPECT_EQ(fixes[1].mask, 31u);
  EXPECT_EQ(fixes[1].wavefronts, 8u);
}

TEST(Bank, WideElementsArePaddedByWholeElements) {
  const auto fixes = Fixes({"16: tx*8"}, {32, 1, 1});
  ASSERT_EQ(fixes.size(), 2u);
  EXPECT_EQ(fixes[0].elements, 1u);
  EXPECT_EQ(fixes[0].wavefronts, 4u);
  EXPECT_EQ(fixes[1].mask, 7u);
  EXPECT_EQ(fixes[1].wavefronts, 4u);
}

TEST(Bank, RowsOfTheIndexAreTried) {
  const auto fixes = Fixes({"4: tx*48"}, {32, 1, 1});
  ASSERT_FALSE(fixes.empty());
  EXPECT_EQ(fixes[0].every, 48u);
  EXPECT_EQ(fixes[0].elements, 1u);
  EXPECT_EQ(fixes[0].wavefronts, 1u);
}

TEST(Bank, WhatDoesNotCollideNeedsNothing) {
  EXPECT_TRUE(Fixes({"4: tx"}, {32, 1, 1}).empty());
  EXPECT_TRUE(Fixes({"8: tx"}, {32, 1, 1}).empty());
  EXPECT_TRUE(Fixes({"16: tx"}, {32, 1, 1}).empty());
}

TEST(Bank, ASwizzleKeepsEveryElementInItsRow) {
  const BankFix fix = {BankFix::Kind::kSwizzle, 64, 0, 31, 0, 0};
  std::vector<bool> seen(4096);
  for (uint64_t i = 0; i < seen.size(); ++i) {
    const uint64_t to = fix.Moved(i);
    ASSERT_EQ(to / 64, i / 64);
    ASSERT_FALSE(seen[to]);
    seen[to] = true;
  }
}

}  // namespace
}  // namespace cuproof
