#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rule/rule.h"
#include "target/facts.h"

namespace cuproof {
namespace {

constexpr uint64_t kWorthSaying = 1 << 20;

// Why no GPU can use this SASS; empty when one can.
std::string WhyUnused(const Image& image, const FileContext& context) {
  if (image.kind != ImageKind::kCubin) return {};
  const uint32_t sm = CurrentSm(image.arch.number);
  const ArchFact* fact = FindArch(sm);
  if (fact && fact->platform == Platform::kTegra && context.file.images.host.machine == "x86-64") {
    return "Tegra code in an x86-64 file: Jetson machines are aarch64";
  }
  // The file needs a newer driver than the last one that served the GPU.
  const uint32_t floor =
      context.file.verdicts.empty() ? 0 : context.file.verdicts.front().floor.branch;
  if (fact && fact->last_driver_branch && floor > fact->last_driver_branch) {
    return fmt::format("its GPUs ended with driver r{}, the file needs r{}",
                       fact->last_driver_branch, floor);
  }
  return {};
}

}  // namespace

void RuleUnusedBytes(const FileContext& context, std::vector<Finding>& findings) {
  std::map<std::pair<Arch, std::string>, std::pair<size_t, uint64_t>> unused;
  for (const Image& image : context.file.images.images) {
    const std::string why = WhyUnused(image, context);
    if (why.empty()) continue;
    auto& [count, bytes] = unused[{image.arch, why}];
    ++count;
    bytes += image.padded_size;
  }
  for (const auto& [key, total] : unused) {
    const auto& [arch, why] = key;
    const auto& [count, bytes] = total;
    if (bytes < kWorthSaying) continue;
    Finding finding = NewFinding(context, "CP109", Severity::kNote);
    finding.subject = "sm_" + ArchText(arch);
    finding.message = fmt::format("images for sm_{} that no GPU can use here: {}, {:.1f} MB",
                                  ArchText(arch), count, static_cast<double>(bytes) / 1e6);
    finding.evidence.push_back(why);
    finding.fix = fmt::format("drop sm_{} from the build to save this space", ArchText(arch));
    finding.source = "CUDA programming guide: binary compatibility";
    finding.verified_on = "by document";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
