#include "symbol/lookup.h"

#include <gtest/gtest.h>

#include "build_dynamic.h"

namespace cuproof {
namespace {

using build::DynamicElf;
using build::DynamicSymbol;

constexpr uint16_t kHidden = 0x8000;

/// An object with these symbols, and versions V1 (2), V2 (3) and V3 (4) where `versions` says so.
class Library {
 public:
  explicit Library(std::vector<DynamicSymbol> symbols, bool versions = true,
                   build::HashStyle hash = build::HashStyle::kGnu) {
    DynamicElf elf;
    elf.symbols = std::move(symbols);
    elf.hash = hash;
    if (versions) {
      elf.definitions = {{"libx.so", 1, VER_FLG_BASE}, {"V1", 2}, {"V2", 3}, {"V3", 4}};
    }
    bytes_ = build::DynamicElfBytes(elf);
    object_ = *DynamicObject::Read(ByteView(bytes_));
  }

  /// The version index of what is found, with the hidden bit; -1 for nothing.
  int Find(std::string_view name, std::string_view version = {}) const {
    const auto found = Lookup(object_, MakeWanted(name, version));
    if (!found) return -1;
    return found->symbol.version | (found->symbol.hidden_version ? kHidden : 0);
  }
  const DynamicObject& object() const { return object_; }

 private:
  std::string bytes_;
  DynamicObject object_;
};

TEST(Lookup, HashesAsTheSpecificationsGiveThem) {
  EXPECT_EQ(GnuHashOf(""), 5381u);
  EXPECT_EQ(GnuHashOf("printf"), 0x156b2bb8u);
  EXPECT_EQ(SysvHashOf("printf"), 0x077905a6u);
  EXPECT_EQ(SysvHashOf("GLIBC_2.2.5"), 0x09691a75u);
}

TEST(Lookup, AVersionedReferenceTakesItsVersionHiddenOrNot) {
  const Library library({{"f", true, 2 | kHidden}, {"f", true, 3}});
  EXPECT_EQ(library.Find("f", "V1"), 2 | kHidden);
  EXPECT_EQ(library.Find("f", "V2"), 3);
  EXPECT_EQ(library.Find("f", "V3"), -1);
}

TEST(Lookup, AReferenceWithoutVersionTakesTheFirstVersionEverDefined) {
  const Library library({{"f", true, 2 | kHidden}, {"f", true, 3}});
  EXPECT_EQ(library.Find("f"), 2 | kHidden);
}

TEST(Lookup, AReferenceWithoutVersionTakesALaterOneIfThatIsTheOnlyDefault) {
  EXPECT_EQ(Library({{"f", true, 3}}).Find("f"), 3);
  EXPECT_EQ(Library({{"f", true, 3 | kHidden}}).Find("f"), -1);
  EXPECT_EQ(Library({{"f", true, 3 | kHidden}, {"f", true, 4}}).Find("f"), 4);
}

TEST(Lookup, ADefinitionWithoutVersionServesEveryReference) {
  EXPECT_EQ(Library({{"f", true, 1}}).Find("f", "V9"), 1);
  EXPECT_EQ(Library({{"f", true, 1}}, false).Find("f", "V9"), 1);
  EXPECT_EQ(Library({{"f", true, 1 | kHidden}}).Find("f", "V9"), -1);
}

TEST(Lookup, UndefinedLocalHiddenAndValuelessSymbolsDoNotServe) {
  EXPECT_EQ(Library({{"f", false}}).Find("f"), -1);
  DynamicSymbol symbol{"f"};
  symbol.binding = STB_LOCAL;
  EXPECT_EQ(Library({symbol}).Find("f"), -1);
  symbol = {"f"};
  symbol.visibility = STV_HIDDEN;
  EXPECT_EQ(Library({symbol}).Find("f"), -1);
  symbol.visibility = STV_PROTECTED;
  EXPECT_EQ(Library({symbol}).Find("f"), 1);
  symbol.value = 0;
  EXPECT_EQ(Library({symbol}).Find("f"), -1);
  symbol.section = SHN_ABS;
  EXPECT_EQ(Library({symbol}).Find("f"), 1);
  symbol = {"f"};
  symbol.value = 0;
  symbol.type = STT_TLS;
  EXPECT_EQ(Library({symbol}).Find("f"), 1);
  symbol = {"f"};
  symbol.type = STT_FILE;
  EXPECT_EQ(Library({symbol}).Find("f"), -1);
}

TEST(Lookup, WeakAndUniqueDefinitionsServe) {
  DynamicSymbol symbol{"f"};
  symbol.binding = STB_WEAK;
  EXPECT_EQ(Library({symbol}).Find("f"), 1);
  symbol.binding = STB_GNU_UNIQUE;
  EXPECT_EQ(Library({symbol}).Find("f"), 1);
}

TEST(Lookup, TheSameInASysvTable) {
  const Library library({{"f", true, 2 | kHidden}, {"f", true, 3}, {"g", true, 1}}, true,
                        build::HashStyle::kSysv);
  EXPECT_EQ(library.Find("f", "V1"), 2 | kHidden);
  EXPECT_EQ(library.Find("f", "V2"), 3);
  EXPECT_EQ(library.Find("g", "V9"), 1);
  EXPECT_EQ(library.Find("h"), -1);
}

TEST(Lookup, NamesThatStartTheSameAreOthers) {
  const Library library({{"abc"}, {"ab"}});
  EXPECT_EQ(library.Find("ab"), 1);
  EXPECT_EQ(library.Find("a"), -1);
  EXPECT_EQ(library.Find("abcd"), -1);
}

TEST(Lookup, AnyVersionPrefersTheDefault) {
  const Library library({{"f", true, 2 | kHidden}, {"f", true, 3}});
  const auto found = LookupAnyVersion(library.object(), "f");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->symbol.version, 3);
  EXPECT_FALSE(LookupAnyVersion(library.object(), "g").has_value());
}

TEST(Lookup, AReferenceOfAnObjectCarriesItsVersionAndFile) {
  DynamicElf elf;
  elf.symbols = {{"f", false, 5}, {"g", false, 1}};
  elf.needs = {{"libx.so.1", "V2", 5}};
  const std::string bytes = build::DynamicElfBytes(elf);
  const auto object = DynamicObject::Read(ByteView(bytes));
  const Wanted f = MakeWanted(*object, object->SymbolAt(1));
  EXPECT_EQ(f.version, "V2");
  EXPECT_EQ(f.version_file, "libx.so.1");
  EXPECT_EQ(f.version_hash, SysvHashOf("V2"));
  EXPECT_EQ(MakeWanted(*object, object->SymbolAt(2)).version, "");
}

}  // namespace
}  // namespace cuproof
