#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytes/result.h"
#include "launch/child.h"
#include "trace/record.h"

namespace cuproof::launch {

enum class Mode : uint8_t { kFlight, kTimed, kIdle };

const char* ModeName(Mode mode);

/// What a run was asked to do.
struct RunOptions {
  Mode mode = Mode::kFlight;
  bool dump_images = false;
  uint32_t records = trace::kRecordsDefault;
  uint32_t max_rings = trace::kRingsDefault;
  uint64_t event_bytes = uint64_t{64} << 20;
  uint64_t image_bytes = uint64_t{1} << 30;
};

/// run.json: what docs/trace.md says of it.
struct RunRecord {
  std::string version;
  std::vector<std::string> command;
  std::string folder;
  std::string driver_path;
  std::string driver_build_id;
  size_t driver_symbols = 0;
  RunOptions options;
  std::vector<std::string> notes;
  int pid = 0;
  trace::ClockPair start = {};
  std::optional<trace::ClockPair> end;
  std::optional<Ending> ending;
};

trace::ClockPair ReadClocks();

/// The text of run.json.
std::string RunRecordText(const RunRecord& record);

/// Writes FOLDER/run.json so that a reader sees all of it or what was there before.
Result<bool> WriteRunRecord(const RunRecord& record);

}  // namespace cuproof::launch
