#include "link/closure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "link/test_tree.h"

namespace cuproof {
namespace {

using build::DynamicElf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

DynamicElf Here(std::vector<std::string> needed, std::string soname = {}) {
  DynamicElf elf = Needing(std::move(needed));
  elf.rpath = "$ORIGIN";
  elf.soname = std::move(soname);
  return elf;
}

std::vector<std::string> Names(const Process& process, const std::vector<uint32_t>& objects) {
  std::vector<std::string> names;
  for (const uint32_t index : objects) {
    const std::string& path = process.objects()[index].path;
    names.push_back(path.substr(path.rfind('/') + 1));
  }
  return names;
}

TEST(Closure, BreadthFirstInTheOrderOfTheNeeds) {
  TestTree tree;
  tree.Add("a", Here({"c"}));
  tree.Add("b", Here({"d", "a"}));
  tree.Add("c", Here({}));
  tree.Add("d", Here({}));
  const LoadReport report = tree.Ldd(tree.Add("app", Here({"a", "b"})));
  EXPECT_THAT(Names(*tree.process, report.outcome.scope), ElementsAre("app", "a", "b", "c", "d"));
  EXPECT_TRUE(report.loads());
}

TEST(Closure, AllThatIsMissingAndWhoNeedsIt) {
  TestTree tree;
  tree.Add("a", Here({"gone", "lost"}));
  tree.Add("b", Here({"gone"}));
  const LoadReport report = tree.Ldd(tree.Add("app", Here({"a", "b"})));
  EXPECT_FALSE(report.loads());
  ASSERT_THAT(report.outcome.missing, SizeIs(2));
  EXPECT_EQ(report.outcome.missing[0].name, "gone");
  EXPECT_THAT(Names(*tree.process, tree.process->ChainOf(report.outcome.missing[0].wanted_by)),
              ElementsAre("app", "a"));
  EXPECT_THAT(Names(*tree.process, report.outcome.missing[0].also), ElementsAre("b"));
  EXPECT_EQ(report.outcome.missing[1].name, "lost");
}

TEST(Closure, ALoadedSonameServesWhereverItsFileLies) {
  TestTree tree;
  const std::string first = tree.Add("one/real-name.so", Here({}, "libx.so.1"));
  DynamicElf plugin = Needing({"libx.so.1"});
  plugin.rpath = "$ORIGIN/two";
  tree.Add("two/libx.so.1", Here({}, "libx.so.1"));
  tree.Ldd(tree.Add("app", Here({})));
  Process& process = *tree.process;
  EXPECT_THAT(process.Open(first).missing, IsEmpty());
  const LoadOutcome outcome = process.Open(tree.Add("plugin.so", plugin));
  EXPECT_THAT(Names(process, outcome.scope), ElementsAre("plugin.so", "real-name.so"));
}

TEST(Closure, OneFileUnderTwoNamesIsOneObject) {
  TestTree tree;
  tree.Add("libx.so.1.2", Here({}));
  std::filesystem::create_symlink("libx.so.1.2", tree.At("libx.so"));
  std::filesystem::create_hard_link(tree.At("libx.so.1.2"), tree.At("liby.so"));
  const LoadReport report = tree.Ldd(tree.Add("app", Here({"libx.so.1.2", "libx.so", "liby.so"})));
  EXPECT_THAT(report.outcome.scope, SizeIs(2));
}

TEST(Closure, GlobalAndLocalLoads) {
  TestTree tree;
  tree.Add("dep", Here({}));
  tree.Ldd(tree.Add("app", Here({})));
  Process& process = *tree.process;
  const std::string local = tree.Add("local", Here({}));
  const std::string global = tree.Add("global", Here({"dep"}));
  process.Open(local);
  process.Open(global, {.global = true});
  EXPECT_THAT(Names(process, process.global_scope()), ElementsAre("app", "global", "dep"));
  // A second load with RTLD_GLOBAL makes it so.
  process.Open(local, {.global = true});
  EXPECT_THAT(Names(process, process.global_scope()), ElementsAre("app", "global", "dep", "local"));
}

TEST(Closure, WhatDlopenRefuses) {
  TestTree tree;
  tree.Ldd(tree.Add("app", Here({})));
  const auto refusal = [&](const std::string& path) {
    const LoadOutcome outcome = Process(*tree.process).Open(path);
    return outcome.error ? outcome.error->phrase : "";
  };
  DynamicElf elf;
  elf.type = ET_EXEC;
  EXPECT_EQ(refusal(tree.Add("exec", elf)), "cannot dynamically load executable");
  elf.type = ET_DYN;
  elf.flags_1 = DF_1_PIE;
  EXPECT_THAT(refusal(tree.Add("pie", elf)), HasSubstr("position-independent executable"));
  elf = {};
  elf.machine = EM_AARCH64;
  EXPECT_EQ(refusal(tree.Add("aarch64", elf)), "is for aarch64, the program for x86-64");
  EXPECT_EQ(refusal(tree.At("gone")), "No such file or directory");
  EXPECT_THAT(refusal(tree.Write("text", std::string(100, 't'))), HasSubstr("invalid ELF header"));
  EXPECT_EQ(refusal(tree.Add("fine", {})), "");
}

TEST(Closure, TwoReleasesOfOneLibraryAreCopies) {
  TestTree tree;
  tree.Add("libcudart.so.12", Here({}, "libcudart.so.12"));
  tree.Add("libcudart.so.13", Here({}, "libcudart.so.13"));
  tree.Add("again/libcudart.so.13", Here({}, "libcudart.so.13"));
  tree.Ldd(tree.Add("app", Here({"libcudart.so.12", "libcudart.so.13"})));
  tree.process->Open(tree.At("again/libcudart.so.13"));
  const auto copies = tree.process->Copies();
  ASSERT_THAT(copies, SizeIs(1));
  EXPECT_EQ(copies[0].stem, "libcudart");
  EXPECT_THAT(copies[0].objects, SizeIs(3));
}

TEST(Closure, NeedsThatGoInACircleEnd) {
  TestTree tree;
  tree.Add("a", Here({"b"}));
  tree.Add("b", Here({"a", "b", "app"}));
  const LoadReport report = tree.Ldd(tree.Add("app", Here({"a"}, "app")));
  EXPECT_THAT(report.outcome.scope, SizeIs(3));
}

}  // namespace
}  // namespace cuproof
