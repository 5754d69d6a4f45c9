#include "bytes/result.h"

#include <gtest/gtest.h>

#include <set>

namespace cuproof {
namespace {

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> value(7);
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(*value, 7);
  const Result<int> error(Error{ErrorCode::kTruncated, "ends early", "", std::nullopt});
  EXPECT_FALSE(error);
  EXPECT_EQ(error.error().code, ErrorCode::kTruncated);
}

TEST(Error, TextHasTheFileAndTheByteWhenTheyAreKnown) {
  Error error{ErrorCode::kBadSize, "too long", "", std::nullopt};
  EXPECT_EQ(error.Text(), "too long");
  error.offset = 0x40;
  EXPECT_EQ(error.Text(), "at byte 0x40: too long");
  error.file = "a.so";
  EXPECT_EQ(error.Text(), "a.so: at byte 0x40: too long");
  error.offset.reset();
  EXPECT_EQ(error.Text(), "a.so: too long");
}

TEST(ErrorCode, EachHasAMeaningOfItsOwn) {
  std::set<std::string> texts;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kUsage); ++code) {
    texts.insert(ErrorCodeText(static_cast<ErrorCode>(code)));
  }
  EXPECT_EQ(texts.size(), static_cast<size_t>(ErrorCode::kUsage) + 1);
  EXPECT_FALSE(texts.contains("unknown error"));
}

}  // namespace
}  // namespace cuproof
