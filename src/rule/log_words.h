#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuproof {

/// A line of a log that data/error_words.tsv knows.
struct LogMatch {
  uint32_t line = 0;
  size_t count = 0;     // lines that say the same
  std::string text;     // the first of them
  std::string finding;  // "CP301"; empty: no finding is about it
  std::string cause;
  std::string fix;
};

/// What a log says that we know, in its order, each cause once. Colours and carriage returns in it
/// are passed over; the text of a line is cut where it is long.
std::vector<LogMatch> MatchLog(std::string_view log);

}  // namespace cuproof
