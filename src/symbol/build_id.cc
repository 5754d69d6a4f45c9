#include "symbol/build_id.h"

#include <elf.h>
#include <fmt/format.h>

namespace cuproof {
namespace {

constexpr uint64_t kMaxBuildId = 64;  // SHA-1 has 20

uint64_t Padded(uint64_t size) { return (size + 3) / 4 * 4; }

std::string InNotes(ByteView notes) {
  uint64_t at = 0;
  while (const auto note = notes.Load<Elf64_Nhdr>(at)) {
    const uint64_t name = at + sizeof(Elf64_Nhdr);
    const uint64_t text = name + Padded(note->n_namesz);
    if (note->n_type == NT_GNU_BUILD_ID && notes.CString(name) == ELF_NOTE_GNU) {
      const auto id = notes.Slice(text, note->n_descsz);
      if (!id || id->size() > kMaxBuildId) return "";
      std::string hex;
      for (uint64_t i = 0; i < id->size(); ++i) hex += fmt::format("{:02x}", id->data()[i]);
      return hex;
    }
    at = text + Padded(note->n_descsz);
  }
  return "";
}

}  // namespace

std::string ReadBuildId(ByteView bytes) {
  const auto header = bytes.Load<Elf64_Ehdr>(0);
  if (!header || !bytes.StartsWith(ELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64) return "";
  for (uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = bytes.Load<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || segment->p_type != PT_NOTE) continue;
    std::string id = InNotes(bytes.Clamp(segment->p_offset, segment->p_filesz));
    if (!id.empty()) return id;
  }
  return "";
}

}  // namespace cuproof
