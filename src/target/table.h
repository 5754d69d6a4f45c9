#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/result.h"
#include "image/image.h"

namespace cuproof {

/// A table of data/: tab-separated, '#' comments, a header row of column names. Every row carries
/// its source, the date that it was read, and what it was verified on.
class Table {
 public:
  /// Reads `text`; a row with another number of cells than the header is an error.
  static Result<Table> Parse(std::string_view name, std::string_view text);

  /// The table of data/<name>.tsv: compiled in, unless SetDataFolder gave a newer one.
  static const Table& Get(std::string_view name);

  size_t size() const { return rows_.size(); }
  /// Empty when there is no such column.
  std::string_view At(size_t row, std::string_view column) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Reads every *.tsv of `folder` in place of the table of that name. Call it before the first Get.
Result<size_t> SetDataFolder(const std::string& folder);

/// "13.0" -> {13, 0}; {0, 0} for anything else, "unknown" and empty among them.
Version ParseVersion(std::string_view text);
/// A decimal number, 0 for anything else.
uint32_t ParseNumber(std::string_view text);
/// "100f" -> {100, 'f'}.
Arch ParseArch(std::string_view text);
/// "a;b" -> {"a", "b"}.
std::vector<std::string_view> SplitList(std::string_view text, char separator);

}  // namespace cuproof
