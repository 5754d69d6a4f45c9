#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "output/style.h"

namespace cuproof {

/// Columns that escaped text takes on a terminal: wide East Asian characters take two, combining
/// marks none.
size_t DisplayWidth(std::string_view escaped);

/// The end of `escaped` in at most `width` columns, "..." in place of what is left out: the end of
/// a path says more than its start.
std::string Elide(std::string_view escaped, size_t width);

/// Escaped text in one tone.
struct Span {
  std::string text;
  Tone tone = Tone::kPlain;
};

/// A paragraph of lines, broken at spaces and ended by a line end.
struct Paragraph {
  size_t indent = 0;            // of the first line
  size_t hang = 0;              // of the others
  Span label = {};              // before the text, with its spaces as they are
  std::vector<Span> text = {};  // a word longer than a line is not broken
};
void AppendParagraph(const Style& style, const Paragraph& paragraph, std::string& out);

enum class Align : uint8_t {
  kLeft,
  kRight,
  kCenter,
  kBroken,  // left, in several lines where it would leave the terminal; for the last column
};

/// Rows of cells in aligned columns, two spaces between them.
class TextTable {
 public:
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  void Row(std::vector<Span> cells);
  /// A line under the last row that starts at a column and spans the rest. It widens no column.
  void Note(size_t column, Span text);
  /// What the longest row takes, without indent and notes.
  size_t Width() const;
  void Append(const Style& style, size_t indent, std::string& out) const;

 private:
  struct Line {
    std::vector<Span> cells;
    size_t first = 0;  // of a note: the column that its only cell starts at
    bool note = false;
  };
  std::vector<size_t> Widths() const;
  void AppendRow(const Style& style, size_t indent, const std::vector<size_t>& widths,
                 const Line& line, std::string& out) const;

  std::vector<Align> columns_;
  std::vector<Line> lines_;
};

}  // namespace cuproof
