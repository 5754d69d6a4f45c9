#include "elfwrite/shared_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "elfwrite/symbol_tables.h"

namespace cuproof::elfwrite {
namespace {

constexpr uint64_t kPage = 4096;
// Distances in text have 31 bits; parts of this size keep every one of them in reach.
constexpr uint64_t kMaxPart = 256 << 20;

Error Wrong(std::string phrase) { return {ErrorCode::kUsage, std::move(phrase), "", std::nullopt}; }

/// Lays the file out, an address for each byte: addresses are offsets in the file.
class Writer {
 public:
  explicit Writer(const SharedObject& object) : object_(object) {}

  Result<std::string> Write() {
    if (auto problem = Check()) return *problem;
    tables_ = MakeSymbolTables(object_, strings_);
    const uint32_t soname = strings_.Add(object_.soname);
    std::vector<uint32_t> needed;
    for (const std::string& name : object_.needed) needed.push_back(strings_.Add(name));

    // Readable: headers, tables, constants.
    file_.assign(sizeof(Elf64_Ehdr) + kSegments * sizeof(Elf64_Phdr), '\0');
    const uint64_t hash = AddSection(".gnu.hash", SHT_GNU_HASH, SHF_ALLOC, tables_.gnu_hash, 8);
    const uint64_t symbols = AddSection(
        ".dynsym", SHT_DYNSYM, SHF_ALLOC,
        std::string(tables_.symbols.size() * sizeof(Elf64_Sym), '\0'), 8, sizeof(Elf64_Sym));
    const size_t symbol_section = sections_.size() - 1;
    const uint64_t strings = AddSection(".dynstr", SHT_STRTAB, SHF_ALLOC, strings_.bytes(), 1);
    const auto string_section = static_cast<uint32_t>(sections_.size() - 1);
    sections_[symbol_section].header.sh_link = string_section;
    sections_[symbol_section].header.sh_info = 1;  // the first symbol that is not local
    sections_[symbol_section - 1].header.sh_link = static_cast<uint32_t>(symbol_section);
    uint64_t version_symbols = 0;
    uint64_t definitions = 0;
    if (!object_.versions.empty()) {
      version_symbols =
          AddSection(".gnu.version", SHT_GNU_versym, SHF_ALLOC, tables_.version_symbols, 2, 2);
      sections_.back().header.sh_link = static_cast<uint32_t>(symbol_section);
      definitions =
          AddSection(".gnu.version_d", SHT_GNU_verdef, SHF_ALLOC, tables_.version_definitions, 8);
      sections_.back().header.sh_link = string_section;
      sections_.back().header.sh_info = tables_.version_definition_count;
    }
    const uint64_t relocation_bytes =
        (object_.pointers.size() + object_.imports.size()) * sizeof(Elf64_Rela);
    const uint64_t relocations =
        AddSection(".rela.dyn", SHT_RELA, SHF_ALLOC, std::string(relocation_bytes, '\0'), 8, 24);
    sections_.back().header.sh_link = static_cast<uint32_t>(symbol_section);
    Place(Part::kConstants, ".rodata", SHT_PROGBITS, SHF_ALLOC, object_.constants, 64);
    const uint64_t constants_end = file_.size();

    Align(kPage);
    const uint64_t text = file_.size();
    Place(Part::kText, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, object_.text, 64);
    const uint64_t text_end = file_.size();

    Align(kPage);
    const uint64_t data = file_.size();
    std::vector<Elf64_Dyn> dynamic;
    dynamic.reserve(needed.size() + 16);
    for (const uint32_t name : needed) dynamic.push_back({DT_NEEDED, {name}});
    if (soname) dynamic.push_back({DT_SONAME, {soname}});
    dynamic.push_back({DT_GNU_HASH, {hash}});
    dynamic.push_back({DT_STRTAB, {strings}});
    dynamic.push_back({DT_STRSZ, {strings_.bytes().size()}});
    dynamic.push_back({DT_SYMTAB, {symbols}});
    dynamic.push_back({DT_SYMENT, {sizeof(Elf64_Sym)}});
    if (relocation_bytes) {
      dynamic.push_back({DT_RELA, {relocations}});
      dynamic.push_back({DT_RELASZ, {relocation_bytes}});
      dynamic.push_back({DT_RELAENT, {sizeof(Elf64_Rela)}});
      dynamic.push_back({DT_RELACOUNT, {object_.pointers.size()}});
    }
    if (!object_.versions.empty()) {
      dynamic.push_back({DT_VERSYM, {version_symbols}});
      dynamic.push_back({DT_VERDEF, {definitions}});
      dynamic.push_back({DT_VERDEFNUM, {tables_.version_definition_count}});
    }
    // What others hold addresses in must not go away with a dlclose.
    dynamic.push_back({DT_FLAGS_1, {DF_1_NODELETE}});
    dynamic.push_back({DT_NULL, {0}});
    std::string dynamic_bytes;
    for (const Elf64_Dyn& entry : dynamic) Append(dynamic_bytes, entry);
    const uint64_t dynamic_at = AddSection(".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE,
                                           dynamic_bytes, 8, sizeof(Elf64_Dyn));
    sections_.back().header.sh_link = string_section;
    Place(Part::kData, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, object_.data, 64);
    const uint64_t data_end = file_.size();

    WriteSymbols(symbols);
    WriteRelocations(relocations);
    WriteReferences();
    const auto load = [](uint32_t flags, uint64_t from, uint64_t to) {
      return Elf64_Phdr{PT_LOAD, flags, from, from, from, to - from, to - from, kPage};
    };
    // In the order of their addresses, as loaders demand. A segment of no bytes is none.
    std::vector<Elf64_Phdr> segments = {load(PF_R, 0, constants_end)};
    if (!object_.text.empty()) segments.push_back(load(PF_R | PF_X, text, text_end));
    segments.push_back(load(PF_R | PF_W, data, data_end));
    segments.push_back({PT_DYNAMIC, PF_R | PF_W, dynamic_at, dynamic_at, dynamic_at,
                        dynamic_bytes.size(), dynamic_bytes.size(), 8});
    segments.push_back({PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16});
    WriteHeaders(segments);
    return std::move(file_);
  }

 private:
  static constexpr uint64_t kSegments = 5;  // room for them

  struct Section {
    std::string name;
    Elf64_Shdr header = {};
  };

  std::optional<Error> Check() const {
    const std::array<std::pair<Part, const std::string*>, 3> parts = {
        {{Part::kConstants, &object_.constants},
         {Part::kText, &object_.text},
         {Part::kData, &object_.data}}};
    for (const auto& [part, bytes] : parts) {
      if (bytes->size() > kMaxPart) return Wrong("a part is larger than 256 MiB");
    }
    const auto holds = [&](Spot spot, uint64_t size) {
      const uint64_t end = parts[static_cast<size_t>(spot.part)].second->size();
      return spot.offset <= end && size <= end - spot.offset;
    };
    const auto bad_name = [](const std::string& name) {
      return name.empty() || name.find('\0') != std::string::npos;
    };
    std::set<std::pair<std::string_view, uint16_t>> seen;
    for (const Export& exported : object_.exports) {
      if (bad_name(exported.name)) return Wrong("an exported name is empty or holds a NUL");
      if (!seen.insert({exported.name, exported.version}).second) {
        return Wrong(fmt::format("{} is exported twice", exported.name));
      }
      if (exported.version > object_.versions.size()) {
        return Wrong(fmt::format("{} has a version without a node", exported.name));
      }
      if (!holds(exported.at, exported.size)) {
        return Wrong(fmt::format("{} lies outside its part", exported.name));
      }
    }
    for (const Import& import : object_.imports) {
      if (bad_name(import.name)) return Wrong("an imported name is empty or holds a NUL");
      if (!holds({Part::kData, import.at}, 8)) {
        return Wrong(fmt::format("the place for {} lies outside the data", import.name));
      }
    }
    for (const Pointer& pointer : object_.pointers) {
      if (!holds({Part::kData, pointer.at}, 8) || !holds(pointer.to, 0)) {
        return Wrong("a pointer or its target lies outside its part");
      }
    }
    for (const Reference& reference : object_.references) {
      if (!holds({Part::kText, reference.at}, 4) || !holds(reference.to, 0)) {
        return Wrong("a reference or its target lies outside its part");
      }
    }
    const auto bad = [&](const std::vector<std::string>& names) {
      return std::any_of(names.begin(), names.end(), bad_name);
    };
    if (bad(object_.needed) || bad(object_.versions)) {
      return Wrong("the name of a library or of a version is empty or holds a NUL");
    }
    if (object_.versions.size() > 1000) return Wrong("more than 1,000 versions");
    return std::nullopt;
  }

  void Align(uint64_t alignment) {
    file_.resize((file_.size() + alignment - 1) / alignment * alignment, '\0');
  }

  uint64_t AddSection(const char* name, uint32_t type, uint64_t flags, const std::string& bytes,
                      uint64_t alignment, uint64_t entry_size = 0) {
    Align(alignment);
    Section section{name, {}};
    section.header.sh_type = type;
    section.header.sh_flags = flags;
    section.header.sh_addr = section.header.sh_offset = file_.size();
    section.header.sh_size = bytes.size();
    section.header.sh_addralign = alignment;
    section.header.sh_entsize = entry_size;
    sections_.push_back(std::move(section));
    file_ += bytes;
    return sections_.back().header.sh_offset;
  }

  void Place(Part part, const char* name, uint32_t type, uint64_t flags, const std::string& bytes,
             uint64_t alignment) {
    part_at_[static_cast<size_t>(part)] = AddSection(name, type, flags, bytes, alignment);
    part_section_[static_cast<size_t>(part)] = static_cast<uint16_t>(sections_.size() - 1);
  }

  uint64_t Address(Spot spot) const {
    return part_at_[static_cast<size_t>(spot.part)] + spot.offset;
  }

  template <typename T>
  void Put(uint64_t at, const T& value) {
    std::memcpy(file_.data() + at, &value, sizeof(T));
  }

  void WriteSymbols(uint64_t at) {
    const size_t first = tables_.symbols.size() - tables_.order.size();
    for (size_t i = 0; i < tables_.order.size(); ++i) {
      const Spot spot = object_.exports[tables_.order[i]].at;
      tables_.symbols[first + i].st_value = Address(spot);
      tables_.symbols[first + i].st_shndx = part_section_[static_cast<size_t>(spot.part)];
    }
    for (const Elf64_Sym& symbol : tables_.symbols) {
      Put(at, symbol);
      at += sizeof(symbol);
    }
  }

  // The relative ones first, as DT_RELACOUNT promises.
  void WriteRelocations(uint64_t at) {
    const auto put = [&](uint64_t offset, uint64_t info, uint64_t addend) {
      Put(at, Elf64_Rela{Address({Part::kData, offset}), info, static_cast<int64_t>(addend)});
      at += sizeof(Elf64_Rela);
    };
    for (const Pointer& pointer : object_.pointers) {
      put(pointer.at, ELF64_R_INFO(0, R_X86_64_RELATIVE), Address(pointer.to));
    }
    for (size_t i = 0; i < object_.imports.size(); ++i) {
      put(object_.imports[i].at, ELF64_R_INFO(i + 1, R_X86_64_GLOB_DAT), 0);
    }
  }

  void WriteReferences() {
    for (const Reference& reference : object_.references) {
      const uint64_t at = Address({Part::kText, reference.at});
      Put(at, static_cast<uint32_t>(Address(reference.to) - (at + 4)));
    }
  }

  // Section headers are for debuggers and readelf: no loader looks at them.
  void WriteHeaders(const std::vector<Elf64_Phdr>& segments) {
    std::string names(1, '\0');
    for (Section& section : sections_) {
      if (section.name.empty()) continue;
      section.header.sh_name = static_cast<uint32_t>(names.size());
      names.append(section.name).push_back('\0');
    }
    Elf64_Shdr last = {};
    last.sh_name = static_cast<uint32_t>(names.size());
    last.sh_type = SHT_STRTAB;
    last.sh_addralign = 1;
    names.append(".shstrtab").push_back('\0');
    last.sh_offset = file_.size();
    last.sh_size = names.size();
    file_ += names;
    Align(8);

    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof(Elf64_Ehdr);
    header.e_shoff = file_.size();
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<uint16_t>(segments.size());
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(sections_.size() + 1);
    header.e_shstrndx = static_cast<uint16_t>(sections_.size());
    for (const Section& section : sections_) Append(file_, section.header);
    Append(file_, last);
    Put(0, header);
    for (size_t i = 0; i < segments.size(); ++i) {
      Put(sizeof(Elf64_Ehdr) + i * sizeof(Elf64_Phdr), segments[i]);
    }
  }

  const SharedObject& object_;
  StringTable strings_;
  SymbolTables tables_;
  std::string file_;
  std::vector<Section> sections_ = {{}};  // the null section
  std::array<uint64_t, 3> part_at_ = {};
  std::array<uint16_t, 3> part_section_ = {};
};

}  // namespace

Result<std::string> WriteSharedObject(const SharedObject& object) { return Writer(object).Write(); }

}  // namespace cuproof::elfwrite
