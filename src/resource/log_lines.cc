#include "resource/log_lines.h"

#include <algorithm>
#include <charconv>

namespace cuproof {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<uint32_t> Number(std::string_view digits) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// Past "ESC [ ... letter" at `at`.
size_t PastColour(std::string_view line, size_t at) {
  if (at + 1 >= line.size() || line[at + 1] != '[') return at + 1;
  size_t end = at + 2;
  while (end < line.size() && (line[end] < '@' || line[end] > '~')) ++end;
  return std::min(end + 1, line.size());
}

std::string WithoutColours(std::string_view line) {
  std::string plain;
  for (size_t i = 0; i < line.size();) {
    if (line[i] == '\x1b') {
      i = PastColour(line, i);
    } else {
      if (line[i] != '\r') plain += line[i];
      ++i;
    }
  }
  return plain;
}

}  // namespace

void ForEachLogLine(std::string_view text,
                    const std::function<void(uint64_t, std::string_view)>& visit) {
  for (uint64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, std::min(end, kMaxLogLine));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_of("\x1b\r") == std::string_view::npos) {
      visit(number, line);
    } else {
      visit(number, WithoutColours(line));
    }
  }
}

std::optional<std::string_view> QuotedAfter(std::string_view line, std::string_view before) {
  const size_t at = line.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + before.size());
  const size_t open = line.find('\'');
  if (open == std::string_view::npos) return std::nullopt;
  const size_t close = line.find('\'', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  return line.substr(open + 1, close - open - 1);
}

std::optional<uint32_t> NumberBefore(std::string_view line, std::string_view what) {
  size_t end = line.find(what);
  if (end == std::string_view::npos) return std::nullopt;
  while (end > 0 && line[end - 1] == ' ') --end;
  size_t start = end;
  while (start > 0 && IsDigit(line[start - 1])) --start;
  return Number(line.substr(start, end - start));
}

std::optional<uint32_t> NumberAfter(std::string_view line, std::string_view what) {
  const size_t at = line.find(what);
  if (at == std::string_view::npos) return std::nullopt;
  size_t start = at + what.size();
  while (start < line.size() && line[start] == ' ') ++start;
  size_t end = start;
  while (end < line.size() && IsDigit(line[end])) ++end;
  return Number(line.substr(start, end - start));
}

}  // namespace cuproof
