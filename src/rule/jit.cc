#include <fmt/format.h>

#include "rule/rule.h"

namespace cuproof {

void RuleJit(const FileContext& context, std::vector<Finding>& findings) {
  if (!context.target.named) return;
  const std::vector<size_t> gpus = GpusWith(context, Outcome::kRunsJit, Reason::kNone);
  if (gpus.empty()) return;
  const FileVerdict& verdict = context.file.verdicts[gpus.front()];
  Finding finding = NewFinding(context, "CP103", Severity::kNote);
  finding.subject = GpuList(context, gpus);
  finding.message = fmt::format(
      "no SASS for {}: the driver compiles PTX at the first load, and keeps the result in its "
      "cache",
      finding.subject);
  finding.evidence.push_back(
      "it compiles " + ImageEvidence(context.file.images, static_cast<size_t>(verdict.image)));
  finding.fix = fmt::format("to avoid the wait, add SASS for {}",
                            GpuTarget(context.target.gpus[gpus.front()]));
  finding.source = "CUDA programming guide: just-in-time compilation";
  finding.verified_on = "H200 r580.159";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
