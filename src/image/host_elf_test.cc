#include "image/host_elf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "build_fatbin.h"

namespace cuproof {
namespace {

using build::HostElf;
using testing::ElementsAre;
using testing::IsEmpty;

HostObject Read(const std::string& bytes) { return ReadHostElf(ByteView(bytes)); }

std::vector<std::string> Names(const HostObject& host) {
  std::vector<std::string> names;
  for (const NamedRange& range : host.ranges) names.push_back(range.name);
  return names;
}

HostElf TwoSections() {
  HostElf elf;
  elf.sections = {{".text", SHT_PROGBITS, "code"}, {".nv_fatbin", SHT_PROGBITS, "images"}};
  return elf;
}

TEST(HostElf, GivesMachineSectionsAndNeeds) {
  HostElf elf = TwoSections();
  elf.needed = {"libcudart.so.13", "libc.so.6"};
  const std::string bytes = build::HostElfBytes(elf);
  const HostObject host = Read(bytes);
  EXPECT_EQ(host.machine, "x86-64");
  EXPECT_THAT(Names(host), ElementsAre(".text", ".nv_fatbin", ".shstrtab"));
  EXPECT_EQ(bytes.substr(host.ranges[1].offset, host.ranges[1].size), "images");
  EXPECT_THAT(host.needed, ElementsAre("libcudart.so.13", "libc.so.6"));
  EXPECT_FALSE(host.registers_fatbin);
  EXPECT_THAT(host.damage, IsEmpty());
}

TEST(HostElf, MachinesByNameOrNumber) {
  HostElf elf;
  elf.machine = EM_AARCH64;
  EXPECT_EQ(Read(build::HostElfBytes(elf)).machine, "aarch64");
  elf.machine = EM_PPC64;
  EXPECT_EQ(Read(build::HostElfBytes(elf)).machine, "machine 21");
}

TEST(HostElf, RegistrationIsAnImportOrATextInAnObjectsNames) {
  HostElf elf;
  elf.dynamic_names = {"__cudaRegisterFatBinary"};
  EXPECT_TRUE(Read(build::HostElfBytes(elf)).registers_fatbin);
  HostElf object;
  object.type = ET_REL;
  object.sections = {{".strtab", SHT_STRTAB, "\0__cudaRegisterFatBinary"}};
  object.sections[0].content[0] = '\0';
  EXPECT_FALSE(Read(build::HostElfBytes(TwoSections())).registers_fatbin);
  object.sections = {{".strtab", SHT_STRTAB, "x__cudaRegisterFatBinary"}};
  EXPECT_TRUE(Read(build::HostElfBytes(object)).registers_fatbin);
  // In a linked file's own string table it is a name for debuggers.
  object.type = ET_DYN;
  EXPECT_FALSE(Read(build::HostElfBytes(object)).registers_fatbin);
}

TEST(HostElf, TheRuntimeItselfRegistersNothing) {
  HostElf elf;
  elf.dynamic_names = {"__cudaRegisterFatBinary"};
  elf.soname = "libcudart.so.13";
  EXPECT_EQ(Read(build::HostElfBytes(elf)).soname, "libcudart.so.13");
  EXPECT_FALSE(Read(build::HostElfBytes(elf)).registers_fatbin);
  elf.soname = "libmine.so";
  EXPECT_TRUE(Read(build::HostElfBytes(elf)).registers_fatbin);
}

TEST(HostElf, AStrippedSectionTableIsNormalAndNeedsAreStillRead) {
  HostElf elf = TwoSections();
  elf.section_table = false;
  elf.needed = {"libcudart.so.12"};
  const HostObject host = Read(build::HostElfBytes(elf));
  EXPECT_THAT(host.ranges, IsEmpty());
  EXPECT_THAT(host.damage, IsEmpty());
  EXPECT_THAT(host.needed, ElementsAre("libcudart.so.12"));
}

TEST(HostElf, ExtendedSectionNumbers) {
  HostElf elf = TwoSections();
  elf.extended_numbers = true;
  EXPECT_THAT(Names(Read(build::HostElfBytes(elf))),
              ElementsAre(".text", ".nv_fatbin", ".shstrtab"));
}

TEST(HostElf, MoreSectionsThanSixteenBitsCount) {
  HostElf elf;
  elf.extended_numbers = true;
  for (int i = 0; i < 3; ++i) elf.sections.push_back({".s", SHT_PROGBITS, "x"});
  std::string bytes = build::HostElfBytes(elf);
  const auto at = *ByteView(bytes).Load<uint64_t>(0x28);
  // 70,000 headers, all but the first few of them empty.
  bytes.resize(at + 70'000 * sizeof(Elf64_Shdr), '\0');
  bytes = build::Patched(bytes, at + offsetof(Elf64_Shdr, sh_size), build::Number(70'000, 8));
  EXPECT_THAT(Names(Read(bytes)), ElementsAre(".s", ".s", ".s", ".shstrtab"));
  bytes = build::Patched(bytes, at + offsetof(Elf64_Shdr, sh_size), build::Number(UINT64_MAX, 8));
  EXPECT_EQ(Read(bytes).damage.size(), 1u);
}

TEST(HostElf, SectionsWithoutBytesInTheFileAreLeftOut) {
  HostElf elf = TwoSections();
  build::Section bss = {".bss", SHT_NOBITS};
  bss.size = 1 << 20;
  build::Section far = {".far", SHT_PROGBITS, "x"};
  far.offset = UINT64_MAX - 2;
  elf.sections.push_back(bss);
  elf.sections.push_back(far);
  EXPECT_THAT(Names(Read(build::HostElfBytes(elf))),
              ElementsAre(".text", ".nv_fatbin", ".shstrtab"));
}

TEST(HostElf, ASectionTableBehindTheEndIsDamage) {
  const std::string bytes = build::HostElfBytes(TwoSections());
  const HostObject host = Read(bytes.substr(0, bytes.size() - 1));
  ASSERT_EQ(host.damage.size(), 1u);
  EXPECT_EQ(host.damage[0].code, ErrorCode::kTruncated);
  EXPECT_EQ(host.machine, "x86-64");
  for (const uint64_t at : {UINT64_MAX, UINT64_MAX - 63, uint64_t{1} << 50}) {
    EXPECT_EQ(Read(build::Patched(bytes, 0x28, build::Number(at, 8))).damage.size(), 1u) << at;
  }
}

TEST(HostElf, SectionHeadersOfAnotherSizeAreDamage) {
  const std::string bytes = build::HostElfBytes(TwoSections());
  EXPECT_EQ(Read(build::Patched(bytes, 0x3A, build::Number(32, 2))).damage.size(), 1u);
}

TEST(HostElf, ANameTableThatLiesElsewhereGivesNoNames) {
  const std::string bytes = build::HostElfBytes(TwoSections());
  const HostObject host = Read(build::Patched(bytes, 0x3E, build::Number(999, 2)));
  EXPECT_THAT(Names(host), ElementsAre("", "", ""));
  EXPECT_THAT(host.damage, IsEmpty());
}

TEST(HostElf, ThirtyTwoBitAndBigEndianAreNamedAndNotRead) {
  const std::string bytes = build::HostElfBytes(TwoSections());
  for (const size_t at : {size_t{EI_CLASS}, size_t{EI_DATA}}) {
    const HostObject host = Read(build::Patched(bytes, at, at == EI_CLASS ? "\x01" : "\x02"));
    EXPECT_EQ(host.machine, "32-bit or big-endian");
    EXPECT_THAT(host.ranges, IsEmpty());
    EXPECT_THAT(host.damage, IsEmpty());
  }
}

// The header of a 32-bit file has 52 bytes.
TEST(HostElf, ASmallThirtyTwoBitFileIsNoDamage) {
  const std::string bytes = build::Patched(build::HostElfBytes({}).substr(0, 52), EI_CLASS, "\x01");
  EXPECT_THAT(Read(bytes).damage, IsEmpty());
}

TEST(HostElf, AHeaderThatIsCutIsDamage) {
  const std::string bytes = build::HostElfBytes({});
  const HostObject host = Read(bytes.substr(0, 63));
  ASSERT_EQ(host.damage.size(), 1u);
  EXPECT_EQ(host.damage[0].phrase, "an ELF header has 64 bytes, the file 63");
}

TEST(HostElf, ProgramHeadersThatLieGiveNoNeeds) {
  HostElf elf = TwoSections();
  elf.needed = {"libcudart.so.13"};
  const std::string bytes = build::HostElfBytes(elf);
  for (const uint64_t at : {uint64_t{1} << 40, UINT64_MAX - 8, UINT64_MAX}) {
    const HostObject host = Read(build::Patched(bytes, 0x20, build::Number(at, 8)));
    EXPECT_THAT(Names(host), ElementsAre(".text", ".nv_fatbin", ".shstrtab"));
  }
  EXPECT_THAT(Read(build::Patched(bytes, 0x36, build::Number(40, 2))).needed, IsEmpty());
}

TEST(HostElf, HostileSectionsThatShareOneNameAndOneTextCostNoTime) {
  HostElf elf;
  elf.type = ET_REL;
  elf.sections = {{std::string(100'000, 'n'), SHT_PROGBITS, "x"},
                  {".strtab", SHT_STRTAB, std::string(1 << 20, 's')}};
  std::string bytes = build::HostElfBytes(elf);
  const auto at = *ByteView(bytes).Load<uint64_t>(0x28);
  const std::string long_name = bytes.substr(at + sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
  const std::string text = bytes.substr(at + 2 * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
  const std::string names = bytes.substr(at + 3 * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
  bytes.resize(at + sizeof(Elf64_Shdr));
  for (int i = 0; i < 20'000; ++i) bytes += long_name + text;
  bytes += names;
  bytes = build::Patched(bytes, 0x3C, build::Number(40'002, 2) + build::Number(40'001, 2));
  const HostObject host = Read(bytes);
  EXPECT_EQ(host.ranges.size(), 40'001u);
  EXPECT_EQ(host.ranges[0].name.size(), 256u);
}

}  // namespace
}  // namespace cuproof
