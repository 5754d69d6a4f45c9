#include "output/matrix_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "output/escape.h"
#include "output/number.h"
#include "output/short_path.h"
#include "output/verdict_text.h"

namespace cuproof {
namespace {

constexpr size_t kAllShown = 15;       // so many files are listed whatever they are
constexpr size_t kShownOfFailing = 8;  // of files that fail alike
constexpr size_t kShownOfJit = 4;      // of files that run, some after JIT

bool ToldApart(const FileList& files, size_t a, size_t b) {
  return std::any_of(files.begin(), files.end(), [&](const FileReport* file) {
    return VerdictAt(*file, a).outcome != VerdictAt(*file, b).outcome;
  });
}

// Files whose letters are the same in every column.
struct Pattern {
  std::string letters;
  FileList files;

  auto Letters(char letter) const { return std::count(letters.begin(), letters.end(), letter); }
  bool runs() const { return Letters('-') + Letters('?') == 0; }
  bool jit() const { return Letters('J') > 0; }
};

std::string LettersOf(const FileReport& file, const std::vector<MatrixColumn>& columns) {
  std::string letters;
  for (const MatrixColumn& column : columns) {
    letters += OutcomeLetter(VerdictAt(file, column.gpu).outcome);
  }
  return letters;
}

std::vector<Pattern> PatternsOf(const FileList& files, const std::vector<MatrixColumn>& columns) {
  std::map<std::string, Pattern> by_letters;
  for (const FileReport* file : files) {
    by_letters[LettersOf(*file, columns)].files.push_back(file);
  }
  std::vector<Pattern> patterns;
  for (auto& [letters, pattern] : by_letters) {
    pattern.letters = letters;
    std::sort(pattern.files.begin(), pattern.files.end(),
              [](const FileReport* a, const FileReport* b) { return a->path < b->path; });
    patterns.push_back(std::move(pattern));
  }
  std::sort(patterns.begin(), patterns.end(), [](const Pattern& a, const Pattern& b) {
    for (const char letter : {'-', '?', 'J'}) {
      if (a.Letters(letter) != b.Letters(letter)) return a.Letters(letter) > b.Letters(letter);
    }
    return a.files.front()->path < b.files.front()->path;
  });
  return patterns;
}

// A newer driver is all that it needs.
bool FailsForDriver(const FileVerdict& verdict) {
  return verdict.reason == Reason::kPtxTooNew || verdict.reason == Reason::kRuntimeTooNew ||
         verdict.reason == Reason::kZstdOldDriver;
}

DriverFloor FloorOf(const FileReport& file) {
  DriverFloor floor;
  for (const FileVerdict& verdict : file.verdicts) {
    const bool runs = verdict.outcome == Outcome::kRunsSass || verdict.outcome == Outcome::kRunsJit;
    const bool wanted = runs || FailsForDriver(verdict);
    if (wanted && FloorAbove(verdict.floor, floor)) floor = verdict.floor;
  }
  return floor;
}

size_t ShownOf(const Pattern& pattern) {
  const size_t limit = !pattern.runs() ? kShownOfFailing : pattern.jit() ? kShownOfJit : 0;
  // A line that says "and 1 more" takes the place of the file that it hides.
  return pattern.files.size() <= limit + 1 ? pattern.files.size() : limit;
}

MatrixRow FileRow(const Report& report, const Pattern& pattern, const FileReport& file) {
  return {EscapeTerminal(ShortPath(report, file)), false, pattern.letters, FloorOf(file)};
}

MatrixRow RestRow(const Pattern& pattern, size_t shown, bool first_row) {
  MatrixRow row;
  row.several = true;
  row.letters = pattern.letters;
  for (size_t i = shown; i < pattern.files.size(); ++i) {
    const DriverFloor floor = FloorOf(*pattern.files[i]);
    if (FloorAbove(floor, row.floor)) row.floor = floor;
  }
  const std::string count = Thousands(pattern.files.size() - shown);
  if (shown > 0) {
    row.name = fmt::format("and {} more like these", count);
  } else {
    row.name = fmt::format("{} {}files run on all of these", count, first_row ? "" : "more ");
  }
  return row;
}

}  // namespace

const FileVerdict& VerdictAt(const FileReport& file, size_t gpu) {
  static const FileVerdict kNone;
  return gpu < file.verdicts.size() ? file.verdicts[gpu] : kNone;
}

std::vector<MatrixColumn> MatrixColumns(const Target& target, const FileList& files) {
  std::vector<MatrixColumn> columns;
  for (size_t i = 0; i < target.gpus.size(); ++i) {
    const bool shown = std::any_of(columns.begin(), columns.end(), [&](const MatrixColumn& column) {
      return target.gpus[column.gpu].sm == target.gpus[i].sm && !ToldApart(files, column.gpu, i);
    });
    if (!shown) columns.push_back({i, GpuTarget(target.gpus[i])});
  }
  return columns;
}

std::vector<MatrixRow> MatrixRows(const Report& report, const FileList& files,
                                  const std::vector<MatrixColumn>& columns, bool all) {
  std::vector<MatrixRow> rows;
  for (const Pattern& pattern : PatternsOf(files, columns)) {
    const bool whole = all || files.size() <= kAllShown;
    const size_t shown = whole ? pattern.files.size() : ShownOf(pattern);
    for (size_t i = 0; i < shown; ++i) rows.push_back(FileRow(report, pattern, *pattern.files[i]));
    if (shown < pattern.files.size()) rows.push_back(RestRow(pattern, shown, rows.empty()));
  }
  return rows;
}

}  // namespace cuproof
