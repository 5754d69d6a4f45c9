#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "explain/explain.h"
#include "trace/model.h"

namespace cuproof {

/// A kernel over all processes, by name.
struct KernelCount {
  std::string name;
  uint64_t launches = 0;  // exact
  // Host times of its calls, of those that were timed and are still in the rings.
  uint64_t timed = 0;
  uint64_t median_ns = 0;
  uint64_t longest_ns = 0;
};

/// Images of one kind over all processes.
struct LoadedKind {
  std::string kind;
  uint64_t loads = 0;
  uint64_t failed = 0;
  uint64_t bytes = 0;
  uint64_t ns = 0;  // in the calls that loaded them
};

/// What the times of calls tell of compilation by the driver. An inference: a call that hands over
/// PTX and takes long has compiled it, one that takes little found it in the cache (an H200 took
/// 1,510 ms for a program of 41 kernels without, 5.5 ms with).
struct JitGuess {
  uint64_t compiled = 0;  // loads of PTX that took long
  uint64_t cached = 0;    // that did not
  uint64_t late = 0;      // look-ups and first launches that took long: lazy loading
  uint64_t compiled_ns = 0;
  uint64_t late_ns = 0;
};
inline constexpr uint64_t kLongNs = 10'000'000;

/// One run, and everything that the three forms of a report say.
struct RunReport {
  const trace::Run& run;
  std::vector<Explanation> explanations;
  std::vector<KernelCount> kernels;  // most launches first
  uint64_t kernel_launches = 0;      // exact
  uint64_t graph_launches = 0;       // exact
  uint64_t unnamed_launches = 0;     // of kernels that are not told apart
  std::vector<LoadedKind> images;
  JitGuess jit;
  std::vector<std::string> losses;  // what was lost, as sentences
  bool recorded = true;             // false: mode idle, in which nothing is
  bool exact = true;                // false: counters are damaged
  bool events_lost = false;         // of some process: what is not in its events may have happened
  trace::FailedLaunches failed;     // of the kernel launches
};

RunReport MakeRunReport(const trace::Run& run);

/// Threads that called the driver.
uint64_t ThreadCount(const trace::Process& process);
uint64_t ErrorCount(const trace::Process& process);
/// "exit code 0 after 12 s", "ended by signal 9 after 4 s", "runs still".
std::string EndText(const trace::Run& run);
/// Of the launches: ", at least 12 of them failed"; empty where none did.
std::string FailedText(const RunReport& report);
/// A command as a shell would take it, for eyes. Not escaped.
std::string CommandText(const std::vector<std::string>& command);
/// "12 kernel, 1 memcpy".
std::string NodesText(const trace::GraphExec& graph);

}  // namespace cuproof
