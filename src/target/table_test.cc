#include "target/table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "bytes/embedded.h"
#include "target/facts.h"

namespace cuproof {
namespace {

Table Parsed(std::string_view text) {
  auto table = Table::Parse("test", text);
  EXPECT_TRUE(table) << table.error().Text();
  return table ? *table : Table();
}

TEST(Table, HasAHeaderRowCommentsAndRows) {
  const Table table = Parsed("# a comment\nsm\tname\n90\tH100\n# another\n\n100\tB200\n");
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table.At(0, "sm"), "90");
  EXPECT_EQ(table.At(1, "name"), "B200");
}

TEST(Table, CellsMayBeEmptyAndLinesMayEndInCrLf) {
  const Table table = Parsed("sm\tname\tlast\r\n90\t\t\r\n");
  ASSERT_EQ(table.size(), 1u);
  EXPECT_EQ(table.At(0, "name"), "");
  EXPECT_EQ(table.At(0, "last"), "");
}

TEST(Table, WhatIsNotThereIsEmpty) {
  const Table table = Parsed("sm\n90\n");
  EXPECT_EQ(table.At(0, "none"), "");
  EXPECT_EQ(table.At(7, "sm"), "");
  EXPECT_EQ(Parsed("").size(), 0u);
  EXPECT_EQ(Table::Get("no such table").size(), 0u);
}

TEST(Table, ARowWithAnotherNumberOfCellsIsAnErrorThatNamesTheLine) {
  const auto table = Table::Parse("gpus", "sm\tname\n90\tH100\n100\n");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().Text(), "gpus: line 3: expected 2 cells, got 1");
}

TEST(ParseVersion, IsTwoNumbersOrUnknown) {
  EXPECT_EQ(ParseVersion("13.0"), (Version{13, 0}));
  EXPECT_EQ(ParseVersion("9.10"), (Version{9, 10}));
  for (const char* text : {"", "13", "unknown", "13.", ".0", "13.0u1", "13.0.1", "0.5", "x.y",
                           "-1.0", "13.00", "99999.0", "1.99999"}) {
    EXPECT_EQ(ParseVersion(text), Version{}) << text;
  }
}

TEST(ParseNumber, IsDecimalOrZero) {
  EXPECT_EQ(ParseNumber("580"), 580u);
  for (const char* text : {"", "58x", "-1", " 1", "0x10", "99999999999"}) {
    EXPECT_EQ(ParseNumber(text), 0u) << text;
  }
}

TEST(ParseArch, TakesTheSuffix) {
  EXPECT_EQ(ParseArch("90"), (Arch{90, 0}));
  EXPECT_EQ(ParseArch("90a"), (Arch{90, 'a'}));
  EXPECT_EQ(ParseArch("100f"), (Arch{100, 'f'}));
  EXPECT_EQ(ParseArch("90b"), (Arch{0, 0}));
}

TEST(SplitList, KeepsEmptyParts) {
  EXPECT_EQ(SplitList("a;b;;c", ';'), (std::vector<std::string_view>{"a", "b", "", "c"}));
  EXPECT_EQ(SplitList("", ';'), (std::vector<std::string_view>{""}));
}

// The tables of data/.

TEST(DataTables, AreAllCompiledIn) {
  std::set<std::string_view> names;
  for (const EmbeddedText& table : EmbeddedTables()) names.insert(table.name);
  for (const char* name :
       {"archs", "driver_features", "error_codes", "families", "gpus", "launch_limits",
        "minor_compat", "nvcc_targets", "ptx_isa", "ptx_targets", "toolkits"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(DataTables, ParseAndHaveRows) {
  for (const EmbeddedText& text : EmbeddedTables()) {
    const auto table = Table::Parse(text.name, text.text);
    ASSERT_TRUE(table) << table.error().Text();
    EXPECT_GT(table->size(), 0u) << text.name;
  }
}

TEST(DataTables, EveryRowHasASourceADateAndWhatItWasVerifiedOn) {
  const std::regex iso_date("20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])");
  for (const EmbeddedText& text : EmbeddedTables()) {
    const Table& table = Table::Get(text.name);
    for (size_t i = 0; i < table.size(); ++i) {
      EXPECT_NE(table.At(i, "source"), "") << text.name << " row " << i;
      EXPECT_NE(table.At(i, "verified_on"), "") << text.name << " row " << i;
      EXPECT_TRUE(std::regex_match(std::string(table.At(i, "date")), iso_date))
          << text.name << " row " << i << ": " << table.At(i, "date");
    }
  }
}

TEST(DataTables, KeysAreUnique) {
  const std::pair<const char*, std::vector<const char*>> keys[] = {
      {"archs", {"sm"}},
      {"driver_features", {"feature"}},
      {"error_codes", {"number"}},
      {"families", {"f_target", "member"}},
      {"gpus", {"name"}},
      {"launch_limits", {"sm"}},
      {"minor_compat", {"cuda_major"}},
      {"nvcc_targets", {"cuda"}},
      {"ptx_isa", {"isa"}},
      {"ptx_targets", {"target"}},
      {"spill_annotations", {"cuda"}},
      {"toolkits", {"cuda"}}};
  for (const auto& [name, columns] : keys) {
    const Table& table = Table::Get(name);
    std::set<std::string> seen;
    for (size_t i = 0; i < table.size(); ++i) {
      std::string key;
      for (const char* column : columns) key += std::string(table.At(i, column)) + ' ';
      EXPECT_TRUE(seen.insert(key).second) << name << ": " << key;
    }
  }
}

TEST(DataTables, ArchitecturesOfOtherTablesAreInArchs) {
  const auto expect_known = [](std::string_view table, std::string_view target) {
    const uint32_t sm = CurrentSm(ParseArch(target).number);
    // Chips before Maxwell are named by old toolkits only.
    EXPECT_TRUE(sm < 50 || FindArch(sm)) << table << ": " << target;
  };
  const Table& gpus = Table::Get("gpus");
  for (size_t i = 0; i < gpus.size(); ++i) expect_known("gpus", gpus.At(i, "sm"));
  const Table& families = Table::Get("families");
  for (size_t i = 0; i < families.size(); ++i) {
    expect_known("families", families.At(i, "f_target"));
    expect_known("families", families.At(i, "member"));
  }
  const Table& targets = Table::Get("ptx_targets");
  for (size_t i = 0; i < targets.size(); ++i) expect_known("ptx_targets", targets.At(i, "target"));
  const Table& nvcc = Table::Get("nvcc_targets");
  for (size_t i = 0; i < nvcc.size(); ++i) {
    for (const auto target : SplitList(nvcc.At(i, "targets"), ';')) {
      expect_known("nvcc_targets", target);
    }
  }
}

TEST(DataTables, ArchsAgreeWithTheirOwnNumbersAndFamilies) {
  const Table& table = Table::Get("archs");
  for (size_t i = 0; i < table.size(); ++i) {
    const uint32_t sm = ParseNumber(table.At(i, "sm"));
    const Version capability = ParseVersion(table.At(i, "cc"));
    EXPECT_EQ(sm, capability.major * 10u + capability.minor);
    EXPECT_TRUE(ParseVersion(table.At(i, "first_cuda")).known()) << sm;
    for (const auto family : SplitList(table.At(i, "family"), ';')) {
      if (family.empty()) continue;
      EXPECT_EQ(InFamily(ParseArch(family).number, sm), true) << sm << " in " << family;
    }
  }
}

TEST(DataTables, PtxVersionsRiseWithToolkitsAndDrivers) {
  const Table& table = Table::Get("ptx_isa");
  Version isa;
  Version cuda;
  uint32_t branch = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_LT(isa, ParseVersion(table.At(i, "isa")));
    EXPECT_LT(cuda, ParseVersion(table.At(i, "cuda")));
    isa = ParseVersion(table.At(i, "isa"));
    cuda = ParseVersion(table.At(i, "cuda"));
    const uint32_t next = ParseNumber(table.At(i, "driver_branch"));
    if (next == 0) continue;
    EXPECT_LE(branch, next) << VersionText(isa);
    branch = next;
  }
}

TEST(DataTables, ToolkitsNameTheBranchOfTheirDriver) {
  const Table& table = Table::Get("toolkits");
  for (size_t i = 0; i < table.size(); ++i) {
    const std::string_view number = table.At(i, "driver_linux");
    if (number == "unknown") continue;
    EXPECT_EQ(number.substr(0, number.find('.')), table.At(i, "driver_branch"));
  }
}

// A folder of newer tables. The name of the table is of no other use, since tables are read once.

class DataFolder : public testing::Test {
 protected:
  DataFolder() {
    std::string pattern = testing::TempDir() + "/data.XXXXXX";
    if (mkdtemp(pattern.data())) folder_ = pattern;
  }
  ~DataFolder() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + '/' + name) << text;
  }
  std::string folder_;
};

TEST_F(DataFolder, ReplacesTheTablesOfItsNames) {
  Write("made_up.tsv", "a\tb\n1\t2\n");
  Write("readme.txt", "no table");
  const auto count = SetDataFolder(folder_);
  ASSERT_TRUE(count) << count.error().Text();
  EXPECT_EQ(*count, 1u);
  EXPECT_EQ(Table::Get("made_up").At(0, "b"), "2");
  EXPECT_GT(Table::Get("archs").size(), 0u);
}

TEST_F(DataFolder, ABadTableIsAnErrorThatNamesTheFile) {
  Write("made_up_too.tsv", "a\tb\n1\n");
  const auto count = SetDataFolder(folder_);
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().Text(), folder_ + "/made_up_too.tsv: line 2: expected 2 cells, got 1");
  EXPECT_EQ(Table::Get("made_up_too").size(), 0u);
}

TEST_F(DataFolder, WithoutTablesIsAnError) {
  EXPECT_EQ(SetDataFolder(folder_).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(SetDataFolder(folder_ + "/none"));
}

}  // namespace
}  // namespace cuproof
