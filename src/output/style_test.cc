#include "output/style.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

TEST(ChooseStyle, ColoursOnlyWherePeopleLook) {
  const Stream terminal{true, 120, false, false};
  EXPECT_TRUE(ChooseStyle(ColorMode::kAuto, terminal, false).color);
  EXPECT_FALSE(ChooseStyle(ColorMode::kNever, terminal, false).color);
  EXPECT_FALSE(ChooseStyle(ColorMode::kAuto, {false, 0, false, false}, false).color);
  EXPECT_FALSE(ChooseStyle(ColorMode::kAuto, {true, 120, true, false}, false).color);
  EXPECT_FALSE(ChooseStyle(ColorMode::kAuto, {true, 120, false, true}, false).color);
  EXPECT_TRUE(ChooseStyle(ColorMode::kAlways, {false, 0, true, true}, false).color);
}

TEST(ChooseStyle, Width) {
  const auto width = [](Stream stream) {
    return ChooseStyle(ColorMode::kAuto, stream, false).width;
  };
  EXPECT_EQ(width({true, 120, false, false}), 120u);
  EXPECT_EQ(width({true, 0, false, false}), 100u);
  EXPECT_EQ(width({false, 0, false, false}), 100u);
  EXPECT_EQ(width({true, 5, false, false}), 40u);
  EXPECT_EQ(width({true, 500, false, false}), 160u);
}

TEST(ParseColorMode, Words) {
  EXPECT_EQ(ParseColorMode("always"), ColorMode::kAlways);
  EXPECT_EQ(ParseColorMode("never"), ColorMode::kNever);
  EXPECT_EQ(ParseColorMode("auto"), ColorMode::kAuto);
  EXPECT_EQ(ParseColorMode("yes"), std::nullopt);
}

TEST(Paint, OnlyWithColour) {
  Style style;
  EXPECT_EQ(Paint(style, Tone::kRed, "x"), "x");
  style.color = true;
  EXPECT_EQ(Paint(style, Tone::kRed, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(Paint(style, Tone::kPlain, "x"), "x");
  EXPECT_EQ(Paint(style, Tone::kRed, ""), "");
}

}  // namespace
}  // namespace cuproof
