#include "image/ptx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace cuproof {
namespace {

// Comments before the first directive hold the compiler's banner: a few hundred bytes. A text that
// has not started after this many is something else.
constexpr uint64_t kHeaderWindow = 64 << 10;

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Skips blanks and comments; false at the end of the text.
  bool SkipBlanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "/*") {
        const size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return true;
      }
    }
    return false;
  }

  /// Takes the directive `name` if it is next.
  bool Take(std::string_view name) {
    if (!SkipBlanks() || text_.substr(at_, name.size()) != name) return false;
    at_ += name.size();
    return true;
  }

  template <typename T>
  bool TakeNumber(T& value) {
    const auto end = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (end.ec != std::errc()) return false;
    at_ = static_cast<size_t>(end.ptr - text_.data());
    return true;
  }

  void SkipWord() {
    while (std::isalnum(static_cast<unsigned char>(Next())) || Next() == '_') Advance();
  }

  char Next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void Advance() { ++at_; }
  size_t at() const { return at_; }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

Error NotPtx(size_t at, std::string phrase) {
  return {ErrorCode::kBadMagic, std::move(phrase), "", at};
}

}  // namespace

bool LooksLikePtx(ByteView bytes) {
  Scanner scan(bytes.Clamp(0, kHeaderWindow).Text());
  if (!scan.Take(".version")) return false;
  scan.SkipBlanks();
  return scan.Next() != '"';  // .version "01.01" opens assembler sources of old compilers
}

std::optional<Error> CheckPtxText(ByteView bytes) {
  std::string_view text = bytes.Text();
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return NotPtx(nul, "a NUL byte inside the PTX text");
  }
  size_t depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      at = std::min(text.find('"', at + 1), text.size());
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      const size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 1;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && depth > 0) {
      --depth;
    }
  }
  if (depth > 0) return NotPtx(text.size(), "the PTX text ends inside a block: it is cut short");
  const auto header = ReadPtxHeader(bytes);
  if (header && header->address_size == 32) {
    return NotPtx(0, "PTX with .address_size 32, which 64-bit drivers refuse");
  }
  return std::nullopt;
}

bool PtxHasCode(ByteView bytes) {
  const std::string_view text = bytes.Text();
  return text.find(".entry") != std::string_view::npos ||
         text.find(".func") != std::string_view::npos;
}

Result<PtxHeader> ReadPtxHeader(ByteView bytes) {
  Scanner scan(bytes.Clamp(0, kHeaderWindow).Text());
  PtxHeader header;
  if (!scan.Take(".version"))
    return NotPtx(scan.at(), "expected PTX text that starts with .version");
  scan.SkipBlanks();
  if (!scan.TakeNumber(header.isa.major) || scan.Next() != '.') {
    return NotPtx(scan.at(), "expected a PTX ISA version such as 9.0 behind .version");
  }
  scan.Advance();
  if (!scan.TakeNumber(header.isa.minor)) {
    return NotPtx(scan.at(), "expected a PTX ISA version such as 9.0 behind .version");
  }
  // r580 takes "compute_90" too, though the manual has "sm_90" only.
  if (!scan.Take(".target") || !(scan.Take("sm_") || scan.Take("compute_")) ||
      !scan.TakeNumber(header.target.number)) {
    return NotPtx(scan.at(), "expected .target sm_NN behind .version");
  }
  if (scan.Next() == 'a' || scan.Next() == 'f') header.target.suffix = scan.Next();
  // Options such as ", texmode_independent, debug" may follow; none of our questions needs them.
  scan.SkipWord();
  while (scan.Take(",")) {
    scan.SkipBlanks();
    scan.SkipWord();
  }
  if (scan.Take(".address_size")) {
    scan.SkipBlanks();
    scan.TakeNumber(header.address_size);
  }
  return header;
}

}  // namespace cuproof
