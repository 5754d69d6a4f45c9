#include "resource/launch_log.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

TEST(LaunchLog, FailuresHaveTheBlockOfALineNearby) {
  const auto failures = ReadLaunchFailures(
      "grid (197,1,1) block (512,1,1) dynamic 0\n"
      "RuntimeError: CUDA error: too many resources requested for launch\n"
      "noise\n\n\n\n\n\n\n\n\n\n\n\n"
      "cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, blockDim=(32, 32, 1)\n");
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0].line, 2u);
  EXPECT_EQ(failures[0].threads, 512u);
  EXPECT_EQ(failures[0].threads_line, 1u);
  EXPECT_EQ(failures[1].threads, 1024u);
}

TEST(LaunchLog, ABlockThatNoLineTellsIsNotGuessed) {
  for (const char* text : {"too many resources requested for launch\n",
                           "block (99999,1,1)\ntoo many resources requested for launch\n",
                           "blocks 197 threads\ntoo many resources requested for launch\n"}) {
    const auto failures = ReadLaunchFailures(text);
    ASSERT_EQ(failures.size(), 1u);
    EXPECT_EQ(failures[0].threads, 0u) << text;
  }
}

TEST(LaunchLog, TritonTellsOfSharedMemory) {
  const auto failures = ReadLaunchFailures(
      "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 132096, "
      "Hardware limit: 101376. Reducing block sizes or `num_stages` may help.\n");
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].shared_required, 132096u);
  EXPECT_EQ(failures[0].shared_limit, 101376u);
}

TEST(LaunchLog, OtherTextHasNone) {
  EXPECT_FALSE(LooksLikeLaunchFailure("out of memory\n"));
  EXPECT_TRUE(ReadLaunchFailures("").empty());
}

}  // namespace
}  // namespace cuproof
