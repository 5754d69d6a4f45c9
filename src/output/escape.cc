#include "output/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace cuproof {
namespace {

// Characters that a terminal obeys, or that nobody sees: names that differ only in them look alike.
struct HiddenRange {
  char32_t first;
  char32_t last;
};
constexpr HiddenRange kHidden[] = {
    {0x80, 0x9F},        // C1
    {0xAD, 0xAD},        // soft hyphen
    {0x61C, 0x61C},      // Arabic letter mark
    {0x180E, 0x180E},    // Mongolian vowel separator
    {0x200B, 0x200F},    // zero width, and marks of direction
    {0x2028, 0x202E},    // line and paragraph ends, embeddings and overrides of direction
    {0x2060, 0x206F},    // invisible operators, isolates of direction
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFF9, 0xFFFB},    // interlinear annotation
    {0xE0000, 0xE007F},  // tags
};

bool IsHidden(char32_t code) {
  return std::any_of(std::begin(kHidden), std::end(kHidden), [code](const HiddenRange& range) {
    return code >= range.first && code <= range.last;
  });
}

bool IsPlain(char c) { return c >= 0x20 && c < 0x7F; }

}  // namespace

Utf8Step DecodeUtf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const Utf8Step invalid{lead, 1, false};
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return invalid;
  char32_t code = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return invalid;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[length] || code > 0x10FFFF || surrogate) return invalid;
  return {code, length, true};
}

std::string EscapeTerminal(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), IsPlain)) return std::string(text);
  std::string out;
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    const Utf8Step step = DecodeUtf8(text);
    if (!step.valid || step.code < 0x20 || step.code == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<uint32_t>(step.code));
    } else if (IsHidden(step.code)) {
      fmt::format_to(std::back_inserter(out), "\\u{{{:x}}}", static_cast<uint32_t>(step.code));
    } else {
      out += text.substr(0, step.length);
    }
    text.remove_prefix(step.length);
  }
  return out;
}

std::string ErrorLine(const Error& error) { return "cuproof: " + EscapeTerminal(error.Text()); }

}  // namespace cuproof
