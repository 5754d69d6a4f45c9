#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "container/test_folder.h"
#include "container/test_zip.h"
#include "container/unit.h"
#include "container/zip.h"

namespace cuproof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The problems that a zip has when it is listed, without its path.
std::vector<std::string> ProblemsOf(const std::string& zip) {
  const TestFolder folder;
  const std::string path = folder.Write("z", zip);
  std::vector<std::string> problems = Phrases(TakeInventory({path}).problems);
  for (std::string& problem : problems) problem.erase(0, path.size());
  return problems;
}

/// What is said when the only unit of a zip is opened.
std::string OpenProblemOf(const std::string& zip) {
  const TestFolder folder;
  const Inventory inventory = TakeInventory({folder.Write("z", zip)});
  if (inventory.units.size() != 1) return "not one unit";
  const auto bytes = OpenUnit(inventory.units[0]);
  return bytes.ok() ? "opened" : bytes.error().phrase;
}

TEST(DamagedZip, CutShort) {
  const std::string zip = RawZip({{"a.so", ElfLike(500)}}).bytes();
  EXPECT_THAT(ProblemsOf(zip.substr(0, zip.size() / 2)),
              ElementsAre(": zip without a central directory: cut short"));
  EXPECT_THAT(ProblemsOf("PK\x03\x04"),
              ElementsAre(": zip without a central directory: cut short"));
}

TEST(DamagedZip, TheCentralDirectoryLies) {
  std::string zip = RawZip({{"a.so", ElfLike(500)}}).bytes();
  zip[zip.size() - 6] = '\x7F';  // its offset
  EXPECT_THAT(ProblemsOf(zip), ElementsAre(HasSubstr("central directory cannot be read")));
}

TEST(DamagedZip, EveryPrefixIsOneProblem) {
  const std::string zip = RawZip({{"a.so", ElfLike(30)}, {"b.so", ElfLike(30)}}).bytes();
  for (size_t size = 4; size < zip.size(); ++size) {
    EXPECT_EQ(ProblemsOf(zip.substr(0, size)).size(), 1u) << size;
  }
}

TEST(DamagedZip, EveryByteTurnedOverIsNoCrash) {
  const TestFolder folder;
  ASSERT_TRUE(WriteZip(folder.At("z"), {{"a.so", ElfLike(3000)}, {"b.txt", "text"}}));
  std::ifstream file(folder.At("z"), std::ios::binary);
  const std::string zip(std::istreambuf_iterator<char>(file), {});
  for (size_t i = 4; i < zip.size(); ++i) {
    std::string damaged = zip;
    damaged[i] = static_cast<char>(~damaged[i]);
    const Inventory inventory = TakeInventory({folder.Write("damaged", damaged)});
    for (const Unit& unit : inventory.units) {
      const auto bytes = OpenUnit(unit);
      EXPECT_TRUE(!bytes.ok() || (*bytes)->bytes().size() == unit.size) << i;
    }
  }
}

TEST(DamagedZip, SizesLie) {
  EXPECT_EQ(OpenProblemOf(RawZip({{.name = "a", .stored = ElfLike(), .claimed_size = 99}}).bytes()),
            "the member expands to more than the 99 bytes that the zip says");
  EXPECT_EQ(
      OpenProblemOf(RawZip({{.name = "a", .stored = ElfLike(), .claimed_size = 101}}).bytes()),
      "the member's size is not what the zip says");
}

TEST(DamagedZip, TheCrcDoesNotMatch) {
  EXPECT_EQ(
      OpenProblemOf(RawZip({{.name = "a", .stored = ElfLike(9000), .wrong_crc = true}}).bytes()),
      "the member's CRC-32 does not match");
}

TEST(DamagedZip, CompressedBytesAreDamaged) {
  EXPECT_THAT(
      ProblemsOf(
          RawZip({{.name = "a.so", .stored = "\xFF\xFF\xFF", .method = ZIP_CM_DEFLATE}}).bytes()),
      ElementsAre(HasSubstr("!a.so: the member cannot be expanded: ")));
}

TEST(DamagedZip, EncryptedAndUnknownMethods) {
  const TestFolder folder;
  ASSERT_TRUE(WriteZip(folder.At("z"), {{"a.so", ElfLike()}, {"b.so", ElfLike()}}, "secret"));
  EXPECT_THAT(Phrases(TakeInventory({folder.At("z")}).problems),
              ElementsAre(folder.At("z") + "!a.so: the member is encrypted",
                          folder.At("z") + "!b.so: the member is encrypted"));
  EXPECT_THAT(
      ProblemsOf(RawZip({{.name = "a.so", .stored = ElfLike(), .method = 93},
                         {.name = "b.so", .stored = ElfLike(), .method = 777}})
                     .bytes()),
      ElementsAre("!a.so: the member is compressed by method 93 (zstd), which is not read",
                  "!b.so: the member is compressed by method 777 (unknown), which is not read"));
}

TEST(DamagedZip, ManyUnreadableMembersAreCounted) {
  const std::vector<RawMember> members(1000, {.name = "a", .stored = "x", .method = 777});
  const auto problems = ProblemsOf(RawZip(members).bytes());
  ASSERT_EQ(problems.size(), 51u);
  EXPECT_EQ(problems.back(), ": 950 more members cannot be read");
}

TEST(ZipBomb, MembersThatClaimTooMuchAreNotExpanded) {
  const std::string stored = ElfLike();
  EXPECT_THAT(ProblemsOf(RawZip({{.name = "a",
                                  .stored = stored,
                                  .method = ZIP_CM_DEFLATE,
                                  .claimed_size = kMaxMember + 1,
                                  .zip64 = true}})
                             .bytes()),
              ElementsAre("!a: the member claims 4294967297 bytes, more than 4294967296: not "
                          "expanded"));
  EXPECT_THAT(ProblemsOf(RawZip({{.name = "a",
                                  .stored = stored,
                                  .method = ZIP_CM_DEFLATE,
                                  .claimed_size = kRatioCheckedAbove + 1}})
                             .bytes()),
              ElementsAre("!a: the member claims to expand from 100 to 268435457 bytes, more than "
                          "200:1: not expanded"));
}

TEST(ZipBomb, MembersThatShareBytes) {
  const RawZip zip({{"a", ElfLike(5000)},
                    {.name = "b", .stored = ElfLike(5000), .shares_first = true},
                    {.name = "c", .stored = ElfLike(5000), .shares_first = true}});
  EXPECT_THAT(ProblemsOf(zip.bytes()),
              ElementsAre(": members share bytes, as in a zip bomb: not looked into"));
}

TEST(ZipBomb, TooManyEntriesAreClaimed) {
  const RawZip zip({{"a", ElfLike()}});
  EXPECT_THAT(ProblemsOf(zip.ClaimEntries(1ull << 40)),
              ElementsAre(": zip that claims 1099511627776 members, more than 1000000"));
  EXPECT_EQ(ProblemsOf(zip.ClaimEntries(900'000)).size(), 1u);
}

TEST(ZipBomb, TooManyEndRecords) {
  std::string zip = RawZip({{"a", ElfLike()}}).bytes();
  const std::string end = zip.substr(zip.size() - 22);
  for (int i = 0; i < 100; ++i) zip += end;
  EXPECT_THAT(ProblemsOf(zip), ElementsAre(": zip with more than 64 end records"));
}

TEST(ZipBomb, NamesThatCollide) {
  // "aB" and "b!" have one hash, so all 2^14 names made of 14 of them have.
  std::vector<RawMember> members;
  for (unsigned bits = 0; bits < 1u << 14; ++bits) {
    std::string name;
    for (int i = 0; i < 14; ++i) name += bits >> i & 1 ? "aB" : "b!";
    members.push_back({std::move(name), ""});
  }
  EXPECT_THAT(ProblemsOf(RawZip(members).bytes()),
              ElementsAre(": zip with names chosen to make it slow to open: not looked into"));
  for (size_t i = 0; i < members.size(); ++i) members[i].name = "dir/" + std::to_string(i);
  EXPECT_THAT(ProblemsOf(RawZip(members).bytes()), IsEmpty());
}

}  // namespace
}  // namespace cuproof
