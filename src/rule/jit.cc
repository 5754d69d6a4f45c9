#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "rule/rule.h"

namespace cuproof {

void RuleJit(const FileContext& context, std::vector<Finding>& findings) {
  if (!context.target.named) return;
  const std::vector<size_t> gpus = GpusWith(context, Outcome::kRunsJit, Reason::kNone);
  if (gpus.empty()) return;
  Finding finding = NewFinding(context, "CP103", Severity::kNote);
  finding.subject = GpuList(context, gpus);
  finding.message = fmt::format(
      "no SASS for {}: the driver compiles PTX at the first load, and keeps the result in its "
      "cache",
      finding.subject);
  std::map<int64_t, std::vector<size_t>> by_image;
  std::vector<std::string> targets;
  for (const size_t gpu : gpus) {
    by_image[context.file.verdicts[gpu].image].push_back(gpu);
    targets.push_back(GpuTarget(context.target.gpus[gpu]));
  }
  for (const auto& [image, served] : by_image) {
    const std::string what = ImageEvidence(context.file.images, static_cast<size_t>(image));
    finding.evidence.push_back(by_image.size() == 1 ? "it compiles " + what
                                                    : fmt::format("for {} it compiles {}",
                                                                  GpuList(context, served), what));
  }
  finding.fix = fmt::format("to avoid the wait, add SASS for {}", fmt::join(targets, ", "));
  finding.source = "CUDA programming guide: just-in-time compilation";
  finding.verified_on = "H200 r580.159 for sm_90, other GPUs and drivers by document";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
