#include "image/host_elf.h"

#include <elf.h>
#include <fmt/format.h>

#include <optional>

namespace cuproof {
namespace {

constexpr std::string_view kRegistration = "__cudaRegisterFatBinary";
constexpr uint64_t kMaxSections = 1 << 20;
// A name is looked at no further than this: hostile ones share one text without an end.
constexpr uint64_t kMaxSectionName = 256;
constexpr uint64_t kMaxLibraryName = 1024;

std::string MachineName(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    default:
      return fmt::format("machine {}", machine);
  }
}

struct SectionTable {
  ByteView headers;
  uint64_t count = 0;
  ByteView names;

  Elf64_Shdr At(uint64_t index) const {
    return headers.Load<Elf64_Shdr>(index * sizeof(Elf64_Shdr)).value_or(Elf64_Shdr{});
  }
};

std::optional<SectionTable> ReadSectionTable(ByteView bytes, const Elf64_Ehdr& header) {
  SectionTable table;
  if (header.e_shoff == 0) return table;  // stripped: normal
  const auto first = bytes.Load<Elf64_Shdr>(header.e_shoff);
  if (!first || header.e_shentsize != sizeof(Elf64_Shdr)) return std::nullopt;
  // Past 65,279 sections the count and the name table's index stand in the first, unused header.
  table.count = header.e_shnum != 0 ? header.e_shnum : first->sh_size;
  const uint64_t names = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first->sh_link;
  if (table.count > kMaxSections) return std::nullopt;
  const auto headers = bytes.Slice(header.e_shoff, table.count * sizeof(Elf64_Shdr));
  if (!headers) return std::nullopt;
  table.headers = *headers;
  const Elf64_Shdr name_section = table.At(names);
  table.names = bytes.Clamp(name_section.sh_offset, name_section.sh_size);
  return table;
}

bool Contains(ByteView bytes, std::string_view text) {
  return bytes.Text().find(text) != std::string_view::npos;
}

void ReadSections(ByteView bytes, const SectionTable& table, bool relocatable, HostObject& host) {
  uint64_t searchable = bytes.size();  // sections of a sound file do not share bytes
  for (uint64_t i = 1; i < table.count; ++i) {
    const Elf64_Shdr section = table.At(i);
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;
    if (!bytes.Holds(section.sh_offset, section.sh_size)) continue;
    host.ranges.push_back(
        {section.sh_offset, section.sh_size,
         std::string(table.names.Clamp(section.sh_name, kMaxSectionName).CString(0))});
    if (relocatable && section.sh_type == SHT_STRTAB && section.sh_size <= searchable) {
      searchable -= section.sh_size;
      host.registers_fatbin |=
          Contains(bytes.Clamp(section.sh_offset, section.sh_size), kRegistration);
    }
  }
}

// The loader's own view: program headers, so a stripped section table changes nothing.
class Segments {
 public:
  Segments(ByteView bytes, const Elf64_Ehdr& header) : bytes_(bytes), header_(header) {}

  std::optional<Elf64_Phdr> At(uint64_t index) const {
    return bytes_.Load<Elf64_Phdr>(header_.e_phoff + index * sizeof(Elf64_Phdr));
  }

  ByteView OfType(uint32_t type) const {
    for (uint64_t i = 0; i < header_.e_phnum; ++i) {
      const auto segment = At(i);
      if (segment && segment->p_type == type)
        return bytes_.Clamp(segment->p_offset, segment->p_filesz);
    }
    return {};
  }

  ByteView AtAddress(uint64_t address, uint64_t size) const {
    for (uint64_t i = 0; i < header_.e_phnum; ++i) {
      const auto segment = At(i);
      if (!segment || segment->p_type != PT_LOAD || address < segment->p_vaddr) continue;
      const uint64_t within = address - segment->p_vaddr;
      if (within >= segment->p_filesz) continue;
      return bytes_.Clamp(segment->p_offset, segment->p_filesz).Clamp(within, size);
    }
    return {};
  }

 private:
  ByteView bytes_;
  const Elf64_Ehdr& header_;
};

void ReadDynamic(const Segments& segments, HostObject& host) {
  const ByteView dynamic = segments.OfType(PT_DYNAMIC);
  uint64_t strings_at = 0;
  uint64_t strings_size = 0;
  std::optional<uint64_t> soname;
  std::vector<uint64_t> needed;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.size(); at += sizeof(Elf64_Dyn)) {
    const Elf64_Dyn entry = *dynamic.Load<Elf64_Dyn>(at);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) strings_at = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) strings_size = entry.d_un.d_val;
    if (entry.d_tag == DT_SONAME) soname = entry.d_un.d_val;
    if (entry.d_tag == DT_NEEDED && needed.size() < 4096) needed.push_back(entry.d_un.d_val);
  }
  const ByteView strings = segments.AtAddress(strings_at, strings_size);
  for (const uint64_t at : needed) {
    host.needed.emplace_back(strings.Clamp(at, kMaxLibraryName).CString(0));
  }
  if (soname) host.soname = strings.CString(*soname).substr(0, 1024);
  // The runtime itself has the name because it defines it.
  const bool runtime = host.soname.rfind("libcudart.so", 0) == 0;
  if (!runtime) host.registers_fatbin |= Contains(strings, kRegistration);
}

}  // namespace

HostObject ReadHostElf(ByteView bytes) {
  HostObject host;
  const auto elf_class = bytes.Load<uint8_t>(EI_CLASS);
  const auto data = bytes.Load<uint8_t>(EI_DATA);
  if (data && (*elf_class != ELFCLASS64 || *data != ELFDATA2LSB)) {
    host.machine = "32-bit or big-endian";
    return host;
  }
  const auto header = bytes.Load<Elf64_Ehdr>(0);
  if (!header) {
    host.damage.push_back({ErrorCode::kTruncated,
                           fmt::format("an ELF header has 64 bytes, the file {}", bytes.size()), "",
                           0});
    return host;
  }
  host.machine = MachineName(header->e_machine);
  const auto table = ReadSectionTable(bytes, *header);
  if (table) {
    ReadSections(bytes, *table, header->e_type == ET_REL, host);
  } else {
    host.damage.push_back(
        {ErrorCode::kTruncated,
         fmt::format("the ELF section table at byte {:#x} does not lie in the file "
                     "of {} bytes: cut short, or not whole",
                     header->e_shoff, bytes.size()),
         "", header->e_shoff});
  }
  if (header->e_phnum > 0 && header->e_phentsize == sizeof(Elf64_Phdr)) {
    ReadDynamic(Segments(bytes, *header), host);
  }
  return host;
}

}  // namespace cuproof
