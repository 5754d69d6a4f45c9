#pragma once
#include <cstdint>
#include <optional>

#include "trace/record.h"

namespace cuproof::trace {

/// Turns the clock of the records into nanoseconds of CLOCK_MONOTONIC. The rate of a time stamp
/// counter comes from two readings that lie apart; from the estimate in the `process` event where
/// they do not, as in a process that ended at once.
class ClockMap {
 public:
  ClockMap() = default;
  ClockMap(ClockKind kind, ClockPair start, ClockPair latest, double estimated_hz);

  /// No value: the rate is not known.
  std::optional<double> MonotonicNs(uint64_t clock) const;
  /// Of a duration in ticks.
  std::optional<double> DurationNs(uint64_t ticks) const;
  /// Nanoseconds since 1970 at the start pair; 0: not known.
  uint64_t RealtimeNs() const { return start_.realtime_ns; }

 private:
  ClockPair start_ = {};
  double ns_per_tick_ = 0;  // 0: not known
};

}  // namespace cuproof::trace
