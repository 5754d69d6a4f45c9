#include "symbol/sections.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace cuproof {
namespace {

using testing::ElementsAre;

void Append(std::string& bytes, const void* data, size_t size) {
  bytes.append(static_cast<const char*>(data), size);
}

// A file with .rodata, .symtab and its names; all of it by section headers.
std::string File(const std::string& rodata, const std::vector<std::string>& locals) {
  const std::string names(".rodata\0.symtab\0.strtab\0", 24);
  std::string texts(1, '\0');
  std::string symbols(sizeof(Elf64_Sym), '\0');
  for (const std::string& local : locals) {
    Elf64_Sym symbol = {};
    symbol.st_name = static_cast<uint32_t>(texts.size());
    symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
    texts += local + '\0';
    Append(symbols, &symbol, sizeof(symbol));
  }
  std::string bytes(sizeof(Elf64_Ehdr), '\0');
  std::vector<Elf64_Shdr> sections(1);
  const auto add = [&](uint32_t name, uint32_t type, const std::string& data) {
    Elf64_Shdr section = {};
    section.sh_name = name;
    section.sh_type = type;
    section.sh_offset = bytes.size();
    section.sh_size = data.size();
    bytes += data;
    sections.push_back(section);
  };
  add(0, SHT_PROGBITS, rodata);
  add(8, SHT_SYMTAB, symbols);
  sections.back().sh_link = 3;
  sections.back().sh_info = static_cast<uint32_t>(symbols.size() / sizeof(Elf64_Sym));
  sections.back().sh_entsize = sizeof(Elf64_Sym);
  add(16, SHT_STRTAB, texts);
  add(23, SHT_STRTAB, names);
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = bytes.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(sections.size());
  header.e_shstrndx = 4;
  std::memcpy(bytes.data(), &header, sizeof(header));
  Append(bytes, sections.data(), sections.size() * sizeof(Elf64_Shdr));
  return bytes;
}

std::vector<std::string> Constants(const std::string& bytes, std::string_view prefix) {
  std::vector<std::string> found;
  ForEachConstant(ByteView(bytes), prefix,
                  [&](std::string_view text) { found.emplace_back(text); });
  return found;
}

TEST(Sections, TextsThatStandAlone) {
  const std::string bytes = File(std::string("_Zone\0no_Ztwo\0_Zthree\0_Zopen", 28), {});
  EXPECT_THAT(Constants(bytes, "_Z"), ElementsAre("_Zone", "_Zthree"));
  EXPECT_EQ(SectionNamed(ByteView(bytes), ".rodata")->size(), 28u);
  EXPECT_FALSE(SectionNamed(ByteView(bytes), ".text").has_value());
}

TEST(Sections, LocalNames) {
  const std::string bytes = File("", {"_ZL3one", "two"});
  std::vector<std::string> names;
  ForEachLocalName(ByteView(bytes), [&](std::string_view name) { names.emplace_back(name); });
  EXPECT_THAT(names, ElementsAre("_ZL3one", "two"));
}

TEST(Sections, DamageIsNothingToRead) {
  const std::string bytes = File(std::string("_Zone\0", 6), {"a"});
  for (size_t n = 0; n <= bytes.size(); ++n) {
    const std::string part = bytes.substr(0, n);
    Constants(part, "_Z");
    ForEachLocalName(ByteView(part), [](std::string_view) {});
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string turned = bytes;
    turned[i] = static_cast<char>(~turned[i]);
    Constants(turned, "_Z");
    ForEachLocalName(ByteView(turned), [](std::string_view) {});
  }
}

}  // namespace
}  // namespace cuproof
