#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "rule/declared_name.h"
#include "rule/source_rules.h"

namespace cuproof {

// It compiles; the linker or the loader stops at it. Whether the code is ever linked cannot be seen
// here: a warning at most.
void RuleSourceDeclared(const SourceContext& context, std::vector<Finding>& findings) {
  const auto& tokens = context.code.tokens;
  std::map<std::string_view, std::set<uint32_t>> lines;
  std::map<std::string_view, std::string> words;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind != TokenKind::kIdentifier || tokens[i + 1].text != "(") continue;
    if (!token.text.starts_with("cu")) continue;
    // A member, a declaration of one's own ("status cusparseX(") or one by the file's macros.
    const std::string_view before = i > 0 ? tokens[i - 1].text : "";
    const bool declared =
        i > 0 && tokens[i - 1].kind == TokenKind::kIdentifier && before != "return";
    if (before == "." || before == "->" || declared || token.versioned) continue;
    std::string text = DeclaredOnly(token.text);
    if (text.empty()) continue;
    lines[token.text].insert(token.line);
    words.emplace(token.text, std::move(text));
  }
  for (const auto& [name, where] : lines) {
    Finding finding = NewSourceFinding(context, "CP702",
                                       context.target.cuda ? Severity::kWarning : Severity::kNote);
    finding.message = fmt::format("{}: {}", name, words[name]);
    for (const uint32_t line : where) AddLine(context, line, name, finding);
    finding.fix = "do not call it, or look it up with dlsym and go on without";
    finding.source = "data/declared_not_exported.tsv";
    finding.verified_on = "headers and libraries of CUDA 12.9, 13.0 and 13.5";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
