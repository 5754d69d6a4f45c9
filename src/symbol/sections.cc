#include "symbol/sections.h"

#include <elf.h>

#include <algorithm>

namespace cuproof {
namespace {

constexpr uint64_t kMaxName = 64;
// libtorch_cpu has 400,000 local names.
constexpr uint64_t kMaxLocals = 4'000'000;
constexpr uint64_t kMaxText = 4096;

std::optional<Elf64_Ehdr> HeaderOf(ByteView file) {
  const auto header = file.Load<Elf64_Ehdr>(0);
  if (!header || !file.StartsWith(ELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_shentsize != sizeof(Elf64_Shdr)) {
    return std::nullopt;
  }
  return header;
}

std::optional<Elf64_Shdr> SectionAt(ByteView file, const Elf64_Ehdr& header, uint64_t index) {
  if (index >= header.e_shnum || header.e_shoff > file.size()) return std::nullopt;
  return file.Load<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
}

}  // namespace

std::optional<ByteView> SectionNamed(ByteView file, std::string_view name) {
  const auto header = HeaderOf(file);
  if (!header) return std::nullopt;
  const auto names = SectionAt(file, *header, header->e_shstrndx);
  if (!names) return std::nullopt;
  const ByteView texts = file.Clamp(names->sh_offset, names->sh_size);
  for (uint64_t i = 1; i < header->e_shnum; ++i) {
    const auto section = SectionAt(file, *header, i);
    if (!section) return std::nullopt;
    if (texts.Clamp(section->sh_name, kMaxName).CString(0) != name) continue;
    if (section->sh_type == SHT_NOBITS) return std::nullopt;
    return file.Slice(section->sh_offset, section->sh_size);
  }
  return std::nullopt;
}

void ForEachLocalName(ByteView file, const std::function<void(std::string_view)>& visit) {
  const auto header = HeaderOf(file);
  if (!header) return;
  for (uint64_t i = 1; i < header->e_shnum; ++i) {
    const auto section = SectionAt(file, *header, i);
    if (!section) return;
    if (section->sh_type != SHT_SYMTAB || section->sh_entsize != sizeof(Elf64_Sym)) continue;
    const auto strings = SectionAt(file, *header, section->sh_link);
    if (!strings) return;
    const ByteView symbols = file.Clamp(section->sh_offset, section->sh_size);
    const ByteView texts = file.Clamp(strings->sh_offset, strings->sh_size);
    // Locals come first; sh_info is the number of them.
    const uint64_t count =
        std::min<uint64_t>({symbols.size() / sizeof(Elf64_Sym), section->sh_info, kMaxLocals});
    for (uint64_t n = 1; n < count; ++n) {
      const auto symbol = symbols.Load<Elf64_Sym>(n * sizeof(Elf64_Sym));
      if (!symbol) return;
      const auto type = ELF64_ST_TYPE(symbol->st_info);
      if (type != STT_FUNC && type != STT_OBJECT) continue;
      visit(texts.Clamp(symbol->st_name, kMaxText).CString(0));
    }
  }
}

void ForEachConstant(ByteView file, std::string_view prefix,
                     const std::function<void(std::string_view)>& visit) {
  const auto rodata = SectionNamed(file, ".rodata");
  if (!rodata) return;
  const std::string_view text = rodata->Text();
  for (size_t at = text.find(prefix); at != std::string_view::npos;
       at = text.find(prefix, at + 1)) {
    if (at != 0 && text[at - 1] != '\0') continue;
    const size_t end = text.substr(0, std::min(text.size(), at + kMaxText)).find('\0', at);
    if (end != std::string_view::npos) visit(text.substr(at, end - at));
  }
}

}  // namespace cuproof
