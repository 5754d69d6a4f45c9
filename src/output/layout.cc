#include "output/layout.h"

#include <algorithm>
#include <iterator>

#include "output/escape.h"

namespace cuproof {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kNarrowestCell = 24;  // a last column narrower than this is not worth breaking

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Coarse on purpose: exact tables follow a Unicode version, and a misjudged character only shifts
// what stands behind it.
constexpr CodeRange kNoWidth[] = {
    {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},   {0x64B, 0x65F},
    {0x93C, 0x93C},   {0x94D, 0x94D},   {0xE31, 0xE31},   {0xE34, 0xE3A},   {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};
constexpr CodeRange kTwoWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
                                  {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
                                  {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                                  {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                                  {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

template <size_t N>
bool In(const CodeRange (&ranges)[N], char32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges), [code](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

size_t CodeWidth(char32_t code) {
  if (code < 0x300) return 1;
  return In(kNoWidth, code) ? 0 : In(kTwoWide, code) ? 2 : 1;
}

// The end of `text` from the first place on from which it takes at most `width` columns.
std::string_view Tail(std::string_view text, size_t width) {
  size_t left = DisplayWidth(text);
  while (left > width) {
    const Utf8Step step = DecodeUtf8(text);
    left -= CodeWidth(step.code);
    text.remove_prefix(step.length);
  }
  return text;
}

// Words of spans joined: a word may run from one span into the next.
struct Word {
  std::vector<Span> pieces;
  size_t width = 0;
};

std::vector<Word> SplitWords(const std::vector<Span>& spans) {
  std::vector<Word> words;
  bool open = false;
  for (const Span& span : spans) {
    std::string_view text = span.text;
    while (!text.empty()) {
      const size_t space = text.find(' ');
      const std::string_view piece = text.substr(0, space);
      if (!piece.empty()) {
        if (!open) words.emplace_back();
        open = true;
        words.back().pieces.push_back({std::string(piece), span.tone});
        words.back().width += DisplayWidth(piece);
      }
      if (space == std::string_view::npos) break;
      open = false;
      text.remove_prefix(space + 1);
    }
  }
  return words;
}

// Text of one tone is painted in one piece.
void AppendSpan(std::string_view text, Tone tone, std::vector<Span>& line) {
  if (!line.empty() && line.back().tone == tone) {
    line.back().text += text;
  } else {
    line.push_back({std::string(text), tone});
  }
}

std::string Painted(const Style& style, const std::vector<Span>& line) {
  std::string out;
  for (const Span& span : line) out += Paint(style, span.tone, span.text);
  return out;
}

// Lines of at most `first` and then `rest` columns, painted.
std::vector<std::string> BreakLines(const Style& style, const std::vector<Span>& spans,
                                    size_t first, size_t rest) {
  std::vector<std::string> lines;
  std::vector<Span> line;
  size_t used = 0;
  for (const Word& word : SplitWords(spans)) {
    if (used > 0 && used + 1 + word.width > (lines.empty() ? first : rest)) {
      lines.push_back(Painted(style, line));
      line.clear();
      used = 0;
    }
    if (used > 0) {
      AppendSpan(" ",
                 line.back().tone == word.pieces.front().tone ? line.back().tone : Tone::kPlain,
                 line);
      ++used;
    }
    for (const Span& piece : word.pieces) AppendSpan(piece.text, piece.tone, line);
    used += word.width;
  }
  lines.push_back(Painted(style, line));
  return lines;
}

size_t Less(size_t a, size_t b) { return a > b ? a - b : 0; }

void TrimRight(std::string& out) {
  while (!out.empty() && out.back() == ' ') out.pop_back();
}

}  // namespace

size_t DisplayWidth(std::string_view escaped) {
  size_t width = 0;
  while (!escaped.empty()) {
    const Utf8Step step = DecodeUtf8(escaped);
    width += CodeWidth(step.code);
    escaped.remove_prefix(step.length);
  }
  return width;
}

std::string Elide(std::string_view escaped, size_t width) {
  constexpr std::string_view kDots = "...";
  if (DisplayWidth(escaped) <= width) return std::string(escaped);
  if (width <= kDots.size()) return std::string(kDots.substr(0, width));
  std::string out(kDots);
  out += Tail(escaped, width - kDots.size());
  return out;
}

void AppendParagraph(const Style& style, const Paragraph& paragraph, std::string& out) {
  const size_t start = paragraph.indent + DisplayWidth(paragraph.label.text);
  const std::vector<std::string> lines = BreakLines(style, paragraph.text, Less(style.width, start),
                                                    Less(style.width, paragraph.hang));
  out.append(paragraph.indent, ' ');
  out += Paint(style, paragraph.label.tone, paragraph.label.text);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append(paragraph.hang, ' ');
    out += lines[i];
    out += '\n';
  }
}

void TextTable::Row(std::vector<Span> cells) {
  cells.resize(columns_.size());
  lines_.push_back({std::move(cells), 0, false});
}

void TextTable::Note(size_t column, Span text) {
  lines_.push_back({{std::move(text)}, column, true});
}

std::vector<size_t> TextTable::Widths() const {
  std::vector<size_t> widths(columns_.size(), 0);
  for (const Line& line : lines_) {
    if (line.note) continue;
    for (size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(line.cells[i].text));
    }
  }
  return widths;
}

size_t TextTable::Width() const {
  size_t total = 0;
  for (const size_t width : Widths()) total += width + kGap;
  return total - kGap;
}

void TextTable::AppendRow(const Style& style, size_t indent, const std::vector<size_t>& widths,
                          const Line& line, std::string& out) const {
  out.append(indent, ' ');
  size_t at = indent;
  const size_t last = widths.size() - 1;
  for (size_t i = 0; i < widths.size(); ++i) {
    const Span& cell = line.cells[i];
    const size_t width = DisplayWidth(cell.text);
    const size_t room = Less(style.width, at);
    if (columns_[i] == Align::kBroken && width > room) {
      const size_t column = room >= kNarrowestCell ? at : indent + 2 * kGap;
      if (column != at) {
        TrimRight(out);
        out += '\n';
        out.append(column, ' ');
      }
      const size_t there = Less(style.width, column);
      const std::vector<std::string> lines = BreakLines(style, {cell}, there, there);
      for (size_t part = 0; part < lines.size(); ++part) {
        if (part > 0) out.append(1, '\n').append(column, ' ');
        out += lines[part];
      }
      break;
    }
    const size_t pad = widths[i] - width;
    const size_t before = columns_[i] == Align::kRight    ? pad
                          : columns_[i] == Align::kCenter ? (pad + 1) / 2
                                                          : 0;
    out.append(before, ' ');
    out += Paint(style, cell.tone, cell.text);
    if (i != last) out.append(pad - before + kGap, ' ');
    at += widths[i] + kGap;
  }
  TrimRight(out);
  out += '\n';
}

void TextTable::Append(const Style& style, size_t indent, std::string& out) const {
  const std::vector<size_t> widths = Widths();
  for (const Line& line : lines_) {
    if (!line.note) {
      AppendRow(style, indent, widths, line, out);
      continue;
    }
    size_t column = indent;
    for (size_t i = 0; i < line.first; ++i) column += widths[i] + kGap;
    AppendParagraph(style, {column, column, {}, line.cells}, out);
  }
}

}  // namespace cuproof
