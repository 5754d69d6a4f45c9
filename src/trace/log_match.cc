#include "trace/log_match.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "trace/json_fields.h"

namespace cuproof::trace {
namespace {

constexpr size_t kMaxLines = 32;  // kept with one error

/// What the driver's last line of a failing call says.
struct Ending {
  int64_t result = 0;
  std::string_view api;
};

// "Returning 701 (CUDA_ERROR_...) from cuLaunchKernel" (measured on r580).
std::optional<Ending> EndingOf(std::string_view text) {
  constexpr std::string_view kBegin = "Returning ";
  constexpr std::string_view kFrom = " from ";
  if (text.substr(0, kBegin.size()) != kBegin) return std::nullopt;
  text.remove_prefix(kBegin.size());
  const auto result = Number(text.substr(0, text.find(' ')));
  const size_t from = text.rfind(kFrom);
  if (!result || from == std::string_view::npos) return std::nullopt;
  return Ending{*result, text.substr(from + kFrom.size())};
}

// "cuMemAlloc_v2_ptsz" -> "cuMemAlloc": the record names the symbol, the driver the function.
std::string_view Plain(std::string_view api) { return api.substr(0, api.find('_')); }

bool Agrees(const Ending& ending, const ApiError& error) {
  return ending.result == error.result && Plain(ending.api) == Plain(error.api);
}

/// On one thread, in order of time.
struct ThreadFacts {
  std::vector<size_t> errors;
  std::vector<size_t> lines;
  std::vector<const Record*> calls;
};

// Gives the error the lines from `begin` to `end`, which were said between what came before it on
// its thread and itself. `own`: that was the record of the very call.
void Attach(ApiError& error, const std::vector<LogLine>& log, const std::vector<size_t>& lines,
            size_t begin, size_t end, bool own, std::vector<bool>& taken) {
  if (begin == end) return;
  const auto last = EndingOf(log[lines[end - 1]].text);
  // Equal lines are written at powers of two: without its last line the rest can be of any call.
  if (last ? !Agrees(*last, error) : !own) return;
  size_t first = end - 1;
  while (first > begin && !EndingOf(log[lines[first - 1]].text)) --first;
  for (size_t i = first; i < end; ++i) {
    const LogLine& line = log[lines[i]];
    const bool known = std::any_of(error.log.begin(), error.log.end(),
                                   [&](const LogLine& other) { return other.text == line.text; });
    taken[lines[i]] = true;
    if (!known && error.log.size() < kMaxLines) error.log.push_back(line);
  }
}

void MatchThread(Process& process, ThreadFacts& facts, std::vector<bool>& taken) {
  std::stable_sort(facts.errors.begin(), facts.errors.end(), [&](size_t a, size_t b) {
    return process.errors[a].at.clock < process.errors[b].at.clock;
  });
  std::stable_sort(facts.lines.begin(), facts.lines.end(), [&](size_t a, size_t b) {
    return process.log[a].at.clock < process.log[b].at.clock;
  });
  std::stable_sort(facts.calls.begin(), facts.calls.end(),
                   [](const Record* a, const Record* b) { return a->clock < b->clock; });
  size_t line = 0;
  size_t call = 0;
  for (const size_t index : facts.errors) {
    ApiError& error = process.errors[index];
    while (call < facts.calls.size() && facts.calls[call]->clock <= error.at.clock) ++call;
    const Record* before = call ? facts.calls[call - 1] : nullptr;
    // Lines of earlier calls are passed over, and stay with no error.
    while (before && line < facts.lines.size() &&
           process.log[facts.lines[line]].at.clock < before->clock)
      ++line;
    size_t end = line;
    while (end < facts.lines.size() && process.log[facts.lines[end]].at.clock <= error.at.clock)
      ++end;
    Attach(error, process.log, facts.lines, line, end, before && before->result == error.result,
           taken);
    line = end;
  }
}

}  // namespace

void MatchLog(Process& process) {
  std::map<uint32_t, ThreadFacts> threads;
  for (size_t i = 0; i < process.errors.size(); ++i)
    threads[process.errors[i].at.thread].errors.push_back(i);
  for (size_t i = 0; i < process.log.size(); ++i) {
    const auto thread = threads.find(process.log[i].at.thread);
    if (thread != threads.end()) thread->second.lines.push_back(i);
  }
  if (process.ring) {
    for (const Call& call : process.ring->calls) {
      const auto thread = threads.find(call.thread);
      if (thread != threads.end()) thread->second.calls.push_back(&call.record);
    }
  }
  std::vector<bool> taken(process.log.size());
  for (auto& [id, facts] : threads) MatchThread(process, facts, taken);
  std::vector<LogLine> rest;
  for (size_t i = 0; i < process.log.size(); ++i) {
    if (!taken[i]) rest.push_back(std::move(process.log[i]));
  }
  process.log = std::move(rest);
}

}  // namespace cuproof::trace
