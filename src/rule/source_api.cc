#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "rule/source_rules.h"
#include "target/table.h"

namespace cuproof {
namespace {

bool Mentions(const Code& code, std::string_view word) {
  return std::any_of(code.tokens.begin(), code.tokens.end(), [&](const Token& token) {
    return token.kind == TokenKind::kIdentifier && token.text == word;
  });
}

// A file that defines the name for itself knows what it does.
bool Defines(const Code& code, std::string_view name) {
  return std::any_of(code.directives.begin(), code.directives.end(), [&](const Directive& one) {
    const size_t at = one.rest.find(name);
    return one.name == "define" && at != std::string_view::npos &&
           one.rest.substr(0, at).find_first_not_of(" \t") == std::string_view::npos;
  });
}

// "thrust/sort.h" of <thrust/sort.h>.
std::string_view Included(std::string_view rest) {
  const size_t start = rest.find_first_of("<\"");
  if (start == std::string_view::npos) return {};
  rest.remove_prefix(start + 1);
  return rest.substr(0, rest.find_first_of(">\""));
}

// Only these are read by the host compiler alone; a header may be included by either.
bool IsHostUnit(std::string_view path) {
  return path.ends_with(".cc") || path.ends_with(".cpp") || path.ends_with(".cxx");
}

// Of a call, whose parenthesis opens at `open`. Commas within <> count: a macro sees them too, and
// what is asked has none.
uint32_t ArgumentsAt(const std::vector<Token>& tokens, size_t open) {
  int depth = 0;
  uint32_t count = 1;
  for (size_t i = open; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (text == "(" || text == "{" || text == "[") ++depth;
    if (text == ")" || text == "}" || text == "]") --depth;
    if (depth == 0) return i == open + 1 ? 0 : count;
    if (depth == 1 && text == ",") ++count;
  }
  return 0;
}

class Search {
 public:
  explicit Search(const SourceContext& context) : context_(context) {}

  // Lines by row of the table.
  std::map<size_t, std::set<uint32_t>> Run() {
    const Table& table = Table::Get("cuda_changes");
    for (size_t i = 0; i < table.size(); ++i) rows_.emplace(table.At(i, "name"), i);
    TakeTokens(table);
    TakeIncludes(table);
    return std::move(lines_);
  }

 private:
  void TakeTokens(const Table& table) {
    const auto& tokens = context_.code.tokens;
    const bool properties = Mentions(context_.code, "cudaDeviceProp") ||
                            Mentions(context_.code, "cudaGetDeviceProperties") ||
                            Mentions(context_.code, "getCurrentDeviceProperties") ||
                            Mentions(context_.code, "getDeviceProperties");
    if (properties) TakeTypes();
    for (size_t i = 0; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      if (token.kind != TokenKind::kIdentifier || token.versioned) continue;
      const auto row = rows_.find(NameAt(i));
      if (row == rows_.end()) continue;
      const bool member = i > 0 && (tokens[i - 1].text == "." || tokens[i - 1].text == "->");
      const bool called = i + 1 < tokens.size() && tokens[i + 1].text == "(";
      const std::string_view kind = table.At(row->second, "kind");
      const uint32_t arguments = ParseNumber(table.At(row->second, "arguments"));
      const bool function = kind == "function" && !member &&
                            table.At(row->second, "change") != "layout" &&
                            (arguments == 0 || (called && ArgumentsAt(tokens, i + 1) == arguments));
      const bool field = kind == "field" && member && !called && properties && IsOfDevice(i);
      const bool other = kind == "qualified" || (kind == "template" && IsReference(i));
      if (function || field || other) lines_[row->second].insert(token.line);
    }
  }

  // "cub::Sum" with the namespaces that rows are of; else the bare name.
  std::string NameAt(size_t i) const {
    const auto& tokens = context_.code.tokens;
    if (i >= 2 && tokens[i - 1].text == "::" &&
        (tokens[i - 2].text == "cub" || tokens[i - 2].text == "thrust")) {
      return std::string(tokens[i - 2].text) + "::" + std::string(tokens[i].text);
    }
    return std::string(tokens[i].text);
  }

  // texture<float, 2> t; of CUDA, and not of somebody's graphics library.
  bool IsReference(size_t i) const {
    const auto& tokens = context_.code.tokens;
    if (context_.file.kind != SourceKind::kCuda) return false;
    if (i + 1 >= tokens.size() || tokens[i + 1].text != "<") return false;
    if (i > 0 && std::string_view("::.->").find(tokens[i - 1].text) != std::string_view::npos) {
      return false;
    }
    for (size_t at = 1; at < tokens.size(); ++at) {
      const std::string_view before = tokens[at - 1].text;
      if (tokens[at].text == tokens[i].text &&
          (before == "class" || before == "struct" || before == "using")) {
        return false;
      }
    }
    constexpr std::string_view kWords[] = {"tex1Dfetch",
                                           "tex1D",
                                           "tex2D",
                                           "tex3D",
                                           "cudaBindTexture",
                                           "cudaReadModeElementType",
                                           "cudaTextureType1D",
                                           "cudaTextureType2D",
                                           "cudaReadModeNormalizedFloat",
                                           "surf2Dread",
                                           "surf2Dwrite",
                                           "cudaBindSurfaceToArray",
                                           "cudaBindTextureToArray"};
    return std::any_of(std::begin(kWords), std::end(kWords),
                       [&](std::string_view word) { return Mentions(context_.code, word); });
  }

  // "p" of "cudaDeviceProp p", "const Stat& p": by what it is declared with, wherever in the file.
  void TakeTypes() {
    const auto& tokens = context_.code.tokens;
    for (size_t i = 1; i + 1 < tokens.size(); ++i) {
      if (tokens[i].kind != TokenKind::kIdentifier) continue;
      if (std::string_view(";,=(){[:").find(tokens[i + 1].text) == std::string_view::npos) continue;
      size_t at = i - 1;
      while (at > 0 &&
             (tokens[at].text == "&" || tokens[at].text == "*" || tokens[at].text == "const")) {
        --at;
      }
      const std::string_view type = tokens[at].text;
      if (tokens[at].kind != TokenKind::kIdentifier || type == "return" || type == "else" ||
          type == "case" || type == "throw" || type == "auto") {
        // A further one of a declaration: "int a, b;", where nothing but a comma is before.
        if (type == "auto") TakeAuto(i);
        if (type == "," && at + 1 == i && tokens[i + 1].text != ")") own_.insert(tokens[i].text);
        continue;
      }
      bool& device = devices_[tokens[i].text];
      device |= type == "cudaDeviceProp";
      own_.insert(tokens[i].text);
    }
  }

  // auto* p = at::cuda::getCurrentDeviceProperties();
  void TakeAuto(size_t name) {
    const auto& tokens = context_.code.tokens;
    for (size_t i = name + 1; i < std::min(name + 12, tokens.size()); ++i) {
      if (tokens[i].text == ";") return;
      if (tokens[i].text.ends_with("DeviceProperties")) devices_[tokens[name].text] = true;
    }
  }

  // Whether the member at `i` may be one of cudaDeviceProp.
  bool IsOfDevice(size_t i) const {
    const auto& tokens = context_.code.tokens;
    if (i >= 2) {
      const auto object = devices_.find(tokens[i - 2].text);
      if (object != devices_.end()) return object->second;
    }
    // Whose it is cannot be told: a name that the file declares too may be its own.
    return !own_.contains(tokens[i].text);
  }

  void TakeIncludes(const Table& table) {
    for (const Directive& directive : context_.code.directives) {
      if (directive.name != "include" || directive.versioned) continue;
      const std::string_view file = Included(directive.rest);
      for (size_t i = 0; i < table.size(); ++i) {
        const std::string_view name = table.At(i, "name");
        const std::string_view kind = table.At(i, "kind");
        if ((kind == "header" && file == name) ||
            (kind == "folder" && file.starts_with(name) && IsHostUnit(context_.file.path))) {
          lines_[i].insert(directive.line);
        }
      }
    }
  }

  const SourceContext& context_;
  std::map<std::string, size_t, std::less<>> rows_;
  std::map<size_t, std::set<uint32_t>> lines_;
  std::map<std::string_view, bool> devices_;  // by name: whether it is a cudaDeviceProp
  std::set<std::string_view> own_;            // names that the file declares
};

}  // namespace

void RuleSourceApi(const SourceContext& context, std::vector<Finding>& findings) {
  const Table& table = Table::Get("cuda_changes");
  for (const auto& [row, lines] : Search(context).Run()) {
    const std::string_view name = table.At(row, "name");
    const Version border = ParseVersion(table.At(row, "cuda"));
    const auto& cuda = context.target.cuda;
    if (cuda && *cuda < border) continue;
    const std::string_view change = table.At(row, "change");
    const std::string_view shown_by = table.At(row, "shown_by");
    if (!shown_by.empty() && Mentions(context.code, shown_by)) continue;
    if (Defines(context.code, name)) continue;
    // What is gone does not compile; what changed may have been changed here too; a folder may be
    // in a list of folders that nobody can see here.
    const Severity severity = !cuda || change == "moved" ? Severity::kNote
                              : change == "removed"      ? Severity::kError
                                                         : Severity::kWarning;
    Finding finding = NewSourceFinding(context, "CP702", severity);
    finding.message =
        fmt::format("{}: from CUDA {} on {}", name, VersionText(border), table.At(row, "what"));
    for (const uint32_t line : lines) AddLine(context, line, name, finding);
    finding.fix = table.At(row, "instead");
    finding.source = "data/cuda_changes.tsv";
    finding.verified_on = table.At(row, "verified_on");
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
