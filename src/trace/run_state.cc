#include "trace/run_state.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

namespace cuproof::trace {
namespace {

// Between the start of the program and the launcher's reading of the clocks.
constexpr double kNearSeconds = 5;

double Seconds(clockid_t which) {
  timespec time{};
  clock_gettime(which, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Field 22 of proc(5) stat, in seconds since boot; nothing for no process, and for one that ended
// and was not waited for.
std::optional<double> StartedAfterBoot(uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t name_end = stat.rfind(')');  // the name may hold blanks and brackets
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string state;
  std::string skipped;
  fields >> state;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  double ticks = 0;
  const auto per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  if (!(fields >> ticks) || state == "Z" || state == "X" || per_second <= 0) return std::nullopt;
  return ticks / per_second;
}

}  // namespace

bool StillRuns(const Run& run) {
  if (run.pid == 0 || !run.start) return false;
  const auto started = StartedAfterBoot(run.pid);
  if (!started) return false;
  // The monotonic clock stands while the machine sleeps, the other one can be set: either will do.
  const double ago = Seconds(CLOCK_BOOTTIME) - *started;
  const auto near = [&](clockid_t clock, uint64_t recorded_ns) {
    return std::abs(Seconds(clock) - ago - static_cast<double>(recorded_ns) / 1e9) < kNearSeconds;
  };
  return near(CLOCK_MONOTONIC, run.start->monotonic_ns) ||
         near(CLOCK_REALTIME, run.start->realtime_ns);
}

}  // namespace cuproof::trace
