#include <fmt/format.h>

#include <map>

#include "rule/rule.h"
#include "target/facts.h"

namespace cuproof {

void RuleUnknown(const FileContext& context, std::vector<Finding>& findings) {
  const FileImages& images = context.file.images;
  std::map<uint16_t, size_t> kinds;
  std::map<Version, size_t> isas;
  for (const Image& image : images.images) {
    if (image.kind == ImageKind::kUnknown || image.kind == ImageKind::kTileIr)
      ++kinds[image.raw_kind];
    if (image.kind == ImageKind::kPtx && image.version.known() && !FindIsa(image.version)) {
      ++isas[image.version];
    }
  }
  const auto add = [&](std::string message) {
    Finding finding = NewFinding(context, "CP110", Severity::kNote);
    finding.message = std::move(message);
    finding.fix = "a newer cuproof, or --data with newer tables, may know it";
    finding.source = "data/ of this version";
    findings.push_back(std::move(finding));
  };
  for (const auto& [kind, count] : kinds) {
    add(fmt::format("images of kind {}, which this version lists and does not judge: {}", kind,
                    count));
  }
  for (const auto& [isa, count] : isas) {
    const char* why = isa > NewestIsaOf(NewestCuda()) ? "newer than this data" : "not in this data";
    add(fmt::format("PTX of ISA {}, {}: {}", VersionText(isa), why, count));
  }
  const std::vector<size_t> gpus = GpusWith(context, Outcome::kUnknown, Reason::kNewerThanData);
  if (!gpus.empty()) {
    add(fmt::format(
        "no verdict for {}: {}", GpuList(context, gpus),
        "the target, the driver or an image is newer than this data, or not documented"));
  }
  std::vector<size_t> newer;
  for (const size_t gpu : GpusWith(context, Outcome::kRunsJit, Reason::kNone)) {
    if (!context.target.gpus[gpu].in_data) newer.push_back(gpu);
  }
  if (!newer.empty()) {
    add(
        fmt::format("newer than this data: {}; that PTX of a lower target compiles for a newer GPU "
                    "is by document, and no driver for it is known",
                    GpuList(context, newer)));
  }
  const std::vector<size_t> runtime = GpusWith(context, Outcome::kUnknown, Reason::kRuntimeTooNew);
  if (!runtime.empty()) {
    add("no verdict: built with a newer CUDA major than the driver's, and what a driver does with "
        "such "
        "an image alone is not documented");
  }
}

}  // namespace cuproof
