#include "source/build_scopes.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

// The lines of a text, with "?" before those that are one of a choice.
std::string Read(SourceKind kind, const std::string& text) {
  const BuildScopes scopes = ReadBuildScopes({"file", kind, text});
  EXPECT_EQ(scopes.text.size(), text.size());
  std::string marks;
  for (const bool chosen : scopes.conditional) marks += chosen ? '?' : '-';
  return marks;
}

std::string Kept(SourceKind kind, const std::string& text) {
  std::string kept = ReadBuildScopes({"file", kind, text}).text;
  std::erase(kept, ' ');
  return kept;
}

TEST(BuildScopes, ChoicesOfPython) {
  const auto python = SourceKind::kPython;
  EXPECT_EQ(Read(python, "a = ['x']\n"), "--");
  EXPECT_EQ(Read(python, "a = ['x'] if b else ['y']\n"), "?-");
  EXPECT_EQ(Read(python, "if b:\n  a = ['x']\n"), "---");
  EXPECT_EQ(Read(python, "a = ['x'] + (['y']\n if b else [])\nc = 'z'\n"), "?---");
  EXPECT_EQ(Read(python, "a = {'12': 'x',\n 'y': 'z'}\n"), "?--");
  EXPECT_EQ(Read(python, "a = [b for b in\n ('x', 'y') if c]\n"), "-?-");
}

TEST(BuildScopes, WhatIsSaidToPeopleIsBlank) {
  const auto python = SourceKind::kPython;
  EXPECT_EQ(Kept(python, "print('-x', '-y')\n"), "print()\n");
  EXPECT_EQ(Kept(python, "f('-a', help='-x')\n"), "f('-a',help)\n");
  EXPECT_EQ(Kept(python, "a = 'build it with -x'\nb = 'nvcc -x'\n"), "a=\nb='nvcc-x'\n");
  EXPECT_EQ(Kept(SourceKind::kCmake, "message(STATUS \"a\nb\")\nset(A 1)\n"),
            "message(\n)\nset(A1)\n");
  EXPECT_EQ(Kept(SourceKind::kCmake, "#[[ a\nb ]]\nset(A 1)\n"), "\n]]\nset(A1)\n");
}

TEST(BuildScopes, GeneratorExpressionsChoose) {
  EXPECT_EQ(Read(SourceKind::kCmake, "f(x)\nf($<$<LESS:${V},13>:-x y>)\nf(z)\n"), "-?--");
}

TEST(BuildScopes, HoldForWhatDoesNotEnd) {
  for (const char* text :
       {"", "'", "\"\"\"", "((((", "]]]]", "print(", "$<$<", "a = \\", "'\\", "{1:", "#[["}) {
    for (const auto kind : {SourceKind::kPython, SourceKind::kCmake}) Read(kind, text);
  }
}

}  // namespace
}  // namespace cuproof
