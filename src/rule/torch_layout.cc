#include <fmt/format.h>

#include <optional>

#include "rule/rule.h"
#include "target/table.h"

namespace cuproof {
namespace {

Version MinorOf(std::string_view version) {
  // "2.10.0+cu128"
  const size_t first = version.find('.');
  if (first == std::string_view::npos) return {};
  const size_t second = version.find_first_not_of("0123456789", first + 1);
  return ParseVersion(version.substr(0, second));
}

std::optional<std::string_view> SizeIn(std::string_view type, Version torch) {
  const Table& table = Table::Get("torch_layouts");
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.At(i, "type") != type) continue;
    const Version first = ParseVersion(table.At(i, "first_torch"));
    const Version last = ParseVersion(table.At(i, "last_torch"));
    if (torch < first || (last.known() && last < torch)) continue;
    return table.At(i, "bytes");
  }
  return std::nullopt;
}

}  // namespace

// Every symbol is found, and yet the two sides disagree on where a member lies. Said only where the
// package tells which torch it was built for.
void RuleTorchLayout(const FileContext& context, std::vector<Finding>& findings) {
  const HostLoad& load = *context.file.host;
  if (!load.environment || !load.symbols.empty() || load.facts.torch_types.empty()) return;
  const BuildLabel& label = load.facts.label;
  const std::string built_for = label.torch_major != 0 ? label.Torch() : load.torch_pin;
  const Version built = MinorOf(built_for);
  const Version here = MinorOf(load.environment->torch_version);
  if (!built.known() || !here.known() || built == here) return;
  std::vector<std::string> changed;
  for (const std::string& type : load.facts.torch_types) {
    const auto then = SizeIn(type, built);
    const auto now = SizeIn(type, here);
    if (then && now && *then != *now) {
      changed.push_back(fmt::format("{}: {} bytes in torch {}, {} in torch {}", type, *then,
                                    VersionText(built), *now, VersionText(here)));
    }
  }
  if (changed.empty()) return;
  Finding finding = NewFinding(context, "CP207", Severity::kWarning);
  finding.message = fmt::format(
      "was built for torch {}; this is torch {}, where types that it uses have another size",
      VersionText(built), VersionText(here));
  finding.evidence = std::move(changed);
  finding.evidence.push_back(label.torch_major != 0 ? "its name says so: " + label.text
                                                    : "its package asks for torch==" + built_for);
  finding.fix = fmt::format("install the build for torch {}, or rebuild it", VersionText(here));
  finding.source = "data/torch_layouts.tsv";
  finding.verified_on = "headers of the wheels, g++ 12";
  findings.push_back(std::move(finding));
}

}  // namespace cuproof
