#include <fmt/format.h>

#include <charconv>
#include <tuple>

#include "rule/source_rules.h"
#include "torch/stable_abi.h"

namespace cuproof {
namespace {

constexpr std::string_view kName = "TORCH_TARGET_VERSION";

// The number behind the name: "=0x020a000000000000", " 0x020A000000000000ULL".
std::optional<uint64_t> ValueIn(std::string_view text) {
  const size_t at = text.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + kName.size());
  const size_t start = rest.find_first_not_of("= \t");
  if (start == std::string_view::npos || start == 0) return std::nullopt;
  rest.remove_prefix(start);
  if (!rest.starts_with("0x") && !rest.starts_with("0X")) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data() + 2, rest.data() + rest.size(), value, 16);
  if (error != std::errc() || end == rest.data() + 2) return std::nullopt;
  return value;
}

void Check(const SourceContext& context, uint64_t value, uint32_t line,
           std::vector<Finding>& findings) {
  const auto target = DecodeTorchTarget(value);
  const TorchTarget newest = NewestTorch();
  Finding finding = NewSourceFinding(context, "CP706", Severity::kWarning);
  if (!target) {
    finding.message =
        "TORCH_TARGET_VERSION is no version of torch: it has 16 digits, two each for "
        "major, minor and patch from the left";
    finding.fix = fmt::format("for torch 2.10 write {}", TorchTargetValue(2, 10));
  } else {
    const auto meant = MeantMinor(*target);
    const bool known =
        std::tuple(target->major, target->minor) <= std::tuple(newest.major, newest.minor);
    if (known || !meant) return;
    finding.message = fmt::format(
        "TORCH_TARGET_VERSION is hexadecimal: this is torch {}, newer than any that is known",
        target->Text());
    finding.fix = fmt::format("for torch {}.{} write {}", target->major, *meant,
                              TorchTargetValue(target->major, *meant));
  }
  AddLine(context, line, kName, finding);
  finding.source = "torch/headeronly/version.h; report R53";
  finding.verified_on = "headers of torch 2.10";
  findings.push_back(std::move(finding));
}

}  // namespace

void RuleSourceTorchTarget(const SourceContext& context, std::vector<Finding>& findings) {
  for (const BuildLine& line : context.lines) {
    if (const auto value = ValueIn(line.text)) Check(context, *value, line.line, findings);
  }
  for (const Directive& directive : context.code.directives) {
    if (directive.name != "define") continue;
    if (const auto value = ValueIn(directive.rest)) {
      Check(context, *value, directive.line, findings);
    }
  }
}

}  // namespace cuproof
