#include "resource/spills.h"

#include <gtest/gtest.h>

#include "build_fatbin.h"

namespace cuproof {
namespace {

using build::Number;

TEST(SpillAnnotations, AreThoseOfTheReleaseOrOfTheOneBefore) {
  EXPECT_EQ(SpillAnnotationsOf({13, 0}), SpillAnnotations::kCompared);
  EXPECT_EQ(SpillAnnotationsOf({12, 6}), SpillAnnotations::kCompared);
  EXPECT_EQ(SpillAnnotationsOf({12, 7}), SpillAnnotations::kWritten);
  EXPECT_EQ(SpillAnnotationsOf({14, 0}), SpillAnnotations::kWritten) << "newer than the table";
  EXPECT_EQ(SpillAnnotationsOf({12, 5}), SpillAnnotations::kNone);
  EXPECT_EQ(SpillAnnotationsOf({10, 2}), SpillAnnotations::kNone);
  EXPECT_EQ(SpillAnnotationsOf({}), SpillAnnotations::kNone);
}

std::string StoreOf(uint64_t width) { return Number(0x387, 8) + Number(width << 9, 8); }

TEST(Spills, OfEveryWidth) {
  const uint32_t bytes[] = {1, 1, 2, 2, 4, 8, 16};
  for (uint64_t width = 0; width < 7; ++width) {
    const std::string code = StoreOf(width);
    EXPECT_EQ(CountSpills(ByteView(code), 90, {13, 0}, {0}, {})->own.stores, bytes[width]);
  }
  const std::string code = StoreOf(7);
  EXPECT_FALSE(CountSpills(ByteView(code), 90, {13, 0}, {0}, {})) << "no width that is known";
}

TEST(Spills, OfFunctionsInTheCodeAreApart) {
  const std::string code = StoreOf(4) + StoreOf(5) + StoreOf(6);
  const auto spills = CountSpills(ByteView(code), 90, {13, 0}, {0, 16, 32}, {{16, 16}});
  ASSERT_TRUE(spills);
  EXPECT_EQ(spills->own.stores, 20u);
  EXPECT_EQ(spills->functions.stores, 8u);
}

TEST(Spills, OfMaxwellHaveEightBytes) {
  // Words of ptxas 12.9 for sm_61: the first of four schedules the others.
  const std::string code = Number(0xEF54000000000000, 8) + Number(0xEF54000000000000, 8) +
                           Number(0xEF45000000000000, 8) + Number(0, 8);
  const auto spills = CountSpills(ByteView(code), 61, {12, 9}, {8, 16}, {});
  ASSERT_TRUE(spills);
  EXPECT_EQ(spills->own.stores, 4u);
  EXPECT_EQ(spills->own.loads, 8u);
  EXPECT_FALSE(CountSpills(ByteView(code), 61, {12, 9}, {0}, {}));
}

}  // namespace
}  // namespace cuproof
