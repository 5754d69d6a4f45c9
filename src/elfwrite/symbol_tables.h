#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "elfwrite/shared_object.h"

namespace cuproof::elfwrite {

/// The bytes of a plain structure at the end of a string.
template <typename T>
void Append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// A string table: every text once, the empty one at 0.
class StringTable {
 public:
  uint32_t Add(const std::string& text);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
  std::unordered_map<std::string, uint32_t> places_;
};

/// What a loader needs to find the names of an object. The symbols of the exports have no address
/// yet: `order` says which export each one is.
struct SymbolTables {
  std::vector<Elf64_Sym> symbols;  // the null symbol, the imports, the exports
  std::vector<size_t> order;       // of the exports, as they follow in `symbols`
  std::string gnu_hash;
  std::string version_symbols;      // empty without versions
  std::string version_definitions;  // empty without versions
  uint32_t version_definition_count = 0;
};

SymbolTables MakeSymbolTables(const SharedObject& object, StringTable& strings);

/// The two hashes of a name that ELF files use.
uint32_t GnuHash(std::string_view name);
uint32_t SysvHash(std::string_view name);

}  // namespace cuproof::elfwrite
