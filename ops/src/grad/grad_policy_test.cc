#include "grad/grad_policy.h"

#include <gtest/gtest.h>

#include <string>

namespace cuproof::ops {
namespace {

TEST(GradPolicy, RegisterLimitIsWhatTheCtasLeave) {
  EXPECT_EQ(RegisterLimit({.threads = 256, .loads = 8, .min_ctas = 4, .ctas_per_sm = 0}), 64);
  EXPECT_EQ(RegisterLimit({.threads = 256, .loads = 8, .min_ctas = 3, .ctas_per_sm = 0}), 80);
  EXPECT_EQ(RegisterLimit({.threads = 256, .loads = 8, .min_ctas = 8, .ctas_per_sm = 0}), 32);
  EXPECT_EQ(RegisterLimit({.threads = 128, .loads = 8, .min_ctas = 1, .ctas_per_sm = 0}), 255);
}

TEST(GradPolicy, PrintsItsInitialiser) {
  char text[128];
  const WalkPolicy policy{.threads = 256, .loads = 2, .min_ctas = 4, .ctas_per_sm = 1};
  Print(policy, text, sizeof(text));
  EXPECT_STREQ(text, "{.threads = 256, .loads = 2, .min_ctas = 4, .ctas_per_sm = 1}");
}

TEST(GradPolicy, LanesArePartOfTheSumsDefinition) {
  EXPECT_EQ(kLanes, 256);
  for (const WalkPolicy& policy : {kNormPolicy, kScalePolicy, kAccumulatePolicy}) {
    EXPECT_EQ(policy.threads, kLanes);
    EXPECT_GE(policy.loads, 1);
    EXPECT_LE(policy.threads * policy.min_ctas, 2048);
  }
}

}  // namespace
}  // namespace cuproof::ops
