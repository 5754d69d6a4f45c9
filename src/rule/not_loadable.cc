#include <fmt/format.h>

#include "rule/rule.h"

namespace cuproof {

void RuleNotLoadable(const FileContext& context, std::vector<Finding>& findings) {
  const HostLoad& load = *context.file.host;
  if (!load.refused) return;
  // What glibc refuses by its own rules is certain; how it reads a damaged file is not.
  const bool refused = load.refused->code == ErrorCode::kUnsupported;
  // A segment that ends behind the file's end ends the process where it is touched.
  const bool short_file = load.refused->phrase.ends_with("cut short");
  Finding finding =
      NewFinding(context, "CP307", refused || short_file ? LoadSeverity(load) : Severity::kWarning);
  finding.message =
      (refused ? "the loader would refuse it: " : "is damaged: ") + load.refused->phrase;
  if (load.refused->offset) {
    finding.evidence.push_back(fmt::format("at byte {:#x}", *load.refused->offset));
  }
  finding.fix = "install the package again: the file is damaged, or not one to import";
  finding.source = "ld.so(8), glibc's elf/dl-load.c";
  finding.verified_on = "glibc 2.36, tools/loader_oracle";
  findings.push_back(std::move(finding));
}

void RuleNoInterpreter(const FileContext& context, std::vector<Finding>& findings) {
  const HostLoad& load = *context.file.host;
  if (load.python_names == 0) return;
  Finding finding = NewFinding(context, "CP311", Severity::kNote);
  finding.message =
      "what it wants of Python was not looked up: this environment has no interpreter that was "
      "found";
  finding.fix = "name an environment with its bin/python3, or a --sysroot that has it";
  finding.source = "cuproof";
  finding.verified_on = "tests/host_check_test.py";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
