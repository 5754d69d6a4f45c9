#include <cctype>

#include "rule/source_rules.h"

namespace cuproof {
namespace {

constexpr std::string_view kName = "_GLIBCXX_USE_CXX11_ABI";

// "…ABI=0", "…ABI 0"; not "=01", not "={abi}".
bool SaysOld(std::string_view text, std::string_view between) {
  for (size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + 1)) {
    std::string_view rest = text.substr(at + kName.size());
    const size_t start = rest.find_first_not_of(between);
    if (start == std::string_view::npos || start == 0 || rest[start] != '0') continue;
    rest.remove_prefix(start + 1);
    if (rest.empty() || std::isalnum(static_cast<unsigned char>(rest[0])) == 0) return true;
  }
  return false;
}

}  // namespace

// Of what is built for torch only: for others the old ABI may be right.
void RuleSourceStringAbi(const SourceContext& context, std::vector<Finding>& findings) {
  if (context.file.text.find("torch") == std::string::npos) return;
  Finding finding = NewSourceFinding(context, "CP703", Severity::kWarning);
  for (const BuildLine& line : context.lines) {
    if (!line.conditional && SaysOld(line.text, "=")) AddLine(context, line.line, kName, finding);
  }
  for (const Directive& directive : context.code.directives) {
    if (directive.name == "define" && SaysOld(directive.rest, " \t")) {
      AddLine(context, directive.line, kName, finding);
    }
  }
  if (finding.evidence.empty()) return;
  finding.message =
      "builds with the old std::string ABI, which no torch of the Python index has from 2.7 on";
  finding.fix = "leave it out: torch's own build helpers set it to what that torch was built with";
  finding.source = "data/torch_releases.tsv; report R48";
  finding.verified_on = "libraries of torch 2.1 to 2.15";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
