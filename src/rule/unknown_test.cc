#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rule/test_check.h"

namespace cuproof {
namespace {

using build::Entry;
using build::Fatbin;
using build::Ptx;
using build::Sass;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Unknown, KindsThatAreNotJudgedAreANoteEach) {
  Entry tile;
  tile.kind = fatbin::kKindTileIr;
  tile.payload = std::string("\x7FTileIR\0", 8);
  Entry other;
  other.kind = 0x40;
  other.payload = "bytes of it";
  const auto findings =
      FindingsOf(RuleUnknown, {tile, other, other, Sass({90, 0})}, {"H100"}, "580");
  ASSERT_EQ(findings.size(), 2u);
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.id, "CP110");
    EXPECT_EQ(finding.severity, Severity::kNote);
  }
  EXPECT_THAT(findings[0].message, HasSubstr("64"));
  EXPECT_THAT(findings[1].message, HasSubstr("128"));
}

TEST(Unknown, PtxOfAnIsaThatTheTablesDoNotHave) {
  const auto findings = FindingsOf(RuleUnknown, {Sass({90, 0}), Ptx({90, 0}, {9, 9})}, {"H100"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].message, HasSubstr("9.9"));
}

TEST(Unknown, AnIsaThatNeverWasIsNotNewer) {
  const auto message = [](Version isa) {
    return FindingsOf(RuleUnknown, {Sass({90, 0}), Ptx({90, 0}, isa)}, {"H100"}).at(0).message;
  };
  EXPECT_EQ(message({5, 5}), "PTX of ISA 5.5, not in this data: 1");
  EXPECT_EQ(message({99, 0}), "PTX of ISA 99.0, newer than this data: 1");
}

TEST(Unknown, GpusNewerThanTheDataThatCompilePtx) {
  const auto findings = FindingsOf(RuleUnknown, {Ptx({90, 0}, {9, 0})}, {"sm_130", "H100"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "CP110");
  EXPECT_THAT(findings[0].message, HasSubstr("newer than this data: sm_130; "));
}

TEST(Unknown, GpusWithoutAVerdict) {
  const auto findings = FindingsOf(RuleUnknown, {Sass({120, 0})}, {"sm_125"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].message, HasSubstr("no verdict for sm_125"));
}

TEST(Unknown, AnImageAloneOfANewerMajorThanTheDriver) {
  const auto findings =
      Findings(RuleUnknown, JudgedFiles({{"k.cubin", build::CubinBytes({})}}, {"H100"}, "570"));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].message, HasSubstr("newer CUDA major"));
}

TEST(Unknown, IsSilentAboutWhatIsKnown) {
  EXPECT_THAT(
      FindingsOf(RuleUnknown, {Sass({90, 0}), Ptx({90, 0}, {9, 0}), build::LtoIr({90, 0}, true)},
                 {"H100", "B200"}, "580"),
      IsEmpty());
}

}  // namespace
}  // namespace cuproof
