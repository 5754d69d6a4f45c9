#include <fmt/format.h>

#include <map>

#include "rule/host_environment.h"
#include "rule/rule.h"

namespace cuproof {

constexpr const char* kSource = "torch/library.h: one TORCH_LIBRARY for a namespace in a process";

// Two files of one load: both are in the process, and the second claim ends it.
void RuleOperatorClaim(const FileContext& context, std::vector<Finding>& findings) {
  for (const HostClaim& claim : context.file.host->claims) {
    Finding finding = NewFinding(context, "CP204", LoadSeverity(*context.file.host));
    finding.subject = claim.name;
    if (claim.first.empty()) {
      finding.message = fmt::format(
          "claims the operator library {}, and so does a library that it needs", claim.name);
    } else {
      finding.message =
          fmt::format("needs two libraries that claim the operator library {}", claim.name);
      finding.evidence.push_back("one: " + claim.first);
    }
    finding.evidence.push_back("the other one: " + claim.other);
    finding.evidence.push_back(fmt::format(
        "at import: Only a single TORCH_LIBRARY can be used to register the namespace {}",
        claim.name));
    finding.fix = "TORCH_LIBRARY_FRAGMENT in one of them, or another name";
    finding.source = kSource;
    finding.verified_on = "by document";
    findings.push_back(std::move(finding));
  }
}

// Files of several packages: wrong only in a process that imports both.
void RuleOperatorClaims(const EnvironmentContext& context, std::vector<Finding>& findings) {
  std::map<std::string, std::map<std::string, std::string>> by_name;  // name, package, file
  for (const OperatorClaim& claim : context.claims) {
    // Within one package, files are variants of which one is imported.
    if (!claim.package.empty()) by_name[claim.name].emplace(claim.package, claim.file);
  }
  for (const auto& [name, packages] : by_name) {
    if (packages.size() < 2) continue;
    Finding finding;
    finding.id = "CP204";
    finding.file = packages.begin()->second;
    finding.subject = name;
    finding.message =
        fmt::format("{} packages claim the operator library {}: a process can import one of them",
                    packages.size(), name);
    for (const auto& [package, file] : packages) {
      finding.evidence.push_back(fmt::format("{}: {}", package, file));
    }
    finding.fix = "uninstall the one that is not used";
    finding.source = kSource;
    finding.verified_on = "by document";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
