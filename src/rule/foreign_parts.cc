#include <fmt/format.h>

#include "rule/host_environment.h"
#include "rule/rule.h"

namespace cuproof {

void RuleForeignParts(const EnvironmentContext& context, std::vector<Finding>& findings) {
  for (const ForeignPart& part : context.environment.foreign_parts) {
    Finding finding;
    finding.id = "CP309";
    finding.severity = Severity::kWarning;
    finding.file = part.opened_by;
    finding.subject = part.name;
    if (part.found.empty()) {
      finding.message = fmt::format("opens {} by name, and no such file is beside it", part.name);
      finding.evidence.emplace_back("at run time: CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED");
      finding.fix = "pip install --force-reinstall --no-deps the cuDNN package";
    } else {
      finding.message = fmt::format(
          "opens {} by name, and would get that of another installation of cuDNN", part.name);
      finding.evidence.push_back(fmt::format("found: {} ({})", part.found, part.found_by));
      finding.evidence.emplace_back("at run time: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH");
      finding.fix = part.found_by == "LD_LIBRARY_PATH"
                        ? "unset LD_LIBRARY_PATH, or take that folder out of it"
                        : "pip install --force-reinstall --no-deps the cuDNN package, so that its "
                          "own is there";
    }
    finding.source = "ld.so(8): search order; report R75";
    finding.verified_on = "cuDNN 9.10, tests/report_e_test.py";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
