#include "build_dynamic.h"

#include <algorithm>
#include <map>
#include <utility>

#include "build_fatbin.h"

namespace cuproof::build {
namespace {

uint32_t GnuHash(const std::string& name) {
  uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

uint32_t SysvHash(const std::string& name) {
  uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    const uint32_t high = hash & 0xF0000000;
    hash = (hash ^ (high >> 24)) & ~high;
  }
  return hash;
}

template <typename T>
std::string Bytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

class Strings {
 public:
  uint32_t At(const std::string& text) {
    const auto [entry, added] = places_.try_emplace(text, static_cast<uint32_t>(bytes.size()));
    if (added) bytes += text + '\0';
    return entry->second;
  }
  std::string bytes = std::string(1, '\0');

 private:
  std::map<std::string, uint32_t> places_ = {{"", 0}};
};

std::string GnuHashTable(const std::vector<DynamicSymbol>& symbols, uint32_t first,
                         uint32_t buckets) {
  std::string chains;
  std::vector<uint32_t> starts(buckets);
  for (uint32_t i = first; i < symbols.size(); ++i) {
    const uint32_t hash = GnuHash(symbols[i].name);
    const bool last =
        i + 1 == symbols.size() || GnuHash(symbols[i + 1].name) % buckets != hash % buckets;
    if (starts[hash % buckets] == 0) starts[hash % buckets] = i;
    chains += Number((hash & ~1u) | (last ? 1 : 0), 4);
  }
  uint64_t filter = 0;
  for (uint32_t i = first; i < symbols.size(); ++i) {
    const uint32_t hash = GnuHash(symbols[i].name);
    filter |= uint64_t{1} << (hash % 64) | uint64_t{1} << ((hash >> 6) % 64);
  }
  std::string table = Number(buckets, 4) + Number(first, 4) + Number(1, 4) + Number(6, 4);
  table += Number(filter, 8);
  for (const uint32_t start : starts) table += Number(start, 4);
  return table + chains;
}

std::string SysvHashTable(const std::vector<DynamicSymbol>& symbols, uint32_t buckets) {
  std::vector<uint32_t> starts(buckets);
  std::vector<uint32_t> chains(symbols.size());
  for (uint32_t i = 1; i < symbols.size(); ++i) {
    uint32_t& start = starts[SysvHash(symbols[i].name) % buckets];
    chains[i] = start;
    start = i;
  }
  std::string table = Number(buckets, 4) + Number(chains.size(), 4);
  for (const uint32_t start : starts) table += Number(start, 4);
  for (const uint32_t chain : chains) table += Number(chain, 4);
  return table;
}

std::string Definitions(const std::vector<DefinedVersion>& definitions, Strings& strings) {
  std::string bytes;
  for (size_t i = 0; i < definitions.size(); ++i) {
    Elf64_Verdef entry = {};
    entry.vd_version = 1;
    entry.vd_flags = definitions[i].flags;
    entry.vd_ndx = definitions[i].index;
    entry.vd_cnt = 1;
    entry.vd_hash = SysvHash(definitions[i].name);
    entry.vd_aux = sizeof(entry);
    entry.vd_next = i + 1 < definitions.size() ? sizeof(entry) + sizeof(Elf64_Verdaux) : 0;
    bytes += Bytes(entry) + Bytes(Elf64_Verdaux{strings.At(definitions[i].name), 0});
  }
  return bytes;
}

// One Verneed for each version: as good as one for each file.
std::string Needs(const std::vector<NeededVersion>& needs, Strings& strings) {
  std::string bytes;
  for (size_t i = 0; i < needs.size(); ++i) {
    Elf64_Verneed file = {};
    file.vn_version = 1;
    file.vn_cnt = 1;
    file.vn_file = strings.At(needs[i].file);
    file.vn_aux = sizeof(file);
    file.vn_next = i + 1 < needs.size() ? sizeof(file) + sizeof(Elf64_Vernaux) : 0;
    Elf64_Vernaux entry = {};
    entry.vna_hash = SysvHash(needs[i].name);
    entry.vna_flags = needs[i].flags;
    entry.vna_other = needs[i].index;
    entry.vna_name = strings.At(needs[i].name);
    bytes += Bytes(file) + Bytes(entry);
  }
  return bytes;
}

}  // namespace

std::string DynamicElfBytes(const DynamicElf& elf, DynamicPlaces* places) {
  DynamicPlaces at;
  Strings strings;
  std::vector<DynamicSymbol> symbols = {{"", false}};
  for (const DynamicSymbol& symbol : elf.symbols) {
    if (!symbol.defined) symbols.push_back(symbol);
  }
  const auto first = static_cast<uint32_t>(symbols.size());
  for (const DynamicSymbol& symbol : elf.symbols) {
    if (symbol.defined) symbols.push_back(symbol);
  }
  const uint32_t buckets =
      elf.buckets != 0 ? elf.buckets : std::max<uint32_t>(1, static_cast<uint32_t>(symbols.size()));
  // The GNU table wants the exports in the order of their buckets.
  std::stable_sort(symbols.begin() + first, symbols.end(), [&](const auto& a, const auto& b) {
    return GnuHash(a.name) % buckets < GnuHash(b.name) % buckets;
  });
  const bool gnu = elf.hash == HashStyle::kGnu || elf.hash == HashStyle::kBoth;
  const bool sysv = elf.hash == HashStyle::kSysv || elf.hash == HashStyle::kBoth;
  const bool versions = elf.version_symbols || !elf.definitions.empty() || !elf.needs.empty();

  const uint64_t headers = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
  std::string body;
  const auto place = [&](uint64_t& where, const std::string& bytes) {
    body = Padded(std::move(body), 8);
    where = headers + body.size();
    body += bytes;
  };
  std::string table;
  std::string version_table;
  std::string relocations;
  std::string jumps;
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    const DynamicSymbol& symbol = symbols[i];
    Elf64_Sym entry = {};
    entry.st_name = strings.At(symbol.name);
    if (i != 0) {
      entry.st_info = static_cast<unsigned char>(ELF64_ST_INFO(symbol.binding, symbol.type));
      entry.st_other = symbol.visibility;
      entry.st_shndx = symbol.defined ? symbol.section : uint16_t{SHN_UNDEF};
      entry.st_value = symbol.value.value_or(symbol.defined ? 0x1000 : 0);
      entry.st_size = symbol.defined ? 16 : 0;
    }
    table += Bytes(entry);
    version_table += Number(i == 0 ? 0 : symbol.version, 2);
    if (i == 0 || symbol.defined || !symbol.relocated) continue;
    const uint32_t type = elf.machine == EM_AARCH64
                              ? (symbol.jump_slot ? R_AARCH64_JUMP_SLOT : R_AARCH64_GLOB_DAT)
                              : (symbol.jump_slot ? R_X86_64_JUMP_SLOT : R_X86_64_GLOB_DAT);
    (symbol.jump_slot ? jumps : relocations) +=
        Bytes(Elf64_Rela{0x2000, ELF64_R_INFO(uint64_t{i}, type), 0});
  }
  place(at.symbols, table);
  if (gnu) place(at.gnu_hash, GnuHashTable(symbols, first, buckets));
  if (sysv) place(at.sysv_hash, SysvHashTable(symbols, buckets));
  if (versions) place(at.versions, version_table);
  if (!elf.definitions.empty()) place(at.definitions, Definitions(elf.definitions, strings));
  if (!elf.needs.empty()) place(at.needs, Needs(elf.needs, strings));
  place(at.relocations, relocations);
  uint64_t jumps_at = 0;
  place(jumps_at, jumps);
  std::string dynamic;
  const auto add = [&](int64_t tag, uint64_t value) {
    Elf64_Dyn entry = {};
    entry.d_tag = tag;
    entry.d_un.d_val = value;
    dynamic += Bytes(entry);
  };
  for (const std::string& needed : elf.needed) add(DT_NEEDED, strings.At(needed));
  if (!elf.soname.empty()) add(DT_SONAME, strings.At(elf.soname));
  if (elf.rpath) add(DT_RPATH, strings.At(*elf.rpath));
  if (elf.runpath) add(DT_RUNPATH, strings.At(*elf.runpath));
  if (elf.flags != 0) add(DT_FLAGS, elf.flags);
  if (elf.flags_1 != 0) add(DT_FLAGS_1, elf.flags_1);
  add(DT_SYMTAB, at.symbols);
  if (gnu) add(DT_GNU_HASH, at.gnu_hash);
  if (sysv) add(DT_HASH, at.sysv_hash);
  if (versions) add(DT_VERSYM, at.versions);
  if (at.definitions != 0) add(DT_VERDEF, at.definitions);
  if (at.needs != 0) add(DT_VERNEED, at.needs);
  if (!relocations.empty()) {
    add(DT_RELA, at.relocations);
    add(DT_RELASZ, relocations.size());
  }
  if (!jumps.empty()) {
    add(DT_JMPREL, jumps_at);
    add(DT_PLTRELSZ, jumps.size());
    add(DT_PLTREL, DT_RELA);
  }
  uint64_t interpreter = 0;
  if (!elf.interpreter.empty()) place(interpreter, elf.interpreter + '\0');
  place(at.strings, strings.bytes);
  add(DT_STRTAB, at.strings);
  add(DT_STRSZ, strings.bytes.size());
  add(DT_NULL, 0);
  place(at.dynamic, dynamic);

  Elf64_Ehdr header = {};
  const std::string magic(ELFMAG);
  std::copy(magic.begin(), magic.end(), header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = elf.type;
  header.e_machine = elf.machine;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(header);
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 3;
  const uint64_t size = headers + body.size();
  const Elf64_Phdr load = {PT_LOAD, PF_R, 0, 0, 0, size, size, 0x1000};
  const Elf64_Phdr section = {PT_DYNAMIC, PF_R,           at.dynamic,     at.dynamic,
                              at.dynamic, dynamic.size(), dynamic.size(), 8};
  Elf64_Phdr interp = {PT_NULL, PF_R, 0, 0, 0, 0, 0, 1};
  if (interpreter != 0) {
    interp = {PT_INTERP,
              PF_R,
              interpreter,
              interpreter,
              interpreter,
              elf.interpreter.size() + 1,
              elf.interpreter.size() + 1,
              1};
  }
  if (places) *places = at;
  return Bytes(header) + Bytes(load) + Bytes(section) + Bytes(interp) + body;
}

}  // namespace cuproof::build
