#include "output/kernel_name.h"

#include "output/escape.h"
#include "output/layout.h"
#include "symbol/demangle.h"

namespace cuproof {
namespace {

constexpr std::string_view kDots = "...";
constexpr size_t kWithTail = 20;  // columns: below, the end of a name takes what its start needs

bool StartsLetter(char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }

// The longest start that is no wider.
std::string Head(std::string text, size_t width) {
  while (!text.empty() && DisplayWidth(text) > width) {
    while (text.size() > 1 && !StartsLetter(text.back())) text.pop_back();
    text.pop_back();
  }
  return text;
}

std::string Tail(std::string_view text, size_t width) {
  while (!text.empty() && (DisplayWidth(text) > width || !StartsLetter(text.front())))
    text.remove_prefix(1);
  return std::string(text);
}

// Instances of one template differ at the end: what is cut out lies before it.
std::string Cut(const std::string& escaped, size_t width) {
  if (DisplayWidth(escaped) <= width) return escaped;
  const size_t left = width > kDots.size() ? width - kDots.size() : 0;
  const size_t tail = width < kWithTail ? 0 : left * 2 / 5;
  return Head(escaped, left - tail) + std::string(kDots) + Tail(escaped, tail);
}

}  // namespace

std::string ShortKernelName(std::string_view mangled, size_t width) {
  const auto name = SplitCxxName(mangled);
  if (!name || name->qualified.empty()) return Cut(EscapeTerminal(mangled), width);
  std::string_view text = name->qualified;
  if (DisplayWidth(EscapeTerminal(text)) > width) {
    const std::string scope = ScopeOf(text);
    if (!scope.empty() && text.size() > scope.size() + 2) text.remove_prefix(scope.size() + 2);
  }
  return Cut(EscapeTerminal(text), width);
}

}  // namespace cuproof
