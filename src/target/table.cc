#include "target/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bytes/embedded.h"

namespace cuproof {
namespace {

std::map<std::string, Table, std::less<>>& Overrides() {
  static std::map<std::string, Table, std::less<>> tables;
  return tables;
}

std::map<std::string, Table, std::less<>> ParseEmbedded() {
  std::map<std::string, Table, std::less<>> tables;
  for (const EmbeddedText& embedded : EmbeddedTables()) {
    auto table = Table::Parse(embedded.name, embedded.text);
    // A unit test parses every table of the tree, so this cannot be reached with a bad one.
    if (table) tables.emplace(embedded.name, std::move(*table));
  }
  return tables;
}

}  // namespace

std::vector<std::string_view> SplitList(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<Table> Table::Parse(std::string_view name, std::string_view text) {
  Table table;
  size_t number = 0;
  for (std::string_view line : SplitList(text, '\n')) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string_view> cells = SplitList(line, '\t');
    if (table.columns_.empty()) {
      table.columns_.assign(cells.begin(), cells.end());
      continue;
    }
    if (cells.size() != table.columns_.size()) {
      return Error{ErrorCode::kBadSize,
                   fmt::format("line {}: expected {} cells, got {}", number, table.columns_.size(),
                               cells.size()),
                   std::string(name), std::nullopt};
    }
    table.rows_.emplace_back(cells.begin(), cells.end());
  }
  return table;
}

const Table& Table::Get(std::string_view name) {
  static const Table kEmpty;
  if (const auto at = Overrides().find(name); at != Overrides().end()) return at->second;
  static const std::map<std::string, Table, std::less<>> kEmbedded = ParseEmbedded();
  const auto at = kEmbedded.find(name);
  return at == kEmbedded.end() ? kEmpty : at->second;
}

std::string_view Table::At(size_t row, std::string_view column) const {
  const auto at = std::find(columns_.begin(), columns_.end(), column);
  if (at == columns_.end() || row >= rows_.size()) return {};
  return rows_[row][static_cast<size_t>(at - columns_.begin())];
}

Result<size_t> SetDataFolder(const std::string& folder) {
  std::error_code error;
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".tsv") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    auto table = Table::Parse(entry.path().string(), text);
    if (!table) return table.error();
    Overrides().insert_or_assign(entry.path().stem().string(), std::move(*table));
    ++count;
  }
  if (error) return Error{ErrorCode::kNotReadable, error.message(), folder, std::nullopt};
  if (count == 0) {
    return Error{ErrorCode::kNotFound, "expected a folder with .tsv tables, found none in it",
                 folder, std::nullopt};
  }
  return count;
}

uint32_t ParseNumber(std::string_view text) {
  uint32_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  return end.ec == std::errc() && end.ptr == text.data() + text.size() ? value : 0;
}

Version ParseVersion(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return {};
  const uint32_t major = ParseNumber(text.substr(0, dot));
  const std::string_view minor_text = text.substr(dot + 1);
  const uint32_t minor = ParseNumber(minor_text);
  const bool is_number = minor != 0 || minor_text == "0";
  if (major == 0 || major > 999 || minor > 999 || !is_number) return {};
  return {static_cast<uint16_t>(major), static_cast<uint16_t>(minor)};
}

Arch ParseArch(std::string_view text) {
  Arch arch;
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) {
    arch.suffix = text.back();
    text.remove_suffix(1);
  }
  arch.number = ParseNumber(text);
  return arch;
}

}  // namespace cuproof
