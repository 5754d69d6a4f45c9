#include "target/libc_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "target/table.h"

namespace cuproof {
namespace {

std::string_view ColumnOf(std::string_view version) {
  if (version.starts_with("GLIBC_")) return "glibc";
  if (version.starts_with("GLIBCXX_")) return "glibcxx";
  if (version.starts_with("CXXABI_")) return "cxxabi";
  return {};
}

std::string_view NumberOf(std::string_view version) {
  return version.substr(version.find('_') + 1);
}

// "Ubuntu" of "Ubuntu 22.04": its releases are one line of systems.
std::string_view VendorOf(std::string_view name) { return name.substr(0, name.rfind(' ')); }

}  // namespace

bool IsNumberedVersion(std::string_view version) {
  return !version.empty() && version.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool VersionBefore(std::string_view a, std::string_view b) {
  const auto next = [](std::string_view& text) {
    const size_t end = std::min(text.find('.'), text.size());
    uint64_t number = 0;
    std::from_chars(text.data(), text.data() + end, number);
    text.remove_prefix(std::min(end + 1, text.size()));
    return number;
  };
  while (!a.empty() && !b.empty()) {
    const uint64_t left = next(a);
    const uint64_t right = next(b);
    if (left != right) return left < right;
  }
  return a.empty() && !b.empty();
}

std::string SystemsWith(std::string_view version) {
  const std::string_view column = ColumnOf(version);
  const std::string_view number = NumberOf(version);
  if (column.empty() || !IsNumberedVersion(number)) return {};
  const Table& table = Table::Get("libc_levels");
  std::vector<std::string> systems;
  std::vector<std::string_view> vendors;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.At(i, "kind") != "distribution") continue;
    const std::string_view name = table.At(i, "name");
    const std::string_view has = table.At(i, column);
    if (!IsNumberedVersion(has) || VersionBefore(has, number)) continue;
    // Rows are in the order of their glibc: the first of a vendor is its oldest that will do.
    if (std::find(vendors.begin(), vendors.end(), VendorOf(name)) != vendors.end()) continue;
    vendors.push_back(VendorOf(name));
    systems.emplace_back(name);
  }
  if (systems.empty()) return {};
  return fmt::format("{} or newer", fmt::join(systems, ", "));
}

std::string CompilerWith(std::string_view version) {
  const std::string_view column = ColumnOf(version);
  if (column.empty() || column == "glibc") return {};
  const Table& table = Table::Get("libc_levels");
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.At(i, "kind") != "compiler") continue;
    if (VersionBefore(table.At(i, column), NumberOf(version))) continue;
    return fmt::format("{} or newer", table.At(i, "name"));
  }
  return {};
}

}  // namespace cuproof
