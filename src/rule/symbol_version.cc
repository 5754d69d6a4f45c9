#include <fmt/format.h>

#include "rule/rule.h"

namespace cuproof {

void RuleSymbolVersion(const FileContext& context, std::vector<Finding>& findings) {
  const HostLoad& load = *context.file.host;
  // A process loads another file of its name.
  if (load.replaced) return;
  for (const HostSymbol& symbol : load.symbols) {
    if (symbol.version.empty() || IsDriverLibrary(symbol.version_file)) continue;
    // The version as a whole is away: CP302, or its library is: CP301. A copy that came first:
    // CP303 says it.
    bool said = false;
    for (const HostVersion& version : load.versions) said |= version.version == symbol.version;
    for (const HostLibrary& library : load.libraries) said |= library.name == symbol.version_file;
    for (const HostCopy& copy : load.copies) said |= IsReplacedCopy(copy, symbol.version_file);
    if (said) continue;
    Finding finding = NewFinding(context, "CP202", LoadSeverity(load));
    finding.subject = symbol.name;
    finding.message = fmt::format(
        "needs {} of {}, which this copy does not have: it is of another release than the one "
        "that the file was built with",
        symbol.name, symbol.version_file);
    if (!symbol.elsewhere.empty()) {
      finding.evidence.push_back(
          fmt::format("{} has it under version {}", symbol.elsewhere, symbol.other_version));
    }
    if (!symbol.chain.empty()) finding.evidence.push_back("through " + symbol.chain);
    for (const HostCopy& copy : load.copies) {
      if (copy.name != symbol.version_file) continue;
      finding.evidence.push_back(fmt::format("taken: {} ({})", copy.winner, copy.winner_by));
      finding.evidence.push_back(fmt::format("not taken: {} ({})", copy.loser, copy.loser_by));
    }
    finding.evidence.push_back(
        fmt::format("at import: undefined symbol: {}, version {}", symbol.name, symbol.version));
    finding.fix = fmt::format(
        "install the release of {} that the file was built with, or take this copy out of the "
        "search path",
        symbol.version_file);
    finding.source = "ld.so(8): symbol versions";
    finding.verified_on = "glibc 2.36, tools/loader_oracle";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
