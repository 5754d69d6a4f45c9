#include "output/report_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "output/number.h"

namespace cuproof {
namespace {

using trace::Op;
using trace::Process;

void AddKernels(const Process& process, std::unordered_map<std::string, uint64_t>& by_name) {
  for (const auto& [id, function] : process.functions) {
    if (function.launches) by_name[trace::FunctionName(process, id)] += function.launches;
  }
}

void AddImages(const Process& process, std::map<std::string, LoadedKind>& kinds, JitGuess& jit) {
  for (const auto& [id, image] : process.images) {
    LoadedKind& kind = kinds[image.kind];
    kind.kind = image.kind;
    ++kind.loads;
    kind.failed += image.result != 0;
    kind.bytes = SaturatingAdd(kind.bytes, image.size);
    kind.ns = SaturatingAdd(kind.ns, image.ns);
    if (image.kind != "ptx" || image.result != 0) continue;
    if (image.ns >= kLongNs) {
      ++jit.compiled;
      jit.compiled_ns = SaturatingAdd(jit.compiled_ns, image.ns);
    } else {
      ++jit.cached;
    }
  }
  for (const auto& [id, function] : process.functions) {
    for (const uint64_t ns : {function.ns, function.first_launch_ns}) {
      if (ns < kLongNs) continue;
      ++jit.late;
      jit.late_ns = SaturatingAdd(jit.late_ns, ns);
    }
  }
}

// In other modes only first launches are timed, which are not like the rest.
void AddTimes(const trace::Run& run, std::vector<KernelCount>& kernels) {
  if (run.mode != "timed") return;
  std::unordered_map<std::string, std::vector<uint64_t>> times;
  for (const Process& process : run.processes) {
    if (!process.ring) continue;
    for (const trace::Call& call : process.ring->calls) {
      if (!(call.record.flags & trace::kTimed) || !call.record.function ||
          !trace::IsKernelLaunch(static_cast<Op>(call.record.op)))
        continue;
      if (const auto ns = process.clock.DurationNs(call.record.duration))
        times[trace::FunctionName(process, call.record.function)].push_back(
            static_cast<uint64_t>(*ns + 0.5));
    }
  }
  for (KernelCount& kernel : kernels) {
    const auto found = times.find(kernel.name);
    if (found == times.end()) continue;
    std::vector<uint64_t>& all = found->second;
    std::sort(all.begin(), all.end());
    kernel.timed = all.size();
    kernel.median_ns = all[all.size() / 2];
    kernel.longest_ns = all.back();
  }
}

/// What went wrong with recording, summed over processes.
struct LossCounts {
  uint64_t calls = 0;
  uint64_t overwritten = 0;
  uint64_t torn = 0;
  uint64_t without_ring = 0;
  uint64_t lines = 0;
  uint64_t damaged = 0;
  uint64_t cut = 0;
  uint64_t full = 0;
  uint64_t unknown_events = 0;
  uint64_t without_ring_file = 0;
  uint64_t damaged_rings = 0;
  std::string without_events;  // stems of processes that left no events
  uint32_t first_errno = 0;
  std::string ring_error;
  std::map<std::string, uint64_t> events;
  // The process says itself that no event could be written: that is the cause.
  static bool NoRoom(const Process& process) { return process.ring && process.ring->lost_lines; }
};

std::string ErrnoText(int64_t error) {
  return std::strerror(static_cast<int>(std::clamp<int64_t>(error, 0, 4095)));
}

LossCounts CountLosses(const trace::Run& run) {
  LossCounts counts;
  for (const Process& process : run.processes) {
    counts.damaged += process.damaged_lines;
    counts.cut += process.cut_line;
    counts.full += process.events_cut;
    counts.unknown_events += process.unknown_events;
    if (process.events_missing && !counts.NoRoom(process)) {
      if (!counts.without_events.empty()) counts.without_events += ", ";
      counts.without_events += process.stem + ".jsonl";
    }
    for (const trace::Lost& lost : process.lost) {
      // Threads without a ring are counted in the file's head.
      if (lost.what == "ring" && process.ring && process.ring->ring_failures) {
        if (lost.error) counts.ring_error = ErrnoText(lost.error);
        continue;
      }
      const bool one = lost.what == "ring" || lost.what == "image" || lost.what == "driver";
      std::string text = one ? (lost.what == "image" ? "an " : "a ") + lost.what : lost.what;
      if (lost.error) text += fmt::format(" ({})", ErrnoText(lost.error));
      ++counts.events[text];
    }
    if (!process.ring) {
      ++counts.without_ring_file;
      continue;
    }
    const trace::RingFile& ring = *process.ring;
    for (const trace::RingState& state : ring.rings) {
      counts.calls = SaturatingAdd(counts.calls, state.written);
      counts.overwritten = SaturatingAdd(counts.overwritten, state.overwritten);
      counts.torn += state.torn;
      counts.damaged_rings += state.damaged;
    }
    counts.without_ring += ring.ring_failures;
    counts.lines += ring.lost_lines;
    counts.full += ring.events_full;
    if (!counts.first_errno) counts.first_errno = ring.first_errno;
  }
  return counts;
}

std::vector<std::string> LossTexts(const trace::Run& run) {
  const LossCounts counts = CountLosses(run);
  std::vector<std::string> texts;
  const auto add = [&](uint64_t count, std::string text) {
    if (count) texts.push_back(std::move(text));
  };
  add(counts.overwritten,
      fmt::format("of {} the first {} made room for later ones in the rings{}",
                  Count(counts.calls, "call"), Thousands(counts.overwritten),
                  counts.damaged_rings ? "" : "; their counts above are exact"));
  add(counts.damaged_rings,
      fmt::format("the counters of {} contradict one another: damaged, and no count is exact",
                  Count(counts.damaged_rings, "ring")));
  add(!counts.without_events.empty(),
      fmt::format("{} missing or empty: names, images and errors are not known",
                  counts.without_events +
                      (counts.without_events.find(',') == std::string::npos ? " is" : " are")));
  add(counts.torn, fmt::format("{} being written, or damaged, when read",
                               Count(counts.torn, "record was", "records were")));
  add(counts.without_ring,
      fmt::format("{} no ring of {} own{}: {} calls are in the shared one",
                  Count(counts.without_ring, "thread got", "threads got"),
                  counts.without_ring == 1 ? "its" : "their",
                  counts.ring_error.empty() ? "" : fmt::format(" ({})", counts.ring_error),
                  counts.without_ring == 1 ? "its" : "their"));
  add(counts.lines,
      fmt::format(
          "{} could not be written{}", Count(counts.lines, "event"),
          counts.first_errno
              ? fmt::format(": {}", std::strerror(static_cast<int>(counts.first_errno % 4096)))
              : ""));
  add(counts.full, fmt::format("the bound on events was reached in {}",
                               Count(counts.full, "process", "processes")));
  for (const auto& [what, count] : counts.events) {
    texts.push_back(count == 1 ? "lost: " + what
                               : fmt::format("lost {} times: {}", Thousands(count), what));
  }
  add(counts.damaged, fmt::format("{} damaged and left out",
                                  Count(counts.damaged, "event line is", "event lines are")));
  add(counts.cut, fmt::format("the last event of {} is cut off, as of one that was killed",
                              Count(counts.cut, "process", "processes")));
  add(counts.unknown_events, fmt::format("{} of kinds that this version does not know",
                                         Count(counts.unknown_events, "event")));
  add(counts.without_ring_file,
      fmt::format("of {} no ring could be read: no calls, no counts",
                  Count(counts.without_ring_file, "process", "processes")));
  return texts;
}

}  // namespace

RunReport MakeRunReport(const trace::Run& run) {
  RunReport report{run, ExplainRun(run), {},   0,    0,     0, {},
                   {},  LossTexts(run),  true, true, false, {}};
  report.recorded = run.mode != "idle";
  std::unordered_map<std::string, uint64_t> by_name;
  std::map<std::string, LoadedKind> kinds;
  for (const Process& process : run.processes) {
    AddKernels(process, by_name);
    AddImages(process, kinds, report.jit);
    report.events_lost |= trace::EventsLost(process);
    const trace::FailedLaunches failed = trace::FailedKernelLaunches(process);
    report.failed.count = SaturatingAdd(report.failed.count, failed.count);
    report.failed.exact &= failed.exact;
    report.kernel_launches = SaturatingAdd(report.kernel_launches, trace::KernelLaunches(process));
    report.graph_launches =
        SaturatingAdd(report.graph_launches, trace::CallCount(process, Op::kGraphLaunch));
    if (!process.ring) continue;
    for (const trace::RingState& ring : process.ring->rings) {
      report.unnamed_launches = SaturatingAdd(report.unnamed_launches, ring.other_functions);
      report.exact &= !ring.damaged;
    }
  }
  for (auto& [name, launches] : by_name) report.kernels.push_back({name, launches});
  AddTimes(run, report.kernels);
  std::sort(report.kernels.begin(), report.kernels.end(),
            [](const KernelCount& a, const KernelCount& b) {
              return a.launches != b.launches ? a.launches > b.launches : a.name < b.name;
            });
  for (auto& [name, kind] : kinds) report.images.push_back(std::move(kind));
  return report;
}

uint64_t ThreadCount(const Process& process) {
  uint64_t count = 0;
  if (!process.ring) return 0;
  // Ring 0 is shared by the threads that got none of their own.
  for (const trace::RingState& ring : process.ring->rings) {
    if (ring.number != 0) count += ring.owners;
  }
  return count + process.ring->ring_failures;
}

uint64_t ErrorCount(const Process& process) {
  uint64_t count = 0;
  if (process.ring) {
    for (const trace::RingState& ring : process.ring->rings)
      count = SaturatingAdd(count, ring.errors);
  }
  uint64_t told = 0;
  for (const trace::ApiError& error : process.errors) told = SaturatingAdd(told, error.count);
  return std::max(count, told);
}

std::string EndText(const trace::Run& run) {
  std::string after;
  if (run.start && run.end && run.end->monotonic_ns >= run.start->monotonic_ns) {
    const uint64_t ns = run.end->monotonic_ns - run.start->monotonic_ns;
    after = " after " + HumanSeconds(static_cast<double>(ns) / 1e9);
  }
  if (run.signal && *run.signal != 0)
    return fmt::format("ended by signal {}{}", *run.signal, after);
  if (run.exit_code) return fmt::format("exit code {}{}", *run.exit_code, after);
  return run.runs ? "no end is recorded: it runs still"
                  : "no end is recorded: the launcher was not there to see the end";
}

std::string FailedText(const RunReport& report) {
  if (!report.failed.count) return {};
  return fmt::format(", {}{} of them failed", report.failed.exact ? "" : "at least ",
                     Thousands(report.failed.count));
}

std::string CommandText(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    if (!text.empty()) text += ' ';
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n'\"\\$`*?&|;<>()") == std::string::npos;
    if (plain) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

std::string NodesText(const trace::GraphExec& graph) {
  std::string text;
  for (const auto& [kind, count] : graph.nodes) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", Thousands(count), kind);
  }
  if (text.empty()) text = "no nodes seen";
  if (!graph.complete) text += ", perhaps more";
  return text;
}

}  // namespace cuproof
