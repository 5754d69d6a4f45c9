#include <fmt/format.h>

#include "rule/source_rules.h"

namespace cuproof {
namespace {

using Tokens = std::vector<Token>;

constexpr size_t kMostCalls = 200;  // of one file: each is looked around from

// Index of the ")" that closes the "(" at `open`; the end where there is none.
size_t Closing(const Tokens& tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].text == "(") ++depth;
    if (tokens[i].text == ")" && --depth == 0) return i;
  }
  return tokens.size();
}

// Whether the variable is named again behind `close`, in the block that it was declared in. One
// that is declared nowhere before the call is a member or a parameter of somebody else: nothing is
// said.
bool LookedAt(const Tokens& tokens, size_t call, size_t close, std::string_view name) {
  int depth = 0;  // against that of the call
  bool declared = false;
  for (size_t i = call; i-- > 0;) {
    if (tokens[i].text == "}") ++depth;
    if (tokens[i].text == "{") --depth;
    // In a block that has ended before the call it is another one.
    if (depth <= 0 && tokens[i].kind == TokenKind::kIdentifier && tokens[i].text == name) {
      declared = true;
      break;
    }
  }
  if (!declared) return true;
  int here = 0;
  for (size_t i = close; i < tokens.size() && here >= depth; ++i) {
    if (tokens[i].text == "{") ++here;
    if (tokens[i].text == "}") --here;
    if (tokens[i].kind == TokenKind::kIdentifier && tokens[i].text == name) return true;
  }
  return false;
}

}  // namespace

// cublasLtMatmulAlgoGetHeuristic succeeds with no result at all where nothing fits; the first
// entry of the array is then what the stack had.
void RuleSourceHeuristic(const SourceContext& context, std::vector<Finding>& findings) {
  const Tokens& tokens = context.code.tokens;
  size_t calls = 0;
  for (size_t i = 0; i + 1 < tokens.size() && calls < kMostCalls; ++i) {
    if (tokens[i].text != "cublasLtMatmulAlgoGetHeuristic" || tokens[i + 1].text != "(") continue;
    ++calls;
    const size_t close = Closing(tokens, i + 1);
    // The last argument: & and a name.
    if (close == tokens.size() || close < i + 4) continue;
    const Token& name = tokens[close - 1];
    if (name.kind != TokenKind::kIdentifier || tokens[close - 2].text != "&" ||
        tokens[close - 3].text != ",") {
      continue;
    }
    if (LookedAt(tokens, i, close, name.text)) continue;
    Finding finding = NewSourceFinding(context, "CP704", Severity::kWarning);
    finding.message = fmt::format(
        "the number of algorithms that cublasLtMatmulAlgoGetHeuristic gives is not looked at: {}",
        name.text);
    AddLine(context, tokens[i].line, tokens[i].text, finding);
    finding.evidence.emplace_back(
        "where no algorithm fits it may return CUBLAS_STATUS_SUCCESS and 0 of them");
    finding.fix =
        fmt::format("if ({} == 0) fall back or fail: CUBLAS_STATUS_NOT_SUPPORTED", name.text);
    finding.source = "cuBLAS manual: cublasLtMatmulAlgoGetHeuristic, returnAlgoCount";
    finding.verified_on = "by document";
    findings.push_back(std::move(finding));
  }
}

}  // namespace cuproof
