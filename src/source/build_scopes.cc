#include "source/build_scopes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace cuproof {
namespace {

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool IsWordLetter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsBlank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Two words of letters alone: "build with -arch=sm_60"; flags have none, a command has one.
bool IsSentence(std::string_view text) {
  size_t words = 0;
  while (words < 2) {
    const size_t start = text.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos) return false;
    text.remove_prefix(start);
    const size_t end = std::min(text.find_first_of(" \t\r\n"), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    while (!word.empty() &&
           std::string_view(":,.;!?").find(word.back()) != std::string_view::npos) {
      word.remove_suffix(1);
    }
    words += word.size() > 1 && std::all_of(word.begin(), word.end(), IsLetter) ? 1 : 0;
  }
  return true;
}

// "12", "12.4", "cu128", in quotes or not: a release as the key of a table.
bool IsRelease(std::string_view text) {
  bool digit = false;
  if (text.size() > 40) return false;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    digit |= is_digit;
    if (!is_digit && std::string_view("cuda.\"' \t\r\n").find(c) == std::string_view::npos)
      return false;
  }
  return digit;
}

bool IsToldBy(std::string_view call, bool cmake) {
  std::string name(call);
  if (cmake) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name == "message" || name == "option";
  }
  constexpr std::array<std::string_view, 8> kNames = {"print", "warn",  "warning", "info",
                                                      "debug", "error", "log",     "exit"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || name.ends_with("Error") ||
         name.ends_with("Exception") || name.ends_with("Warning");
}

bool IsToldAs(std::string_view keyword) {
  return keyword == "help" || keyword == "description" || keyword == "epilog" ||
         keyword == "usage" || keyword == "long_description";
}

class Reader {
 public:
  explicit Reader(const SourceFile& file)
      : cmake_(file.kind == SourceKind::kCmake), text_(file.text) {
    scopes_.text = file.text;
    parts_.push_back({});
    open_.push_back({0, 0, '\0', false});
  }

  BuildScopes Read() {
    while (at_ < text_.size()) Step();
    scopes_.conditional.resize(line_ + 1);
    // A part comes after the one around it.
    for (size_t i = 1; i < parts_.size(); ++i) {
      if (parts_[parts_[i].around].chosen) parts_[i].chosen = true;
    }
    for (const auto& [line, part] : touched_) {
      if (parts_[part].chosen) scopes_.conditional[line] = true;
    }
    return std::move(scopes_);
  }

 private:
  // What stands between two commas of one bracket.
  struct Part {
    size_t around = 0;
    size_t start = 0;
    bool chosen = false;
    bool told = false;
  };
  struct Bracket {
    size_t part = 0;    // the present one
    size_t around = 0;  // that the bracket stands in
    char kind = '\0';
    bool told = false;
  };

  Part& part() { return parts_[open_.back().part]; }

  void Begin(size_t around, bool told, bool chosen) {
    open_.back().part = parts_.size();
    parts_.push_back({around, at_ + 1, chosen, told});
  }

  void Open(char kind, bool told, bool chosen) {
    const size_t around = open_.back().part;
    open_.push_back({0, around, kind, told || parts_[around].told});
    Begin(around, open_.back().told, chosen);
  }

  void Touch() {
    const std::pair<size_t, size_t> here{line_, open_.back().part};
    if (touched_.empty() || touched_.back() != here) touched_.push_back(here);
  }

  void Blank(size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      if (text_[i] != '\n') scopes_.text[i] = ' ';
    }
  }

  // Up to `end`, which is passed.
  void PassTo(size_t end) {
    for (; at_ < end && at_ < text_.size(); ++at_) {
      if (text_[at_] != '\n') continue;
      ++line_;
      Touch();
    }
  }

  void TakeText() {
    const size_t start = at_;
    const char quote = text_[at_];
    const bool triple = !cmake_ && text_.substr(at_, 3) == std::string(3, quote);
    const size_t size = triple ? 3 : 1;
    size_t end = at_ + size;
    while (end < text_.size()) {
      if (text_[end] == '\\') {
        end += 2;
        continue;
      }
      if (!cmake_ && !triple && text_[end] == '\n') break;
      if (text_.substr(end, size) == std::string(size, quote)) {
        end += size;
        break;
      }
      ++end;
    }
    end = std::min(end, text_.size());
    Touch();
    if (part().told || IsSentence(text_.substr(start + size, end - start - size)))
      Blank(start, end);
    PassTo(end);
  }

  void TakeWord() {
    const size_t start = at_;
    while (at_ < text_.size() && IsWordLetter(text_[at_])) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    size_t next = at_;
    while (next < text_.size() && (text_[next] == ' ' || text_[next] == '\t')) ++next;
    const char after = next < text_.size() ? text_[next] : '\0';
    if (cmake_) Touch();
    if (part().told) Blank(start, at_);
    const bool first = first_word_;
    first_word_ = false;
    if (after == '(' && IsToldBy(word, cmake_)) {
      PassTo(next);
      Open('(', true, false);
      ++at_;
    } else if (!cmake_ && open_.size() > 1 && after == '=' && IsToldAs(word)) {
      part().told = true;
    } else if (!cmake_ && !first &&
               (word == "if" || word == "else" || word == "and" || word == "or")) {
      part().chosen = true;
    }
  }

  void EndLine() {
    const bool continued = at_ > 0 && text_[at_ - 1] == '\\';
    ++at_;
    ++line_;
    if (open_.size() > 1 || continued) return;
    --at_;
    Begin(0, false, false);
    ++at_;
    first_word_ = true;
  }

  void Close(char kind) {
    if (open_.size() > 1 && (open_.back().kind == '<') == (kind == '<')) open_.pop_back();
  }

  void Step() {
    const char c = text_[at_];
    if (c == '\n') return EndLine();
    if (c == '#') {
      const bool bracket = cmake_ && text_.substr(at_, 3) == "#[[";
      const size_t found = text_.find(bracket ? "]]" : "\n", at_);
      const size_t end = std::min(found, text_.size());
      if (bracket) Blank(at_, end);
      return PassTo(end);
    }
    if (c == '"' || (c == '\'' && !cmake_)) return TakeText();
    if (IsWordLetter(c)) return TakeWord();
    if (part().told && !IsBlank(c) && c != ')') Blank(at_, at_ + 1);
    if (cmake_ && c == '$' && text_.substr(at_, 2) == "$<") {
      Open('<', false, true);
      ++at_;
    } else if (c == '(' || c == '[' || c == '{') {
      Open(c, false, false);
    } else if (c == ')' || c == ']' || c == '}') {
      Close(c);
    } else if (c == '>' && cmake_) {
      Close('<');
    } else if (c == ',' && open_.back().kind != '<') {
      Begin(open_.back().around, open_.back().told, false);
    } else if (c == ':' && open_.back().kind == '{' &&
               IsRelease(text_.substr(part().start, at_ - part().start))) {
      part().chosen = true;
    }
    if (!IsBlank(c)) first_word_ = false;
    ++at_;
  }

  const bool cmake_;
  const std::string_view text_;
  BuildScopes scopes_;
  std::vector<Part> parts_;
  std::vector<Bracket> open_;
  std::vector<std::pair<size_t, size_t>> touched_;  // lines and the parts that stand on them
  size_t at_ = 0;
  size_t line_ = 0;
  bool first_word_ = true;
};

}  // namespace

BuildScopes ReadBuildScopes(const SourceFile& file) { return Reader(file).Read(); }

}  // namespace cuproof
