#include "container/walk.h"
#include "rule/rule.h"

namespace cuproof {
namespace {

bool LiesIn(const std::string& folder, const std::string& environment) {
  const std::string parent = RealPath(environment);
  return !parent.empty() && (folder + '/').starts_with(parent + '/');
}

}  // namespace

// Never a warning: what is not found by it is told as missing.
void RuleSearchFolder(const FileContext& context, std::vector<Finding>& findings) {
  const HostLoad& load = *context.file.host;
  std::vector<std::string> folders;
  for (const std::string& folder : load.facts.absolute_folders) {
    // An environment that is moved is made again; the folders of the system are everywhere.
    const bool own = load.environment && LiesIn(folder, load.environment->folder);
    if (!own) folders.push_back(folder);
  }
  if (folders.empty()) return;
  Finding finding = NewFinding(context, "CP313", Severity::kNote);
  finding.subject = folders.front();
  // The same words for all, so that files of one build are one line of the text.
  finding.message = "looks for libraries in folders of the machine that built it";
  for (const std::string& folder : folders) {
    finding.evidence.push_back("in RPATH or RUNPATH: " + folder);
  }
  finding.evidence.emplace_back(
      "what lies there on another machine is taken before the libraries of the system");
  finding.fix = "patchelf --set-rpath '$ORIGIN' FILE, or auditwheel repair for a wheel";
  finding.source = "ld.so(8): DT_RPATH, DT_RUNPATH";
  finding.verified_on = "glibc 2.36, tests/host_notes_test.py";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
