#include "link/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_fatbin.h"
#include "link/test_tree.h"

namespace cuproof {
namespace {

using build::DynamicElf;
using testing::IsEmpty;
using testing::SizeIs;

DynamicElf Wanting(std::vector<std::string> symbols, std::vector<std::string> needed = {}) {
  DynamicElf elf = Needing(std::move(needed));
  elf.rpath = "$ORIGIN";
  for (std::string& name : symbols) elf.symbols.push_back({std::move(name), false});
  return elf;
}

DynamicElf Defining(const std::vector<std::string>& symbols, std::string soname = {}) {
  DynamicElf elf;
  elf.soname = std::move(soname);
  for (const std::string& name : symbols) elf.symbols.push_back({name});
  return elf;
}

TEST(Resolve, AStrongUndefinedSymbolIsMissingAWeakOneIsNot) {
  TestTree tree;
  DynamicElf app = Wanting({"strong", "weak"});
  app.symbols[0].jump_slot = true;
  app.symbols[1].binding = STB_WEAK;
  const LoadReport report = tree.Ldd(tree.Add("app", app));
  ASSERT_THAT(report.missing_symbols, SizeIs(1));
  EXPECT_EQ(report.missing_symbols[0].name, "strong");
  EXPECT_EQ(report.missing_symbols[0].reason, MissingReason::kNowhere);
  EXPECT_TRUE(report.missing_symbols[0].function_only);
  EXPECT_FALSE(report.loads());
}

TEST(Resolve, ALocalLoadDoesNotServeALaterOne) {
  TestTree tree;
  tree.Ldd(tree.Add("app", Wanting({})));
  tree.process->Open(tree.Add("provider", Defining({"f"})));
  const std::string plugin = tree.Add("plugin", Wanting({"f"}));
  Process process = *tree.process;
  const LoadReport report = Resolve(process, process.Open(plugin));
  ASSERT_THAT(report.missing_symbols, SizeIs(1));
  EXPECT_EQ(report.missing_symbols[0].reason, MissingReason::kNotInScope);
  EXPECT_EQ(process.objects()[report.missing_symbols[0].elsewhere].path, tree.At("provider"));
  process = *tree.process;
  process.Open(tree.At("provider"), {.global = true});
  EXPECT_TRUE(Resolve(process, process.Open(plugin)).loads());
}

TEST(Resolve, AVersionThatTheLibraryLacks) {
  TestTree tree;
  DynamicElf library = Defining({"f"}, "libx.so");
  library.definitions = {{"libx.so", 1, VER_FLG_BASE}, {"X_3.4.9", 2}, {"X_3.4.30", 3}};
  library.symbols[0].version = 3;
  tree.Add("libx.so", library);
  DynamicElf app = Wanting({"f"}, {"libx.so"});
  app.symbols[0].version = 2;
  app.needs = {{"libx.so", "X_3.4.32", 2}, {"libx.so", "X_4", 3, VER_FLG_WEAK}};
  const LoadReport report = tree.Ldd(tree.Add("app", app));
  ASSERT_THAT(report.version_errors, SizeIs(2));
  EXPECT_TRUE(report.version_errors[0].fatal());
  EXPECT_EQ(report.version_errors[0].version, "X_3.4.32");
  EXPECT_EQ(report.version_errors[0].newest, "X_3.4.30");
  EXPECT_EQ(report.version_errors[1].kind, VersionErrorKind::kWeakNotFound);
  EXPECT_FALSE(report.version_errors[1].fatal());
  ASSERT_THAT(report.missing_symbols, SizeIs(1));
  EXPECT_EQ(report.missing_symbols[0].reason, MissingReason::kOtherVersion);
  EXPECT_EQ(report.missing_symbols[0].other_version, "X_3.4.30");
}

TEST(Resolve, ALibraryWithoutVersionsIsAWarning) {
  TestTree tree;
  tree.Add("libx.so", Defining({"f"}, "libx.so"));
  DynamicElf app = Wanting({"f"}, {"libx.so"});
  app.symbols[0].version = 2;
  app.needs = {{"libx.so", "X_1", 2}};
  const LoadReport report = tree.Ldd(tree.Add("app", app));
  ASSERT_THAT(report.version_errors, SizeIs(1));
  EXPECT_EQ(report.version_errors[0].kind, VersionErrorKind::kNoInformation);
  EXPECT_TRUE(report.loads());
}

TEST(Resolve, AVersionedSymbolMayHaveMovedToAnotherLibrary) {
  TestTree tree;
  DynamicElf old_home = Defining({}, "libold.so");
  old_home.definitions = {{"libold.so", 1, VER_FLG_BASE}, {"V", 2}};
  DynamicElf new_home = Defining({"f"}, "libnew.so");
  new_home.definitions = {{"libnew.so", 1, VER_FLG_BASE}, {"V", 2}};
  new_home.symbols[0].version = 2;
  tree.Add("libold.so", old_home);
  tree.Add("libnew.so", new_home);
  DynamicElf app = Wanting({"f"}, {"libold.so", "libnew.so"});
  app.symbols[0].version = 3;
  app.needs = {{"libold.so", "V", 3}};
  EXPECT_TRUE(tree.Ldd(tree.Add("app", app)).loads());
}

TEST(Resolve, DamagedExportsAreNoMissingSymbols) {
  TestTree tree;
  build::DynamicPlaces at;
  DynamicElf library = Defining({"f"}, "libx.so");
  const std::string bytes = build::DynamicElfBytes(library, &at);
  tree.Write("libx.so", build::Patched(bytes, at.gnu_hash + 8, build::Number(3, 4)));
  const LoadReport report = tree.Ldd(tree.Add("app", Wanting({"f"}, {"libx.so"})));
  EXPECT_THAT(report.missing_symbols, IsEmpty());
  ASSERT_THAT(report.damage, SizeIs(1));
  EXPECT_EQ(report.damage[0].file, tree.At("libx.so"));
}

TEST(Resolve, ImportsThatShareNamesOfMegabytesEndEarly) {
  TestTree tree;
  DynamicElf app;
  const std::string name(60'000, 'n');
  for (int i = 0; i < 3000; ++i) app.symbols.push_back({name, false});
  const LoadReport report = tree.Ldd(tree.Add("app", app));
  EXPECT_LT(report.missing_symbols.size(), 1200u);
  ASSERT_THAT(report.damage, SizeIs(1));
  EXPECT_EQ(report.damage[0].code, ErrorCode::kTooLarge);
}

TEST(Resolve, WhereAReferenceBinds) {
  TestTree tree;
  tree.Add("one", Defining({"f"}));
  tree.Add("two", Defining({"f", "g"}));
  const LoadReport report = tree.Ldd(tree.Add("app", Wanting({"f"}, {"one", "two"})));
  const auto binding = [&](const char* name) {
    return BindingOf(*tree.process, report.outcome.scope, MakeWanted(name));
  };
  EXPECT_EQ(tree.process->objects()[binding("f")].path, tree.At("one"));
  EXPECT_EQ(tree.process->objects()[binding("g")].path, tree.At("two"));
  EXPECT_EQ(binding("h"), kNoObject);
}

}  // namespace
}  // namespace cuproof
