#include "resource/lint_ptx.h"

#include <algorithm>

#include "resource/lint_scope.h"

namespace cuproof {
namespace {

std::string Shown(const PtxScope& scope, const PtxStatement& statement) {
  const std::string_view rest = scope.text.substr(statement.offset);
  std::string shown(rest.substr(0, std::min<size_t>(rest.find_first_of(";\n"), 120)));
  std::replace(shown.begin(), shown.end(), '\t', ' ');
  return shown;
}

void AddVariables(const std::vector<PtxStatement>& statements, PtxVariables& variables) {
  for (const PtxStatement& statement : statements) {
    if (!statement.opcode.starts_with('.')) continue;
    PtxVariable variable = VariableOf(statement);
    if (!variable.name.empty()) variables[variable.name] = variable;
  }
}

}  // namespace

void AddLint(const PtxScope& scope, PtxLintKind kind, const PtxStatement& statement,
             std::string detail, std::vector<PtxLint>& lints) {
  // Those of this function stand last.
  for (auto lint = lints.rbegin(); lint != lints.rend() && lint->function == scope.body.name;
       ++lint) {
    if (lint->kind != kind) continue;
    ++lint->count;
    return;
  }
  lints.push_back({kind, std::string(scope.body.name), statement.offset, 1, Shown(scope, statement),
                   std::move(detail)});
}

std::vector<PtxLint> LintPtx(std::string_view text) {
  const PtxModule module = SplitPtx(text);
  PtxVariables globals;
  AddVariables(module.globals, globals);
  std::vector<PtxLint> lints;
  for (const PtxBody& body : module.bodies) {
    PtxVariables locals;
    AddVariables(body.statements, locals);
    const PtxFlow flow(body);
    PtxScope scope = {body, flow, locals, globals, text};
    LintWideArithmetic(scope, lints);
    LintGuardedShuffle(scope, lints);
    LintMisalignedVector(scope, lints);
    LintIndexedLocalArray(scope, lints);
  }
  return lints;
}

}  // namespace cuproof
