#include "trace/clock.h"

#include <gtest/gtest.h>

namespace cuproof::trace {
namespace {

TEST(ClockMap, TwoPairsGiveTheRate) {
  const ClockMap clock(ClockKind::kTsc, {1'000'000, 500, 0}, {7'000'000, 2'000'000 + 500, 0}, 0);
  EXPECT_DOUBLE_EQ(*clock.MonotonicNs(4'000'000), 1'000'500);
  EXPECT_DOUBLE_EQ(*clock.DurationNs(3), 1);
}

TEST(ClockMap, AClockBeforeTheStartPairIsEarlier) {
  const ClockMap clock(ClockKind::kTsc, {1'000'000, 9'000'000, 0}, {7'000'000, 11'000'000, 0}, 0);
  EXPECT_DOUBLE_EQ(*clock.MonotonicNs(700'000), 8'900'000);
}

TEST(ClockMap, PairsThatLieTooCloseLeaveTheEstimate) {
  const ClockPair pair{1000, 1000, 0};
  EXPECT_DOUBLE_EQ(*ClockMap(ClockKind::kTsc, pair, pair, 2e9).MonotonicNs(3000), 2000);
  EXPECT_FALSE(ClockMap(ClockKind::kTsc, pair, pair, 0).MonotonicNs(3000));
  EXPECT_FALSE(ClockMap(ClockKind::kTsc, pair, {}, 0).MonotonicNs(3000));
}

TEST(ClockMap, ARateThatNoMachineHasIsNotTaken) {
  const ClockMap clock(ClockKind::kTsc, {0, 0, 0}, {UINT64_MAX, 2'000'000, 0}, 0);
  EXPECT_FALSE(clock.MonotonicNs(1));
}

TEST(ClockMap, MonotonicClocksNeedNoRate) {
  const ClockMap clock(ClockKind::kMonotonic, {700, 705, 0}, {}, 0);
  EXPECT_DOUBLE_EQ(*clock.MonotonicNs(1000), 1000);
}

}  // namespace
}  // namespace cuproof::trace
