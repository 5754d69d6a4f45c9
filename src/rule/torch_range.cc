#include <fmt/format.h>

#include "rule/rule.h"
#include "target/libc_levels.h"

namespace cuproof {

// Where no environment is known, the file alone tells which torch it fits.
void RuleTorchRange(const FileContext& context, std::vector<Finding>& findings) {
  const HostLoad& load = *context.file.host;
  if (load.environment || load.facts.torch_range.empty() || load.facts.stable) return;
  const HostFacts& facts = load.facts;
  Finding finding = NewFinding(context, "CP209", Severity::kNote);
  finding.message = "fits " + facts.torch_range;
  if (facts.string_abi == StringAbi::kOld || facts.string_abi == StringAbi::kNew) {
    finding.message +=
        fmt::format(", with the {} std::string ABI", StringAbiName(facts.string_abi));
  }
  finding.evidence = facts.bounds;
  for (const std::string& library : facts.cuda_libraries) {
    if (library.starts_with("libcudart.so.")) finding.evidence.push_back("needs " + library);
  }
  if (!facts.glibc.empty()) {
    const std::string systems = SystemsWith("GLIBC_" + facts.glibc);
    finding.evidence.push_back(systems.empty()
                                   ? "needs GLIBC_" + facts.glibc
                                   : fmt::format("needs GLIBC_{}: {}", facts.glibc, systems));
  }
  finding.source = "data/torch_symbols.bin";
  finding.verified_on = "torch 2.1 to 2.15, tools/loader_oracle";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
