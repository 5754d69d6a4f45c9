#include "trace/clock.h"

namespace cuproof::trace {
namespace {

// Below this the rate would be mostly the cost of reading two clocks.
constexpr uint64_t kLeastApartNs = 1'000'000;
// Rates that a time stamp counter can have: a damaged header must not stretch time.
constexpr double kSlowestHz = 1e6;
constexpr double kFastestHz = 1e11;

bool Plausible(double hz) { return hz >= kSlowestHz && hz <= kFastestHz; }

// Of unsigned numbers that may lie on either side of each other.
double Difference(uint64_t a, uint64_t b) {
  return a >= b ? static_cast<double>(a - b) : -static_cast<double>(b - a);
}

}  // namespace

ClockMap::ClockMap(ClockKind kind, ClockPair start, ClockPair latest, double estimated_hz)
    : start_(start) {
  if (kind == ClockKind::kMonotonic) {
    start_.monotonic_ns = start_.clock;
    ns_per_tick_ = 1;
    return;
  }
  double hz = 0;
  if (latest.clock > start.clock && latest.monotonic_ns > start.monotonic_ns &&
      latest.monotonic_ns - start.monotonic_ns >= kLeastApartNs) {
    hz = static_cast<double>(latest.clock - start.clock) * 1e9 /
         static_cast<double>(latest.monotonic_ns - start.monotonic_ns);
  }
  if (!Plausible(hz)) hz = estimated_hz;
  if (Plausible(hz)) ns_per_tick_ = 1e9 / hz;
}

std::optional<double> ClockMap::MonotonicNs(uint64_t clock) const {
  if (ns_per_tick_ == 0) return std::nullopt;
  return static_cast<double>(start_.monotonic_ns) + Difference(clock, start_.clock) * ns_per_tick_;
}

std::optional<double> ClockMap::DurationNs(uint64_t ticks) const {
  if (ns_per_tick_ == 0) return std::nullopt;
  return static_cast<double>(ticks) * ns_per_tick_;
}

}  // namespace cuproof::trace
