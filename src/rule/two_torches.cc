#include <fmt/format.h>

#include <map>

#include "rule/host_environment.h"
#include "rule/rule.h"

namespace cuproof {

void RuleTwoTorches(const EnvironmentContext& context, std::vector<Finding>& findings) {
  const HostEnvironment& environment = context.environment;
  // One folder, two distributions: the files are a mixture of both.
  std::map<std::string, std::vector<const Package*>> by_folder;
  for (const Package& package : environment.packages.all) {
    if (package.name != "torch") continue;
    by_folder[package.folder.substr(0, package.folder.rfind('/'))].push_back(&package);
  }
  for (const auto& [folder, torches] : by_folder) {
    if (torches.size() < 2) continue;
    Finding finding;
    finding.id = "CP308";
    finding.severity = Severity::kWarning;
    finding.file = folder + "/torch";
    finding.message = "two torch packages are installed into one folder";
    for (const Package* torch : torches) {
      finding.evidence.push_back(fmt::format("torch {} by {}", torch->version, torch->folder));
    }
    finding.evidence.push_back("what is imported calls itself " + environment.torch_version);
    finding.fix = "pip uninstall torch until none is left, then install one";
    finding.source = "report R49";
    finding.verified_on = "tests/report_c_test.py";
    findings.push_back(std::move(finding));
  }
  if (environment.other_torches.empty()) return;
  Finding finding;
  finding.id = "CP308";
  finding.file = environment.torch_folder;
  finding.message = fmt::format("torch {} is imported, and another torch stands behind it",
                                environment.torch_version);
  for (const std::string& other : environment.other_torches) finding.evidence.push_back(other);
  finding.fix = "see that extensions are built for the one that is imported";
  finding.source = "report R49";
  finding.verified_on = "tests/report_c_test.py";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
