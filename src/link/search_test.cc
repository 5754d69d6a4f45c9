#include "link/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_fatbin.h"
#include "link/test_tree.h"

namespace cuproof {
namespace {

using build::DynamicElf;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string FoundAt(TestTree& tree, const std::string& program, const std::string& name) {
  tree.Ldd(program);
  const uint32_t found = tree.process->FindLoaded(name);
  return found == kNoObject ? "" : tree.process->objects()[found].path;
}

TEST(Search, RpathOfTheObjectAndOfItsLoaders) {
  TestTree tree;
  DynamicElf program = Needing({"liba.so"});
  program.rpath = "$ORIGIN/libs";
  const std::string path = tree.Add("app", program);
  tree.Add("libs/liba.so", Needing({"libb.so"}));
  const std::string inherited = tree.Add("libs/libb.so", {});
  EXPECT_EQ(FoundAt(tree, path, "libb.so"), inherited);
}

TEST(Search, RunpathIsOfTheObjectAloneAndSilencesRpath) {
  TestTree tree;
  DynamicElf program = Needing({"liba.so"});
  program.runpath = "$ORIGIN/libs";
  program.rpath = "$ORIGIN/other";
  const std::string path = tree.Add("app", program);
  const std::string winner = tree.Add("libs/liba.so", Needing({"libb.so"}));
  tree.Add("other/liba.so", {});
  tree.Add("libs/libb.so", {});
  EXPECT_EQ(FoundAt(tree, path, "liba.so"), winner);
  EXPECT_THAT(MissingNames(tree.Ldd(path)), ElementsAre("libb.so"));
}

TEST(Search, AnObjectWithRunpathDoesNotAskTheRpathOfItsLoader) {
  TestTree tree;
  DynamicElf program = Needing({"liba.so"});
  program.rpath = "$ORIGIN/libs";
  const std::string path = tree.Add("app", program);
  DynamicElf a = Needing({"libb.so"});
  a.runpath = "$ORIGIN/nowhere";
  tree.Add("libs/liba.so", a);
  tree.Add("libs/libb.so", {});
  EXPECT_THAT(MissingNames(tree.Ldd(path)), ElementsAre("libb.so"));
}

TEST(Search, RpathThenLibraryPathThenRunpathThenDefault) {
  TestTree tree;
  const std::string rpath = tree.Add("rpath/liba.so", {});
  const std::string variable = tree.Add("variable/liba.so", {});
  const std::string runpath = tree.Add("runpath/liba.so", {});
  const std::string standard = tree.Add("system/usr/lib/liba.so", {});
  DynamicElf program = Needing({"liba.so"});
  EXPECT_EQ(FoundAt(tree, tree.Add("app1", program), "liba.so"), standard);
  program.runpath = "$ORIGIN/runpath";
  EXPECT_EQ(FoundAt(tree, tree.Add("app2", program), "liba.so"), runpath);
  tree.environment.library_path = {tree.At("variable")};
  // A path of the variable is one of the modelled system.
  std::filesystem::create_directories(tree.At("system"));
  tree.environment.system.sysroot = "";
  EXPECT_EQ(FoundAt(tree, tree.Add("app3", program), "liba.so"), variable);
  program.runpath.reset();
  program.rpath = "${ORIGIN}/rpath";
  EXPECT_EQ(FoundAt(tree, tree.Add("app4", program), "liba.so"), rpath);
}

TEST(Search, TokensOfThePath) {
  TestTree tree;
  tree.environment.system.sysroot = "";
  const Searcher searcher(tree.environment, tree.files);
  EXPECT_EQ(searcher.Expand("$ORIGIN/../lib", "/opt/x/liba.so"), "/opt/x/../lib");
  EXPECT_EQ(searcher.Expand("${ORIGIN}", "/liba.so"), "/");
  EXPECT_EQ(searcher.Expand("/usr/$LIB/$PLATFORM/", ""), "/usr/lib/x86_64");
  EXPECT_EQ(searcher.Expand("/usr/$OTHER", ""), "/usr/$OTHER");
  EXPECT_EQ(searcher.Expand("", ""), ".");
}

TEST(Search, FilesOfOtherMachinesAreSkippedAndSaid) {
  TestTree tree;
  DynamicElf other;
  other.machine = EM_AARCH64;
  tree.Add("one/liba.so", other);
  tree.Write("two/liba.so", build::Patched(build::DynamicElfBytes({}), EI_CLASS, "\x01"));
  const std::string good = tree.Add("three/liba.so", {});
  DynamicElf program = Needing({"liba.so", "libonly.so"});
  tree.Add("one/libonly.so", other);
  program.rpath = "$ORIGIN/one:$ORIGIN/two:$ORIGIN/three";
  const std::string path = tree.Add("app", program);
  EXPECT_EQ(FoundAt(tree, path, "liba.so"), good);
  const LoadReport report = tree.Ldd(path);
  ASSERT_THAT(report.outcome.missing, SizeIs(1));
  ASSERT_THAT(report.outcome.missing[0].unfit, SizeIs(1));
  EXPECT_TRUE(report.outcome.missing[0].unfit[0].other_machine);
}

TEST(Search, AFileThatIsNoLibraryEndsTheSearch) {
  TestTree tree;
  tree.Write("one/liba.so", std::string(100, '#'));
  tree.Add("two/liba.so", {});
  DynamicElf program = Needing({"liba.so"});
  program.rpath = "$ORIGIN/one:$ORIGIN/two";
  const LoadReport report = tree.Ldd(tree.Add("app", program));
  ASSERT_THAT(report.outcome.missing, SizeIs(1));
  EXPECT_EQ(report.outcome.missing[0].unreadable, tree.At("one/liba.so"));
}

TEST(Search, FoldersForBetterProcessorsComeFirst) {
  TestTree tree;
  tree.environment.system.hwcaps = {"x86-64-v3", "x86-64-v2"};
  tree.Add("libs/liba.so", {});
  const std::string better = tree.Add("libs/glibc-hwcaps/x86-64-v2/liba.so", {});
  DynamicElf program = Needing({"liba.so"});
  program.rpath = "$ORIGIN/libs";
  EXPECT_EQ(FoundAt(tree, tree.Add("app", program), "liba.so"), better);
}

TEST(Search, NodeflibLeavesTheDefaultFoldersOut) {
  TestTree tree;
  tree.Add("system/usr/lib/liba.so", {});
  DynamicElf program = Needing({"liba.so"});
  EXPECT_THAT(MissingNames(tree.Ldd(tree.Add("app1", program))), IsEmpty());
  program.flags_1 = DF_1_NODEFLIB;
  EXPECT_THAT(MissingNames(tree.Ldd(tree.Add("app2", program))), ElementsAre("liba.so"));
}

TEST(Search, WhatTheWinnerShadows) {
  TestTree tree;
  tree.Add("one/liba.so", {});
  const std::string loser = tree.Add("two/liba.so", {});
  DynamicElf program = Needing({"liba.so"});
  program.rpath = "$ORIGIN/one:$ORIGIN/two";
  tree.Ldd(tree.Add("app", program));
  const auto others = tree.process->ShadowedBy(tree.process->FindLoaded("liba.so"));
  ASSERT_THAT(others, SizeIs(1));
  EXPECT_EQ(others[0].path, loser);
  EXPECT_EQ(others[0].step.raw, "$ORIGIN/two");
}

TEST(Search, FoldersOfTheConfigurationWhereThereIsNoCache) {
  TestTree tree;
  const std::string path = tree.Add("system/opt/libs/liba.so", {});
  tree.environment.system.configured_folders = {"/opt/libs"};
  EXPECT_EQ(FoundAt(tree, tree.Add("app", Needing({"liba.so"})), "liba.so"), path);
}

}  // namespace
}  // namespace cuproof
