#include "target/edit_distance.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

TEST(EditDistance, CountsStepsAndTakesASwapAsOne) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("h200", "h200"), 0u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("abc", ""), 3u);
  EXPECT_EQ(EditDistance("h200", "h100"), 1u);
  EXPECT_EQ(EditDistance("h2000", "h200"), 1u);
  EXPECT_EQ(EditDistance("rtx4909", "rtx4099"), 1u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

TEST(EditDistance, IsTheSameBothWays) {
  EXPECT_EQ(EditDistance("geforce", "force"), EditDistance("force", "geforce"));
}

}  // namespace
}  // namespace cuproof
