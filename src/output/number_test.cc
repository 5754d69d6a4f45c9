#include "output/number.h"

#include <gtest/gtest.h>

#include <limits>

namespace cuproof {
namespace {

TEST(Number, Thousands) {
  EXPECT_EQ(Thousands(0), "0");
  EXPECT_EQ(Thousands(999), "999");
  EXPECT_EQ(Thousands(1000), "1,000");
  EXPECT_EQ(Thousands(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Number, Count) {
  EXPECT_EQ(Count(0, "file"), "0 files");
  EXPECT_EQ(Count(1, "file"), "1 file");
  EXPECT_EQ(Count(2, "entry", "entries"), "2 entries");
}

TEST(Number, HumanBytes) {
  EXPECT_EQ(HumanBytes(1), "1 byte");
  EXPECT_EQ(HumanBytes(999), "999 bytes");
  EXPECT_EQ(HumanBytes(17'500), "17.5 KB");
  EXPECT_EQ(HumanBytes(999'960), "1.0 MB");
  EXPECT_EQ(HumanBytes(99'960'000), "100 MB");
  EXPECT_EQ(HumanBytes(6'100'000'000), "6.1 GB");
  EXPECT_EQ(HumanBytes(UINT64_MAX), "18.4 EB");
}

TEST(Number, HumanSeconds) {
  EXPECT_EQ(HumanSeconds(0.004), "4 ms");
  EXPECT_EQ(HumanSeconds(0.42), "0.42 s");
  EXPECT_EQ(HumanSeconds(2.31), "2.3 s");
  EXPECT_EQ(HumanSeconds(42), "42 s");
  EXPECT_EQ(HumanSeconds(200), "3 min 20 s");
  EXPECT_EQ(HumanSeconds(-1), "?");
  EXPECT_EQ(HumanSeconds(std::numeric_limits<double>::quiet_NaN()), "?");
}

TEST(Number, SaturatingAdd) {
  EXPECT_EQ(SaturatingAdd(2, 3), 5u);
  EXPECT_EQ(SaturatingAdd(UINT64_MAX - 1, 3), UINT64_MAX);
}

}  // namespace
}  // namespace cuproof
