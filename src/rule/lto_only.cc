#include <fmt/format.h>

#include "rule/rule.h"

namespace cuproof {

void RuleLtoOnly(const FileContext& context, std::vector<Finding>& findings) {
  const std::vector<size_t> gpus = GpusWith(context, Outcome::kDoesNotRun, Reason::kLtoOnly);
  if (gpus.empty()) return;
  Finding finding = NewFinding(context, "CP111", Severity::kNote);
  finding.subject = GpuList(context, gpus);
  finding.message =
      fmt::format("only LTO-IR for {}: nvJitLink must link it at run time", finding.subject);
  finding.evidence.push_back("it holds " + TargetList(context.file.images));
  finding.fix =
      "check that the nvJitLink that will be loaded is as new as the toolkit of this file";
  finding.source = "nvJitLink documentation";
  finding.verified_on =
      "H200 r580.159: loaded as it is, error 209; other GPUs and drivers by document";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
