#include <fmt/format.h>

#include <algorithm>

#include "rule/rule.h"

namespace cuproof {

void RuleUnusedLibrary(const FileContext& context, std::vector<Finding>& findings) {
  const HostLoad& load = *context.file.host;
  if (load.unused.empty()) return;
  Finding finding = NewFinding(context, "CP312", Severity::kNote);
  finding.subject = load.unused.front();
  finding.message =
      fmt::format("is linked with {} and uses nothing of {}", fmt::join(load.unused, ", "),
                  load.unused.size() == 1 ? "it" : "them");
  for (const std::string& name : load.unused) {
    const bool missing = std::any_of(load.libraries.begin(), load.libraries.end(),
                                     [&](const HostLibrary& one) { return one.name == name; });
    if (missing) finding.evidence.push_back(name + " is not here, and the file would load without");
    if (IsDriverLibrary(name)) {
      finding.evidence.push_back("without a driver it cannot be imported, for nothing");
    }
  }
  finding.fix = "link it with -Wl,--as-needed, or take the library out of its link line";
  finding.source = "ldd(1): -u";
  finding.verified_on = "glibc 2.36: ldd -r -u, tests/host_notes_test.py";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
