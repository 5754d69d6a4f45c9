#include "image/ar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "build_fatbin.h"

namespace cuproof {
namespace {

using build::ArNames;
using testing::ElementsAre;
using testing::IsEmpty;

HostObject Read(const std::string& bytes) { return ReadArchive(ByteView(bytes)); }

std::vector<std::pair<std::string, std::string>> Members(const std::string& bytes) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const NamedRange& range : Read(bytes).ranges) {
    members.emplace_back(range.name, bytes.substr(range.offset, range.size));
  }
  return members;
}

const std::vector<build::ArMember> kMembers = {{"a.o", "odd"},
                                               {"a_name_longer_than_sixteen.o", "even"},
                                               {"another_name_longer_than_that.o", "1"},
                                               {"fifteen_letters", "last one, odd"}};

class ArchiveNames : public testing::TestWithParam<ArNames> {};

TEST_P(ArchiveNames, GiveEachMemberItsNameAndBytes) {
  const std::string bytes = build::Archive(kMembers, GetParam());
  const auto members = Members(bytes);
  ASSERT_EQ(members.size(), kMembers.size());
  for (size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(members[i].first, kMembers[i].name);
    EXPECT_EQ(members[i].second, kMembers[i].content);
  }
  EXPECT_THAT(Read(bytes).damage, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, ArchiveNames,
                         testing::Values(ArNames::kGnu, ArNames::kBsd, ArNames::kMicrosoft));

TEST(Archive, SymbolTablesAreNoMembers) {
  const auto header = [](std::string name) {
    name.resize(16, ' ');
    return name + std::string(32, ' ') + "4         `\nxxxx";
  };
  const std::string bytes =
      "!<arch>\n" + header("/") + header("/SYM64/") + header("a.o/") + header("b.o");
  EXPECT_THAT(Members(bytes), ElementsAre(std::pair("a.o", "xxxx"), std::pair("b.o", "xxxx")));
}

TEST(Archive, ALastMemberOfOddSizeNeedsNoPadding) {
  std::string bytes = build::Archive({{"a.o", "odd"}});
  bytes.pop_back();
  EXPECT_EQ(Members(bytes).size(), 1u);
  EXPECT_THAT(Read(bytes).damage, IsEmpty());
}

TEST(Archive, AnEmptyOneIsSound) {
  EXPECT_THAT(Read("!<arch>\n").damage, IsEmpty());
  EXPECT_THAT(Read("!<arch>\n").ranges, IsEmpty());
}

TEST(Archive, AThinOneHoldsNothingAndSaysSo) {
  const HostObject host = Read("!<thin>\n" + build::Archive({{"a.o", "bytes"}}).substr(8));
  EXPECT_THAT(host.ranges, IsEmpty());
  ASSERT_EQ(host.damage.size(), 1u);
  EXPECT_EQ(host.damage[0].code, ErrorCode::kUnsupported);
}

TEST(Archive, MembersBeforeADamagedOneAreKept) {
  const std::string bytes = build::Archive({{"a.o", "even"}, {"b.o", "other"}});
  const size_t second = 8 + 60 + 4;
  const auto expect_one = [](const std::string& bad) {
    const HostObject host = Read(bad);
    EXPECT_EQ(host.ranges.size(), 1u);
    ASSERT_EQ(host.damage.size(), 1u);
    EXPECT_EQ(host.damage[0].offset, 8u + 60 + 4);
  };
  expect_one(bytes.substr(0, second + 30));
  expect_one(bytes.substr(0, bytes.size() - 3));
  expect_one(build::Patched(bytes, second + 48, "9999999999"));
  expect_one(build::Patched(bytes, second + 48, "size      "));
  expect_one(build::Patched(bytes, second + 48, "          "));
  expect_one(build::Patched(bytes, second + 58, "xx"));
}

TEST(Archive, LongNamesThatLieOutsideTheTableAreNoNames) {
  const std::string bytes = build::Archive({{"a_name_longer_than_sixteen.o", "even"}});
  const size_t member = bytes.rfind("/0   ");
  EXPECT_THAT(Members(build::Patched(bytes, member, "/9999")), IsEmpty());
  EXPECT_THAT(Members(build::Patched(bytes, member, "/x   ")), IsEmpty());
  EXPECT_THAT(Read(build::Patched(bytes, member, "/9999")).damage, IsEmpty());
}

TEST(Archive, ABsdNameLongerThanItsMemberIsCut) {
  const std::string bytes = build::Archive({{"a.o", "even"}}, ArNames::kBsd);
  const HostObject host = Read(build::Patched(bytes, 8, "#1/99999"));
  ASSERT_EQ(host.ranges.size(), 1u);
  EXPECT_EQ(host.ranges[0].size, 0u);
}

TEST(Archive, TheHostSideOfItsObjectsIsItsOwn) {
  build::HostElf object;
  object.type = ET_REL;
  object.machine = EM_AARCH64;
  object.sections = {{".strtab", SHT_STRTAB, "x__cudaRegisterFatBinary"}};
  const HostObject host =
      Read(build::Archive({{"text", "no object"}, {"a.o", build::HostElfBytes(object)}}));
  EXPECT_EQ(host.machine, "aarch64");
  EXPECT_TRUE(host.registers_fatbin);
}

}  // namespace
}  // namespace cuproof
