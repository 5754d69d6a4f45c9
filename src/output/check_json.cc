#include "output/check_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "output/image_groups.h"

namespace cuproof {
namespace {

constexpr const char* kSchema = "cuproof.check/1";

const char* PlatformId(Platform platform) {
  switch (platform) {
    case Platform::kDesktop:
      return "desktop";
    case Platform::kTegra:
      return "tegra";
    case Platform::kUnknown:
      break;
  }
  return "unknown";
}

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json GpuJson(const Gpu& gpu) {
  return {{"target", GpuTarget(gpu)},
          {"sm", gpu.sm},
          {"product", TextOrNull(gpu.product)},
          {"chip", TextOrNull(gpu.chip)},
          {"platform", PlatformId(gpu.platform)},
          {"in_data", gpu.in_data},
          {"present", gpu.present}};
}

Json DriverJson(const Driver& driver) {
  return {{"text", driver.text},
          {"branch", driver.branch},
          {"parts", driver.parts},
          {"cuda", VersionJson(driver.cuda)},
          {"newer_than_data", driver.newer_than_data}};
}

Json TargetJson(const Target& target) {
  Json json;
  json["gpus"] = Json::array();
  for (const Gpu& gpu : target.gpus) json["gpus"].push_back(GpuJson(gpu));
  json["named"] = target.named;
  json["driver"] = target.driver ? DriverJson(*target.driver) : Json(nullptr);
  json["cuda"] = target.cuda ? VersionJson(*target.cuda) : Json(nullptr);
  json["notes"] = target.notes;
  return json;
}

Json RootsJson(const Report& report) {
  Json json = Json::array();
  for (const Root& root : report.roots) {
    json.push_back({{"kind", RootKindName(root.kind)},
                    {"argument", root.argument},
                    {"name", TextOrNull(root.name)}});
  }
  return json;
}

Json GroupJson(const ImageGroup& group) {
  const Image& like = group.like;
  return {{"kind", ImageKindName(like.kind)},
          {"target", ImageTarget(like)},
          {"isa", like.kind == ImageKind::kPtx ? VersionJson(like.version) : Json(nullptr)},
          {"toolkit", VersionJson(like.toolkit)},
          {"compression", CompressionName(like.compression)},
          {"relocatable", like.relocatable},
          {"count", group.count},
          {"damaged", group.damaged},
          {"stored_bytes", group.stored_bytes},
          {"raw_bytes", group.raw_bytes}};
}

Json ImageJson(const FileImages& file, int64_t index) {
  if (index < 0 || static_cast<uint64_t>(index) >= file.images.size()) return nullptr;
  const Image& image = file.images[static_cast<size_t>(index)];
  return {{"target", ImageTarget(image)},
          {"kind", ImageKindName(image.kind)},
          {"offset", image.offset},
          {"isa", image.kind == ImageKind::kPtx ? VersionJson(image.version) : Json(nullptr)}};
}

Json FloorJson(const DriverFloor& floor) {
  if (floor.branch == 0 && floor.number.empty()) return nullptr;
  return {{"branch", floor.branch},
          {"number", TextOrNull(floor.number)},
          {"because", TextOrNull(floor.because)}};
}

Json VerdictJson(const FileImages& file, const FileVerdict& verdict) {
  const bool fails = verdict.outcome == Outcome::kDoesNotRun;
  const int error = fails ? ReasonError(verdict.reason) : 0;
  Json json;
  json["outcome"] = OutcomeId(verdict.outcome);
  json["reason"] = verdict.reason == Reason::kNone ? Json(nullptr) : Json(ReasonId(verdict.reason));
  json["error"] = error != 0 ? Json(error) : Json(nullptr);
  json["image"] = ImageJson(file, verdict.image);
  json["driver_floor"] = FloorJson(verdict.floor);
  json["modules"] = {{"sass", verdict.sass_modules},
                     {"jit", verdict.jit_modules},
                     {"failed", verdict.failed_modules},
                     {"unknown", verdict.unknown_modules}};
  return json;
}

Json VerdictsJson(const Target& target, const FileReport& file) {
  Json json = Json::array();
  const size_t count = std::min(target.gpus.size(), file.verdicts.size());
  for (size_t i = 0; i < count; ++i) {
    Json verdict = {{"gpu", GpuTarget(target.gpus[i])},
                    {"product", TextOrNull(target.gpus[i].product)}};
    verdict.update(VerdictJson(file.images, file.verdicts[i]));
    json.push_back(std::move(verdict));
  }
  return json;
}

Json FileJson(const Target& target, const FileReport& file) {
  const FileImages& images = file.images;
  const uint16_t runtime = NeededRuntimeMajor(images.host);
  const auto damaged = std::count_if(images.images.begin(), images.images.end(),
                                     [](const Image& image) { return image.damage.has_value(); });
  Json json;
  json["path"] = file.path;
  json["root"] = file.root;
  json["kind"] = FileKindName(images.kind);
  json["machine"] = TextOrNull(images.host.machine);
  json["size"] = images.size;
  json["needed_runtime"] = runtime != 0 ? Json(runtime) : Json(nullptr);
  json["registers_fatbin"] = images.host.registers_fatbin;
  json["counts"] = {{"modules", images.modules.size()},
                    {"images", images.images.size()},
                    {"damaged_images", damaged}};
  json["images_by_target"] = Json::array();
  for (const ImageGroup& group : GroupImages(images, BySection::kNo)) {
    json["images_by_target"].push_back(GroupJson(group));
  }
  json["verdicts"] = VerdictsJson(target, file);
  return json;
}

Json SummaryJson(const Report& report, const RunInfo& run) {
  const SeverityCounts counts = CountFindings(report);
  return {{"files_seen", report.files_seen},
          {"files_with_device_code", FilesWithDeviceCode(report)},
          {"files_without_cuda", report.files_without_cuda},
          {"bytes_read", report.bytes_read},
          {"seconds", report.seconds},
          {"errors", counts.errors},
          {"warnings", counts.warnings},
          {"notes", counts.notes},
          {"problems", report.problems.size()},
          {"fail_on", FailOnName(run.fail_on)},
          {"exit_code", ExitCode(report, run.fail_on)}};
}

Json HeadJson(const Report& report, const RunInfo& run) {
  Json json;
  json["schema"] = kSchema;
  json["version"] = run.version;
  json["target"] = TargetJson(report.target);
  json["roots"] = RootsJson(report);
  return json;
}

}  // namespace

Json FindingJson(const Finding& finding) {
  return {{"id", finding.id},
          {"severity", SeverityName(finding.severity)},
          {"file", TextOrNull(finding.file)},
          {"subject", TextOrNull(finding.subject)},
          {"message", finding.message},
          {"evidence", finding.evidence},
          {"fix", TextOrNull(finding.fix)},
          {"source", TextOrNull(finding.source)},
          {"verified_on", TextOrNull(finding.verified_on)}};
}

Json CheckJson(const Report& report, const RunInfo& run) {
  Json json = HeadJson(report, run);
  json["files"] = Json::array();
  for (const FileReport& file : report.files) {
    json["files"].push_back(FileJson(report.target, file));
  }
  json["findings"] = Json::array();
  for (const Finding& finding : report.findings) json["findings"].push_back(FindingJson(finding));
  json["problems"] = Json::array();
  for (const Error& problem : report.problems) json["problems"].push_back(ErrorJson(problem));
  json["summary"] = SummaryJson(report, run);
  return json;
}

std::string CheckJsonLines(const Report& report, const RunInfo& run) {
  std::string out;
  const auto line = [&out](const char* type, const Json& value) {
    Json json = {{"type", type}};
    json.update(value);
    out += DumpJson(json, -1) + '\n';
  };
  line("run", HeadJson(report, run));
  for (const FileReport& file : report.files) line("file", FileJson(report.target, file));
  for (const Finding& finding : report.findings) line("finding", FindingJson(finding));
  for (const Error& problem : report.problems) line("problem", ErrorJson(problem));
  line("summary", SummaryJson(report, run));
  return out;
}

}  // namespace cuproof
