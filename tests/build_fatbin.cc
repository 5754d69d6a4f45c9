#include "build_fatbin.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <random>

namespace cuproof::build {
namespace {

template <typename T>
std::string Raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

template <typename T>
void Overwrite(std::string& bytes, size_t offset, const T& value) {
  bytes.replace(offset, sizeof(T), Raw(value));
}

std::string Compress(std::string_view raw, Compression compression) {
  switch (compression) {
    case Compression::kZstd:
      return Zstd(raw);
    case Compression::kLz4Block:
    case Compression::kLz4Frame:
      return Lz4Block(raw);
    case Compression::kNone:
      break;
  }
  return std::string(raw);
}

uint64_t CompressionFlag(Compression compression) {
  switch (compression) {
    case Compression::kZstd:
      return fatbin::kFlagZstd;
    case Compression::kLz4Block:
      return fatbin::kFlagLz4Block;
    case Compression::kLz4Frame:
      return fatbin::kFlagLz4Frame;
    case Compression::kNone:
      break;
  }
  return 0;
}

// An ELF file with `sections` one behind another after `front`, then names and section table. The
// caller fills in the rest of the header.
std::string Elf(std::string front, const std::vector<Section>& sections) {
  std::string out = std::move(front);
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> table(1);
  for (const Section& section : sections) {
    out = Padded(std::move(out), 8);
    Elf64_Shdr header = {};
    header.sh_name = static_cast<uint32_t>(names.size());
    header.sh_type = section.type;
    header.sh_flags = section.flags;
    header.sh_offset = section.offset.value_or(out.size());
    header.sh_size = section.size.value_or(section.content.size());
    table.push_back(header);
    names += section.name + '\0';
    out += section.content;
  }
  Elf64_Shdr header = {};
  header.sh_name = static_cast<uint32_t>(names.size());
  header.sh_type = SHT_STRTAB;
  names += std::string(".shstrtab") + '\0';
  header.sh_offset = out.size();
  header.sh_size = names.size();
  table.push_back(header);
  out = Padded(out + names, 8);
  auto* elf = reinterpret_cast<Elf64_Ehdr*>(out.data());
  elf->e_shoff = out.size();
  elf->e_shentsize = sizeof(Elf64_Shdr);
  elf->e_shnum = static_cast<uint16_t>(table.size());
  elf->e_shstrndx = static_cast<uint16_t>(table.size() - 1);
  for (const Elf64_Shdr& row : table) out += Raw(row);
  return out;
}

std::string Note(uint32_t type, const std::string& body) {
  const std::string vendor("NVIDIA Corp\0", 12);
  return Number(vendor.size(), 4) + Number(body.size(), 4) + Number(type, 4) + vendor +
         Padded(body, 4);
}

uint32_t CubinFlags(const Cubin& cubin) {
  const uint32_t sm = cubin.arch.number;
  if (cubin.abi == 7) return sm << 16 | (cubin.flag_a ? 0x0D00u : 0x0500u) | sm;
  return 0x06000004 | sm << 8 | (cubin.flag_a ? 0x08u : 0u);
}

}  // namespace

std::string Number(uint64_t value, size_t bytes) {
  std::string text = Raw(value);
  text.resize(bytes, '\0');
  return text;
}

std::string Padded(std::string text, size_t step) {
  text.resize((text.size() + step - 1) / step * step, '\0');
  return text;
}

std::string Patched(std::string bytes, size_t offset, std::string_view patch) {
  return bytes.replace(offset, patch.size(), patch);
}

std::string Zstd(std::string_view raw) {
  std::string out(ZSTD_compressBound(raw.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), 3));
  return out;
}

std::string ZstdWithoutSize(std::string_view raw) {
  std::string out(ZSTD_compressBound(raw.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), raw.data(), raw.size()));
  ZSTD_freeCCtx(context);
  return out;
}

std::string Lz4Block(std::string_view raw) {
  const int size = static_cast<int>(raw.size());
  std::string out(static_cast<size_t>(LZ4_compressBound(size)), '\0');
  out.resize(static_cast<size_t>(
      LZ4_compress_default(raw.data(), out.data(), size, static_cast<int>(out.size()))));
  return out;
}

std::string Noise(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string out;
  out.reserve(size);
  while (out.size() < size) out += static_cast<char>(random() >> 24);
  return out;
}

std::string EntryBytes(const Entry& entry) {
  std::string records;
  fatbin::Entry header = {};
  const auto at = [&] { return static_cast<uint32_t>(sizeof(fatbin::Entry) + records.size()); };
  if (!entry.options.empty()) {
    header.options_at = at();
    const fatbin::OptionRecord record = {at() + static_cast<uint32_t>(sizeof(fatbin::OptionRecord)),
                                         static_cast<uint32_t>(entry.options.size())};
    records = Padded(records + Raw(record) + entry.options, 8);
  }
  if (!entry.identifier.empty()) {
    header.identifier_at = at();
    header.identifier_size =
        entry.identifier_size.value_or(static_cast<uint32_t>(entry.identifier.size()) + 1);
    records = Padded(records + entry.identifier + '\0', 8);
  }
  const std::string stored = Compress(entry.payload, entry.compression);
  const std::string padded = Padded(stored, 8);
  const bool plain = entry.compression == Compression::kNone;
  header.kind = entry.kind;
  header.version = entry.entry_version;
  header.header_size = entry.header_size.value_or(at());
  header.payload_size = entry.payload_size.value_or(padded.size());
  header.stored_size = entry.stored_size.value_or(plain ? 0 : static_cast<uint32_t>(stored.size()));
  header.raw_size = entry.raw_size.value_or(plain ? 0 : entry.payload.size());
  if (entry.options_at) header.options_at = *entry.options_at;
  header.major = entry.version.major;
  header.minor = entry.version.minor;
  header.arch = entry.arch.number;
  header.flags = entry.flags | CompressionFlag(entry.compression);
  if (entry.arch.suffix == 'a') header.flags |= fatbin::kFlagSuffixA;
  if (entry.arch.suffix == 'f') header.flags |= fatbin::kFlagSuffixF;
  return Raw(header) + records + padded;
}

std::string Fatbin(const std::vector<Entry>& entries, const ContainerLies& lies) {
  std::string body;
  for (const Entry& entry : entries) body += EntryBytes(entry);
  fatbin::Header header = {};
  header.magic = fatbin::kMagic;
  header.version = lies.version;
  header.header_size = lies.header_size;
  header.body_size = lies.body_size.value_or(body.size());
  std::string front = Raw(header);
  if (lies.header_size > front.size()) front.resize(lies.header_size, '\0');
  return front + body;
}

Entry Sass(Arch arch, Version toolkit) {
  Cubin cubin;
  cubin.arch = arch;
  cubin.toolkit = toolkit;
  const bool before_13 = toolkit < Version{13, 0};
  cubin.abi = before_13 && arch.number < 100 ? 7 : 8;
  cubin.flag_a = before_13 && arch.suffix == 'a';
  if (!before_13 && arch.number >= 90) cubin.compat_a = arch.suffix == 'a' ? 1 : 0;
  Entry entry;
  entry.arch = arch;
  entry.version = {1, static_cast<uint16_t>(cubin.abi)};
  entry.payload = CubinBytes(cubin);
  return entry;
}

Entry Ptx(Arch arch, Version isa) {
  Entry entry;
  entry.kind = fatbin::kKindPtx;
  entry.arch = arch;
  entry.version = isa;
  // A NUL ends the text, as fatbinary writes it.
  entry.payload = PtxText(isa, "sm_" + ArchText(arch)) + '\0';
  return entry;
}

Entry LtoIr(Arch arch, bool masked) {
  Entry entry;
  entry.kind = fatbin::kKindLtoIr;
  entry.arch = arch;
  entry.version = {1, 65};
  entry.payload = "\xED\x43\x4E\x7F" + Noise(60);
  entry.options = "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 ";
  if (masked) {
    entry.flags |= fatbin::kFlagMasked;
    entry.compression = Compression::kZstd;
  }
  return entry;
}

Entry Compressed(Entry entry, Compression compression) {
  entry.compression = compression;
  return entry;
}

std::string CuInfoNote(uint32_t sm, Version toolkit) {
  return Note(1000, Number(2, 2) + Number(sm, 2) + Number(toolkit.major * 10u + toolkit.minor, 4));
}

std::string TkInfoNote(Version toolkit, std::string_view command_line) {
  const std::string texts[] = {"", "ptxas",
                               fmt::format("Cuda compilation tools, release {0}.{1}, V{0}.{1}.88",
                                           toolkit.major, toolkit.minor),
                               "Build cuda_x.r0/compiler.1_0", std::string(command_line)};
  std::string offsets;
  std::string pool;
  for (const std::string& text : texts) {
    offsets += Number(pool.size(), 4);
    pool += text + '\0';
  }
  return Note(2000, Number(2, 4) + Number(0, 4) + offsets + pool);
}

std::string CompatSection(uint16_t accelerator) {
  const auto item = [](uint8_t format, uint8_t attribute, uint16_t value) {
    return Number(format, 1) + Number(attribute, 1) + Number(value, 2);
  };
  return item(2, 2, 1) + item(3, 5, 5) + item(4, 0x0B, 8) + Number(0x50, 8) +
         item(2, 9, accelerator) + item(3, 7, 0x101);
}

std::string CubinBytes(const Cubin& cubin) {
  Elf64_Ehdr header = {};
  const char ident[] = {0x7F, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
  std::copy(std::begin(ident), std::end(ident), header.e_ident);
  header.e_ident[EI_OSABI] = cubin.abi == 7 ? 0x33 : 0x41;
  header.e_ident[EI_ABIVERSION] = static_cast<uint8_t>(cubin.abi);
  header.e_type = cubin.type;
  header.e_machine = 190;
  header.e_version = cubin.abi == 7 ? cubin.toolkit.major * 10u + cubin.toolkit.minor : 1;
  header.e_flags = CubinFlags(cubin);
  header.e_ehsize = sizeof(Elf64_Ehdr);
  std::vector<Section> sections;
  if (cubin.abi == 8 && cubin.notes) {
    const std::string command = fmt::format("-arch sm_{} -m 64 ", ArchText(cubin.arch));
    sections.push_back({".note.nv.tkinfo", SHT_NOTE, TkInfoNote(cubin.toolkit, command)});
    if (cubin.cuinfo) {
      sections.push_back(
          {".note.nv.cuinfo", SHT_NOTE, CuInfoNote(cubin.arch.number, cubin.toolkit)});
    }
  }
  if (cubin.compat_a) {
    sections.push_back({".nv.compat", 0x70000086, CompatSection(*cubin.compat_a)});
  }
  if (cubin.code) {
    sections.push_back(
        {".text.probe", SHT_PROGBITS, Noise(64, cubin.arch.number), SHF_ALLOC | SHF_EXECINSTR});
  }
  sections.insert(sections.end(), cubin.sections.begin(), cubin.sections.end());
  return Elf(Raw(header), sections);
}

std::string PtxText(Version isa, std::string_view target, uint32_t address_size) {
  return fmt::format(
      "\n//\n// Generated by a test\n//\n\n.version {}.{}\n.target {}\n.address_size {}\n\n"
      ".visible .entry probe(.param .u64 out)\n{{\n    ret;\n}}\n",
      isa.major, isa.minor, target, address_size);
}

std::string HostElfBytes(const HostElf& elf) {
  // Addresses are not offsets, so that a reader that takes one for the other finds nothing.
  constexpr uint64_t kBase = 0x400000;
  std::string strings(1, '\0');
  std::vector<Elf64_Dyn> dynamic;
  for (const std::string& name : elf.needed) {
    Elf64_Dyn entry = {};
    entry.d_tag = DT_NEEDED;
    entry.d_un.d_val = strings.size();
    dynamic.push_back(entry);
    strings += name + '\0';
  }
  if (!elf.soname.empty()) {
    Elf64_Dyn entry = {};
    entry.d_tag = DT_SONAME;
    entry.d_un.d_val = strings.size();
    dynamic.push_back(entry);
    strings += elf.soname + '\0';
  }
  for (const std::string& name : elf.dynamic_names) strings += name + '\0';
  const bool linked = elf.type != ET_REL;
  const uint64_t strings_at = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  Elf64_Dyn entry = {};
  entry.d_tag = DT_STRTAB;
  entry.d_un.d_ptr = kBase + strings_at;
  dynamic.push_back(entry);
  entry.d_tag = DT_STRSZ;
  entry.d_un.d_val = strings.size();
  dynamic.push_back(entry);
  entry.d_tag = DT_NULL;
  dynamic.push_back(entry);
  std::string dynamic_bytes;
  for (const Elf64_Dyn& row : dynamic) dynamic_bytes += Raw(row);

  Elf64_Ehdr header = {};
  const char ident[] = {0x7F, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
  std::copy(std::begin(ident), std::end(ident), header.e_ident);
  header.e_type = elf.type;
  header.e_machine = elf.machine;
  header.e_version = 1;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  std::string front = Raw(header);
  if (linked) {
    Elf64_Phdr load = {};
    load.p_type = PT_LOAD;
    load.p_vaddr = kBase;
    Elf64_Phdr dynamic_segment = {};
    dynamic_segment.p_type = PT_DYNAMIC;
    front = Padded(front + Raw(load) + Raw(dynamic_segment) + strings, 8);
    const uint64_t dynamic_at = front.size();
    front += dynamic_bytes;
    load.p_filesz = load.p_memsz = front.size();
    dynamic_segment.p_offset = dynamic_at;
    dynamic_segment.p_vaddr = kBase + dynamic_at;
    dynamic_segment.p_filesz = dynamic_bytes.size();
    Overwrite(front, sizeof(Elf64_Ehdr), load);
    Overwrite(front, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), dynamic_segment);
    auto* at = reinterpret_cast<Elf64_Ehdr*>(front.data());
    at->e_phoff = sizeof(Elf64_Ehdr);
    at->e_phentsize = sizeof(Elf64_Phdr);
    at->e_phnum = 2;
  }
  std::string out = Elf(std::move(front), elf.sections);
  auto* at = reinterpret_cast<Elf64_Ehdr*>(out.data());
  if (elf.extended_numbers) {
    auto* first = reinterpret_cast<Elf64_Shdr*>(out.data() + at->e_shoff);
    first->sh_size = at->e_shnum;
    first->sh_link = at->e_shstrndx;
    at->e_shnum = 0;
    at->e_shstrndx = SHN_XINDEX;
  }
  if (!elf.section_table) {
    out.resize(at->e_shoff);
    at = reinterpret_cast<Elf64_Ehdr*>(out.data());
    at->e_shoff = at->e_shnum = at->e_shstrndx = 0;
  }
  return out;
}

std::string SharedObject(const std::string& fatbins, int runtime_major) {
  HostElf elf;
  elf.sections = {{".text", SHT_PROGBITS, Noise(40)},
                  {".nv_fatbin", SHT_PROGBITS, fatbins},
                  {".nvFatBinSegment", SHT_PROGBITS, std::string(24, '\0')}};
  elf.needed = {"libc.so.6"};
  if (runtime_major) elf.needed.push_back(fmt::format("libcudart.so.{}", runtime_major));
  elf.dynamic_names = {"__cudaRegisterFatBinary"};
  return HostElfBytes(elf);
}

std::string PeBytes(const std::vector<PeSection>& sections, uint16_t machine) {
  constexpr size_t kHeaderAt = 0x80;
  constexpr size_t kOptionalSize = 240;
  std::string front = Padded("MZ", kHeaderAt);
  front = Patched(front, 0x3C, Number(kHeaderAt, 4));
  front += std::string("PE\0\0", 4) + Number(machine, 2) + Number(sections.size(), 2) +
           Number(0, 12) + Number(kOptionalSize, 2) + Number(0, 2) +
           std::string(kOptionalSize, '\0');
  size_t at = front.size() + sections.size() * 40;
  std::string bodies;
  for (const PeSection& section : sections) {
    front += Padded(section.name, 8).substr(0, 8) + Number(section.content.size(), 4) +
             Number(0, 4) + Number(section.content.size(), 4) + Number(at, 4) + Number(0, 16);
    bodies += section.content;
    at += section.content.size();
  }
  return front + bodies;
}

std::string Archive(const std::vector<ArMember>& members, ArNames names) {
  const auto header = [](std::string_view name, size_t size) {
    return fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name, 0, 0, 0, 644, size);
  };
  const auto body = [](const std::string& content) {
    return content.size() % 2 ? content + '\n' : content;
  };
  std::string out = "!<arch>\n";
  std::string table;
  std::vector<std::string> shown;
  for (const ArMember& member : members) {
    if (names == ArNames::kBsd) {
      shown.push_back(fmt::format("#1/{}", member.name.size()));
    } else if (member.name.size() < 16) {
      shown.push_back(member.name + '/');
    } else {
      shown.push_back(fmt::format("/{}", table.size()));
      table += member.name;
      table += names == ArNames::kGnu ? std::string("/\n") : std::string(1, '\0');
    }
  }
  if (!table.empty()) out += header("//", table.size()) + body(table);
  for (size_t i = 0; i < members.size(); ++i) {
    const std::string prefix = names == ArNames::kBsd ? members[i].name : "";
    out += header(shown[i], prefix.size() + members[i].content.size()) +
           body(prefix + members[i].content);
  }
  return out;
}

}  // namespace cuproof::build
