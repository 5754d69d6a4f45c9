#include "symbol/dynamic_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_dynamic.h"
#include "build_fatbin.h"
#include "symbol/lookup.h"

namespace cuproof {
namespace {

using build::DynamicElf;
using build::DynamicElfBytes;
using build::DynamicPlaces;
using build::HashStyle;
using build::Number;
using build::Patched;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

DynamicObject Read(const std::string& bytes) {
  auto object = DynamicObject::Read(ByteView(bytes));
  EXPECT_TRUE(object.ok());
  return object.ok() ? std::move(*object) : DynamicObject();
}

std::vector<std::string> ExportNames(const DynamicObject& object) {
  std::vector<std::string> names;
  ForEachExport(object, [&](uint32_t, const Symbol& symbol) { names.emplace_back(symbol.name); });
  std::sort(names.begin(), names.end());
  return names;
}

DynamicElf Sample() {
  DynamicElf elf;
  elf.soname = "libmine.so.1";
  elf.needed = {"libc.so.6", "libcudart.so.13"};
  elf.symbols = {
      {"wanted", false, 3}, {"called", false}, {"mine"}, {"data", true, 2, STB_GLOBAL, STT_OBJECT}};
  elf.symbols[1].jump_slot = true;
  elf.definitions = {{"libmine.so.1", 1, VER_FLG_BASE}, {"MINE_1", 2}};
  elf.needs = {{"libc.so.6", "GLIBC_2.34", 3}, {"libc.so.6", "GLIBC_ABI_X", 4, VER_FLG_WEAK}};
  return elf;
}

TEST(DynamicObject, GivesWhatTheLoaderReads) {
  DynamicElf elf = Sample();
  elf.rpath = "$ORIGIN/../lib";
  elf.runpath = "/opt/lib";
  elf.interpreter = "/lib64/ld-linux-x86-64.so.2";
  elf.flags = DF_SYMBOLIC | DF_BIND_NOW;
  elf.flags_1 = DF_1_NODEFLIB | DF_1_PIE;
  const std::string bytes = DynamicElfBytes(elf);
  const DynamicObject object = Read(bytes);
  EXPECT_THAT(object.damage, IsEmpty());
  EXPECT_EQ(object.soname, "libmine.so.1");
  EXPECT_THAT(object.needed, ElementsAre("libc.so.6", "libcudart.so.13"));
  EXPECT_EQ(object.rpath, "$ORIGIN/../lib");
  EXPECT_EQ(object.runpath, "/opt/lib");
  EXPECT_EQ(object.interpreter, "/lib64/ld-linux-x86-64.so.2");
  EXPECT_TRUE(object.symbolic);
  EXPECT_TRUE(object.bind_now);
  EXPECT_TRUE(object.no_default_lib);
  EXPECT_TRUE(object.position_independent_executable);
  EXPECT_EQ(object.symbol_count(), 5u);
  EXPECT_THAT(ExportNames(object), ElementsAre("data", "mine"));
}

TEST(DynamicObject, VersionsByIndex) {
  const std::string bytes = DynamicElfBytes(Sample());
  const DynamicObject object = Read(bytes);
  ASSERT_THAT(object.definitions, SizeIs(2));
  EXPECT_TRUE(object.definitions[0].base);
  ASSERT_NE(object.DefinitionAt(2), nullptr);
  EXPECT_EQ(object.DefinitionAt(2)->name, "MINE_1");
  EXPECT_EQ(object.DefinitionAt(1), nullptr);
  ASSERT_NE(object.NeedAt(3), nullptr);
  EXPECT_EQ(object.NeedAt(3)->file, "libc.so.6");
  EXPECT_EQ(object.NeedAt(3)->name, "GLIBC_2.34");
  EXPECT_FALSE(object.NeedAt(3)->weak);
  EXPECT_TRUE(object.NeedAt(4)->weak);
  EXPECT_EQ(object.NeedAt(5), nullptr);
  EXPECT_EQ(object.VersionText(2), "MINE_1");
  EXPECT_EQ(object.VersionText(3), "GLIBC_2.34");
  EXPECT_EQ(object.VersionText(0x7FFF), "");
}

TEST(DynamicObject, ReferencesAreWhatRelocationsName) {
  DynamicElf elf = Sample();
  elf.symbols.push_back({"forgotten", false});
  elf.symbols.back().relocated = false;
  elf.symbols.push_back({"own", false});
  elf.symbols.back().visibility = STV_HIDDEN;
  const std::string bytes = DynamicElfBytes(elf);
  const DynamicObject object = Read(bytes);
  const auto references = object.References();
  ASSERT_THAT(references, SizeIs(2));
  EXPECT_EQ(object.NameAt(references[0].symbol), "wanted");
  EXPECT_FALSE(references[0].function_only);
  EXPECT_EQ(object.NameAt(references[1].symbol), "called");
  EXPECT_TRUE(references[1].function_only);
}

TEST(DynamicObject, ImportsWithoutAnyExportAreCountedByRelocations) {
  DynamicElf elf;
  elf.symbols = {{"a", false}, {"b", false}};
  const std::string bytes = DynamicElfBytes(elf);
  EXPECT_EQ(Read(bytes).symbol_count(), 3u);
}

TEST(DynamicObject, SysvAndBothTables) {
  for (const HashStyle style : {HashStyle::kSysv, HashStyle::kBoth}) {
    DynamicElf elf = Sample();
    elf.hash = style;
    const std::string bytes = DynamicElfBytes(elf);
    const DynamicObject object = Read(bytes);
    EXPECT_EQ(object.symbol_count(), 5u);
    EXPECT_TRUE(Lookup(object, MakeWanted("mine")).has_value());
    EXPECT_FALSE(Lookup(object, MakeWanted("other")).has_value());
  }
}

TEST(DynamicObject, AarchFilesAreReadTheSameWay) {
  DynamicElf elf = Sample();
  elf.machine = EM_AARCH64;
  const std::string bytes = DynamicElfBytes(elf);
  const DynamicObject object = Read(bytes);
  EXPECT_EQ(ElfMachineName(object.identity), "aarch64");
  EXPECT_TRUE(object.References()[1].function_only);
}

TEST(DynamicObject, OtherFilesAreErrorsWithTheLoadersWords) {
  EXPECT_EQ(DynamicObject::Read(ByteView("x")).error().phrase, "file too short: 1 bytes");
  EXPECT_EQ(DynamicObject::Read(ByteView("/* GNU ld script */")).error().code,
            ErrorCode::kTruncated);
  const std::string text(100, 't');
  EXPECT_EQ(DynamicObject::Read(ByteView(text)).error().phrase, "invalid ELF header: no ELF file");
  const std::string bytes = DynamicElfBytes({});
  EXPECT_EQ(DynamicObject::Read(ByteView(Patched(bytes, EI_CLASS, "\x01"))).error().code,
            ErrorCode::kUnsupported);
  EXPECT_EQ(DynamicObject::Read(ByteView(Patched(bytes, EI_DATA, "\x02"))).error().code,
            ErrorCode::kUnsupported);
}

TEST(DynamicObject, AFileWithoutADynamicSectionIsEmpty) {
  build::HostElf elf;
  elf.type = ET_REL;
  const std::string bytes = build::HostElfBytes(elf);
  const DynamicObject object = Read(bytes);
  EXPECT_EQ(object.symbol_count(), 0u);
  EXPECT_THAT(object.needed, IsEmpty());
}

TEST(DynamicObject, CutShortAnywhereKeepsWhatCanBeRead) {
  const std::string bytes = DynamicElfBytes(Sample());
  for (size_t size = 64; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    const DynamicObject object = Read(cut);
    EXPECT_THAT(object.damage, testing::Not(IsEmpty())) << size;
    ForEachExport(object, [](uint32_t, const Symbol&) {});
    object.References();
    Lookup(object, MakeWanted("mine"));
  }
}

TEST(DynamicObject, EveryByteTurnedOverIsSurvived) {
  DynamicElf elf = Sample();
  elf.hash = HashStyle::kBoth;
  std::string bytes = DynamicElfBytes(elf);
  for (size_t i = EI_DATA + 1; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ 0xFF);
    const auto object = DynamicObject::Read(ByteView(bytes));
    if (object) {
      ForEachExport(*object, [](uint32_t, const Symbol&) {});
      for (const SymbolReference& reference : object->References()) {
        Lookup(*object, MakeWanted(*object, object->SymbolAt(reference.symbol)));
      }
    }
    bytes[i] = static_cast<char>(bytes[i] ^ 0xFF);
  }
}

TEST(DynamicObject, AChainThatLoopsMakesExportsUnknown) {
  DynamicElf elf;
  elf.hash = HashStyle::kSysv;
  elf.buckets = 1;
  elf.symbols = {{"a"}, {"b"}, {"c"}};
  DynamicPlaces at;
  std::string bytes = DynamicElfBytes(elf, &at);
  // One bucket; the chain of the first symbol leads back to the last.
  bytes = Patched(bytes, at.sysv_hash + 8 + 4 + 4, Number(3, 4));
  const DynamicObject object = Read(bytes);
  EXPECT_TRUE(object.exports_unknown());
  ASSERT_THAT(object.damage, SizeIs(1));
  EXPECT_FALSE(Lookup(object, MakeWanted("z")).has_value());
}

TEST(DynamicObject, AGnuChainWithoutEndMakesExportsUnknown) {
  DynamicPlaces at;
  DynamicElf elf;
  elf.symbols = {{"a"}, {"b"}};
  elf.buckets = 1;
  std::string bytes = DynamicElfBytes(elf, &at);
  const size_t chains = at.gnu_hash + 16 + 8 + 4;
  for (size_t i = chains; i + 4 <= bytes.size(); i += 4) {
    bytes[i] = static_cast<char>(bytes[i] & ~1);
  }
  // The texts behind have changed too; the tables before them have not.
  EXPECT_TRUE(Read(bytes).exports_unknown());
}

TEST(DynamicObject, AFilterThatIsNoPowerOfTwoIsDamage) {
  DynamicPlaces at;
  const std::string bytes = DynamicElfBytes(Sample(), &at);
  for (const uint64_t words : {0ull, 3ull, 0x80000000ull}) {
    const std::string damaged = Patched(bytes, at.gnu_hash + 8, Number(words, 4));
    EXPECT_TRUE(Read(damaged).exports_unknown()) << words;
  }
}

TEST(DynamicObject, LongChainsCostNoTime) {
  DynamicElf elf;
  elf.buckets = 1;
  for (int i = 0; i < 2000; ++i) elf.symbols.push_back({"s" + std::to_string(i)});
  const std::string bytes = DynamicElfBytes(elf);
  EXPECT_TRUE(Read(bytes).exports_unknown());
  elf.buckets = 100;
  const std::string sound = DynamicElfBytes(elf);
  const DynamicObject object = Read(sound);
  EXPECT_FALSE(object.exports_unknown());
  EXPECT_TRUE(Lookup(object, MakeWanted("s1999")).has_value());
}

TEST(DynamicObject, VersionsThatLeadOutsideAreDamage) {
  DynamicPlaces at;
  const std::string bytes = DynamicElfBytes(Sample(), &at);
  const std::string needs =
      Patched(bytes, at.needs + offsetof(Elf64_Verneed, vn_next), Number(0xFFFFFFF0, 4));
  EXPECT_THAT(Read(needs).damage, SizeIs(1));
  const std::string definitions =
      Patched(bytes, at.definitions + offsetof(Elf64_Verdef, vd_aux), Number(0xFFFFFFF0, 4));
  EXPECT_THAT(Read(definitions).damage, SizeIs(1));
}

TEST(DynamicObject, NamesOfMegabytesAreCut) {
  DynamicElf elf;
  elf.symbols = {{std::string(1 << 20, 'n')}};
  const std::string bytes = DynamicElfBytes(elf);
  EXPECT_EQ(Read(bytes).NameAt(1).size(), 65536u);
}

}  // namespace
}  // namespace cuproof
