#pragma once
#include <vector>

#include "rule/report.h"
#include "source/build_lines.h"
#include "source/code_tokens.h"
#include "source/source_file.h"

namespace cuproof {

/// What a rule about a source or a build file sees.
struct SourceContext {
  const SourceFile& file;
  const std::vector<BuildLine>& lines;  // of a build file
  const Code& code;                     // of CUDA and C++
  const Target& target;
};

using SourceRule = void (*)(const SourceContext&, std::vector<Finding>&);
void RuleSourceArchs(const SourceContext& context, std::vector<Finding>& findings);        // CP701
void RuleSourceApi(const SourceContext& context, std::vector<Finding>& findings);          // CP702
void RuleSourceDeclared(const SourceContext& context, std::vector<Finding>& findings);     // CP702
void RuleSourceStringAbi(const SourceContext& context, std::vector<Finding>& findings);    // CP703
void RuleSourceHeuristic(const SourceContext& context, std::vector<Finding>& findings);    // CP704
void RuleSourceCompiler(const SourceContext& context, std::vector<Finding>& findings);     // CP705
void RuleSourceTorchTarget(const SourceContext& context, std::vector<Finding>& findings);  // CP706

/// All of them, for one file.
void RunSourceRules(const SourceFile& file, const Target& target, std::vector<Finding>& findings);

/// For the sources below each root that is a file or a folder.
void CheckSources(const std::vector<Root>& roots, Report& report);

// Helpers of the rules.

Finding NewSourceFinding(const SourceContext& context, std::string id, Severity severity);

/// "line 12: set(CMAKE_CUDA_ARCHITECTURES 70)"; once a line. A long one is cut around `match`.
void AddLine(const SourceContext& context, uint32_t line, std::string_view match, Finding& finding);

}  // namespace cuproof
