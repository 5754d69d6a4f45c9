#include "source/build_lines.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "source/build_scopes.h"
#include "target/facts.h"
#include "target/table.h"

namespace cuproof {
namespace {

constexpr size_t kMaxRequests = 1000;
constexpr size_t kMaxLine = 10'000;  // of a longer one, generated, the rest is not read

// Up to a # outside of quotes. A quote that is not closed on the line ends there.
std::string WithoutComment(std::string_view line) {
  char quote = '\0';
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0') {
      if (c == '\\') ++i;
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      return std::string(line.substr(0, i));
    }
  }
  return std::string(line);
}

// A text of three quotes that stands at the start of a line: a docstring.
std::string_view DocQuote(std::string_view line) {
  const size_t start = std::min(line.find_first_not_of(" \tru"), line.size());
  const std::string_view rest = line.substr(start);
  if (rest.starts_with("\"\"\"")) return "\"\"\"";
  return rest.starts_with("'''") ? "'''" : "";
}

bool IsWordLetter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "90a", "120": digits and a suffix at the start of a text.
std::optional<Arch> TakeArch(std::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits < 2 || digits > 3) return std::nullopt;
  size_t size = digits;
  if (size < text.size() && (text[size] == 'a' || text[size] == 'f')) ++size;
  if (size < text.size() && IsWordLetter(text[size])) return std::nullopt;
  const Arch arch = ParseArch(text.substr(0, size));
  text.remove_prefix(size);
  return arch;
}

class Finder {
 public:
  explicit Finder(ArchRequests& requests) : requests_(requests) {}

  void Take(const BuildLine& line) {
    line_ = line.line;
    conditional_ = line.conditional;
    TakeFlags(line.text);
    TakeTorchList(line.text);
    TakeCmakeList(line.text);
  }

 private:
  void Add(Arch arch, bool sass, bool ptx, ArchSyntax syntax) {
    if (requests_.archs.size() == kMaxRequests) return;
    requests_.archs.push_back({arch, ptx, sass, line_, conditional_, syntax});
  }

  // code=sm_90, code=compute_90, -arch=sm_90: what is behind "sm_" and "compute_", but for the
  // virtual half of arch=compute_90,code=sm_90.
  void TakeFlags(std::string_view text) {
    if (text.find("gencode") == std::string_view::npos &&
        text.find("generate-code") == std::string_view::npos &&
        text.find("-arch") == std::string_view::npos) {
      return;
    }
    // A request whose number is computed: compute_{num}, sm_${ARCH}.
    for (const std::string_view open : {"compute_{", "sm_{", "sm_$", "compute_$", "sm_%"}) {
      if (text.find(open) != std::string_view::npos) requests_.open = true;
    }
    for (size_t at = text.find("code="); at != std::string_view::npos;
         at = text.find("code=", at)) {
      at += 5;
      TakeCodes(text.substr(at));
    }
    for (size_t at = text.find("-arch"); at != std::string_view::npos;
         at = text.find("-arch", at + 5)) {
      std::string_view rest = text.substr(at + 5);
      const size_t start = rest.find_first_not_of("= \"',");
      if (start == std::string_view::npos || start == 0) continue;
      rest.remove_prefix(start);
      if (rest.starts_with("all") || rest.starts_with("native")) requests_.open = true;
      if (rest.starts_with("sm_")) {
        rest.remove_prefix(3);
        // nvcc's -arch=sm_90 keeps PTX too.
        if (const auto arch = TakeArch(rest)) Add(*arch, true, true, ArchSyntax::kGencode);
      }
    }
  }

  // sm_90, compute_90, [sm_90,compute_90]
  void TakeCodes(std::string_view text) {
    while (!text.empty() && (text[0] == '[' || text[0] == '"' || text[0] == '\\')) {
      text.remove_prefix(1);
    }
    while (true) {
      const bool sass = text.starts_with("sm_");
      const bool ptx = text.starts_with("compute_");
      if (!sass && !ptx) return;
      text.remove_prefix(sass ? 3 : 8);
      const auto arch = TakeArch(text);
      if (!arch) return;
      Add(*arch, sass, ptx, ArchSyntax::kGencode);
      if (!text.starts_with(",")) return;
      text.remove_prefix(1);
    }
  }

  // TORCH_CUDA_ARCH_LIST="8.0;9.0a+PTX", os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0 9.0"
  void TakeTorchList(std::string_view text) {
    constexpr std::string_view kName = "TORCH_CUDA_ARCH_LIST";
    const size_t at = text.find(kName);
    if (at == std::string_view::npos) return;
    std::string_view rest = text.substr(at + kName.size());
    bool any = false;
    while (!rest.empty()) {
      const size_t start = rest.find_first_of("0123456789");
      if (start == std::string_view::npos) break;
      if (rest.substr(0, start).find_first_of("${") != std::string_view::npos) {
        requests_.open = true;
        return;
      }
      rest.remove_prefix(start);
      const size_t size = std::min(rest.find_first_not_of("0123456789.afPTX+"), rest.size());
      std::string_view entry = rest.substr(0, size);
      rest.remove_prefix(size);
      const bool ptx = entry.ends_with("+PTX");
      if (ptx) entry.remove_suffix(4);
      const size_t dot = entry.find('.');
      if (dot == std::string_view::npos || dot + 1 >= entry.size()) continue;
      std::string number(entry.substr(0, dot));
      number += entry.substr(dot + 1);
      std::string_view view = number;
      const auto arch = TakeArch(view);
      if (!arch || !view.empty()) continue;
      Add(*arch, true, ptx, ArchSyntax::kTorchList);
      any = true;
    }
    if (!any) return;
  }

  // set(CMAKE_CUDA_ARCHITECTURES 80 90-real), CUDA_ARCHITECTURES "80;90"
  void TakeCmakeList(std::string_view text) {
    constexpr std::string_view kName = "CUDA_ARCHITECTURES";
    const size_t at = text.find(kName);
    if (at == std::string_view::npos) return;
    std::string_view rest = text.substr(at + kName.size());
    // A condition or a message about the list is none.
    for (const std::string_view other : {"if", "message", "option", "list", "foreach"}) {
      const size_t first = std::min(text.find_first_not_of(" \t"), text.size());
      if (text.substr(first).starts_with(other)) return;
    }
    if (!rest.empty() && IsWordLetter(rest[0])) return;
    while (!rest.empty()) {
      const size_t start = std::min(rest.find_first_not_of(" \t\";=:"), rest.size());
      rest.remove_prefix(start);
      if (rest.empty() || rest[0] == ')') return;
      if (rest[0] == '$' || rest.starts_with("all") || rest.starts_with("native")) {
        requests_.open = true;
        return;
      }
      const auto arch = TakeArch(rest);
      if (!arch) return;
      const bool real = rest.starts_with("-real");
      const bool is_virtual = rest.starts_with("-virtual");
      if (real) rest.remove_prefix(5);
      if (is_virtual) rest.remove_prefix(8);
      Add(*arch, !is_virtual, !real, ArchSyntax::kCmakeList);
    }
  }

  ArchRequests& requests_;
  uint32_t line_ = 0;
  bool conditional_ = false;
};

// Starts with a word, in capitals or not, and a bracket.
bool Calls(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(text[i])) != word[i]) return false;
  }
  const size_t next = text.find_first_not_of(" \t", word.size());
  return next != std::string_view::npos && text[next] == '(';
}

bool StartsWithAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.starts_with(word); });
}

// echo, printf and $(info …) of a Makefile: said to people.
bool IsTold(std::string_view line) {
  const size_t start = std::min(line.find_first_not_of(" \t@-"), line.size());
  return StartsWithAny(line.substr(start),
                       {"echo ", "printf ", "$(info ", "$(warning ", "$(error "});
}

// Knows which lines stand within a condition: by indentation in Python, by words elsewhere. What
// comes behind a condition that leaves the function is within one too.
class Conditions {
 public:
  explicit Conditions(SourceKind kind) : kind_(kind) {}

  bool Within(std::string_view line) {
    const size_t indent = line.find_first_not_of(" \t");
    const std::string_view text = line.substr(indent);
    if (kind_ == SourceKind::kPython) {
      return WithinPython(text, indent);
    }
    const bool opens = kind_ == SourceKind::kCmake
                           ? Calls(text, "if")
                           : StartsWithAny(text, {"ifeq", "ifneq", "ifdef", "ifndef"});
    const bool closes =
        kind_ == SourceKind::kCmake ? Calls(text, "endif") : text.starts_with("endif");
    if (opens) ++depth_;
    if (closes && depth_ > 0) --depth_;
    if (kind_ == SourceKind::kCmake) {
      if (depth_ > 0 && Calls(text, "return")) left_ = true;
      if (Calls(text, "endfunction") || Calls(text, "endmacro")) left_ = false;
    }
    return depth_ > 0 || left_;
  }

 private:
  bool WithinPython(std::string_view text, size_t indent) {
    while (!indents_.empty() && indents_.back() >= indent) indents_.pop_back();
    while (!left_at_.empty() && left_at_.back() > indent) left_at_.pop_back();
    bool within = !indents_.empty() || !left_at_.empty();
    if (StartsWithAny(text, {"return", "continue", "break"}) && !indents_.empty()) {
      Leave(indents_.back());
    }
    if (StartsWithAny(text,
                      {"if ", "if(", "elif ", "elif(", "else:", "else ", "except", "case "})) {
      indents_.push_back(indent);
      // if cuda13: return […]
      const size_t last = text.find_last_not_of(" \t\r");
      within |= last != std::string_view::npos && text[last] != ':';
      if (text.find(": return") != std::string_view::npos) Leave(indent);
    }
    return within;
  }

  void Leave(size_t indent) {
    if (left_at_.empty() || left_at_.back() < indent) left_at_.push_back(indent);
  }

  const SourceKind kind_;
  std::vector<size_t> indents_;
  std::vector<size_t> left_at_;  // from these indentations on it may have been left
  size_t depth_ = 0;
  bool left_ = false;
};

}  // namespace

std::vector<BuildLine> ReadBuildLines(const SourceFile& file) {
  std::vector<BuildLine> lines;
  BuildScopes scopes;
  const bool scoped = file.kind == SourceKind::kPython || file.kind == SourceKind::kCmake;
  if (scoped) scopes = ReadBuildScopes(file);
  std::string_view rest = scoped ? std::string_view(scopes.text) : file.text;
  std::string_view doc;  // the quotes that end a docstring
  Conditions conditions(file.kind);
  for (uint32_t line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, std::min(end, kMaxLine));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!doc.empty()) {
      if (text.find(doc) != std::string_view::npos) doc = {};
      continue;
    }
    if (file.kind == SourceKind::kPython) {
      const std::string_view quote = DocQuote(text);
      if (!quote.empty()) {
        const size_t first = text.find(quote);
        if (text.find(quote, first + 3) == std::string_view::npos) doc = quote;
        continue;
      }
    }
    std::string kept = WithoutComment(text);
    if (kept.find_first_not_of(" \t\r") == std::string::npos) continue;
    const bool chosen = line <= scopes.conditional.size() && scopes.conditional[line - 1];
    const bool within = conditions.Within(kept) || chosen;
    if (file.kind == SourceKind::kMakefile && IsTold(kept)) continue;
    lines.push_back({std::move(kept), line, within});
  }
  return lines;
}

ArchRequests ReadArchRequests(const std::vector<BuildLine>& lines) {
  ArchRequests requests;
  Finder finder(requests);
  for (const BuildLine& line : lines) finder.Take(line);
  return requests;
}

}  // namespace cuproof
