#include "symbol/dynamic_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuproof {
namespace {

constexpr uint64_t kMaxSegments = 4096;
constexpr uint64_t kMaxNeeded = 1024;
constexpr uint64_t kMaxLibraryName = 4096;  // PATH_MAX; an RPATH holds many
constexpr uint64_t kMaxRpath = 1 << 16;
constexpr uint64_t kMaxVersionName = 1024;
constexpr uint64_t kMaxVersions = 0x7FFF;  // an index has 15 bits
// A linker makes about as many buckets as symbols, a quarter at the least. Chains of thousands are
// made to make a reader slow.
constexpr uint64_t kMaxChain = 1024;

}  // namespace

void DynamicReader::Damage(ErrorCode code, std::string phrase) {
  object_.damage.push_back({code, std::move(phrase), "", std::nullopt});
}

ByteView DynamicReader::AtAddress(uint64_t address, uint64_t size) const {
  for (const Elf64_Phdr& load : loads_) {
    if (address < load.p_vaddr || address - load.p_vaddr >= load.p_filesz) continue;
    return bytes_.Clamp(load.p_offset, load.p_filesz).Clamp(address - load.p_vaddr, size);
  }
  return {};
}

std::string_view DynamicReader::String(uint64_t at, uint64_t limit) const {
  return object_.strings_.Clamp(at, limit).CString(0);
}

bool DynamicReader::ReadSegments() {
  const auto header = bytes_.Load<Elf64_Ehdr>(0);
  if (!header) {
    Damage(ErrorCode::kTruncated,
           fmt::format("an ELF header has 64 bytes, the file {}", bytes_.size()));
    return false;
  }
  if (header->e_phnum == 0) return false;  // an object file
  if (header->e_phentsize != sizeof(Elf64_Phdr) ||
      !bytes_.Holds(header->e_phoff, uint64_t{header->e_phnum} * sizeof(Elf64_Phdr))) {
    Damage(ErrorCode::kTruncated,
           fmt::format("the program headers at byte {:#x} do not lie in the file of {} bytes",
                       header->e_phoff, bytes_.size()));
    return false;
  }
  for (uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = *bytes_.Load<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type == PT_LOAD && loads_.size() < kMaxSegments) loads_.push_back(segment);
    if (segment.p_type == PT_DYNAMIC) dynamic_ = segment;
    if (segment.p_type == PT_GNU_STACK) object_.executable_stack = (segment.p_flags & PF_X) != 0;
    if (segment.p_type == PT_INTERP) {
      object_.interpreter =
          bytes_.Clamp(segment.p_offset, std::min(segment.p_filesz, kMaxLibraryName)).CString(0);
    }
  }
  const auto cut = std::find_if(loads_.begin(), loads_.end(), [&](const Elf64_Phdr& load) {
    return !bytes_.Holds(load.p_offset, load.p_filesz);
  });
  if (cut != loads_.end()) {
    Damage(ErrorCode::kTruncated,
           fmt::format("a segment of {} bytes at byte {:#x} does not lie in the file of {} bytes: "
                       "cut short",
                       cut->p_filesz, cut->p_offset, bytes_.size()));
  }
  return dynamic_.p_type == PT_DYNAMIC;
}

void DynamicReader::TakeFlags(const Elf64_Dyn& entry) {
  const uint64_t value = entry.d_un.d_val;
  if (entry.d_tag == DT_SYMBOLIC) object_.symbolic = true;
  if (entry.d_tag == DT_BIND_NOW) object_.bind_now = true;
  if (entry.d_tag == DT_INIT_ARRAYSZ) object_.constructors = value > sizeof(uint64_t);
  if (entry.d_tag == DT_FLAGS) {
    object_.symbolic |= (value & DF_SYMBOLIC) != 0;
    object_.bind_now |= (value & DF_BIND_NOW) != 0;
  }
  if (entry.d_tag == DT_FLAGS_1) {
    object_.bind_now |= (value & DF_1_NOW) != 0;
    object_.no_default_lib = (value & DF_1_NODEFLIB) != 0;
    object_.no_open = (value & DF_1_NOOPEN) != 0;
    object_.position_independent_executable = (value & DF_1_PIE) != 0;
  }
}

DynamicReader::Entries DynamicReader::ReadEntries() {
  Entries entries;
  const ByteView table = AtAddress(dynamic_.p_vaddr, dynamic_.p_filesz);
  if (table.empty()) Damage(ErrorCode::kBadSize, "the dynamic section lies in no segment");
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= table.size(); at += sizeof(Elf64_Dyn)) {
    const Elf64_Dyn entry = *table.Load<Elf64_Dyn>(at);
    const uint64_t value = entry.d_un.d_val;
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED && entries.needed.size() == kMaxNeeded) {
      Damage(ErrorCode::kTooLarge, fmt::format("more than {} needed libraries", kMaxNeeded));
      break;
    }
    TakeFlags(entry);
    switch (entry.d_tag) {
      case DT_NEEDED:
        entries.needed.push_back(value);
        break;
      case DT_SONAME:
        entries.soname = value;
        break;
      case DT_RPATH:
        entries.rpath = value;
        break;
      case DT_RUNPATH:
        entries.runpath = value;
        break;
      case DT_STRTAB:
        entries.strings = value;
        break;
      case DT_STRSZ:
        entries.strings_size = value;
        break;
      case DT_SYMTAB:
        entries.symbols = value;
        break;
      case DT_HASH:
        entries.sysv_hash = value;
        break;
      case DT_GNU_HASH:
        entries.gnu_hash = value;
        break;
      case DT_VERSYM:
        entries.version_symbols = value;
        break;
      case DT_VERNEED:
        entries.needs = value;
        break;
      case DT_VERDEF:
        entries.definitions = value;
        break;
      case DT_RELA:
        entries.relocations = value;
        break;
      case DT_RELASZ:
        entries.relocations_size = value;
        break;
      case DT_RELACOUNT:
        entries.relative_count = value;
        break;
      case DT_JMPREL:
        entries.jumps = value;
        break;
      case DT_PLTRELSZ:
        entries.jumps_size = value;
        break;
      default:
        break;
    }
  }
  return entries;
}

void DynamicReader::ReadTables(const Entries& entries) {
  object_.strings_ = AtAddress(entries.strings, entries.strings_size);
  if (object_.strings_.size() < entries.strings_size) {
    Damage(ErrorCode::kTruncated, fmt::format("of {} bytes of names {} are there",
                                              entries.strings_size, object_.strings_.size()));
  }
  object_.symbols_ = AtAddress(entries.symbols);
  for (const uint64_t at : entries.needed) {
    object_.needed.push_back(String(at, kMaxLibraryName));
  }
  if (entries.soname) object_.soname = String(*entries.soname, kMaxLibraryName);
  if (entries.rpath) object_.rpath = String(*entries.rpath, kMaxRpath);
  if (entries.runpath) object_.runpath = String(*entries.runpath, kMaxRpath);
  const ByteView relocations = AtAddress(entries.relocations, entries.relocations_size);
  // The loader takes the first DT_RELACOUNT ones for relative without looking.
  const uint64_t relatives =
      std::min(entries.relative_count, relocations.size() / sizeof(Elf64_Rela));
  object_.relocations_ = relocations.Clamp(relatives * sizeof(Elf64_Rela), UINT64_MAX);
  object_.jump_relocations_ = AtAddress(entries.jumps, entries.jumps_size);
  if (relocations.size() < entries.relocations_size ||
      object_.jump_relocations_.size() < entries.jumps_size) {
    Damage(ErrorCode::kTruncated, "relocations lie outside of the file");
  }
  if (entries.gnu_hash != 0) ReadGnuHash(entries.gnu_hash);
  if (entries.sysv_hash != 0) ReadSysvHash(entries.sysv_hash);
  CountSymbols();
  if (entries.version_symbols != 0) {
    const uint64_t symbols = object_.symbols_.size() / sizeof(Elf64_Sym);
    object_.versions_ = AtAddress(entries.version_symbols, symbols * 2);
  }
  if (entries.needs != 0) ReadNeeds(entries.needs);
  if (entries.definitions != 0) ReadDefinitions(entries.definitions);
}

// Words: buckets, first symbol, bloom words, bloom shift; then the bloom filter of 64-bit words,
// the buckets, and a word for each symbol from the first on. In it bit 0 ends a chain.
void DynamicReader::ReadGnuHash(uint64_t address) {
  const ByteView table = AtAddress(address);
  const auto buckets = table.Load<uint32_t>(0);
  const auto shift = table.Load<uint32_t>(12);
  if (!buckets || !shift) {
    Damage(ErrorCode::kTruncated, "the GNU hash table lies outside of the file");
    object_.exports_unknown_ = true;
    return;
  }
  DynamicObject::GnuHash hash;
  hash.bucket_count = *buckets;
  hash.first_symbol = *table.Load<uint32_t>(4);
  hash.bloom_words = *table.Load<uint32_t>(8);
  hash.bloom_shift = *shift;
  const uint64_t bloom_size = uint64_t{hash.bloom_words} * 8;
  const uint64_t bucket_size = uint64_t{hash.bucket_count} * 4;
  const bool sound = hash.bloom_words != 0 && (hash.bloom_words & (hash.bloom_words - 1)) == 0 &&
                     table.Holds(16, bloom_size) && table.Holds(16 + bloom_size, bucket_size);
  if (!sound) {
    Damage(ErrorCode::kBadSize, fmt::format("a GNU hash table of {} buckets and {} filter words "
                                            "does not lie in the file",
                                            hash.bucket_count, hash.bloom_words));
    object_.exports_unknown_ = true;
    return;
  }
  hash.bloom = *table.Slice(16, bloom_size);
  hash.buckets = *table.Slice(16 + bloom_size, bucket_size);
  hash.chains = table.Clamp(16 + bloom_size + bucket_size, UINT64_MAX);
  uint32_t last_start = 0;
  for (uint64_t at = 0; at < bucket_size; at += 4) {
    const uint32_t start = *hash.buckets.Load<uint32_t>(at);
    object_.exports_unknown_ |= start != 0 && start < hash.first_symbol;
    last_start = std::max(last_start, start);
  }
  if (last_start == 0) {
    hash.chains = {};
    object_.gnu_hash_ = hash;
    object_.symbol_count_ = hash.first_symbol;
    return;
  }
  // The chain that starts last ends the table. A chain is a run of words up to one with bit 0.
  uint64_t run = 0;
  uint64_t longest = 0;
  uint64_t end = 0;
  for (uint64_t i = 0; i * 4 + 4 <= hash.chains.size() && end == 0; ++i) {
    longest = std::max(longest, ++run);
    if ((*hash.chains.Load<uint32_t>(i * 4) & 1) == 0) continue;
    run = 0;
    if (hash.first_symbol + i >= last_start) end = i + 1;
  }
  if (object_.exports_unknown_ || end == 0 || longest > kMaxChain) {
    Damage(ErrorCode::kBadSize,
           end == 0 ? "a chain of the GNU hash table does not end"
                    : "the GNU hash table leads outside of itself, or has chains longer than any "
                      "linker makes");
    object_.exports_unknown_ = true;
    return;
  }
  hash.chains = hash.chains.Clamp(0, end * 4);
  object_.gnu_hash_ = hash;
  object_.symbol_count_ =
      static_cast<uint32_t>(std::min<uint64_t>(hash.first_symbol + end, UINT32_MAX));
}

// Words: buckets, chains (as many as symbols); a bucket and a chain word each name the next symbol.
void DynamicReader::ReadSysvHash(uint64_t address) {
  const ByteView table = AtAddress(address);
  const auto buckets = table.Load<uint32_t>(0);
  const auto chains = table.Load<uint32_t>(4);
  DynamicObject::SysvHash hash;
  bool sound = chains.has_value();
  if (sound) {
    hash.bucket_count = *buckets;
    hash.buckets = table.Clamp(8, uint64_t{*buckets} * 4);
    hash.chains = table.Clamp(8 + uint64_t{*buckets} * 4, uint64_t{*chains} * 4);
    sound = hash.chains.size() == uint64_t{*chains} * 4;
  }
  // Each symbol stands in one chain: a table whose walks take more steps has a loop.
  uint64_t steps = 0;
  for (uint64_t at = 0; sound && at < hash.buckets.size(); at += 4) {
    uint64_t length = 0;
    uint32_t symbol = *hash.buckets.Load<uint32_t>(at);
    while (sound && symbol != 0) {
      const auto next = hash.chains.Load<uint32_t>(uint64_t{symbol} * 4);
      sound = next.has_value() && ++length <= kMaxChain && ++steps <= *chains;
      symbol = next.value_or(0);
    }
  }
  if (sound) {
    object_.sysv_hash_ = hash;
    object_.symbol_count_ = std::max(object_.symbol_count_, *chains);
    return;
  }
  Damage(ErrorCode::kBadSize,
         "the hash table leads outside of itself, goes in circles, or has chains longer than any "
         "linker makes");
  // glibc looks into the GNU table where there is one.
  if (!object_.gnu_hash_) object_.exports_unknown_ = true;
}

void DynamicReader::ReadNeeds(uint64_t address) {
  const ByteView table = AtAddress(address);
  uint64_t at = 0;
  for (uint64_t files = 0; files < kMaxVersions; ++files) {
    const auto need = table.Load<Elf64_Verneed>(at);
    if (!need) {
      Damage(ErrorCode::kBadSize, "a version need lies outside of the file");
      break;
    }
    const std::string_view file = String(need->vn_file, kMaxLibraryName);
    uint64_t entry_at = at + need->vn_aux;
    while (object_.needs.size() < kMaxVersions) {
      const auto entry = table.Load<Elf64_Vernaux>(entry_at);
      if (!entry) {
        Damage(ErrorCode::kBadSize, "a version need lies outside of the file");
        break;
      }
      object_.needs.push_back({file, String(entry->vna_name, kMaxVersionName), entry->vna_hash,
                               static_cast<uint16_t>(entry->vna_other & 0x7FFF),
                               (entry->vna_flags & VER_FLG_WEAK) != 0,
                               (entry->vna_other & 0x8000) != 0});
      if (entry->vna_next == 0) break;
      entry_at += entry->vna_next;
    }
    if (need->vn_next == 0) break;
    at += need->vn_next;
  }
  for (size_t i = 0; i < object_.needs.size(); ++i) {
    const uint16_t index = object_.needs[i].index;
    if (index >= object_.need_at_.size()) object_.need_at_.resize(index + 1u);
    object_.need_at_[index] = static_cast<uint16_t>(i + 1);
  }
}

void DynamicReader::ReadDefinitions(uint64_t address) {
  const ByteView table = AtAddress(address);
  uint64_t at = 0;
  while (object_.definitions.size() < kMaxVersions) {
    const auto entry = table.Load<Elf64_Verdef>(at);
    const auto name = entry ? table.Load<Elf64_Verdaux>(at + entry->vd_aux) : std::nullopt;
    if (!name) {
      Damage(ErrorCode::kBadSize, "a version definition lies outside of the file");
      break;
    }
    object_.definitions.push_back({String(name->vda_name, kMaxVersionName), entry->vd_hash,
                                   static_cast<uint16_t>(entry->vd_ndx & 0x7FFF),
                                   (entry->vd_flags & VER_FLG_BASE) != 0});
    if (entry->vd_next == 0) break;
    at += entry->vd_next;
  }
  for (size_t i = 0; i < object_.definitions.size(); ++i) {
    const VersionDefinition& definition = object_.definitions[i];
    // The base names the file itself: a symbol of that index has no version.
    if (definition.base) continue;
    if (definition.index >= object_.definition_at_.size()) {
      object_.definition_at_.resize(definition.index + 1u);
    }
    object_.definition_at_[definition.index] = static_cast<uint16_t>(i + 1);
  }
}

// A GNU table without exports tells nothing about the imports before them: relocations do.
void DynamicReader::CountSymbols() {
  const uint64_t room = object_.symbols_.size() / sizeof(Elf64_Sym);
  if (object_.symbol_count_ <= 1) {
    const auto references = object_.References();
    if (!references.empty()) object_.symbol_count_ = references.back().symbol + 1;
  }
  if (object_.symbol_count_ > room) {
    Damage(ErrorCode::kTruncated,
           fmt::format("of {} symbols {} lie in the file", object_.symbol_count_, room));
    object_.symbol_count_ = static_cast<uint32_t>(room);
  }
}

void DynamicReader::Read() {
  if (!ReadSegments()) return;
  object_.has_dynamic = true;
  ReadTables(ReadEntries());
}

}  // namespace cuproof
