#include <algorithm>

#include "resource/lint_scope.h"

// f64 arithmetic that begins and ends in f32.
namespace cuproof {
namespace {

bool IsWideArithmetic(const PtxStatement& statement) {
  constexpr std::string_view kOps[] = {"fma", "mul", "add", "sub"};
  return statement.Has("f64") &&
         std::any_of(std::begin(kOps), std::end(kOps), [&](auto op) { return statement.Is(op); });
}

bool IsLiteral(std::string_view operand) {
  return operand.starts_with("0d") || operand.starts_with("0D");
}

bool ComesFromF32(PtxScope& scope, std::string_view operand) {
  if (IsLiteral(operand)) return true;
  return scope.from_f32.Get(operand, [&] {
    const PtxStatement* definition = scope.flow.Definition(operand);
    if (!definition) return false;
    if (definition->Is("cvt.f64.f32")) return true;
    if (!IsWideArithmetic(*definition) || definition->operands.size() < 3) return false;
    return std::all_of(definition->operands.begin() + 1, definition->operands.end(),
                       [&](auto part) { return ComesFromF32(scope, part); });
  });
}

bool EndsInF32(PtxScope& scope, std::string_view operand) {
  return scope.to_f32.Get(operand, [&] {
    const auto readers = scope.flow.Readers(operand);
    return !readers.empty() &&
           std::all_of(readers.begin(), readers.end(), [&](const PtxStatement* reader) {
             if (reader->Is("cvt") && reader->opcode.ends_with(".f32.f64")) return true;
             return IsWideArithmetic(*reader) && !reader->operands.empty() &&
                    EndsInF32(scope, reader->operands[0]);
           });
  });
}

// One conversion at least, or nothing was f32 to begin with.
bool HasConversion(const PtxFlow& flow, const PtxStatement& statement) {
  return std::any_of(statement.operands.begin() + 1, statement.operands.end(), [&](auto operand) {
    const PtxStatement* definition = flow.Definition(operand);
    return definition && definition->Is("cvt.f64.f32");
  });
}

}  // namespace

void LintWideArithmetic(PtxScope& scope, std::vector<PtxLint>& lints) {
  for (const PtxStatement& statement : scope.body.statements) {
    if (!statement.Is("fma.rn.f64") || statement.operands.size() != 4) continue;
    const bool narrow = std::all_of(statement.operands.begin() + 1, statement.operands.end(),
                                    [&](auto operand) { return ComesFromF32(scope, operand); });
    if (!narrow || !HasConversion(scope.flow, statement)) continue;
    if (!EndsInF32(scope, statement.operands[0])) continue;
    AddLint(scope, PtxLintKind::kWideArithmetic, statement,
            "its operands were f32 and its result becomes f32", lints);
  }
}

}  // namespace cuproof
