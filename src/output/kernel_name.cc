#include "output/kernel_name.h"

#include "output/escape.h"
#include "output/layout.h"
#include "symbol/demangle.h"

namespace cuproof {
namespace {

std::string CutEnd(std::string escaped, size_t width) {
  constexpr std::string_view kDots = "...";
  if (DisplayWidth(escaped) <= width) return escaped;
  while (!escaped.empty() && DisplayWidth(escaped) + kDots.size() > width) {
    do {
      escaped.pop_back();
    } while (!escaped.empty() && (static_cast<uint8_t>(escaped.back()) & 0xC0) == 0x80);
  }
  return escaped + std::string(kDots);
}

}  // namespace

std::string ShortKernelName(std::string_view mangled, size_t width) {
  const auto name = SplitCxxName(mangled);
  if (!name || name->qualified.empty()) return CutEnd(EscapeTerminal(mangled), width);
  std::string_view text = name->qualified;
  if (DisplayWidth(EscapeTerminal(text)) > width) {
    const std::string scope = ScopeOf(text);
    if (!scope.empty() && text.size() > scope.size() + 2) text.remove_prefix(scope.size() + 2);
  }
  return CutEnd(EscapeTerminal(text), width);
}

}  // namespace cuproof
