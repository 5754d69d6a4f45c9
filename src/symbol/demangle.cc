#include "symbol/demangle.h"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "symbol/mangled_size.h"

namespace cuproof {
namespace {

// libstdc++'s demangler refuses longer ones itself.
constexpr size_t kMaxMangled = 1024;
constexpr uint64_t kMaxDemangled = 1 << 20;

constexpr std::array<std::string_view, 12> kPrefixes = {
    "vtable for ",
    "VTT for ",
    "construction vtable for ",
    "typeinfo name for ",
    "typeinfo for ",
    "guard variable for ",
    "non-virtual thunk to ",
    "virtual thunk to ",
    "covariant return thunk to ",
    "TLS wrapper function for ",
    "TLS init function for ",
    "reference temporary #0 for ",
};

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool IsIdentifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Where "operator" stands as a word; its symbols ("<", "->", "()") are no brackets.
size_t FindOperator(std::string_view text) {
  constexpr std::string_view kOperator = "operator";
  for (size_t at = text.rfind(kOperator); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : text.rfind(kOperator, at - 1)) {
    const size_t end = at + kOperator.size();
    if ((at == 0 || !IsIdentifier(text[at - 1])) &&
        (end == text.size() || !IsIdentifier(text[end]))) {
      return at;
    }
  }
  return std::string_view::npos;
}

// Depth of brackets, "->" left out. Angle brackets of comparisons in template arguments are in
// parentheses in demangled text.
void Count(std::string_view text, size_t at, int& depth) {
  const char c = text[at];
  if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
  if (c == ')' || c == ']' || c == '}' || (c == '>' && (at == 0 || text[at - 1] != '-'))) --depth;
}

// The opening parenthesis of the one that ends the text.
size_t OpeningOf(std::string_view text) {
  int depth = 0;
  for (size_t at = text.size(); at > 0; --at) {
    if (text[at - 1] == ')') ++depth;
    if (text[at - 1] == '(' && --depth == 0) return at - 1;
  }
  return std::string_view::npos;
}

std::string TakeSuffix(std::string_view& text) {
  std::string suffix;
  for (bool more = true; more;) {
    more = false;
    if (EndsWith(text, "]")) {
      const size_t clone = text.rfind(" [clone ");
      if (clone != std::string_view::npos) {
        suffix.insert(0, text.substr(clone));
        text = text.substr(0, clone);
        more = true;
      }
    }
    for (const std::string_view end : {" const", " volatile", " &&", " &"}) {
      if (!EndsWith(text, end)) continue;
      suffix.insert(0, end);
      text.remove_suffix(end.size());
      more = true;
    }
  }
  return suffix;
}

std::vector<std::string> SplitParameters(std::string_view text) {
  std::vector<std::string> parameters;
  if (text.empty() || text == "void") return parameters;
  int depth = 0;
  size_t start = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    Count(text, at, depth);
    if (text[at] != ',' || depth != 0) continue;
    parameters.emplace_back(text.substr(start, at - start));
    start = at + 1;
    while (start < text.size() && text[start] == ' ') ++start;
  }
  parameters.emplace_back(text.substr(start));
  return parameters;
}

// Where the name begins behind its return type: the last blank outside of brackets.
size_t NameStart(std::string_view head) {
  const size_t end = std::min(FindOperator(head), head.size());
  int depth = 0;
  size_t start = 0;
  for (size_t at = 0; at < end; ++at) {
    Count(head, at, depth);
    if (head[at] == ' ' && depth == 0) start = at + 1;
  }
  return start;
}

void TakeTags(std::string& name, std::vector<std::string>& tags) {
  constexpr std::string_view kTag = "[abi:";
  for (size_t at = name.find(kTag); at != std::string::npos; at = name.find(kTag, at)) {
    const size_t end = name.find(']', at);
    if (end == std::string::npos) return;
    tags.push_back(name.substr(at + kTag.size(), end - at - kTag.size()));
    name.erase(at, end - at + 1);
  }
}

}  // namespace

std::optional<std::string> Demangle(std::string_view mangled) {
  if (mangled.substr(0, 2) != "_Z" || mangled.size() > kMaxMangled) return std::nullopt;
  if (DemangledSizeBound(mangled) > kMaxDemangled) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !text) return std::nullopt;
  return std::string(text.get());
}

std::string DemangledOrSame(std::string_view name) {
  auto text = Demangle(name);
  return text ? std::move(*text) : std::string(name);
}

CxxName SplitDemangled(std::string_view text) {
  CxxName name;
  name.text = text;
  for (const std::string_view prefix : kPrefixes) {
    if (text.substr(0, prefix.size()) != prefix) continue;
    name.prefix = text.substr(0, prefix.size() - 1);
    text.remove_prefix(prefix.size());
    break;
  }
  std::string_view rest = text;
  std::string suffix = TakeSuffix(rest);
  const size_t open = EndsWith(rest, ")") ? OpeningOf(rest) : std::string_view::npos;
  const bool anonymous = EndsWith(rest, "(anonymous namespace)");
  if (open != std::string_view::npos && open > 0 && !anonymous &&
      !EndsWith(rest.substr(0, open), "decltype")) {
    name.function = true;
    name.suffix = std::move(suffix);
    name.parameters = SplitParameters(rest.substr(open + 1, rest.size() - open - 2));
    text = rest.substr(0, open);
  }
  const size_t start = name.function ? NameStart(text) : 0;
  if (start > 0) name.return_type = text.substr(0, start - 1);
  name.qualified = text.substr(start);
  TakeTags(name.qualified, name.tags);
  return name;
}

std::optional<CxxName> SplitCxxName(std::string_view mangled) {
  const auto text = Demangle(mangled);
  if (!text) return std::nullopt;
  return SplitDemangled(*text);
}

std::string ScopeOf(std::string_view qualified) {
  const size_t end = std::min(FindOperator(qualified), qualified.size());
  int depth = 0;
  size_t scope = 0;
  for (size_t at = 0; at + 1 < end; ++at) {
    Count(qualified, at, depth);
    if (depth == 0 && qualified[at] == ':' && qualified[at + 1] == ':') scope = at;
  }
  return std::string(qualified.substr(0, scope));
}

}  // namespace cuproof
