#include "symbol/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "symbol/lookup.h"
#include "symbol/mangled_walk.h"

namespace cuproof {
namespace {

constexpr size_t kMaxCandidates = 400;  // of one function: overloads and instances
constexpr size_t kShown = 4;            // parameter lists up to this are shown whole

void Hash(uint64_t& hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  hash = (hash ^ 0xFF) * 0x100000001B3;
}

/// The identifiers of the name itself, without its parameters: up to the first letter that is none
/// of a nested name's.
struct FunctionKey {
  uint64_t whole = 0xCBF29CE484222325;  // of all identifiers
  uint64_t last = 0;                    // of the last one
};

FunctionKey KeyOf(std::string_view mangled) {
  FunctionKey key;
  if (mangled.substr(0, 2) != "_Z") return key;
  MangledWalk walk(mangled.substr(2));
  std::string_view last;
  bool nested = false;
  bool first = true;
  while (const auto token = walk.Next()) {
    const bool is_first = std::exchange(first, false);
    if (token->kind == MangledToken::kIdentifier) {
      if (token->tag) continue;
      Hash(key.whole, token->text);
      last = token->text;
      if (!nested) break;
      continue;
    }
    if (token->kind == MangledToken::kStandard) {
      Hash(key.whole, token->text);
      continue;
    }
    if (token->text == "N" && is_first) {
      nested = true;
    } else if (token->text.size() == 2 && (token->text[0] == 'C' || token->text[0] == 'D')) {
      Hash(key.whole, token->text.substr(0, 1));
      break;
    } else if (token->text != "K" && token->text != "B" && token->text != "L" &&
               token->text != "R" && token->text != "O" && !token->text.empty()) {
      // An operator's two letters are a name too.
      if (token->text[0] >= 'a' && token->text[0] <= 'z' && last.empty()) {
        Hash(key.whole, token->text);
      }
      break;
    }
  }
  uint64_t hash = 0x84222325CBF29CE4;
  Hash(hash, last);
  if (!last.empty()) key.last = hash;
  return key;
}

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// The same text for either std::string.
std::string WithoutStringAbi(std::string text) {
  ReplaceAll(text, "std::__cxx11::", "std::");
  ReplaceAll(text, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
             "std::string");
  ReplaceAll(text, "[abi:cxx11]", "");
  return text;
}

std::string WithStdOptional(std::string text) {
  ReplaceAll(text, "c10::optional<", "std::optional<");
  return text;
}

std::string LastName(std::string_view qualified) {
  const std::string scope = ScopeOf(qualified);
  return std::string(qualified.substr(scope.empty() ? 0 : scope.size() + 2));
}

// "c10::List" of "c10::List<at::Tensor>::get": names without template arguments.
std::string WithoutArguments(std::string_view qualified) {
  std::string out;
  int depth = 0;
  for (const char c : qualified) {
    if (c == '<') ++depth;
    if (depth == 0) out += c;
    if (c == '>') --depth;
  }
  return out;
}

/// Which of two lists' entries have no equal in the other, in order (longest common subsequence).
void MarkDifferences(const std::vector<std::string>& a, const std::vector<std::string>& b,
                     std::vector<bool>& a_differs, std::vector<bool>& b_differs) {
  a_differs.assign(a.size(), true);
  b_differs.assign(b.size(), true);
  if (a.size() > 256 || b.size() > 256) return;
  std::vector<std::vector<uint16_t>> length(a.size() + 1, std::vector<uint16_t>(b.size() + 1));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      length[i][j] = a[i] == b[j] ? static_cast<uint16_t>(length[i + 1][j + 1] + 1)
                                  : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      a_differs[i++] = b_differs[j++] = false;
    } else if (length[i + 1][j] >= length[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
}

// Equal parameters far from a difference are cut.
std::vector<MarkedPart> Shorten(const std::vector<std::string>& parts,
                                const std::vector<bool>& differs) {
  std::vector<MarkedPart> out;
  const auto near = [&](size_t i) {
    return differs[i] || (i > 0 && differs[i - 1]) || (i + 1 < differs.size() && differs[i + 1]);
  };
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts.size() <= kShown || near(i)) {
      out.push_back({parts[i], differs[i]});
    } else if (out.empty() || out.back().text != "…") {
      out.push_back({"…", false});
    }
  }
  return out;
}

std::string ListText(const std::vector<MarkedPart>& parts) {
  std::string text;
  for (const MarkedPart& part : parts) {
    if (!text.empty()) text += ", ";
    text += part.text;
  }
  return text;
}

std::optional<NearestName> Compare(const CxxName& wanted, std::string_view mangled) {
  auto has = SplitCxxName(mangled);
  if (!has || has->function != wanted.function || has->prefix != wanted.prefix) return std::nullopt;
  NearestName near;
  near.mangled = mangled;
  const std::string wanted_text = WithoutStringAbi(wanted.text);
  const std::string has_text = WithoutStringAbi(has->text);
  if (wanted_text == has_text) {
    near.difference = NameDifference::kStringAbi;
  } else if (WithStdOptional(wanted_text) == WithStdOptional(has_text)) {
    near.difference = NameDifference::kOptional;
  } else if (wanted.qualified == has->qualified) {
    const bool parameters = wanted.parameters != has->parameters;
    const bool suffix = wanted.suffix != has->suffix;
    near.difference = parameters ? NameDifference::kParameters
                      : suffix   ? NameDifference::kSuffix
                                 : NameDifference::kReturnType;
  } else if (WithoutArguments(wanted.qualified) == WithoutArguments(has->qualified)) {
    near.difference = NameDifference::kTemplate;
  } else if (LastName(wanted.qualified) == LastName(has->qualified) &&
             wanted.parameters == has->parameters) {
    near.difference = NameDifference::kScope;
  } else {
    return std::nullopt;
  }
  std::vector<bool> wanted_differs;
  std::vector<bool> has_differs;
  MarkDifferences(wanted.parameters, has->parameters, wanted_differs, has_differs);
  near.wanted_parts = Shorten(wanted.parameters, wanted_differs);
  near.has_parts = Shorten(has->parameters, has_differs);
  near.wanted = wanted;
  near.has = std::move(*has);
  return near;
}

// The fewer, the nearer.
size_t Distance(const NearestName& near) {
  size_t distance = static_cast<size_t>(near.difference) * 1000;
  for (const MarkedPart& part : near.wanted_parts) distance += part.differs ? 10 : 0;
  for (const MarkedPart& part : near.has_parts) distance += part.differs ? 10 : 0;
  const size_t a = near.wanted.text.size();
  const size_t b = near.has.text.size();
  return distance + std::min<size_t>(9, a > b ? a - b : b - a);
}

}  // namespace

const char* NameDifferenceName(NameDifference difference) {
  switch (difference) {
    case NameDifference::kStringAbi:
      return "string-abi";
    case NameDifference::kOptional:
      return "optional";
    case NameDifference::kReturnType:
      return "return-type";
    case NameDifference::kSuffix:
      return "suffix";
    case NameDifference::kTemplate:
      return "template";
    case NameDifference::kScope:
      return "scope";
    case NameDifference::kParameters:
      break;
  }
  return "parameters";
}

std::string NearestName::Sentence() const {
  const auto show = [](const CxxName& name, std::string_view called,
                       const std::vector<MarkedPart>& parts) {
    if (!name.function) return fmt::format("{}{}", called, name.suffix);
    return fmt::format("{}({}){}", called, ListText(parts), name.suffix);
  };
  const bool same_name = wanted.qualified == has.qualified;
  const bool tagged = wanted.tags != has.tags;
  const auto name_of = [&](const CxxName& name) {
    std::string text = name.qualified;
    if (tagged) {
      for (const std::string& tag : name.tags) text += fmt::format("[abi:{}]", tag);
    }
    return text;
  };
  const std::string has_name = same_name && !tagged && has.function ? "…" : name_of(has);
  return fmt::format("wants {}, has {}", show(wanted, name_of(wanted), wanted_parts),
                     show(has, has_name, has_parts));
}

void ExportIndex::AddName(std::string_view mangled, uint32_t where) {
  const FunctionKey key = KeyOf(mangled);
  if (key.last == 0 && key.whole == 0xCBF29CE484222325) return;
  by_function_[key.whole].push_back({mangled, where});
  if (key.last != 0) by_function_[key.last].push_back({mangled, where});
}

void ExportIndex::Add(const DynamicObject& object, uint32_t where) {
  ForEachExport(object, [&](uint32_t, const Symbol& symbol) {
    if (symbol.name.substr(0, 2) == "_Z") AddName(symbol.name, where);
  });
}

std::vector<ExportIndex::Answer> ExportIndex::Nearest(std::string_view wanted, size_t limit) const {
  std::vector<std::pair<size_t, Answer>> near;
  const auto name = SplitCxxName(wanted);
  if (!name) return {};
  const FunctionKey key = KeyOf(wanted);
  for (const uint64_t hash : {key.whole, key.last}) {
    const auto entries = by_function_.find(hash);
    if (entries == by_function_.end()) continue;
    size_t tried = 0;
    for (const Entry& entry : entries->second) {
      if (++tried > kMaxCandidates) break;
      if (entry.name == wanted) continue;
      if (auto answer = Compare(*name, entry.name)) {
        const size_t distance = Distance(*answer);
        near.push_back({distance, {std::move(*answer), entry.where}});
      }
    }
    if (!near.empty()) break;
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Answer> answers;
  for (auto& entry : near) {
    if (answers.size() == limit) break;
    answers.push_back(std::move(entry.second));
  }
  return answers;
}

}  // namespace cuproof
