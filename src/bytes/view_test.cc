#include "bytes/view.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace cuproof {
namespace {

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

TEST(ByteView, HoldsRangesWithinItOnly) {
  const ByteView view("0123456789");
  EXPECT_TRUE(view.Holds(0, 10));
  EXPECT_TRUE(view.Holds(9, 1));
  EXPECT_TRUE(view.Holds(10, 0));
  EXPECT_FALSE(view.Holds(10, 1));
  EXPECT_FALSE(view.Holds(0, 11));
  EXPECT_FALSE(view.Holds(11, 0));
}

TEST(ByteView, SumsThatOverflowAreOutOfRange) {
  const ByteView view("0123456789");
  for (const uint64_t offset : {uint64_t{3}, uint64_t{10}, kHuge - 5, kHuge}) {
    const uint64_t sums_to_two = 2 - offset;
    EXPECT_FALSE(view.Holds(offset, sums_to_two)) << offset;
    EXPECT_FALSE(view.Holds(offset, kHuge)) << offset;
    EXPECT_FALSE(view.Slice(offset, kHuge)) << offset;
  }
  EXPECT_FALSE(view.Holds(kHuge, 0));
}

TEST(ByteView, SliceIsAllOrNothing) {
  const ByteView view("0123456789");
  EXPECT_EQ(view.Slice(3, 4)->Text(), "3456");
  EXPECT_EQ(view.Slice(10, 0)->size(), 0u);
  EXPECT_FALSE(view.Slice(7, 4));
}

TEST(ByteView, ClampTakesWhatIsThere) {
  const ByteView view("0123456789");
  EXPECT_EQ(view.Clamp(7, 99).Text(), "789");
  EXPECT_EQ(view.Clamp(7, kHuge).Text(), "789");
  EXPECT_EQ(view.Clamp(2, 3).Text(), "234");
  EXPECT_TRUE(view.Clamp(10, 1).empty());
  EXPECT_TRUE(view.Clamp(kHuge, kHuge).empty());
}

TEST(ByteView, LoadsLittleEndianAtAnyAlignment) {
  const ByteView view("\x01\x02\x03\x04\x05\x06\x07\x08\x09");
  EXPECT_EQ(view.Load<uint8_t>(8), 9);
  EXPECT_EQ(view.Load<uint16_t>(1), 0x0302);
  EXPECT_EQ(view.Load<uint32_t>(3), 0x07060504u);
  EXPECT_EQ(view.Load<uint64_t>(1), 0x0908070605040302u);
}

TEST(ByteView, LoadPastTheEndHasNoValue) {
  const ByteView view("12345678");
  EXPECT_TRUE(view.Load<uint32_t>(4));
  EXPECT_FALSE(view.Load<uint32_t>(5));
  EXPECT_FALSE(view.Load<uint8_t>(8));
  EXPECT_FALSE(view.Load<uint64_t>(kHuge));
  EXPECT_FALSE(view.Load<uint64_t>(kHuge - 7));
}

TEST(ByteView, AnEmptyViewHoldsNothing) {
  const ByteView view;
  EXPECT_TRUE(view.empty());
  EXPECT_TRUE(view.Holds(0, 0));
  EXPECT_FALSE(view.Load<uint8_t>(0));
  EXPECT_TRUE(view.Clamp(0, 1).empty());
  EXPECT_TRUE(view.StartsWith(""));
  EXPECT_FALSE(view.StartsWith("x"));
  EXPECT_EQ(view.Text(), "");
  EXPECT_EQ(view.CString(0), "");
}

TEST(ByteView, CStringEndsAtANulOrAtTheEnd) {
  const std::string text("one\0two", 7);
  const ByteView view(text);
  EXPECT_EQ(view.CString(0), "one");
  EXPECT_EQ(view.CString(2), "e");
  EXPECT_EQ(view.CString(3), "");
  EXPECT_EQ(view.CString(4), "two");
  EXPECT_EQ(view.CString(7), "");
  EXPECT_EQ(view.CString(kHuge), "");
}

TEST(ByteView, StartsWithComparesNulsToo) {
  const std::string text("PK\0\1", 4);
  EXPECT_TRUE(ByteView(text).StartsWith(std::string_view("PK\0", 3)));
  EXPECT_FALSE(ByteView(text).StartsWith(std::string_view("PK\0\2", 4)));
  EXPECT_FALSE(ByteView(text).StartsWith("PKZIP"));
}

}  // namespace
}  // namespace cuproof
