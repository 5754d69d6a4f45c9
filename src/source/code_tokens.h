#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuproof {

enum class TokenKind : uint8_t { kIdentifier, kNumber, kText, kSign };

/// A token of C++ or CUDA code. Comments and the insides of texts are none.
struct Token {
  TokenKind kind = TokenKind::kSign;
  std::string_view text;   // a sign is one letter, but for "->", "::", "<<<" and ">>>"
  uint32_t line = 0;       // from 1
  bool versioned = false;  // within an #if that asks for the version of CUDA
};

/// A line of the preprocessor, joined where it was split, without its comments.
struct Directive {
  std::string_view name;  // "include", "define"
  std::string_view rest;
  uint32_t line = 0;
  bool versioned = false;
};

struct Code {
  std::vector<Token> tokens;
  std::vector<Directive> directives;
};

/// Views point into `text`.
Code ReadCode(std::string_view text);

/// The text of a line without blanks at both ends.
std::string_view LineText(std::string_view text, uint32_t line);

/// A long line cut around the first `match` in it, with "…" where it was cut.
std::string Excerpt(std::string_view line, std::string_view match);

}  // namespace cuproof
