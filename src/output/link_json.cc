#include "output/link_json.h"

#include <nlohmann/json.hpp>

#include "output/json.h"

namespace cuproof {
namespace {

Json OrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json PathOf(const Process& process, uint32_t object) {
  return object == kNoObject ? Json(nullptr) : Json(process.objects()[object].path);
}

Json ChainJson(const Process& process, uint32_t object) {
  Json chain = Json::array();
  for (const uint32_t link : process.ChainOf(object)) chain.push_back(PathOf(process, link));
  return chain;
}

Json ObjectsJson(const Process& process, const LoadOutcome& outcome) {
  Json objects = Json::array();
  for (const uint32_t index : outcome.scope) {
    const LoadedObject& object = process.objects()[index];
    Json json;
    json["name"] = object.requested;
    json["path"] = object.path;
    json["found_by"] = FoundByName(object.found_by);
    json["entry"] = OrNull(object.step.raw);
    json["owner"] = OrNull(object.step.owner);
    json["loaded_before"] = object.load != process.objects()[outcome.root].load;
    json["needed_by"] = PathOf(process, object.loader);
    objects.push_back(std::move(json));
  }
  return objects;
}

Json MissingLibraries(const Process& process, const LoadOutcome& outcome) {
  Json all = Json::array();
  for (const MissingLibrary& missing : outcome.missing) {
    Json json;
    json["name"] = missing.name;
    json["needed_by"] = PathOf(process, missing.wanted_by);
    json["chain"] = ChainJson(process, missing.wanted_by);
    Json also = Json::array();
    for (const uint32_t other : missing.also) also.push_back(PathOf(process, other));
    json["also_needed_by"] = std::move(also);
    Json unfit = Json::array();
    for (const Candidate& candidate : missing.unfit) {
      unfit.push_back({{"path", candidate.path},
                       {"why", candidate.unreadable ? "no ELF file" : "other machine"}});
    }
    json["unfit"] = std::move(unfit);
    json["unreadable"] = missing.unreadable ? Json(*missing.unreadable) : Json(nullptr);
    all.push_back(std::move(json));
  }
  return all;
}

Json MissingSymbols(const Process& process, const LoadReport& report) {
  Json all = Json::array();
  for (const MissingSymbol& missing : report.missing_symbols) {
    Json json;
    json["name"] = missing.name;
    json["version"] = OrNull(missing.version);
    json["version_file"] = OrNull(missing.version_file);
    json["wanted_by"] = PathOf(process, missing.wanted_by);
    json["reason"] = MissingReasonName(missing.reason);
    json["elsewhere"] = PathOf(process, missing.elsewhere);
    json["other_version"] = OrNull(missing.other_version);
    json["function_only"] = missing.function_only;
    all.push_back(std::move(json));
  }
  return all;
}

Json VersionErrors(const Process& process, const LoadReport& report) {
  Json all = Json::array();
  for (const VersionError& error : report.version_errors) {
    Json json;
    json["kind"] = VersionErrorKindName(error.kind);
    json["fatal"] = error.fatal();
    json["version"] = OrNull(error.version);
    json["file"] = error.file;
    json["wanted_by"] = PathOf(process, error.wanted_by);
    json["provider"] = PathOf(process, error.provider);
    json["newest"] = OrNull(error.newest);
    all.push_back(std::move(json));
  }
  return all;
}

Json ReportJson(const LoadReport& report, const Process& process) {
  Json json;
  json["loads"] = report.loads();
  json["error"] = report.outcome.error ? ErrorJson(*report.outcome.error) : Json(nullptr);
  json["missing_libraries"] = MissingLibraries(process, report.outcome);
  json["missing_symbols"] = MissingSymbols(process, report);
  json["version_errors"] = VersionErrors(process, report);
  json["objects"] =
      report.outcome.root == kNoObject ? Json::array() : ObjectsJson(process, report.outcome);
  Json damage = Json::array();
  for (const Error& error : report.damage) damage.push_back(ErrorJson(error));
  json["damage"] = std::move(damage);
  return json;
}

Json EnvironmentJson(const LinkReport& report) {
  const Environment& environment = report.environment;
  Json json;
  json["kind"] = EnvironmentKindName(environment.kind);
  json["folder"] = OrNull(environment.folder);
  json["python"] = OrNull(environment.python);
  json["site_packages"] = environment.site_packages;
  json["torch"] = environment.torch ? Json({{"folder", environment.torch->folder},
                                            {"version", environment.torch->version},
                                            {"cuda", OrNull(environment.torch->cuda)}})
                                    : Json(nullptr);
  json["torch_loads"] = report.prepared.has_torch;
  json["library_path"] = environment.library_path;
  Json steps = Json::array();
  for (const PreparationStep& step : report.prepared.steps) {
    Json entry = {{"path", step.path}, {"global", step.global}};
    entry.update(ReportJson(step.report, report.prepared.ProcessOf(step)));
    entry.erase("objects");
    steps.push_back(std::move(entry));
  }
  json["loaded_first"] = std::move(steps);
  Json problems = Json::array();
  for (const Error& problem : environment.problems) problems.push_back(ErrorJson(problem));
  json["problems"] = std::move(problems);
  return json;
}

}  // namespace

std::string LinkJson(const LinkReport& report, const std::string& version) {
  Json json;
  json["version"] = version;
  json["environment"] = EnvironmentJson(report);
  Json files = Json::array();
  for (const LinkedFile& file : report.files) {
    Json entry;
    entry["file"] = file.file;
    entry.update(ReportJson(file.report, file.process));
    files.push_back(std::move(entry));
  }
  json["files"] = std::move(files);
  return DumpJson(json, 2) + "\n";
}

}  // namespace cuproof
