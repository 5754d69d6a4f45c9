#include "rule/source_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuproof {
namespace {

constexpr size_t kMostLines = 5;

bool IsCode(SourceKind kind) { return kind == SourceKind::kCuda || kind == SourceKind::kCxx; }

}  // namespace

Finding NewSourceFinding(const SourceContext& context, std::string id, Severity severity) {
  Finding finding;
  finding.id = std::move(id);
  finding.severity = severity;
  finding.file = context.file.path;
  return finding;
}

void AddLine(const SourceContext& context, uint32_t line, std::string_view match,
             Finding& finding) {
  if (finding.subject.empty()) finding.subject = fmt::format("line {}", line);
  const auto lines = std::count_if(finding.evidence.begin(), finding.evidence.end(),
                                   [](const std::string& one) { return one.starts_with("line "); });
  // Before the line is looked for: a file can have as many as it likes.
  if (static_cast<size_t>(lines) >= kMostLines) return;
  std::string text =
      fmt::format("line {}: {}", line, Excerpt(LineText(context.file.text, line), match));
  if (std::find(finding.evidence.begin(), finding.evidence.end(), text) == finding.evidence.end()) {
    finding.evidence.push_back(std::move(text));
  }
}

void RunSourceRules(const SourceFile& file, const Target& target, std::vector<Finding>& findings) {
  const bool code = IsCode(file.kind);
  const Code tokens = code ? ReadCode(file.text) : Code();
  const auto lines = code ? std::vector<BuildLine>() : ReadBuildLines(file);
  constexpr SourceRule kRules[] = {RuleSourceArchs,      RuleSourceApi,       RuleSourceDeclared,
                                   RuleSourceStringAbi,  RuleSourceHeuristic, RuleSourceCompiler,
                                   RuleSourceTorchTarget};
  for (const SourceRule rule : kRules) rule({file, lines, tokens, target}, findings);
}

void CheckSources(const std::vector<Root>& roots, Report& report) {
  for (const Root& root : roots) {
    if (root.kind != RootKind::kFile && root.kind != RootKind::kFolder) continue;
    for (const std::string& path : FindSources(root.argument)) {
      const auto file = ReadSource(path);
      // One that is too large was generated; it is nobody's to mend.
      if (file) RunSourceRules(*file, report.target, report.findings);
    }
  }
}

}  // namespace cuproof
