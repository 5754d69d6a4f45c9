#include "trace/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "bytes/mapped_file.h"
#include "trace/event_reader.h"
#include "trace/json_fields.h"
#include "trace/log_match.h"
#include "trace/run_state.h"

namespace cuproof::trace {
namespace {

using nlohmann::json;

constexpr size_t kMaxProcesses = 4096;
constexpr uint64_t kMaxRunJson = 16 << 20;

// "4711.ring" -> "4711", "4711.2.jsonl" -> "4711.2"; nothing for other names.
std::string StemOf(const std::string& name) {
  for (const std::string_view ending : {".ring", ".jsonl"}) {
    if (name.size() <= ending.size() ||
        name.compare(name.size() - ending.size(), ending.size(), ending) != 0)
      continue;
    std::string stem = name.substr(0, name.size() - ending.size());
    if (stem.find_first_not_of("0123456789.") == std::string::npos && stem[0] != '.') return stem;
  }
  return {};
}

std::optional<ClockPair> PairOf(const json& run, const char* name) {
  const json* pair = Member(run, name);
  if (!pair || !pair->is_object()) return std::nullopt;
  return ClockPair{Unsigned(*pair, "clock"), Unsigned(*pair, "monotonic_ns"),
                   Unsigned(*pair, "realtime_ns")};
}

// Of an ending: what no process can end with is damage, and no ending.
std::optional<int64_t> NumberUpTo(const json& value, const char* name, int64_t most,
                                  const std::string& path, Run& run) {
  const json* member = Member(value, name);
  if (!member) return std::nullopt;
  if (member->is_number_integer() && SignedOf(*member) >= 0 && SignedOf(*member) <= most &&
      !(member->is_number_unsigned() && member->get<uint64_t>() > static_cast<uint64_t>(most)))
    return SignedOf(*member);
  run.problems.push_back({ErrorCode::kBadSize,
                          fmt::format("{} is damaged: expected a number from 0 to {}", name, most),
                          path, std::nullopt});
  return std::nullopt;
}

void ReadRunJson(const std::string& path, Run& run) {
  const auto file = MappedFile::Open(path);
  if (!file) {
    run.problems.push_back(file.error());
    return;
  }
  const json value = json::parse(file->bytes().Clamp(0, kMaxRunJson).Text(), nullptr, false);
  if (!value.is_object()) {
    run.problems.push_back({ErrorCode::kBadMagic, "expected a JSON object", path, std::nullopt});
    return;
  }
  run.version = Text(value, "cuproof");
  run.command = Texts(value, "command");
  if (const json* driver = Member(value, "driver")) {
    run.driver_path = Text(*driver, "path");
    run.driver_build = Text(*driver, "build_id");
  }
  if (const json* options = Member(value, "options")) {
    run.mode = Text(*options, "mode");
    run.dump_images = Flag(*options, "dump_images");
  }
  run.pid = Id(value, "pid");
  run.start = PairOf(value, "start");
  run.end = PairOf(value, "end");
  run.exit_code = NumberUpTo(value, "exit_code", 255, path, run);
  run.signal = NumberUpTo(value, "signal", 64, path, run);
  for (std::string& note : Texts(value, "notes")) {
    if (std::find(run.notes.begin(), run.notes.end(), note) == run.notes.end())
      run.notes.push_back(std::move(note));
  }
  run.runs = !run.end && !run.exit_code && !run.signal && StillRuns(run);
}

// The bytes of a file, or nothing: one of the two files of a process may be missing.
std::optional<MappedFile> MapIfThere(const std::string& path, Run& run) {
  auto file = MappedFile::Open(path);
  if (file) return std::move(*file);
  if (file.error().code != ErrorCode::kNotFound) run.problems.push_back(file.error());
  return std::nullopt;
}

// A process that ended at once has read its clocks only once. The launcher read the same clocks at
// its start, and at the end.
void BorrowRate(const Run& run, Process& process) {
  if (!process.ring || process.clock.MonotonicNs(0) || !run.start) return;
  const RingFile& ring = *process.ring;
  const ClockPair& later = run.end ? *run.end : ring.start;
  const ClockMap launcher(ring.clock_kind, *run.start, later, 0);
  if (const auto tick = launcher.DurationNs(1))
    process.clock = ClockMap(ring.clock_kind, ring.start, ring.latest, 1e9 / *tick);
}

void ReadFilesOf(const std::string& stem, Run& run) {
  const std::string ring_path = fmt::format("{}/{}.ring", run.folder, stem);
  const std::string events_path = fmt::format("{}/{}.jsonl", run.folder, stem);
  const auto ring = MapIfThere(ring_path, run);
  const auto events = MapIfThere(events_path, run);
  std::vector<Error> problems;
  run.processes.push_back(ReadProcess(stem, ring ? ring->bytes() : ByteView(),
                                      events ? events->bytes() : ByteView(), problems));
  BorrowRate(run, run.processes.back());
  for (Error& problem : problems) {
    problem.file = ring_path;
    run.problems.push_back(std::move(problem));
  }
}

// A first launch that failed took its time, and compiled nothing that could be used.
void TakeFirstLaunches(Process& process) {
  if (process.first_launches.empty()) return;
  std::map<std::pair<uint32_t, uint32_t>, bool> failed;  // by thread and function
  for (const ApiError& error : process.errors) failed[{error.at.thread, error.function}] = true;
  if (process.ring) {
    for (const Call& call : process.ring->calls) {
      if (call.record.function && (call.record.flags & kFirstLaunch))
        failed[{call.thread, call.record.function}] = call.record.result != 0;
    }
  }
  for (const FirstLaunch& launch : process.first_launches) {
    const auto known = failed.find({launch.at.thread, launch.function});
    if (known != failed.end() && known->second) continue;
    uint64_t& slowest = process.functions[launch.function].first_launch_ns;
    slowest = std::max(slowest, launch.ns);
  }
}

// Parents first, then by the time that the process met the driver.
void SortProcesses(std::vector<Process>& processes) {
  const auto started = [](const Process& process) {
    return process.ring ? process.ring->start.monotonic_ns : UINT64_MAX;
  };
  std::stable_sort(processes.begin(), processes.end(),
                   [&](const Process& a, const Process& b) { return started(a) < started(b); });
  std::vector<Process> sorted;
  sorted.reserve(processes.size());
  std::set<uint32_t> waiting;  // ids of processes that are still to be placed
  for (const Process& process : processes) waiting.insert(process.pid);
  while (!processes.empty()) {
    const size_t before = processes.size();
    for (auto it = processes.begin(); it != processes.end();) {
      if (it->parent != it->pid && waiting.count(it->parent)) {
        ++it;
        continue;
      }
      const uint32_t pid = it->pid;
      sorted.push_back(std::move(*it));
      it = processes.erase(it);
      const bool more = std::any_of(processes.begin(), processes.end(),
                                    [&](const Process& other) { return other.pid == pid; });
      if (!more) waiting.erase(pid);
    }
    if (processes.size() == before) {  // parents in a circle: a damaged file, or a reused id
      for (Process& process : processes) sorted.push_back(std::move(process));
      break;
    }
  }
  processes = std::move(sorted);
}

}  // namespace

Process ReadProcess(std::string stem, ByteView ring, ByteView events,
                    std::vector<Error>& problems) {
  Process process;
  process.stem = std::move(stem);
  const std::string_view name = process.stem;
  process.pid = static_cast<uint32_t>(
      std::clamp<int64_t>(Number(name.substr(0, name.find('.'))).value_or(0), 0, UINT32_MAX));
  process.events_missing = events.empty();
  if (!events.empty()) ReadEvents(events, process);
  if (!ring.empty()) {
    auto read = ReadRingFile(ring);
    if (read) {
      problems.insert(problems.end(), read->problems.begin(), read->problems.end());
      process.ring = std::move(*read);
    } else {
      problems.push_back(read.error());
    }
  }
  if (process.ring) {
    const RingFile& file = *process.ring;
    if (!process.parent) process.parent = file.parent_pid;
    process.clock = ClockMap(file.clock_kind, file.start, file.latest, process.estimated_hz);
    for (uint32_t id = 1; id < file.launches.size(); ++id) {
      if (!file.launches[id]) continue;
      Function& function = process.functions[id];
      function.id = id;
      function.launches = file.launches[id];
    }
    for (const Call& call : file.calls) {
      if (static_cast<Op>(call.record.op) != Op::kGraphLaunch) continue;
      const auto graph = process.graphs.find(static_cast<uint32_t>(call.record.aux));
      if (graph != process.graphs.end()) ++graph->second.launches;
    }
  }
  TakeFirstLaunches(process);
  MatchLog(process);
  return process;
}

Result<Run> ReadRun(const std::string& folder) {
  Run run;
  run.folder = folder;
  // A file inside of the folder, as a shell completes it.
  std::error_code none;
  if (std::filesystem::is_regular_file(folder, none)) {
    run.folder = std::filesystem::path(folder).parent_path().string();
    if (run.folder.empty()) run.folder = ".";
  }
  while (run.folder.size() > 1 && run.folder.back() == '/') run.folder.pop_back();
  std::error_code failed;
  std::set<std::string> stems;
  bool run_json = false;
  size_t left_out = 0;
  std::filesystem::directory_iterator entry(run.folder, failed);
  if (failed) {
    const bool missing = failed == std::errc::no_such_file_or_directory;
    return Error{missing ? ErrorCode::kNotFound : ErrorCode::kNotReadable,
                 "expected the folder of a recorded run: " + failed.message(), folder,
                 std::nullopt};
  }
  for (; entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    run_json |= name == "run.json";
    const std::string stem = StemOf(name);
    if (stem.empty() || stems.count(stem)) continue;
    if (stems.size() >= kMaxProcesses) {
      ++left_out;
    } else {
      stems.insert(stem);
    }
    if (failed) break;
  }
  if (!run_json && stems.empty()) {
    return Error{ErrorCode::kBadMagic,
                 "expected the folder of a recorded run (run.json, PID.ring, PID.jsonl)", folder,
                 std::nullopt};
  }
  if (run_json) {
    ReadRunJson(run.folder + "/run.json", run);
  } else {
    run.problems.push_back({ErrorCode::kNotFound,
                            "no run.json: the launcher did not get that far, or it was removed",
                            folder, std::nullopt});
  }
  for (const std::string& stem : stems) ReadFilesOf(stem, run);
  if (left_out) {
    run.problems.push_back(
        {ErrorCode::kTooLarge,
         fmt::format("more than {} processes; {} files were left out", kMaxProcesses, left_out),
         folder, std::nullopt});
  }
  SortProcesses(run.processes);
  return run;
}

std::string FunctionName(const Process& process, uint32_t id) {
  const auto found = process.functions.find(id);
  if (id == 0 || found == process.functions.end() || found->second.name.empty())
    return "a kernel whose name is not known";
  return found->second.shown;
}

uint64_t CallCount(const Process& process, Op op) {
  uint64_t count = 0;
  if (!process.ring) return 0;
  for (const RingState& ring : process.ring->rings)
    count += ring.op_counts[static_cast<size_t>(op)];
  return count;
}

uint64_t KernelLaunches(const Process& process) {
  uint64_t count = 0;
  for (uint16_t op = 0; op < kOpCount; ++op) {
    if (IsKernelLaunch(static_cast<Op>(op))) count += CallCount(process, static_cast<Op>(op));
  }
  return count;
}

FailedLaunches FailedKernelLaunches(const Process& process) {
  FailedLaunches failed;
  if (!process.ring) return failed;
  std::map<uint32_t, uint64_t> by_ring;
  for (const Call& call : process.ring->calls) {
    by_ring[call.ring] += IsKernelLaunch(static_cast<Op>(call.record.op)) &&
                          call.record.result != 0 && call.record.result != kPending;
  }
  for (const RingState& ring : process.ring->rings) {
    const uint64_t seen = by_ring[ring.number];
    failed.count += seen;
    // The ring counts all errors: if it has no more, none is among what was overwritten.
    failed.exact &= (ring.overwritten == 0 && ring.torn == 0) || ring.errors <= seen;
  }
  return failed;
}

bool EventsLost(const Process& process) {
  return process.events_missing || process.events_cut || process.damaged_lines ||
         (process.ring && (process.ring->lost_lines || process.ring->events_full));
}

bool ErrorCountsExact(const Process& process) {
  if (!process.ring) return false;
  uint64_t counted = 0;
  uint64_t told = 0;
  for (const RingState& ring : process.ring->rings) {
    if (ring.damaged) return false;
    counted += ring.errors;
  }
  for (const ApiError& error : process.errors) told += error.count;
  return told == counted;
}

}  // namespace cuproof::trace
