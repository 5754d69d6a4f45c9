#include "launch/run_record.h"

#include <x86intrin.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "launch/run_folder.h"
#include "output/json.h"

namespace cuproof::launch {
namespace {

uint64_t Nanoseconds(clockid_t clock) {
  std::timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

Json ClockJson(const trace::ClockPair& pair) {
  return {{"clock", pair.clock},
          {"monotonic_ns", pair.monotonic_ns},
          {"realtime_ns", pair.realtime_ns}};
}

}  // namespace

const char* ModeName(Mode mode) {
  switch (mode) {
    case Mode::kFlight:
      return "flight";
    case Mode::kTimed:
      return "timed";
    case Mode::kIdle:
      break;
  }
  return "idle";
}

trace::ClockPair ReadClocks() {
  return {__rdtsc(), Nanoseconds(CLOCK_MONOTONIC), Nanoseconds(CLOCK_REALTIME)};
}

std::string RunRecordText(const RunRecord& record) {
  Json json;
  json["cuproof"] = record.version;
  json["command"] = record.command;
  json["folder"] = record.folder;
  json["driver"] = {{"path", record.driver_path},
                    {"build_id", record.driver_build_id},
                    {"symbols", record.driver_symbols}};
  json["options"] = {
      {"mode", ModeName(record.options.mode)},    {"dump_images", record.options.dump_images},
      {"ring_records", record.options.records},   {"rings", record.options.max_rings},
      {"max_events", record.options.event_bytes}, {"max_images", record.options.image_bytes}};
  json["pid"] = record.pid;
  json["start"] = ClockJson(record.start);
  if (record.end) json["end"] = ClockJson(*record.end);
  if (record.ending && record.ending->signal != 0) json["signal"] = record.ending->signal;
  if (record.ending && record.ending->signal == 0) json["exit_code"] = record.ending->exit_code;
  json["notes"] = record.notes;
  return DumpJson(json, 2) + '\n';
}

Result<bool> WriteRunRecord(const RunRecord& record) {
  return ReplaceWhole(record.folder + "/run.json", RunRecordText(record));
}

}  // namespace cuproof::launch
