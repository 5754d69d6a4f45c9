#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "bytes/result.h"

namespace cuproof {

/// One character of UTF-8 text, or one byte that is not part of any.
struct Utf8Step {
  char32_t code = 0;
  size_t length = 1;  // bytes taken
  bool valid = false;
};

/// What stands at the start of `text`, which must not be empty. Overlong forms, surrogates and cut
/// sequences are not valid.
Utf8Step DecodeUtf8(std::string_view text);

/// Text for a terminal: control bytes (C0, DEL, C1), line ends, bytes that are not UTF-8 and
/// characters that turn the direction of text or cannot be seen come out as \x1b or \u{202e}; the
/// rest is kept. File names and metadata are input: unescaped, they could clear the screen or forge
/// a line of ours. A backslash is kept: the outcome is for eyes, and is not read back.
std::string EscapeTerminal(std::string_view text);

/// "cuproof: file: at byte 0x40: phrase", escaped, without a line end.
std::string ErrorLine(const Error& error);

}  // namespace cuproof
