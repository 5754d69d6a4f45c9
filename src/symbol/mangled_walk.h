#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace cuproof {

/// A piece of a mangled name.
struct MangledToken {
  enum Kind : uint8_t {
    kIdentifier,  // the letters behind a length
    kStandard,    // St, Sa, Sb, Ss, Si, So, Sd
    kOther,       // any other letter, or a back reference
  };
  Kind kind = kOther;
  bool tag = false;  // an identifier behind B: an ABI tag
  std::string_view text;
};

/// Goes through a mangled name without understanding its grammar: enough to tell identifiers, whose
/// letters mean nothing, from the letters that do.
class MangledWalk {
 public:
  explicit MangledWalk(std::string_view mangled) : text_(mangled) {}
  std::optional<MangledToken> Next();

 private:
  MangledToken Take(size_t length, MangledToken::Kind kind);

  std::string_view text_;
  size_t at_ = 0;
  char before_ = 0;  // the letter before, where it was one by itself
};

}  // namespace cuproof
