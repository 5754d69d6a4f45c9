#include <fmt/format.h>

#include "rule/rule.h"

namespace cuproof {

// A text may never be used, and who tries several releases is in order: a note.
void RuleOpenedByName(const FileContext& context, std::vector<Finding>& findings) {
  const HostLoad& load = *context.file.host;
  if (!load.environment || load.environment->torch_cuda.empty()) return;
  for (const std::string& name : load.not_there) {
    if (!name.starts_with("libcudart.so.") && !name.starts_with("libcublas") &&
        !name.starts_with("libnvrtc.so.")) {
      continue;  // those that each environment with CUDA has
    }
    Finding finding = NewFinding(context, "CP306", Severity::kNote);
    finding.subject = name;
    finding.message =
        fmt::format("holds the name {}, and no such library is in this environment", name);
    finding.evidence.push_back(fmt::format("torch is of CUDA {}", load.environment->torch_cuda));
    finding.evidence.push_back(fmt::format(
        "if it is opened: {}: cannot open shared object file: No such file or directory", name));
    finding.fix =
        "install the build for this CUDA; in your own code take the major of "
        "torch.version.cuda";
    finding.source = "report R60";
    finding.verified_on = "tests/report_d_test.py";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
