#include "source/code_tokens.h"

#include <algorithm>
#include <string>

namespace cuproof {
namespace {

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Macros by which code tells releases of CUDA, and of what comes with it, apart.
bool NamesVersion(std::string_view condition) {
  for (const std::string_view name :
       {"CUDART_VERSION", "CUDA_VERSION", "__CUDACC_VER_MAJOR__", "CUDA_VERSION_MAJOR",
        "CUDA_API_VERSION", "CUB_VERSION", "CUB_MAJOR_VERSION", "THRUST_VERSION",
        "THRUST_MAJOR_VERSION", "CCCL_VERSION", "CCCL_MAJOR_VERSION", "__has_include", "USE_ROCM",
        "__HIP_PLATFORM_AMD__", "__HIPCC__", "HIP_PLATFORM"}) {
    if (condition.find(name) != std::string_view::npos) return true;
  }
  return false;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Code Read() {
    while (at_ < text_.size()) Step();
    return std::move(code_);
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool Here(std::string_view word) const { return text_.substr(at_, word.size()) == word; }

  // Up to and with `end`, counting lines.
  void SkipPast(std::string_view end) {
    const size_t found = text_.find(end, at_);
    const size_t stop = found == std::string_view::npos ? text_.size() : found + end.size();
    line_ +=
        static_cast<uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
    at_ = stop;
  }

  void SkipComment() {
    if (Here("/*")) {
      at_ += 2;
      SkipPast("*/");
    } else {
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
  }

  // "a\"b" on one line.
  void SkipQuoted(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n' ? 2 : 1;
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    at_ = std::min(at_, text_.size());
  }

  // R"name( … )name"
  void SkipRaw() {
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 18) return SkipQuoted('"');
    const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    at_ = open + 1;
    SkipPast(end);
  }

  // By a macro of CUDA's, or by one that the file defined in such a condition.
  bool AsksForVersion(std::string_view condition) const {
    if (NamesVersion(condition)) return true;
    return std::any_of(switches_.begin(), switches_.end(), [&](std::string_view name) {
      for (size_t at = condition.find(name); at != std::string_view::npos;
           at = condition.find(name, at + 1)) {
        const auto letter = [&](size_t i) {
          return i < condition.size() && (IsLetter(condition[i]) || IsDigit(condition[i]));
        };
        if ((at == 0 || !letter(at - 1)) && !letter(at + name.size())) return true;
      }
      return false;
    });
  }

  void TakeSwitch(std::string_view rest) {
    constexpr size_t kMostSwitches = 64;
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    size_t size = 0;
    while (size < rest.size() && (IsLetter(rest[size]) || IsDigit(rest[size]))) ++size;
    if (size > 1 && switches_.size() < kMostSwitches) switches_.push_back(rest.substr(0, size));
  }

  bool versioned() const {
    return std::find(conditions_.begin(), conditions_.end(), true) != conditions_.end();
  }

  void TakeDirective() {
    const uint32_t line = line_;
    const size_t start = ++at_;
    size_t end = text_.size();  // of the text that counts: up to a comment
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (text_[at_] == '\\' && (Peek(1) == '\n' || (Peek(1) == '\r' && Peek(2) == '\n'))) {
        at_ += Peek(1) == '\r' ? 3 : 2;
        ++line_;
      } else if (Here("//") || Here("/*")) {
        end = std::min(end, at_);
        SkipComment();
      } else if (text_[at_] == '"') {
        SkipQuoted('"');
      } else {
        ++at_;
      }
    }
    std::string_view body = text_.substr(start, std::min(end, at_) - start);
    body.remove_prefix(std::min(body.find_first_not_of(" \t"), body.size()));
    const size_t size = std::min(body.find_first_of(" \t(\"<"), body.size());
    Directive directive{body.substr(0, size), body.substr(size), line, versioned()};
    const std::string_view name = directive.name;
    if (name == "if" || name == "ifdef" || name == "ifndef") {
      conditions_.push_back(AsksForVersion(directive.rest));
    } else if (name == "elif" && !conditions_.empty()) {
      conditions_.back() = conditions_.back() || AsksForVersion(directive.rest);
    } else if (name == "endif" && !conditions_.empty()) {
      conditions_.pop_back();
    }
    if (name == "define" && (directive.versioned || NamesVersion(directive.rest))) {
      TakeSwitch(directive.rest);
    }
    code_.directives.push_back(directive);
  }

  void Add(TokenKind kind, size_t start, uint32_t line) {
    code_.tokens.push_back({kind, text_.substr(start, at_ - start), line, versioned()});
  }

  void Step() {
    const char c = text_[at_];
    const size_t start = at_;
    const uint32_t line = line_;
    if (c == '\n') {
      ++line_;
      ++at_;
      fresh_line_ = true;
      return;
    }
    if (c == ' ' || c == '\t' || c == '\r' || c == '\\') {
      ++at_;
      return;
    }
    if (Here("//") || Here("/*")) return SkipComment();
    if (c == '#' && fresh_line_) return TakeDirective();
    fresh_line_ = false;
    if (c == '"' || c == '\'') {
      SkipQuoted(c);
      return Add(TokenKind::kText, start, line);
    }
    if (IsLetter(c)) {
      while (IsLetter(Peek()) || IsDigit(Peek())) ++at_;
      const std::string_view word = text_.substr(start, at_ - start);
      if (Peek() == '"' && (word == "R" || word == "LR" || word == "u8R")) {
        SkipRaw();
        return Add(TokenKind::kText, start, line);
      }
      return Add(TokenKind::kIdentifier, start, line);
    }
    if (IsDigit(c)) {
      // 1'000'000, 0x1F, 1.5e3f
      while (IsLetter(Peek()) || IsDigit(Peek()) || Peek() == '.' ||
             (Peek() == '\'' && IsDigit(Peek(1)))) {
        ++at_;
      }
      return Add(TokenKind::kNumber, start, line);
    }
    at_ += Here("<<<") || Here(">>>") ? 3 : Here("->") || Here("::") ? 2 : 1;
    Add(TokenKind::kSign, start, line);
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  bool fresh_line_ = true;
  std::vector<bool> conditions_;
  std::vector<std::string_view> switches_;
  Code code_;
};

}  // namespace

Code ReadCode(std::string_view text) { return Reader(text).Read(); }

std::string_view LineText(std::string_view text, uint32_t line) {
  for (uint32_t i = 1; i < line; ++i) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
  text = text.substr(0, text.find_last_not_of(" \t\r") + 1);
  return text;
}

std::string Excerpt(std::string_view line, std::string_view match) {
  constexpr size_t kLongest = 160;
  if (line.size() <= kLongest) return std::string(line);
  const size_t found = match.empty() ? std::string_view::npos : line.find(match);
  const size_t at = found == std::string_view::npos ? 0 : found;
  const size_t size = std::min(match.size(), kLongest);
  constexpr size_t kBehind = 60;  // what is told of what follows it
  size_t start = at + size + kBehind <= kLongest ? 0 : at - std::min(at, (kLongest - size) / 2);
  size_t end = std::min(line.size(), start + kLongest);
  // Not within a letter of several bytes.
  const auto within = [&](size_t i) {
    return i < line.size() && (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80;
  };
  for (int i = 0; i < 3 && within(start); ++i) ++start;
  for (int i = 0; i < 3 && within(end); ++i) --end;
  std::string text = start > 0 ? "…" : "";
  text += line.substr(start, end - start);
  if (end < line.size()) text += "…";
  return text;
}

}  // namespace cuproof
