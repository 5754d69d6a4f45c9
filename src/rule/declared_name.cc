#include "rule/declared_name.h"

#include <fmt/format.h>

#include <map>

#include "target/table.h"

namespace cuproof {

std::string DeclaredOnly(std::string_view name) {
  const Table& table = Table::Get("declared_not_exported");
  static const auto rows = [&] {
    std::map<std::string_view, size_t> by_name;
    for (size_t i = 0; i < table.size(); ++i) by_name.emplace(table.At(i, "name"), i);
    return by_name;
  }();
  const auto row = rows.find(name);
  if (row == rows.end()) return {};
  const auto releases = SplitList(table.At(row->second, "cuda"), ';');
  return fmt::format("{} declares it, and {} of CUDA {} to {} does not export it",
                     table.At(row->second, "header"), table.At(row->second, "library"),
                     releases.front(), releases.back());
}

}  // namespace cuproof
