#include "source/code_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuproof {
namespace {

using testing::ElementsAre;

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  for (const Token& token : ReadCode(text).tokens) {
    if (token.kind != TokenKind::kText) words.emplace_back(token.text);
  }
  return words;
}

TEST(CodeTokens, CommentsAndTextsAreNoCode) {
  EXPECT_THAT(Words("a // b\nc /* d\n e */ f \"g \\\" h\" i 'j' k"),
              ElementsAre("a", "c", "f", "i", "k"));
  EXPECT_THAT(Words("R\"x(a \" )\" b)x\" c"), ElementsAre("c"));
  EXPECT_THAT(Words("n = 1'000 + 0x1F;"), ElementsAre("n", "=", "1'000", "+", "0x1F", ";"));
  EXPECT_THAT(Words("k<<<a, b>>>(p->q)"),
              ElementsAre("k", "<<<", "a", ",", "b", ">>>", "(", "p", "->", "q", ")"));
}

TEST(CodeTokens, LinesAreThoseOfTheFile) {
  const Code code = ReadCode("a\n/* 1\n2 */ b\n#define X \\\n  y\nc R\"(\n)\" d");
  ASSERT_EQ(code.tokens.size(), 5u);
  EXPECT_EQ(code.tokens[1].line, 3u);
  EXPECT_EQ(code.tokens[2].line, 6u);
  EXPECT_EQ(code.tokens[4].line, 7u);
  ASSERT_EQ(code.directives.size(), 1u);
  EXPECT_EQ(code.directives[0].name, "define");
  EXPECT_EQ(code.directives[0].line, 4u);
}

TEST(CodeTokens, KnowWhatIsBehindAVersionOfCuda) {
  const Code code = ReadCode(
      "a\n#if CUDART_VERSION < 13000\nb\n#else\nc\n#endif\n#ifdef X\nd\n#elif CUDA_VERSION >= "
      "12000\n"
      "e\n#endif\nf");
  std::string versioned;
  for (const Token& token : code.tokens) {
    if (token.versioned) versioned += token.text;
  }
  EXPECT_EQ(versioned, "bce");
}

TEST(CodeTokens, AnythingThatEndsEarly) {
  for (const std::string_view text :
       {"\"abc", "'", "/* x", "R\"(", "R\"", "#if", "#define a \\", "\\", "#endif", "a \"\\"}) {
    for (size_t n = 0; n <= text.size(); ++n) ReadCode(text.substr(0, n));
  }
  EXPECT_TRUE(ReadCode("").tokens.empty());
}

TEST(CodeTokens, TextOfALine) {
  EXPECT_EQ(LineText("a\n  b c \nd", 2), "b c");
  EXPECT_EQ(LineText("a", 2), "");
  EXPECT_EQ(LineText("a\n", 2), "");
}

TEST(CodeTokens, ALongLineIsCutAroundWhatItIsShownFor) {
  EXPECT_EQ(Excerpt("short", "x"), "short");
  const std::string before(150, 'b');
  const std::string after(300, 'a');
  const std::string cut = Excerpt(before + "VERSION=0x0210000000000000" + after, "VERSION");
  EXPECT_NE(cut.find("VERSION=0x0210000000000000"), std::string::npos) << cut;
  EXPECT_TRUE(cut.starts_with("…")) << cut;
  EXPECT_TRUE(cut.ends_with("a…")) << cut;
  EXPECT_LT(cut.size(), 170U);
  // Letters of several bytes stay whole.
  std::string many;
  for (int i = 0; i < 200; ++i) many += "ü";
  EXPECT_EQ(Excerpt(many, "").substr(0, 2), "ü");
  EXPECT_EQ(Excerpt("x" + many, "").find("\xC3…"), std::string::npos);
}

TEST(CodeTokens, ANameDefinedForAVersionAsksForIt) {
  const Code code = ReadCode(
      "#if CUDA_VERSION >= 13000\n#define OK 1\n#endif\n#ifndef OK\na\n#endif\n#ifdef "
      "OKAY\nb\n#endif\n");
  ASSERT_EQ(code.tokens.size(), 2U);
  EXPECT_TRUE(code.tokens[0].versioned);
  EXPECT_FALSE(code.tokens[1].versioned);
}

}  // namespace
}  // namespace cuproof
