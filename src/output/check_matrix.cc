#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "output/check_parts.h"
#include "output/escape.h"
#include "output/layout.h"
#include "output/matrix_rows.h"
#include "output/number.h"
#include "output/short_path.h"
#include "output/verdict_text.h"

namespace cuproof {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kGap = 2;
constexpr size_t kNarrowestName = 28;

using Columns = std::vector<MatrixColumn>;

// How the matrix is made to fit.
struct Shape {
  bool short_labels = false;  // "90" for "sm_90"
  size_t name_width = SIZE_MAX;
  size_t columns_a_block = SIZE_MAX;
};

std::string Label(const MatrixColumn& column, bool short_label) {
  return short_label ? column.label.substr(column.label.find('_') + 1) : column.label;
}

// No column for drivers when it would say the same on each line.
size_t DriverWidth(const std::vector<MatrixRow>& rows) {
  size_t width = 0;
  std::set<std::string> floors;
  for (const MatrixRow& row : rows) {
    const std::string floor = FloorNumber(row.floor);
    width = std::max(width, floor.size());
    if (!floor.empty()) floors.insert(floor);
  }
  return floors.size() < 2 ? 0 : std::max(width, std::string_view("driver").size()) + kGap;
}

Shape ShapeOf(const Columns& columns, const std::vector<MatrixRow>& rows, const Style& style) {
  size_t longest = 0;
  for (const MatrixRow& row : rows) longest = std::max(longest, DisplayWidth(row.name));
  const size_t fixed = kIndent + DriverWidth(rows);
  const auto behind = [&](bool short_labels) {
    size_t width = fixed;
    for (const MatrixColumn& column : columns) width += Label(column, short_labels).size() + kGap;
    return width;
  };
  Shape shape;
  if (behind(false) + longest <= style.width) return shape;
  shape.short_labels = behind(false) + std::min(longest, kNarrowestName) > style.width;
  if (!style.terminal) return shape;
  const size_t wanted = behind(shape.short_labels);
  if (wanted + kNarrowestName <= style.width) {
    shape.name_width = style.width - wanted;
    return shape;
  }
  constexpr size_t kShortColumn = 3 + kGap;
  const size_t room =
      style.width > fixed + kNarrowestName ? style.width - fixed - kNarrowestName : 0;
  shape.name_width = kNarrowestName;
  shape.columns_a_block = std::max<size_t>(room / kShortColumn, 1);
  return shape;
}

Tone LetterTone(char letter) {
  for (const Outcome outcome :
       {Outcome::kRunsSass, Outcome::kRunsJit, Outcome::kDoesNotRun, Outcome::kUnknown}) {
    if (OutcomeLetter(outcome) == letter) return OutcomeTone(outcome);
  }
  return Tone::kPlain;
}

// Python's platform tag says nothing here, and goes first.
std::string Fitted(const std::string& name, size_t width) {
  if (DisplayWidth(name) <= width) return name;
  const size_t tag = name.find(".cpython-");
  const size_t suffix = name.rfind('.');
  if (tag == std::string::npos || suffix <= tag) return Elide(name, width);
  return Elide(name.substr(0, tag) + ".." + name.substr(suffix), width);
}

TextTable BlockTable(const Columns& columns, const std::vector<MatrixRow>& rows, size_t first,
                     size_t last, const Shape& shape) {
  std::vector<Align> aligns = {Align::kLeft};
  aligns.resize(1 + last - first, Align::kCenter);
  aligns.push_back(Align::kLeft);
  TextTable table(std::move(aligns));
  std::vector<std::string> names;
  size_t widest = 0;
  for (const MatrixRow& row : rows) {
    names.push_back(Fitted(row.name, shape.name_width));
    widest = std::max(widest, DisplayWidth(names.back()));
  }
  std::vector<Span> header;
  const std::string prefix = shape.short_labels ? "sm_" : "";
  header.push_back(
      {std::string(widest - std::min(widest, prefix.size()), ' ') + prefix, Tone::kDim});
  for (size_t i = first; i < last; ++i) {
    header.push_back({Label(columns[i], shape.short_labels), Tone::kDim});
  }
  const bool drivers = DriverWidth(rows) > 0;
  header.push_back({drivers ? "driver" : "", Tone::kDim});
  table.Row(std::move(header));
  for (size_t r = 0; r < rows.size(); ++r) {
    std::vector<Span> cells = {{names[r], rows[r].several ? Tone::kDim : Tone::kPlain}};
    for (size_t i = first; i < last; ++i) {
      cells.push_back({std::string(1, rows[r].letters[i]), LetterTone(rows[r].letters[i])});
    }
    if (drivers) cells.push_back({EscapeTerminal(FloorNumber(rows[r].floor)), Tone::kDim});
    table.Row(std::move(cells));
  }
  return table;
}

void AppendLegend(const std::vector<MatrixRow>& rows, const Style& style, std::string& out) {
  std::set<char> used;
  for (const MatrixRow& row : rows) used.insert(row.letters.begin(), row.letters.end());
  std::string line;
  for (const Outcome outcome :
       {Outcome::kRunsSass, Outcome::kRunsJit, Outcome::kDoesNotRun, Outcome::kUnknown}) {
    const char letter = OutcomeLetter(outcome);
    if (!used.count(letter)) continue;
    if (!line.empty()) line += "   ";
    line += Paint(style, OutcomeTone(outcome), std::string(1, letter));
    line += Paint(style, Tone::kDim, std::string(" ") + OutcomeText(outcome));
  }
  out += "\n  " + line + "\n";
}

void AppendDriver(const std::vector<MatrixRow>& rows, const Style& style, std::string& out) {
  DriverFloor highest;
  for (const MatrixRow& row : rows) {
    if (FloorAbove(row.floor, highest)) highest = row.floor;
  }
  if (FloorNumber(highest).empty()) return;
  const Span label{"driver for all of them: ", Tone::kDim};
  AppendParagraph(style, {kIndent, kIndent + 2, label, {{EscapeTerminal(FloorText(highest))}}},
                  out);
}

// GPUs that the same files fail on.
struct Spoiled {
  std::vector<std::string> gpus;
  FileList files;
};

std::vector<Spoiled> SpoiledOf(const Columns& columns, const FileList& files) {
  std::vector<Spoiled> all;
  for (const MatrixColumn& column : columns) {
    FileList failing;
    std::copy_if(files.begin(), files.end(), std::back_inserter(failing),
                 [&](const FileReport* file) {
                   return VerdictAt(*file, column.gpu).outcome == Outcome::kDoesNotRun;
                 });
    if (failing.empty()) continue;
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const Spoiled& other) { return other.files == failing; });
    if (same != all.end()) {
      same->gpus.push_back(column.label);
    } else {
      all.push_back({{column.label}, std::move(failing)});
    }
  }
  return all;
}

std::string SpoiledText(const Report& report, const Spoiled& spoiled, size_t all) {
  constexpr size_t kNamed = 2;
  const size_t count = spoiled.files.size();
  if (count == all) return "no file runs";
  if (count > kNamed) {
    return fmt::format("{} of {} files do not run", Thousands(count), Thousands(all));
  }
  std::vector<std::string> names;
  for (const FileReport* file : spoiled.files) {
    names.push_back(EscapeTerminal(ShortPath(report, *file)));
  }
  return fmt::format("{} {}", fmt::join(names, " and "),
                     count == 1 ? "does not run" : "do not run");
}

void AppendSpoiled(const Report& report, const Columns& columns, const FileList& files,
                   const Style& style, std::string& out) {
  const std::vector<Spoiled> all = SpoiledOf(columns, files);
  if (!all.empty()) out += '\n';
  for (const Spoiled& spoiled : all) {
    const Span label{fmt::format("{}: ", fmt::join(spoiled.gpus, ", ")), Tone::kBoldRed};
    AppendParagraph(
        style, {kIndent, kIndent + 2, label, {{SpoiledText(report, spoiled, files.size())}}}, out);
  }
}

}  // namespace

void AppendMatrix(const Report& report, const std::vector<const FileReport*>& files,
                  const Style& style, std::string& out) {
  const Columns columns = MatrixColumns(report.target, files);
  if (columns.empty()) return;
  const std::vector<MatrixRow> rows = MatrixRows(report, files, columns, style.verbose);
  const Shape shape = ShapeOf(columns, rows, style);
  for (size_t first = 0; first < columns.size();) {
    const size_t last = first + std::min(shape.columns_a_block, columns.size() - first);
    out += '\n';
    BlockTable(columns, rows, first, last, shape).Append(style, kIndent, out);
    first = last;
  }
  AppendLegend(rows, style, out);
  AppendDriver(rows, style, out);
  AppendSpoiled(report, columns, files, style, out);
}

}  // namespace cuproof
