#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "symbol/dynamic_object.h"

namespace cuproof {

uint32_t GnuHashOf(std::string_view name);
uint32_t SysvHashOf(std::string_view name);

/// What a reference wants. The hashes are computed once and serve for every object of a scope.
struct Wanted {
  std::string_view name;
  std::string_view version;       // empty: a reference without version
  std::string_view version_file;  // the library that the version was linked from
  bool version_hidden = false;
  bool jump_slot = false;  // a call: an executable's address of an undefined function will not do
  uint32_t gnu_hash = 0;
  uint32_t sysv_hash = 0;
  uint32_t version_hash = 0;
};

Wanted MakeWanted(std::string_view name, std::string_view version = {},
                  std::string_view version_file = {});
/// The reference that an undefined symbol of `object` makes.
Wanted MakeWanted(const DynamicObject& object, const Symbol& symbol);

/// The symbol of `object` that glibc would bind `wanted` to, and its index.
struct Found {
  uint32_t index = 0;
  Symbol symbol;
};
std::optional<Found> Lookup(const DynamicObject& object, const Wanted& wanted);

/// Whether the object has the name under any version, for words such as "has it as GLIBC_2.2.5".
std::optional<Found> LookupAnyVersion(const DynamicObject& object, const Wanted& wanted);
std::optional<Found> LookupAnyVersion(const DynamicObject& object, std::string_view name);

/// Calls visit(index, symbol) for every symbol that others can bind to.
template <typename Visit>
void ForEachExport(const DynamicObject& object, const Visit& visit) {
  for (uint32_t i = 1; i < object.symbol_count(); ++i) {
    const Symbol symbol = object.SymbolAt(i);
    if (symbol.exported() && !symbol.name.empty()) visit(i, symbol);
  }
}

}  // namespace cuproof
