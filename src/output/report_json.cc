#include "output/report_json.h"

#include <nlohmann/json.hpp>

#include "output/json.h"

namespace cuproof {
namespace {

using trace::Process;

constexpr const char* kSchema = "cuproof.report/1";
constexpr size_t kKernelsListed = 10'000;

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

template <typename T>
Json ValueOrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json ClockJson(const std::optional<trace::ClockPair>& pair) {
  if (!pair) return nullptr;
  return {{"monotonic_ns", pair->monotonic_ns}, {"realtime_ns", pair->realtime_ns}};
}

Json RunJson(const trace::Run& run) {
  return {{"folder", run.folder},
          {"command", run.command},
          {"recorded_by", TextOrNull(run.version)},
          {"mode", TextOrNull(run.mode)},
          {"runs", run.runs},
          {"pid", run.pid ? Json(run.pid) : Json(nullptr)},
          {"driver",
           {{"path", TextOrNull(run.driver_path)}, {"build_id", TextOrNull(run.driver_build)}}},
          {"start", ClockJson(run.start)},
          {"end", ClockJson(run.end)},
          {"exit_code", ValueOrNull(run.exit_code)},
          {"signal", ValueOrNull(run.signal)},
          {"notes", run.notes}};
}

Json CallsJson(const Process& process) {
  Json calls = Json::object();
  for (uint16_t op = 1; op < trace::kOpCount; ++op) {
    const uint64_t count = trace::CallCount(process, static_cast<trace::Op>(op));
    const std::string name = trace::OpName(static_cast<trace::Op>(op));
    if (count) calls[name] = calls.value(name, uint64_t{0}) + count;
  }
  return calls;
}

Json DevicesJson(const Process& process) {
  Json devices = Json::array();
  for (const auto& [ordinal, device] : process.devices) {
    const auto major = device.attributes.find(75);
    const auto minor = device.attributes.find(76);
    const bool known = major != device.attributes.end() && minor != device.attributes.end();
    devices.push_back({{"ordinal", ordinal},
                       {"name", TextOrNull(device.name)},
                       {"sm", known ? Json(major->second * 10 + minor->second) : Json(nullptr)}});
  }
  return devices;
}

Json ImagesJson(const Process& process) {
  Json images = Json::array();
  for (const auto& [id, image] : process.images) {
    images.push_back({{"id", id},
                      {"api", TextOrNull(image.api)},
                      {"kind", TextOrNull(image.kind)},
                      {"size", image.size},
                      {"hash", TextOrNull(image.hash)},
                      {"file", TextOrNull(image.file)},
                      {"offset", image.file.empty() ? Json(nullptr) : Json(image.offset)},
                      {"dumped", TextOrNull(image.dumped)},
                      {"result", image.result},
                      {"ns", image.ns},
                      {"unloaded", image.unloaded}});
  }
  return images;
}

Json GraphsJson(const Process& process) {
  Json graphs = Json::array();
  for (const auto& [id, graph] : process.graphs) {
    Json nodes = Json::object();
    for (const auto& [kind, count] : graph.nodes) nodes[kind] = count;
    graphs.push_back({{"id", id},
                      {"origin", TextOrNull(graph.origin)},
                      {"result", graph.result},
                      {"ns", graph.ns},
                      {"nodes", std::move(nodes)},
                      {"complete", graph.complete},
                      {"launches_in_rings", graph.launches}});
  }
  return graphs;
}

Json CapturesJson(const Process& process) {
  Json captures = Json::array();
  for (const auto& [id, capture] : process.captures) {
    captures.push_back({{"id", id},
                        {"stream", capture.stream},
                        {"mode", TextOrNull(capture.mode)},
                        {"ended", capture.ended},
                        {"result", capture.ended ? Json(capture.result) : Json(nullptr)}});
  }
  return captures;
}

Json ProcessJson(const Process& process) {
  Json json;
  json["stem"] = process.stem;
  json["pid"] = process.pid;
  json["parent"] = process.parent ? Json(process.parent) : Json(nullptr);
  json["forked"] = process.forked;
  json["executable"] = TextOrNull(process.executable);
  json["command"] = process.command;
  json["driver_version"] = process.driver_version ? Json(process.driver_version) : Json(nullptr);
  json["threads"] = ThreadCount(process);
  json["errors"] = ErrorCount(process);
  json["kernel_launches"] = trace::KernelLaunches(process);
  json["calls"] = CallsJson(process);
  json["devices"] = DevicesJson(process);
  json["images"] = ImagesJson(process);
  json["graphs"] = GraphsJson(process);
  json["captures"] = CapturesJson(process);
  return json;
}

Json ExplanationJson(const RunReport& report, const Explanation& explanation) {
  const Finding& finding = explanation.finding;
  const Process& process = report.run.processes[explanation.process];
  const trace::ApiError& error = process.errors[explanation.error];
  return {{"id", finding.id},
          {"severity", SeverityName(finding.severity)},
          {"process", process.stem},
          {"thread", error.at.thread},
          {"api", TextOrNull(error.api)},
          {"result", error.result},
          {"count", explanation.count},
          {"count_exact", explanation.exact},
          {"processes", explanation.processes},
          {"subject", TextOrNull(finding.subject)},
          {"message", finding.message},
          {"evidence", finding.evidence},
          {"driver_words", explanation.driver_words},
          {"fix", TextOrNull(finding.fix)},
          {"source", TextOrNull(finding.source)},
          {"verified_on", TextOrNull(finding.verified_on)}};
}

}  // namespace

std::string ReportJson(const RunReport& report, const std::string& version) {
  Json json;
  json["schema"] = kSchema;
  json["version"] = version;
  json["run"] = RunJson(report.run);
  json["recorded"] = report.recorded;
  json["counts_exact"] = report.recorded && report.exact;
  const auto count = [&](uint64_t value) { return report.recorded ? Json(value) : Json(nullptr); };
  json["kernel_launches"] = count(report.kernel_launches);
  json["failed_launches"] = count(report.failed.count);
  json["failed_launches_exact"] = report.recorded && report.failed.exact;
  json["graph_launches"] = count(report.graph_launches);
  json["unnamed_launches"] = count(report.unnamed_launches);
  json["errors"] = Json::array();
  for (const Explanation& explanation : report.explanations)
    json["errors"].push_back(ExplanationJson(report, explanation));
  json["kernels"] = Json::array();
  for (const KernelCount& kernel : report.kernels) {
    if (json["kernels"].size() >= kKernelsListed) break;
    Json entry = {{"name", kernel.name}, {"launches", kernel.launches}};
    if (kernel.timed)
      entry["host_time"] = {{"calls", kernel.timed},
                            {"median_ns", kernel.median_ns},
                            {"longest_ns", kernel.longest_ns}};
    json["kernels"].push_back(std::move(entry));
  }
  json["jit"] = {{"inferred_from_times", true},
                 {"compiled", report.jit.compiled},
                 {"compiled_ns", report.jit.compiled_ns},
                 {"cached", report.jit.cached},
                 {"late", report.jit.late},
                 {"late_ns", report.jit.late_ns}};
  json["processes"] = Json::array();
  for (const Process& process : report.run.processes)
    json["processes"].push_back(ProcessJson(process));
  json["losses"] = report.losses;
  json["problems"] = Json::array();
  for (const Error& problem : report.run.problems) json["problems"].push_back(ErrorJson(problem));
  return DumpJson(json, 2) + "\n";
}

}  // namespace cuproof
