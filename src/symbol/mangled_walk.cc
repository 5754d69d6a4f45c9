#include "symbol/mangled_walk.h"

#include <algorithm>

namespace cuproof {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

MangledToken MangledWalk::Take(size_t length, MangledToken::Kind kind) {
  MangledToken token{kind, false, text_.substr(at_, length)};
  at_ += token.text.size();
  return token;
}

std::optional<MangledToken> MangledWalk::Next() {
  if (at_ >= text_.size()) return std::nullopt;
  const char c = text_[at_];
  const char before = before_;
  before_ = 0;
  const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (c == 'S' || c == 'T') {
    if (c == 'S' && IsLower(next)) return Take(2, MangledToken::kStandard);
    size_t end = at_ + 1;
    while (end < text_.size() && (IsDigit(text_[end]) || IsUpper(text_[end]))) ++end;
    if (end < text_.size() && text_[end] == '_') {
      return Take(end + 1 - at_, MangledToken::kOther);
    }
    return Take(1, MangledToken::kOther);
  }
  // A constructor or a destructor: its number is no length.
  if ((c == 'C' || c == 'D') && IsDigit(next)) return Take(2, MangledToken::kOther);
  // The number of a literal (Lj5E, Lb1E), of an array's size (A10_c), of a discriminator (_12_).
  if ((c == 'L' && IsLower(next)) || c == 'A' || (c == 'L' && next == 'S')) {
    size_t end = at_ + (c == 'A' ? 1 : 2);
    if (c == 'L' && next == 'S') {
      while (end < text_.size() && text_[end] != '_') ++end;
      ++end;
    }
    while (end < text_.size() && (IsDigit(text_[end]) || text_[end] == 'n')) ++end;
    if (end < text_.size() && (text_[end] == 'E' || text_[end] == '_')) {
      return Take(end + 1 - at_, MangledToken::kOther);
    }
  }
  if (IsDigit(c)) {
    size_t length = 0;
    size_t start = at_;
    while (start < text_.size() && IsDigit(text_[start]) && length < text_.size()) {
      length = length * 10 + static_cast<size_t>(text_[start++] - '0');
    }
    const std::string_view name = text_.substr(std::min(start, text_.size()), length);
    const bool identifier = length != 0 && name.size() == length && !IsDigit(name.front());
    at_ = start;
    if (!identifier) return Take(0, MangledToken::kOther);
    MangledToken token = Take(length, MangledToken::kIdentifier);
    token.tag = before == 'B';
    return token;
  }
  before_ = c;
  return Take(1, MangledToken::kOther);
}

}  // namespace cuproof
