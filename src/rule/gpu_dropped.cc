#include <fmt/format.h>

#include "rule/rule.h"
#include "target/facts.h"

namespace cuproof {

void RuleGpuDropped(const FileContext& context, std::vector<Finding>& findings) {
  const std::vector<size_t> gpus = GpusWith(context, Outcome::kDoesNotRun, Reason::kGpuDropped);
  if (gpus.empty()) return;
  const ArchFact* fact = FindArch(context.target.gpus[gpus.front()].sm);
  if (!fact || !context.target.driver) return;
  Finding finding = NewFinding(context, "CP114", FailureSeverity(context, gpus));
  finding.subject = GpuList(context, gpus);
  finding.message =
      fmt::format("{} does not serve {}: its last branch is r{}",
                  DriverName(*context.target.driver), finding.subject, fact->last_driver_branch);
  finding.fix = fmt::format("stay on driver r{} with these GPUs", fact->last_driver_branch);
  finding.source = "NVIDIA UNIX driver support notes";
  finding.verified_on = "by document";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
