#include "output/layout.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

Style Width(size_t width) {
  Style style;
  style.width = width;
  return style;
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(DisplayWidth(""), 0u);
  EXPECT_EQ(DisplayWidth("sm_90"), 5u);
  EXPECT_EQ(DisplayWidth("größe"), 5u);
  EXPECT_EQ(DisplayWidth("模型"), 4u);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u);
}

TEST(Elide, KeepsTheEnd) {
  EXPECT_EQ(Elide("short.so", 8), "short.so");
  EXPECT_EQ(Elide("nvidia/lib/libcublas.so", 15), "...libcublas.so");
  EXPECT_EQ(Elide("abcdef", 3), "...");
  EXPECT_EQ(Elide("abcdef", 0), "");
  EXPECT_EQ(Elide("模型模型.so", 8), "...型.so");
}

TEST(Paragraph, BreaksAtSpacesAndHangs) {
  std::string out;
  AppendParagraph(Width(16), {2, 4, {"fix: ", Tone::kDim}, {{"one two three four"}}}, out);
  EXPECT_EQ(out,
            "  fix: one two\n"
            "    three four\n");
}

TEST(Paragraph, KeepsLongWordsWhole) {
  std::string out;
  AppendParagraph(Width(10), {0, 2, {}, {{"a verylongwordindeed b"}}}, out);
  EXPECT_EQ(out, "a\n  verylongwordindeed\n  b\n");
}

TEST(Paragraph, PaintsEachTone) {
  Style style = Width(80);
  style.color = true;
  std::string out;
  AppendParagraph(style, {0, 0, {}, {{"red one", Tone::kRed}, {", "}, {"green", Tone::kGreen}}},
                  out);
  EXPECT_EQ(out, "\x1b[31mred one\x1b[0m, \x1b[32mgreen\x1b[0m\n");
}

TEST(Paragraph, EmptyIsOneLine) {
  std::string out;
  AppendParagraph(Width(80), {2, 2, {}, {}}, out);
  EXPECT_EQ(out, "  \n");
}

TEST(TextTable, Aligns) {
  TextTable table({Align::kLeft, Align::kRight, Align::kCenter, Align::kLeft});
  table.Row({{"a"}, {"1"}, {"head"}, {"last"}});
  table.Row({{"模型"}, {"200"}, {"S"}, {""}});
  table.Note(1, {"below"});
  std::string out;
  table.Append(Width(80), 2, out);
  EXPECT_EQ(out,
            "  a       1  head  last\n"
            "  模型  200    S\n"
            "        below\n");
  EXPECT_EQ(table.Width(), 4u + 2 + 3 + 2 + 4 + 2 + 4);
}

TEST(TextTable, BreaksItsLastColumn) {
  TextTable table({Align::kLeft, Align::kBroken});
  table.Row({{"key"}, {"aaaa bbbb cccc dddd eeee ffff"}});
  std::string out;
  table.Append(Width(32), 2, out);
  EXPECT_EQ(out,
            "  key  aaaa bbbb cccc dddd eeee\n"
            "       ffff\n");
}

}  // namespace
}  // namespace cuproof
