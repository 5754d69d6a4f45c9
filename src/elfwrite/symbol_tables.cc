#include "elfwrite/symbol_tables.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace cuproof::elfwrite {
namespace {

// Symbols that share a bucket follow one another, so the table is sorted by bucket. A filter of
// about twelve bits a name lets the loader pass by without touching the chains: glibc looks every
// symbol of every later library up in a preloaded object first.
std::string MakeGnuHash(const SharedObject& object, SymbolTables& tables) {
  const size_t count = object.exports.size();
  const auto bucket_count = static_cast<uint32_t>(std::max<size_t>(1, count / 2));
  const auto words = static_cast<uint32_t>(std::bit_ceil(std::max<size_t>(1, count * 12 / 64)));
  const auto shift = static_cast<uint32_t>(6 + std::countr_zero(words));
  std::vector<uint32_t> hashes(count);
  for (size_t i = 0; i < count; ++i) hashes[i] = GnuHash(object.exports[i].name);
  tables.order.resize(count);
  std::iota(tables.order.begin(), tables.order.end(), size_t{0});
  std::stable_sort(tables.order.begin(), tables.order.end(), [&](size_t a, size_t b) {
    return hashes[a] % bucket_count < hashes[b] % bucket_count;
  });

  const auto first = static_cast<uint32_t>(1 + object.imports.size());
  std::vector<uint64_t> filter(words);
  std::vector<uint32_t> buckets(bucket_count);
  std::vector<uint32_t> chains(count);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t hash = hashes[tables.order[i]];
    filter[hash / 64 % words] |= uint64_t{1} << (hash % 64) | uint64_t{1} << ((hash >> shift) % 64);
    uint32_t& bucket = buckets[hash % bucket_count];
    if (bucket == 0) bucket = first + static_cast<uint32_t>(i);
    const bool last =
        i + 1 == count || hashes[tables.order[i + 1]] % bucket_count != hash % bucket_count;
    chains[i] = (hash & ~1u) | (last ? 1 : 0);
  }
  std::string bytes;
  for (const uint32_t word : {bucket_count, first, words, shift}) Append(bytes, word);
  for (const uint64_t word : filter) Append(bytes, word);
  for (const uint32_t bucket : buckets) Append(bytes, bucket);
  for (const uint32_t chain : chains) Append(bytes, chain);
  return bytes;
}

void AppendDefinition(std::string& bytes, StringTable& strings, const std::string& name,
                      uint16_t flags, uint16_t index, bool last) {
  Elf64_Verdef definition = {};
  definition.vd_version = VER_DEF_CURRENT;
  definition.vd_flags = flags;
  definition.vd_ndx = index;
  definition.vd_cnt = 1;
  definition.vd_hash = SysvHash(name);
  definition.vd_aux = sizeof(Elf64_Verdef);
  definition.vd_next = last ? 0 : sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux);
  Append(bytes, definition);
  Append(bytes, Elf64_Verdaux{strings.Add(name), 0});
}

// Index 1 is the base, which names the file; the nodes follow from 2.
void MakeVersions(const SharedObject& object, StringTable& strings, SymbolTables& tables) {
  if (object.versions.empty()) return;
  std::string& definitions = tables.version_definitions;
  AppendDefinition(definitions, strings, object.soname, VER_FLG_BASE, 1, false);
  for (size_t i = 0; i < object.versions.size(); ++i) {
    AppendDefinition(definitions, strings, object.versions[i], 0, static_cast<uint16_t>(i + 2),
                     i + 1 == object.versions.size());
  }
  tables.version_definition_count = static_cast<uint32_t>(object.versions.size() + 1);
  Append(tables.version_symbols, uint16_t{VER_NDX_LOCAL});
  for (size_t i = 0; i < object.imports.size(); ++i) {
    Append(tables.version_symbols, uint16_t{VER_NDX_GLOBAL});
  }
  for (const size_t at : tables.order) {
    const Export& exported = object.exports[at];
    const int index = exported.version == 0 ? VER_NDX_GLOBAL : exported.version + 1;
    Append(tables.version_symbols,
           static_cast<uint16_t>(index | (exported.hidden_version ? 0x8000 : 0)));
  }
}

}  // namespace

uint32_t StringTable::Add(const std::string& text) {
  if (text.empty()) return 0;
  const auto [at, added] = places_.try_emplace(text, static_cast<uint32_t>(bytes_.size()));
  if (added) bytes_.append(text).push_back('\0');
  return at->second;
}

SymbolTables MakeSymbolTables(const SharedObject& object, StringTable& strings) {
  SymbolTables tables;
  tables.gnu_hash = MakeGnuHash(object, tables);
  tables.symbols.push_back({});
  for (const Import& import : object.imports) {
    Elf64_Sym symbol = {};
    symbol.st_name = strings.Add(import.name);
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    tables.symbols.push_back(symbol);
  }
  for (const size_t at : tables.order) {
    const Export& exported = object.exports[at];
    Elf64_Sym symbol = {};
    symbol.st_name = strings.Add(exported.name);
    symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(exported.binding, exported.type));
    symbol.st_size = exported.size;
    tables.symbols.push_back(symbol);
  }
  MakeVersions(object, strings, tables);
  return tables;
}

uint32_t GnuHash(std::string_view name) {
  uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

uint32_t SysvHash(std::string_view name) {
  uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    hash ^= (hash >> 24) & 0xF0;
    hash &= 0x0FFFFFFF;
  }
  return hash;
}

}  // namespace cuproof::elfwrite
