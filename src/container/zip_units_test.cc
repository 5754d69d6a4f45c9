#include "container/zip_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "bytes/parallel.h"
#include "container/content.h"
#include "container/test_folder.h"
#include "container/test_zip.h"
#include "container/unit.h"

namespace cuproof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string BytesOf(const Unit& unit) {
  const auto bytes = OpenUnit(unit);
  return bytes.ok() ? std::string((*bytes)->bytes().Text()) : bytes.error().Text();
}

TEST(Zip, AWheelBecomesItsMembers) {
  const TestFolder folder;
  const std::string wheel = folder.At("x.whl");
  ASSERT_TRUE(WriteZip(wheel, {{"torch/lib/libc10.so", ElfLike(70'000)},
                               {"torch/__init__.py", "import os\n"},
                               {"torch/kernel.bin", std::string("\0\1", 2)},
                               {"x-1.2.dist-info/METADATA", "Name: X\nVersion: 1.2\n\nText"}}));
  const Inventory inventory = TakeInventory({wheel});
  EXPECT_EQ(inventory.roots[0].kind, RootKind::kWheel);
  EXPECT_EQ(inventory.roots[0].name, "X 1.2");
  EXPECT_THAT(ShownUnits(inventory),
              ElementsAre(wheel + "!torch/lib/libc10.so", wheel + "!torch/kernel.bin"));
  EXPECT_EQ(inventory.units[0].file, wheel);
  EXPECT_EQ(inventory.units[0].size, 70'000u);
  EXPECT_FALSE(inventory.units[0].named);
  EXPECT_EQ(inventory.files_seen, 5u);  // the wheel and its members
  EXPECT_EQ(BytesOf(inventory.units[0]), ElfLike(70'000));
  EXPECT_EQ(BytesOf(inventory.units[1]), std::string("\0\1", 2));
  EXPECT_THAT(Phrases(inventory.problems), IsEmpty());
}

TEST(Zip, OtherZipsAndEmptyOnes) {
  const TestFolder folder;
  const Inventory inventory =
      TakeInventory({folder.Write("a", RawZip({{"b.so", ElfLike()}, {"c/", ""}}).bytes()),
                     folder.Write("empty", RawZip({}).bytes())});
  EXPECT_EQ(inventory.roots[0].kind, RootKind::kZip);
  EXPECT_EQ(inventory.roots[0].name, "");
  EXPECT_EQ(inventory.roots[1].kind, RootKind::kZip);
  EXPECT_THAT(ShownUnits(inventory), ElementsAre(folder.At("a") + "!b.so"));
  EXPECT_THAT(Phrases(inventory.problems), IsEmpty());
}

TEST(Zip, AWheelInAFolderBelongsToTheFolder) {
  const TestFolder folder;
  folder.Write("sub/x.whl", RawZip({{"a.so", ElfLike()}}).bytes());
  const Inventory inventory = TakeInventory({folder.path()});
  EXPECT_EQ(inventory.roots[0].kind, RootKind::kFolder);
  EXPECT_THAT(ShownUnits(inventory), ElementsAre(folder.At("sub/x.whl") + "!a.so"));
  EXPECT_EQ(BytesOf(inventory.units[0]), ElfLike());
}

TEST(Zip, ZipsWithinZipsAreFollowedThreeDeep) {
  const TestFolder folder;
  const std::string fourth = RawZip({{"4.so", ElfLike(104)}}).bytes();
  const std::string third = RawZip({{"3.so", ElfLike(103)}, {"fourth", fourth}}).bytes();
  const std::string second = RawZip({{"2.so", ElfLike(102)}, {"third", third}}).bytes();
  const std::string first = RawZip({{"1.so", ElfLike(101)}, {"second", second}}).bytes();
  const std::string path = folder.Write("z", first);
  const Inventory inventory = TakeInventory({path});
  EXPECT_THAT(ShownUnits(inventory),
              ElementsAre(path + "!second!third!3.so", path + "!second!2.so", path + "!1.so"));
  EXPECT_THAT(Phrases(inventory.skipped),
              ElementsAre(path + "!second!third!fourth: zip within zips, too deep: take it out and "
                                 "name it to check it"));
  for (const Unit& unit : inventory.units) EXPECT_EQ(BytesOf(unit), ElfLike(unit.size));
}

TEST(Zip, EveryMemberOfOneNameIsRead) {
  const TestFolder folder;
  const std::string path =
      folder.Write("z", RawZip({{"a.so", ElfLike(50)}, {"a.so", ElfLike(60)}}).bytes());
  const Inventory inventory = TakeInventory({path});
  ASSERT_EQ(inventory.units.size(), 2u);
  EXPECT_EQ(BytesOf(inventory.units[0]), ElfLike(60));
  EXPECT_EQ(BytesOf(inventory.units[1]), ElfLike(50));
}

TEST(Zip, HostileNamesAreOnlyShown) {
  const TestFolder folder;
  const std::string path = folder.Write("z", RawZip({{"../../up.so", ElfLike()},
                                                     {"/etc/absolute.so", ElfLike()},
                                                     {"bell\x07\x1B[2J.so", ElfLike()},
                                                     {"", ElfLike()}})
                                                 .bytes());
  const Inventory inventory = TakeInventory({path});
  EXPECT_THAT(
      ShownUnits(inventory),
      testing::IsSupersetOf({path + "!../../up.so", path + "!/etc/absolute.so", path + "!"}));
  ASSERT_EQ(inventory.units.size(), 4u);
  for (const Unit& unit : inventory.units) {
    EXPECT_EQ(unit.file, path);
    EXPECT_EQ(BytesOf(unit), ElfLike());
  }
}

TEST(Zip, SizesOf64BitsAreRead) {
  const TestFolder folder;
  const RawZip zip({{.name = "a.so", .stored = ElfLike(), .zip64 = true}});
  const Inventory inventory = TakeInventory(
      {folder.Write("member", zip.bytes()), folder.Write("end", zip.ClaimEntries(1))});
  ASSERT_EQ(inventory.units.size(), 2u);
  for (const Unit& unit : inventory.units) EXPECT_EQ(BytesOf(unit), ElfLike());
}

TEST(Zip, OpensFromManyThreads) {
  const TestFolder folder;
  std::vector<RawMember> inner;
  std::vector<RawMember> outer;
  for (size_t i = 1; i <= 300; ++i) {
    inner.push_back({"i" + std::to_string(i), ElfLike(1000 + i)});
    outer.push_back({"o" + std::to_string(i), ElfLike(1000 + i)});
  }
  outer.push_back({"nested.whl", RawZip(inner).bytes()});
  ASSERT_TRUE(WriteZip(folder.At("a.whl"), outer));
  ASSERT_TRUE(WriteZip(folder.At("b.whl"), outer));
  const Inventory inventory = TakeInventory({folder.path()});
  ASSERT_EQ(inventory.units.size(), 1200u);
  std::atomic<size_t> right{0};
  ParallelFor(inventory.units.size(), 8, [&](size_t i) {
    if (BytesOf(inventory.units[i]) == ElfLike(inventory.units[i].size)) ++right;
  });
  EXPECT_EQ(right.load(), 1200u);
}

TEST(Zip, ManyZipsAtOnce) {
  const TestFolder folder;
  for (int i = 0; i < 300; ++i) {
    folder.Write(std::to_string(i), RawZip({{"a.so", ElfLike()}, {"b.so", ElfLike()}}).bytes());
  }
  const Inventory inventory = TakeInventory({folder.path()});
  EXPECT_EQ(inventory.units.size(), 600u);
  for (const Unit& unit : inventory.units) EXPECT_EQ(BytesOf(unit), ElfLike());
}

TEST(Zip, AZipReplacedAfterTheListingIsReadAnew) {
  const TestFolder folder;
  const std::string path =
      folder.Write("z", RawZip({{"a", ElfLike(50)}, {"b", ElfLike(40)}}).bytes());
  const Inventory inventory = TakeInventory({path});
  ASSERT_EQ(inventory.units.size(), 2u);
  std::filesystem::rename(folder.Write("new", RawZip({{"a", ElfLike(70)}}).bytes()), path);
  EXPECT_EQ(BytesOf(inventory.units[0]), ElfLike(70));
  EXPECT_EQ(BytesOf(inventory.units[1]), path + "!b: the zip changed since it was listed");
}

}  // namespace
}  // namespace cuproof
