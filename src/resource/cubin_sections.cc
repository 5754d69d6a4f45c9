#include "resource/cubin_sections.h"

#include <elf.h>
#include <fmt/format.h>

#include "resource/cubin_attributes.h"

namespace cuproof {
namespace {

constexpr uint8_t kEntryPoint = 0x10;  // STO_CUDA_ENTRY in st_other

// Names of CUTLASS kernels have 10 KB. A table without NULs would be searched to its end for each
// of 65,535 sections.
constexpr uint64_t kLongestName = 64 << 10;

// Others can have a size and no bytes, as .nv_debug.shared of a -G build.
bool IsRead(uint32_t type) {
  return type == SHT_PROGBITS || type == SHT_SYMTAB || type == SHT_RELA || type == SHT_REL ||
         type == kInfoSection;
}

// Two may share their bytes: with -lineinfo, .nv_debug_ptx_txt and its .nv.merc twin of sm_100 and
// later do.
constexpr uint64_t kMostShared = 4;

Error Overlap(uint64_t sections, uint64_t size) {
  return {ErrorCode::kBadSize,
          fmt::format("the cubin's sections say {} bytes together, the image has {}: too many of "
                      "them overlap",
                      sections, size),
          "", std::nullopt};
}

}  // namespace

Result<CubinSections> CubinSections::Open(ByteView bytes) {
  const auto info = ReadCubin(bytes, true);
  if (!info) return info.error();
  CubinSections cubin;
  cubin.info_ = *info;
  cubin.size_ = bytes.size();
  const auto header = *bytes.Load<Elf64_Ehdr>(0);
  const auto at = [&](uint64_t index) {
    return bytes.Load<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto bytes_of = [&](const Elf64_Shdr& section) {
    return section.sh_type == SHT_NOBITS ? ByteView()
                                         : bytes.Clamp(section.sh_offset, section.sh_size);
  };
  const auto names_header = at(header.e_shstrndx);
  const ByteView names = names_header ? bytes_of(*names_header) : ByteView();
  cubin.sections_.reserve(header.e_shnum);
  uint64_t content = 0;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = at(i);
    if (!section) break;
    cubin.sections_.push_back({names.Clamp(section->sh_name, kLongestName).CString(0),
                               section->sh_type, section->sh_flags, section->sh_info,
                               section->sh_size, bytes_of(*section)});
    if (IsRead(section->sh_type)) content += cubin.sections_.back().content.size();
    if (section->sh_type != SHT_SYMTAB) continue;
    cubin.symbols_ = cubin.sections_.back().content;
    if (const auto strings = at(section->sh_link)) cubin.symbol_names_ = bytes_of(*strings);
  }
  // Each is read a few times; a few bytes in all of them would be read 65,535 times.
  if (content / kMostShared > bytes.size()) return Overlap(content, bytes.size());
  return cubin;
}

uint64_t CubinSections::symbol_count() const { return symbols_.size() / sizeof(Elf64_Sym); }

CubinSymbol CubinSections::Symbol(uint64_t index) const {
  if (index >= symbol_count()) return {};
  const auto symbol = *symbols_.Load<Elf64_Sym>(index * sizeof(Elf64_Sym));
  return {symbol.st_name,
          static_cast<uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
          (symbol.st_other & kEntryPoint) != 0,
          symbol.st_shndx,
          symbol.st_value,
          symbol.st_size};
}

bool CubinSections::IsNamed(const CubinSymbol& symbol, std::string_view name) const {
  const auto text = symbol_names_.Slice(symbol.name, name.size() + 1);
  return text && text->Text().substr(0, name.size()) == name && text->Text().back() == '\0';
}

bool CubinSections::StartsWith(const CubinSymbol& symbol, std::string_view prefix) const {
  return symbol_names_.Clamp(symbol.name, prefix.size()).Text() == prefix;
}

}  // namespace cuproof
