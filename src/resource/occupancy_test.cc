#include "resource/occupancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resource/launch_question.h"

namespace cuproof {
namespace {

using testing::ElementsAre;

KernelResources Kernel(uint32_t registers, uint32_t shared = 0) {
  KernelResources kernel;
  kernel.registers = registers;
  kernel.static_shared = shared;
  kernel.barriers = 0;
  return kernel;
}

LaunchAnswer On(uint32_t sm, const KernelResources& kernel, uint32_t block,
                uint64_t dynamic_shared = 0) {
  return AnswerLaunch(kernel, sm, {block, dynamic_shared}).value_or(LaunchAnswer{});
}

TEST(Occupancy, IsThatOfTheToolkitsCalculator) {
  // 256 threads, 32 registers, 4 KB of shared memory; all GPUs: tests/occupancy_test.py.
  const std::pair<uint32_t, uint32_t> blocks[] = {{70, 8}, {75, 4},  {80, 8},  {86, 6}, {89, 6},
                                                  {90, 8}, {100, 8}, {110, 6}, {120, 6}};
  for (const auto& [sm, expected] : blocks) {
    EXPECT_EQ(On(sm, Kernel(32, 4096), 256).occupancy.blocks, expected) << sm;
  }
}

TEST(Occupancy, TellsAllThatLimits) {
  EXPECT_THAT(On(90, Kernel(32), 64).occupancy.limits,
              ElementsAre(Resource::kWarps, Resource::kBlocks, Resource::kRegisters));
  EXPECT_THAT(On(90, Kernel(128), 256).occupancy.limits, ElementsAre(Resource::kRegisters));
  EXPECT_THAT(On(90, Kernel(32), 128, 100'000).occupancy.limits, ElementsAre(Resource::kShared));
}

TEST(Occupancy, ABlockThatDoesNotLaunchHasNone) {
  EXPECT_EQ(On(90, Kernel(168), 416).occupancy.blocks, 0u);
  EXPECT_EQ(On(90, Kernel(168), 384).occupancy.blocks, 1u);
  EXPECT_EQ(On(90, Kernel(32), 128, 232'448).occupancy.blocks, 1u);
  EXPECT_EQ(On(90, Kernel(32), 128, 232'449).occupancy.blocks, 0u);
  EXPECT_EQ(On(90, Kernel(32), 2048).occupancy.blocks, 0u);
}

TEST(Occupancy, OfTheBlockThatTheKernelWasCompiledFor) {
  KernelResources kernel = Kernel(64);
  kernel.max_threads = {32, 8, 1};
  EXPECT_EQ(On(90, kernel, 0).block, 256u);
  EXPECT_EQ(On(90, kernel, 0).basis, BlockBasis::kBounds);
  EXPECT_THAT(On(90, kernel, 512).occupancy.limits, ElementsAre(Resource::kCompiled));
  EXPECT_EQ(On(90, kernel, 128).occupancy.blocks, 8u);
  kernel.required_threads = true;
  EXPECT_EQ(On(90, kernel, 128).occupancy.blocks, 0u) << "it runs in blocks of 256 only";
}

TEST(Occupancy, TheBestBlockIsTheSmallestWithTheMostWarps) {
  EXPECT_EQ(On(90, Kernel(32), 0).block, 64u);
  EXPECT_EQ(On(90, Kernel(255), 0).occupancy.warps, 8u);
  EXPECT_EQ(On(90, Kernel(255), 0).block, 32u);
}

TEST(Occupancy, HostileExtentsAreNoSmallBlock) {
  KernelResources kernel = Kernel(32);
  kernel.max_threads = {0x10000, 0x10000, 1};
  EXPECT_EQ(CompiledThreads(kernel), 65535u);
}

TEST(Occupancy, UnknownWhereTheNumbersAre) {
  EXPECT_FALSE(AnswerLaunch(KernelResources{}, 90, {}));
  EXPECT_FALSE(AnswerLaunch(Kernel(32), 107, {}));
}

TEST(CapabilitiesFor, CodeRunsOnHigherMinorsUnlessItIsForOneOnly) {
  EXPECT_THAT(CapabilitiesFor({90, 'a'}), ElementsAre(90u));
  EXPECT_THAT(CapabilitiesFor({80, 0}), testing::Contains(86u));
  EXPECT_EQ(CapabilitiesFor({80, 0}).front(), 80u);
}

}  // namespace
}  // namespace cuproof
