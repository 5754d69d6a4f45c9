#include "symbol/dynamic_object.h"

#include <elf.h>
#include <fmt/format.h>

#include "symbol/dynamic_reader.h"

namespace cuproof {
namespace {

// The longest name met is 6 KB (a kernel stub of CUTLASS); hostile ones share one text of
// megabytes.
constexpr uint64_t kMaxSymbolName = 1 << 16;

SymbolType TypeOf(uint8_t info) {
  switch (ELF64_ST_TYPE(info)) {
    case STT_NOTYPE:
      return SymbolType::kNone;
    case STT_OBJECT:
      return SymbolType::kObject;
    case STT_FUNC:
      return SymbolType::kFunction;
    case STT_COMMON:
      return SymbolType::kCommon;
    case STT_TLS:
      return SymbolType::kTls;
    case STT_GNU_IFUNC:
      return SymbolType::kIndirectFunction;
    default:
      return SymbolType::kOther;
  }
}

SymbolBinding BindingKind(uint8_t info) {
  switch (ELF64_ST_BIND(info)) {
    case STB_LOCAL:
      return SymbolBinding::kLocal;
    case STB_GLOBAL:
      return SymbolBinding::kGlobal;
    case STB_WEAK:
      return SymbolBinding::kWeak;
    case STB_GNU_UNIQUE:
      return SymbolBinding::kUnique;
    default:
      return SymbolBinding::kOther;
  }
}

bool IsJumpSlot(uint16_t machine, uint32_t type) {
  return (machine == EM_X86_64 && type == R_X86_64_JUMP_SLOT) ||
         (machine == EM_AARCH64 && type == R_AARCH64_JUMP_SLOT);
}

constexpr uint8_t kReferenced = 1;
constexpr uint8_t kOtherThanCall = 2;

// Relocations of type 0 do nothing, whatever they name; those for symbol 0 name none.
void Mark(ByteView relocations, uint16_t machine, std::vector<uint8_t>& marks) {
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= relocations.size(); at += sizeof(Elf64_Rela)) {
    const auto info = *relocations.Load<uint64_t>(at + offsetof(Elf64_Rela, r_info));
    const auto type = static_cast<uint32_t>(ELF64_R_TYPE(info));
    const uint64_t symbol = ELF64_R_SYM(info);
    if (type == 0 || symbol == 0 || symbol >= marks.size()) continue;
    marks[symbol] |= kReferenced;
    if (!IsJumpSlot(machine, type)) marks[symbol] |= kOtherThanCall;
  }
}

}  // namespace

Result<ElfIdentity> ReadElfIdentity(ByteView bytes) {
  if (bytes.size() < EI_NIDENT + 4) {
    return Error{ErrorCode::kTruncated, fmt::format("file too short: {} bytes", bytes.size()), "",
                 0};
  }
  if (!bytes.StartsWith(ELFMAG)) {
    return Error{ErrorCode::kBadMagic, "invalid ELF header: no ELF file", "", 0};
  }
  ElfIdentity identity;
  identity.is_64_bit = *bytes.Load<uint8_t>(EI_CLASS) == ELFCLASS64;
  identity.little_endian = *bytes.Load<uint8_t>(EI_DATA) == ELFDATA2LSB;
  identity.type = *bytes.Load<uint16_t>(EI_NIDENT);
  identity.machine = *bytes.Load<uint16_t>(EI_NIDENT + 2);
  if (!identity.little_endian) {
    identity.type = static_cast<uint16_t>(identity.type >> 8 | identity.type << 8);
    identity.machine = static_cast<uint16_t>(identity.machine >> 8 | identity.machine << 8);
  }
  return identity;
}

std::string ElfMachineName(const ElfIdentity& identity) {
  const std::string bits = identity.is_64_bit ? "" : "32-bit ";
  switch (identity.machine) {
    case EM_X86_64:
      return bits + "x86-64";
    case EM_386:
      return bits + "x86";
    case EM_AARCH64:
      return bits + "aarch64";
    case EM_ARM:
      return bits + "arm";
    case EM_PPC64:
      return identity.little_endian ? "ppc64le" : "ppc64";
    default:
      return fmt::format("{}machine {}", bits, identity.machine);
  }
}

Result<DynamicObject> DynamicObject::Read(ByteView bytes) {
  const auto identity = ReadElfIdentity(bytes);
  if (!identity) return identity.error();
  if (!identity->is_64_bit || !identity->little_endian) {
    return Error{ErrorCode::kUnsupported,
                 identity->is_64_bit ? "ELF file data encoding not little-endian"
                                     : "wrong ELF class: a 32-bit file",
                 "", 0};
  }
  DynamicObject object;
  object.identity = *identity;
  object.bytes_ = bytes;
  DynamicReader(bytes, object).Read();
  return object;
}

std::string_view DynamicObject::NameAt(uint32_t index) const {
  const auto name = symbols_.Load<uint32_t>(uint64_t{index} * sizeof(Elf64_Sym));
  return name ? strings_.Clamp(*name, kMaxSymbolName).CString(0) : std::string_view();
}

bool DynamicObject::NameIs(uint32_t index, std::string_view name) const {
  const auto at = symbols_.Load<uint32_t>(uint64_t{index} * sizeof(Elf64_Sym));
  if (!at) return false;
  const std::string_view text = strings_.Clamp(*at, name.size() + 1).Text();
  return text.size() == name.size() + 1 && text.back() == '\0' &&
         text.substr(0, name.size()) == name;
}

Symbol DynamicObject::SymbolAt(uint32_t index) const {
  const auto entry = symbols_.Load<Elf64_Sym>(uint64_t{index} * sizeof(Elf64_Sym));
  Symbol symbol;
  if (!entry) return symbol;
  symbol.name = strings_.Clamp(entry->st_name, kMaxSymbolName).CString(0);
  symbol.value = entry->st_value;
  symbol.size = entry->st_size;
  if (const auto version = versions_.Load<uint16_t>(uint64_t{index} * 2)) {
    symbol.version = *version & 0x7FFF;
    symbol.hidden_version = (*version & 0x8000) != 0;
  }
  symbol.defined = entry->st_shndx != SHN_UNDEF;
  symbol.absolute = entry->st_shndx == SHN_ABS;
  symbol.type = TypeOf(entry->st_info);
  symbol.binding = BindingKind(entry->st_info);
  symbol.visibility = static_cast<SymbolVisibility>(ELF64_ST_VISIBILITY(entry->st_other));
  return symbol;
}

std::vector<uint8_t> DynamicObject::RelocationMarks() const {
  std::vector<uint8_t> marks(symbols_.size() / sizeof(Elf64_Sym));
  Mark(relocations_, identity.machine, marks);
  Mark(jump_relocations_, identity.machine, marks);
  return marks;
}

std::vector<SymbolReference> DynamicObject::References() const {
  const std::vector<uint8_t> marks = RelocationMarks();
  std::vector<SymbolReference> references;
  for (uint32_t i = 1; i < marks.size(); ++i) {
    if (marks[i] == 0) continue;
    const auto entry = *symbols_.Load<Elf64_Sym>(uint64_t{i} * sizeof(Elf64_Sym));
    if (entry.st_shndx != SHN_UNDEF || ELF64_ST_BIND(entry.st_info) == STB_LOCAL) continue;
    // The loader takes a hidden or internal symbol for the object's own.
    const auto visibility = ELF64_ST_VISIBILITY(entry.st_other);
    if (visibility == STV_HIDDEN || visibility == STV_INTERNAL) continue;
    references.push_back({i, (marks[i] & kOtherThanCall) == 0});
  }
  return references;
}

std::vector<uint32_t> DynamicObject::OwnWeakFunctions() const {
  const std::vector<uint8_t> marks = RelocationMarks();
  std::vector<uint32_t> functions;
  for (uint32_t i = 1; i < marks.size(); ++i) {
    if (marks[i] == 0) continue;
    const auto entry = *symbols_.Load<Elf64_Sym>(uint64_t{i} * sizeof(Elf64_Sym));
    // A protected one is its own whatever others export.
    if (entry.st_shndx != SHN_UNDEF && ELF64_ST_BIND(entry.st_info) == STB_WEAK &&
        ELF64_ST_TYPE(entry.st_info) == STT_FUNC &&
        ELF64_ST_VISIBILITY(entry.st_other) == STV_DEFAULT) {
      functions.push_back(i);
    }
  }
  return functions;
}

const VersionNeed* DynamicObject::NeedAt(uint16_t version) const {
  if (version >= need_at_.size() || need_at_[version] == 0) return nullptr;
  return &needs[need_at_[version] - 1];
}

const VersionDefinition* DynamicObject::DefinitionAt(uint16_t version) const {
  if (version >= definition_at_.size() || definition_at_[version] == 0) return nullptr;
  return &definitions[definition_at_[version] - 1];
}

uint32_t DynamicObject::VersionHash(uint16_t version) const {
  if (const VersionDefinition* definition = DefinitionAt(version)) return definition->hash;
  const VersionNeed* need = NeedAt(version);
  return need ? need->hash : 0;
}

std::string_view DynamicObject::VersionText(uint16_t version) const {
  if (const VersionDefinition* definition = DefinitionAt(version)) return definition->name;
  const VersionNeed* need = NeedAt(version);
  return need ? need->name : std::string_view();
}

}  // namespace cuproof
