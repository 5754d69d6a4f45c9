#include "rule/log_words.h"

#include <algorithm>
#include <optional>

#include "target/table.h"

namespace cuproof {
namespace {

constexpr size_t kLongestLine = 4096;  // of what is looked at; a log may be one line of megabytes
constexpr size_t kMostMatches = 100;

// Without escape sequences for colours.
std::string Plain(std::string_view line) {
  std::string plain;
  for (size_t i = 0; i < line.size() && plain.size() < kLongestLine; ++i) {
    if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      const size_t end = line.find_first_of("ABCDEFGHJKSTfmnsulh", i + 2);
      i = end == std::string_view::npos ? line.size() : end;
    } else if (line[i] != '\r') {
      plain += line[i];
    }
  }
  return plain;
}

// What the stars of `words` stand for, where its parts are in `line` one after the other.
std::optional<std::vector<std::string>> Fit(std::string_view words, std::string_view line) {
  std::vector<std::string> stars;
  size_t at = std::string_view::npos;  // the end of the part before
  for (const std::string_view part : SplitList(words, '*')) {
    if (at == std::string_view::npos) {
      const size_t found = line.find(part);
      if (found == std::string_view::npos) return std::nullopt;
      at = found + part.size();
      continue;
    }
    const size_t found = part.empty() ? line.size() : line.find(part, at);
    if (found == std::string_view::npos) return std::nullopt;
    stars.emplace_back(line.substr(at, found - at));
    at = found + part.size();
  }
  return stars;
}

std::string Filled(std::string_view text, const std::vector<std::string>& stars) {
  constexpr std::string_view kFirst = "{1}";
  std::string filled(text);
  const size_t at = filled.find(kFirst);
  if (at == std::string::npos || stars.empty()) return filled;
  return filled.replace(at, kFirst.size(), stars.front());
}

std::optional<LogMatch> MatchLine(const std::string& line) {
  const Table& table = Table::Get("error_words");
  for (size_t i = 0; i < table.size(); ++i) {
    const auto stars = Fit(table.At(i, "words"), line);
    if (!stars) continue;
    LogMatch match;
    match.text = line;
    match.finding = table.At(i, "finding");
    match.cause = Filled(table.At(i, "cause"), *stars);
    match.fix = Filled(table.At(i, "fix"), *stars);
    return match;
  }
  return std::nullopt;
}

}  // namespace

std::vector<LogMatch> MatchLog(std::string_view log) {
  std::vector<LogMatch> matches;
  for (uint32_t number = 1; !log.empty(); ++number) {
    const size_t end = std::min(log.find('\n'), log.size());
    auto match = MatchLine(Plain(log.substr(0, end)));
    log.remove_prefix(std::min(end + 1, log.size()));
    if (!match) continue;
    const auto known = std::find_if(matches.begin(), matches.end(), [&](const LogMatch& one) {
      return one.finding == match->finding && one.cause == match->cause && one.fix == match->fix;
    });
    if (known != matches.end()) {
      ++known->count;
      continue;
    }
    if (matches.size() == kMostMatches) break;
    match->line = number;
    match->count = 1;
    matches.push_back(std::move(*match));
  }
  return matches;
}

}  // namespace cuproof
