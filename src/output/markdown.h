#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/result.h"
#include "rule/report.h"

namespace cuproof {

/// Text that Markdown shows as it is: everything that could start a link, a mention, a cell or HTML
/// comes out as a character reference.
std::string EscapeMarkdown(std::string_view text);

/// Rows of a table until `limit` bytes are full; what is left out is counted under it.
class MarkdownTable {
 public:
  MarkdownTable(const std::vector<std::string>& head, size_t limit);
  /// Cells are Markdown, escaped by the caller.
  void Row(const std::vector<std::string>& cells);
  /// Empty where no row came.
  std::string Text() const;

 private:
  std::string text_;
  size_t limit_;
  uint64_t rows_ = 0;
  uint64_t left_out_ = 0;
};

/// A comment on a pull request takes 65,536 characters (GitHub).
inline constexpr size_t kMarkdownBytes = 60'000;

/// What `title` found, for a pull request or the summary of a job.
std::string FindingsMarkdown(const std::string& title, const std::vector<Finding>& findings,
                             const std::vector<Error>& problems);

}  // namespace cuproof
