#include "resource/advice.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

Advice For(uint32_t registers, uint32_t block) {
  KernelResources kernel;
  kernel.registers = registers;
  return AdviceFor(kernel, 90, {block, 0}).value_or(Advice{});
}

TEST(Advice, TheNextStepIsTheMostRegistersWithMoreBlocks) {
  const Advice advice = For(72, 256);
  EXPECT_EQ(advice.now.occupancy.blocks, 3u);
  ASSERT_TRUE(advice.gain);
  EXPECT_EQ(advice.gain->registers, 64u);
  EXPECT_EQ(advice.gain->blocks, 4u);
  ASSERT_TRUE(advice.loss);
  EXPECT_EQ(advice.loss->registers, 81u);
  EXPECT_EQ(advice.loss->blocks, 2u);
}

TEST(Advice, NothingIsGainedAtFullOccupancy) {
  EXPECT_FALSE(For(32, 256).gain);
  EXPECT_EQ(For(32, 256).loss->registers, 33u);
}

TEST(Advice, ABlockThatDoesNotLaunchGetsTheCapThatLetsIt) {
  const Advice advice = For(168, 1024);
  EXPECT_EQ(advice.now.occupancy.blocks, 0u);
  EXPECT_EQ(advice.register_cap, 64u);
  EXPECT_EQ(advice.gain->registers, 64u);
  EXPECT_FALSE(advice.loss);
}

TEST(Advice, SharedMemoryThatIsLeft) {
  KernelResources kernel;
  kernel.registers = 32;
  kernel.static_shared = 40'000;
  const auto advice = AdviceFor(kernel, 90, {256, 20'000});
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->shared_default, 0u);
  EXPECT_EQ(advice->shared_optin, 232'448u - 60'000u);
}

TEST(Advice, SharedMemoryThatCostsNoBlock) {
  KernelResources kernel;
  kernel.registers = 80;
  for (const uint32_t dynamic : {0U, 20'000U, 65'536U}) {
    const LaunchQuestion question = {256, dynamic};
    const auto advice = AdviceFor(kernel, 90, question);
    ASSERT_TRUE(advice && advice->shared_to_spare);
    const uint64_t spare = *advice->shared_to_spare;
    const auto blocks = [&](uint64_t bytes) {
      return AnswerLaunch(kernel, 90, {256, bytes})->occupancy.blocks;
    };
    EXPECT_EQ(blocks(dynamic + spare), advice->now.occupancy.blocks);
    EXPECT_LT(blocks(dynamic + spare + 1), advice->now.occupancy.blocks);
  }
}

}  // namespace
}  // namespace cuproof
