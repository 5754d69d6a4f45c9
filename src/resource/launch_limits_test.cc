#include "resource/launch_limits.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

LaunchLimits Hopper() { return LaunchLimitsOf(90).value_or(LaunchLimits{}); }

TEST(LaunchLimits, LargestBlockIsWhatTheDriverSays) {
  // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK of kernels with that many registers, on an H200.
  EXPECT_EQ(LargestBlock(Hopper(), 168), 384u);
  EXPECT_EQ(LargestBlock(Hopper(), 156), 384u);
  EXPECT_EQ(LargestBlock(Hopper(), 64), 1024u);
  EXPECT_EQ(LargestBlock(Hopper(), 65), 896u);
  EXPECT_EQ(LargestBlock(Hopper(), 32), 1024u) << "never above the limit of a block";
  EXPECT_EQ(LargestBlock(Hopper(), 255), 256u);
  EXPECT_EQ(LargestBlock(Hopper(), 100'000), 0u);
}

TEST(LaunchLimits, TheCapIsTheLargestThatFits) {
  for (uint64_t threads = 1; threads <= 1024; ++threads) {
    const uint32_t cap = RegisterCap(Hopper(), threads);
    ASSERT_GE(LargestBlock(Hopper(), cap), threads) << threads;
    if (cap < 255) {
      ASSERT_LT(LargestBlock(Hopper(), cap + 1), threads) << threads;
    }
  }
  EXPECT_EQ(RegisterCap(Hopper(), 1024), 64u);
  EXPECT_EQ(RegisterCap(Hopper(), 1025), 0u);
}

TEST(LaunchLimits, ABlockFitsWhereItsRegistersDo) {
  for (uint64_t registers = 1; registers <= 255; ++registers) {
    const uint32_t largest = LargestBlock(Hopper(), registers);
    ASSERT_LE(RegistersOfBlock(Hopper(), registers, largest), 65536u) << registers;
    if (largest < 1024) {
      ASSERT_GT(RegistersOfBlock(Hopper(), registers, largest + 1), 65536u) << registers;
    }
  }
}

TEST(LaunchLimits, AnUnknownGpuHasNone) {
  EXPECT_FALSE(LaunchLimitsOf(0));
  EXPECT_FALSE(LaunchLimitsOf(999));
}

}  // namespace
}  // namespace cuproof
