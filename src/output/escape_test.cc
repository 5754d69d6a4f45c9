#include "output/escape.h"

#include <gtest/gtest.h>

namespace cuproof {
namespace {

TEST(EscapeTerminal, KeepsText) {
  EXPECT_EQ(EscapeTerminal(""), "");
  EXPECT_EQ(EscapeTerminal("lib/torch_cuda.so"), "lib/torch_cuda.so");
  EXPECT_EQ(EscapeTerminal("größe 模型 🙂"), "größe 模型 🙂");
  EXPECT_EQ(EscapeTerminal("C:\\x"), "C:\\x");
}

TEST(EscapeTerminal, ShowsControlBytes) {
  EXPECT_EQ(EscapeTerminal("\x1b[2Jx"), "\\x1b[2Jx");
  EXPECT_EQ(EscapeTerminal("a\nb\r\tc"), "a\\x0ab\\x0d\\x09c");
  EXPECT_EQ(EscapeTerminal(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(EscapeTerminal("\x7f"), "\\x7f");
  EXPECT_EQ(EscapeTerminal("\xc2\x9b"), "\\u{9b}");  // CSI as one character
}

TEST(EscapeTerminal, ShowsWhatTurnsOrHidesText) {
  EXPECT_EQ(EscapeTerminal("\u202egnp.so"), "\\u{202e}gnp.so");
  EXPECT_EQ(EscapeTerminal("\u2066\u2069"), "\\u{2066}\\u{2069}");
  EXPECT_EQ(EscapeTerminal("a\u200bb\ufeff"), "a\\u{200b}b\\u{feff}");
  EXPECT_EQ(EscapeTerminal("\u2028"), "\\u{2028}");
}

TEST(EscapeTerminal, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(EscapeTerminal("\xff.so"), "\\xff.so");
  EXPECT_EQ(EscapeTerminal("\x9b[2J"), "\\x9b[2J");     // CSI as one byte
  EXPECT_EQ(EscapeTerminal("\xc0\xaf"), "\\xc0\\xaf");  // overlong
  EXPECT_EQ(EscapeTerminal("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(EscapeTerminal("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
  EXPECT_EQ(EscapeTerminal("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // past the last code
  EXPECT_EQ(EscapeTerminal("a\xe4\xbd"), "a\\xe4\\xbd");                  // cut
}

TEST(EscapeTerminal, LeavesNothingATerminalObeys) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const char bytes[] = {static_cast<char>(first), static_cast<char>(second)};
      for (const char c : EscapeTerminal(std::string_view(bytes, 2))) {
        EXPECT_FALSE((c >= 0 && c < 0x20) || c == 0x7F) << first << ' ' << second;
      }
    }
  }
}

TEST(ErrorLine, NamesFileAndByte) {
  const Error error{ErrorCode::kBadSize, "expected 64 bytes, 3 are left", "a\nb.so", 0x40};
  EXPECT_EQ(ErrorLine(error), "cuproof: a\\x0ab.so: at byte 0x40: expected 64 bytes, 3 are left");
}

}  // namespace
}  // namespace cuproof
