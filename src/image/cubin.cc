#include "image/cubin.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace cuproof {
namespace {

constexpr uint16_t kMachineCuda = 190;
constexpr uint8_t kOsAbi7 = 0x33;
constexpr uint8_t kOsAbi8 = 0x41;
constexpr uint32_t kNoteCuInfo = 1000;
constexpr uint32_t kNoteTkInfo = 2000;
constexpr uint8_t kCompatAccelerator = 9;
constexpr uint32_t kSectionInfo = 0x70000000;
constexpr uint32_t kSectionCompat = 0x70000086;
constexpr std::string_view kVendor("NVIDIA Corp\0", 12);

// "Cuda compilation tools, release 13.1, V13.1.115" -> 13.1
Version VersionFromRelease(std::string_view text) {
  constexpr std::string_view kRelease = "release ";
  const size_t at = text.find(kRelease);
  if (at == std::string_view::npos) return {};
  Version version;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data() + at + kRelease.size(), end, version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return {};
  if (std::from_chars(major.ptr + 1, end, version.minor).ec != std::errc()) return {};
  return version;
}

Version VersionFromTens(uint32_t tens) {
  return {static_cast<uint16_t>(tens / 10), static_cast<uint16_t>(tens % 10)};
}

// "-arch sm_100f -m 64 " is the only place in an ELF where the suffix f stands.
void ReadCommandLine(std::string_view text, CubinInfo& info) {
  const size_t at = text.find("sm_");
  if (at == std::string_view::npos) return;
  size_t end = at + 3;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
  if (end < text.size() && text[end] == 'f') info.suffix_f = true;
  if (end < text.size() && text[end] == 'a' && !info.suffix_a) info.suffix_a = true;
}

void ReadNote(uint32_t type, ByteView body, CubinInfo& info) {
  if (type == kNoteCuInfo) {
    const auto toolkit = body.Load<uint32_t>(4);
    if (toolkit && *toolkit >= 100 && *toolkit < 1000) info.toolkit = VersionFromTens(*toolkit);
    return;
  }
  if (type == kNoteTkInfo) {
    if (!info.toolkit.known()) info.toolkit = VersionFromRelease(body.Text());
    const size_t command = body.Text().find("-arch ");
    if (command != std::string_view::npos) ReadCommandLine(body.Text().substr(command), info);
  }
}

// Notes are found by their vendor name rather than through the section table, because that stands
// at the end of the image and we may have only its beginning. The search goes on behind a note's
// body: notes that claim each other's bytes would be read again and again.
void ReadNotes(ByteView bytes, CubinInfo& info) {
  const std::string_view text = bytes.Text();
  size_t name = text.find(kVendor);
  while (name != std::string_view::npos) {
    size_t end = name + kVendor.size();
    const auto name_size = name < 12 ? std::nullopt : bytes.Load<uint32_t>(name - 12);
    if (name_size == kVendor.size()) {
      const ByteView body = bytes.Clamp(end, bytes.Load<uint32_t>(name - 8).value_or(0));
      ReadNote(bytes.Load<uint32_t>(name - 4).value_or(0), body, info);
      end += body.size();
    }
    name = text.find(kVendor, end);
  }
}

// Items {u8 format, u8 attribute, value}; formats 2 and 3 carry a 2-byte value, 4 a sized payload.
// ptxas 12.8 to 13.5 writes 16 to 40 bytes.
constexpr uint64_t kMaxCompat = 4096;

void ReadCompat(ByteView section, CubinInfo& info) {
  uint64_t at = 0;
  while (at + 4 <= section.size()) {
    const uint8_t format = *section.Load<uint8_t>(at);
    const uint8_t attribute = *section.Load<uint8_t>(at + 1);
    const uint16_t value = *section.Load<uint16_t>(at + 2);
    if (attribute == kCompatAccelerator) info.suffix_a = (value & 0xFF) == 1;
    if (format < 2 || format > 4) return;
    at += 4 + (format == 4 ? value : 0u);
  }
}

// Types that must lie in the image. Others can be like NOBITS: 0x7000000A, shared memory of a -G
// build (.nv_debug.shared in NCCL), has a size and no bytes.
bool HasBytes(uint32_t type) {
  switch (type) {
    case SHT_PROGBITS:
    case SHT_SYMTAB:
    case SHT_STRTAB:
    case SHT_REL:
    case SHT_RELA:
    case SHT_NOTE:
    case kSectionInfo:
      return true;
    default:
      return false;
  }
}

Error Damaged(uint64_t offset, std::string phrase) {
  return {ErrorCode::kTruncated, std::move(phrase), "", offset};
}

Result<CubinInfo> ReadSections(ByteView bytes, const Elf64_Ehdr& header, bool whole,
                               CubinInfo info) {
  const uint64_t segments_size = uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (whole && header.e_phnum > 0 && !bytes.Holds(header.e_phoff, segments_size)) {
    return Damaged(header.e_phoff,
                   fmt::format("the cubin's program headers should take {} bytes, the image has {}",
                               segments_size, bytes.size()));
  }
  if (header.e_shnum == 0) return info;
  if (header.e_shentsize != sizeof(Elf64_Shdr)) {
    return Damaged(0x3A, fmt::format("the cubin's section headers have {} bytes, expected {}",
                                     header.e_shentsize, sizeof(Elf64_Shdr)));
  }
  const uint64_t table_size = uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  const auto table = bytes.Slice(header.e_shoff, table_size);
  if (!table) {
    if (!whole) return info;
    return Damaged(header.e_shoff,
                   fmt::format("the cubin's section table should end at byte {}, the image has {}",
                               header.e_shoff + table_size, bytes.size()));
  }
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr section = *table->Load<Elf64_Shdr>(i * sizeof(Elf64_Shdr));
    const auto content = bytes.Slice(section.sh_offset, section.sh_size);
    if (!content && HasBytes(section.sh_type)) {
      return Damaged(section.sh_offset,
                     fmt::format("section {} of the cubin says {} bytes, the image has {}", i,
                                 section.sh_size, bytes.size()));
    }
    info.has_code |= section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_EXECINSTR);
    if (content && section.sh_type == kSectionCompat)
      ReadCompat(content->Clamp(0, kMaxCompat), info);
  }
  return info;
}

}  // namespace

bool LooksLikeCubin(ByteView bytes) {
  return bytes.StartsWith(
             "\x7F"
             "ELF\x02\x01\x01") &&
         bytes.Load<uint16_t>(18) == kMachineCuda;
}

Result<CubinInfo> ReadCubin(ByteView bytes, bool whole) {
  const auto header = bytes.Load<Elf64_Ehdr>(0);
  if (!header || !LooksLikeCubin(bytes)) {
    return Error{ErrorCode::kBadMagic, "expected a cubin (ELF64, machine 190)", "", 0};
  }
  CubinInfo info;
  info.relocatable = header->e_type == ET_REL;
  info.core_dump = header->e_type == ET_CORE;
  const uint8_t os_abi = header->e_ident[EI_OSABI];
  if (os_abi == kOsAbi7) {
    info.abi = 7;
    info.sm = header->e_flags & 0xFF;
    // 0x005A0D5A for sm_90a, 0x005A055A for sm_90: CUDA 12.0 to 12.9.
    info.suffix_a = (header->e_flags & 0x800) != 0;
    if (header->e_version >= 50 && header->e_version < 1000) {
      info.toolkit = VersionFromTens(header->e_version);
    }
  } else if (os_abi == kOsAbi8) {
    info.abi = 8;
    info.sm = (header->e_flags >> 8) & 0xFF;
    // Set by 12.x for 'a'; from 13.0 on the bit is gone, so its absence says nothing.
    if (header->e_flags & 0x08) info.suffix_a = true;
  } else {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("cubin of an ELF ABI that this version does not know (EI_OSABI {:#x}; "
                             "known: 0x33, 0x41)",
                             os_abi),
                 "", EI_OSABI};
  }
  ReadNotes(bytes.Clamp(0, 1 << 20), info);
  return ReadSections(bytes, *header, whole, info);
}

uint64_t CubinExtent(ByteView bytes) {
  const auto header = bytes.Load<Elf64_Ehdr>(0);
  if (!header) return 0;
  const uint64_t sections = uint64_t{header->e_shnum} * header->e_shentsize;
  const uint64_t segments = uint64_t{header->e_phnum} * header->e_phentsize;
  const uint64_t limit = bytes.size();
  const uint64_t sections_end =
      bytes.Holds(header->e_shoff, sections) ? header->e_shoff + sections : limit;
  const uint64_t segments_end =
      bytes.Holds(header->e_phoff, segments) ? header->e_phoff + segments : limit;
  return std::max(sections_end, segments_end);
}

}  // namespace cuproof
