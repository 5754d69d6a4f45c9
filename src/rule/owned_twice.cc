#include <fmt/format.h>

#include "rule/host_environment.h"
#include "rule/rule.h"

namespace cuproof {

void RuleOwnedTwice(const EnvironmentContext& context, std::vector<Finding>& findings) {
  const Packages& packages = context.environment.packages;
  for (const OwnedTwice& twice : packages.owned_twice) {
    Finding finding;
    finding.id = "CP304";
    finding.severity = Severity::kWarning;
    finding.file = twice.path;
    finding.message =
        "two packages own this file, with other contents: the last to be installed won";
    for (const size_t owner : twice.owners) {
      finding.evidence.push_back("owned by " + packages.all[owner].Text());
    }
    if (!twice.winner.empty()) finding.evidence.push_back("by its size it is of " + twice.winner);
    finding.fix = fmt::format(
        "pip uninstall the one that is not wanted, then pip install --force-reinstall --no-deps "
        "the other");
    finding.source = "PEP 376: RECORD; report R76";
    finding.verified_on = "tests/report_e_test.py";
    findings.push_back(std::move(finding));
  }
  for (const Package& package : packages.all) {
    // Of a distribution's own packages the system knows the files.
    if (package.has_record || (package.installer != "pip" && package.installer != "uv")) continue;
    Finding finding;
    finding.id = "CP304";
    finding.file = package.folder;
    finding.message =
        fmt::format("{} has no RECORD: which files are its own is not known", package.Text());
    finding.fix = fmt::format("pip install --force-reinstall --no-deps {}=={}", package.name,
                              package.version);
    finding.source = "PEP 376: RECORD";
    finding.verified_on = "by document";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
