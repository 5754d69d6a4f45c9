#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "resource/lint_flow.h"
#include "resource/lint_ptx.h"

namespace cuproof {

using PtxVariables = std::unordered_map<std::string_view, PtxVariable>;

/// What an address register is known to hold.
struct PtxAddress {
  PtxVariable variable;
  int64_t offset = 0;
  bool moved = false;  // by an amount that is not known
};

/// One function, and what was found out about its registers so far.
struct PtxScope {
  const PtxBody& body;
  const PtxFlow& flow;
  const PtxVariables& locals;
  const PtxVariables& globals;
  std::string_view text;
  PtxAnswers<bool> from_f32{false};
  PtxAnswers<bool> to_f32{false};
  PtxAnswers<std::optional<PtxAddress>> addresses{std::nullopt};
};

/// Keeps one lint a kind: the first statement, and how many there are.
void AddLint(const PtxScope& scope, PtxLintKind kind, const PtxStatement& statement,
             std::string detail, std::vector<PtxLint>& lints);

// One file each.
void LintWideArithmetic(PtxScope& scope, std::vector<PtxLint>& lints);
void LintGuardedShuffle(PtxScope& scope, std::vector<PtxLint>& lints);
void LintMisalignedVector(PtxScope& scope, std::vector<PtxLint>& lints);
void LintIndexedLocalArray(PtxScope& scope, std::vector<PtxLint>& lints);

}  // namespace cuproof
