#include <fmt/format.h>

#include <algorithm>

#include "rule/host_environment.h"
#include "rule/rule.h"

namespace cuproof {

// bitsandbytes has one library for each CUDA release and takes the one of torch's.
void RuleCudaVariant(const EnvironmentContext& context, std::vector<Finding>& findings) {
  const HostEnvironment& environment = context.environment;
  if (environment.bitsandbytes.empty() || environment.torch_cuda.empty()) return;
  std::string wanted = environment.torch_cuda;
  std::erase(wanted, '.');
  const std::vector<std::string>& there = environment.bitsandbytes;
  if (wanted.size() != 3 || std::find(there.begin(), there.end(), wanted) != there.end()) return;
  std::string nearest;
  for (const std::string& number : there) {
    if (number.substr(0, 2) == wanted.substr(0, 2) && number < wanted) nearest = number;
  }
  Finding finding;
  finding.id = "CP310";
  finding.severity = Severity::kWarning;
  finding.file = "bitsandbytes";
  finding.subject = fmt::format("libbitsandbytes_cuda{}.so", wanted);
  finding.message =
      fmt::format("has no library for CUDA {}, which torch is of", environment.torch_cuda);
  finding.evidence.push_back(fmt::format("it has those for {}", fmt::join(there, ", ")));
  finding.evidence.push_back(fmt::format(
      "at import: Configured CUDA binary not found at libbitsandbytes_cuda{}.so", wanted));
  finding.fix = nearest.empty() ? "install a bitsandbytes for this CUDA"
                                : fmt::format("export BNB_CUDA_VERSION={}", nearest);
  finding.source = "report R62";
  finding.verified_on = "by document";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
