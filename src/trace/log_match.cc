#include "trace/log_match.h"

#include <algorithm>
#include <utility>

namespace cuproof::trace {
namespace {

// A call that fails returns within this; a line farther away is about something else.
constexpr double kNearNs = 1e9;
constexpr size_t kMaxLines = 32;  // kept with one error

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

bool Near(const Process& process, const Moment& a, const Moment& b) {
  const auto ns = process.clock.DurationNs(Distance(a.clock, b.clock));
  return !ns || *ns <= kNearNs;
}

// The driver ends with "Returning 701 (CUDA_ERROR_...) from cuLaunchKernel" (measured on r580).
bool IsEndOf(const LogLine& line) { return line.text.rfind("Returning ", 0) == 0; }

}  // namespace

void MatchLog(Process& process) {
  std::map<uint32_t, std::vector<size_t>> by_thread;  // in order of time
  for (size_t i = 0; i < process.errors.size(); ++i) {
    by_thread[process.errors[i].at.thread].push_back(i);
  }
  for (auto& [thread, errors] : by_thread) {
    std::stable_sort(errors.begin(), errors.end(), [&](size_t a, size_t b) {
      return process.errors[a].at.clock < process.errors[b].at.clock;
    });
  }
  std::vector<LogLine> rest;
  for (LogLine& line : process.log) {
    const auto found = by_thread.find(line.at.thread);
    ApiError* owner = nullptr;
    if (found != by_thread.end()) {
      const auto& errors = found->second;
      const auto next = std::lower_bound(
          errors.begin(), errors.end(), line.at.clock,
          [&](size_t index, uint64_t clock) { return process.errors[index].at.clock < clock; });
      if (next != errors.end() && Near(process, process.errors[*next].at, line.at)) {
        owner = &process.errors[*next];
      } else if (next != errors.begin() && Near(process, process.errors[*(next - 1)].at, line.at)) {
        owner = &process.errors[*(next - 1)];
      }
    }
    if (!owner) {
      rest.push_back(std::move(line));
      continue;
    }
    const bool known = std::any_of(owner->log.begin(), owner->log.end(),
                                   [&](const LogLine& other) { return other.text == line.text; });
    if (!known && owner->log.size() < kMaxLines) owner->log.push_back(std::move(line));
  }
  process.log = std::move(rest);
  // What the driver returns comes last, whatever the order of equal times.
  for (ApiError& error : process.errors) {
    std::stable_partition(error.log.begin(), error.log.end(),
                          [](const LogLine& line) { return !IsEndOf(line); });
  }
}

}  // namespace cuproof::trace
