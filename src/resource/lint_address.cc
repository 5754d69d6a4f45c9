#include <fmt/format.h>

#include <algorithm>

#include "resource/lint_scope.h"

// What the address of an access is known to be: vectors that are not aligned, local arrays that are
// indexed at run time.
namespace cuproof {
namespace {

std::optional<PtxAddress> AddressOf(PtxScope& scope, std::string_view operand);

std::optional<PtxAddress> SumOf(PtxScope& scope, std::string_view a, std::string_view b) {
  auto base = AddressOf(scope, a);
  if (!base) return std::nullopt;
  if (const auto constant = PtxConstant(b)) {
    if (__builtin_add_overflow(base->offset, *constant, &base->offset)) return std::nullopt;
  } else {
    base->moved = true;
  }
  return base;
}

std::optional<PtxAddress> AddressOf(PtxScope& scope, std::string_view operand) {
  for (const PtxVariables* variables : {&scope.locals, &scope.globals}) {
    if (const auto found = variables->find(operand); found != variables->end()) {
      return PtxAddress{found->second, 0, false};
    }
  }
  return scope.addresses.Get(operand, [&]() -> std::optional<PtxAddress> {
    const PtxStatement* definition = scope.flow.Definition(operand);
    if (!definition || definition->operands.size() < 2) return std::nullopt;
    const auto& parts = definition->operands;
    if (definition->Is("mov") || definition->Is("cvta")) return AddressOf(scope, parts[1]);
    if (!definition->Is("add") || parts.size() != 3) return std::nullopt;
    const auto sum = SumOf(scope, parts[1], parts[2]);
    return sum ? sum : SumOf(scope, parts[2], parts[1]);
  });
}

/// "[%rd4+8]", "[tile+4]".
std::optional<PtxAddress> AddressIn(PtxScope& scope, std::string_view operand) {
  if (!operand.starts_with('[') || !operand.ends_with(']')) return std::nullopt;
  operand = operand.substr(1, operand.size() - 2);
  const size_t plus = operand.find('+');
  auto address = AddressOf(scope, operand.substr(0, plus));
  if (!address || plus == std::string_view::npos) return address;
  const auto constant = PtxConstant(operand.substr(plus + 1));
  if (!constant || __builtin_add_overflow(address->offset, *constant, &address->offset)) {
    return std::nullopt;
  }
  return address;
}

std::string_view AddressOperand(const PtxStatement& statement) {
  const auto found = std::find_if(statement.operands.begin(), statement.operands.end(),
                                  [](auto operand) { return operand.starts_with('['); });
  return found == statement.operands.end() ? std::string_view() : *found;
}

/// Bytes that a vector access moves for one thread; 0: it is none.
uint64_t VectorBytes(const PtxStatement& statement) {
  if (!statement.Is("ld") && !statement.Is("st")) return 0;
  const uint64_t lanes = statement.Has("v2")   ? 2
                         : statement.Has("v4") ? 4
                         : statement.Has("v8") ? 8
                                               : 0;
  const std::string_view type = statement.opcode.substr(statement.opcode.rfind('.') + 1);
  const auto bits = type.empty() ? std::nullopt : PtxConstant(type.substr(1));
  return bits ? lanes * static_cast<uint64_t>(*bits) / 8 : 0;
}

}  // namespace

void LintMisalignedVector(PtxScope& scope, std::vector<PtxLint>& lints) {
  for (const PtxStatement& statement : scope.body.statements) {
    const uint64_t bytes = VectorBytes(statement);
    if (bytes == 0) continue;
    const auto address = AddressIn(scope, AddressOperand(statement));
    if (!address || address->variable.align == 0) continue;
    const auto& [variable, offset, moved] = *address;
    // Disproved: the variable stands at a multiple of the access and the offset is none.
    if (moved || variable.align % bytes != 0 || offset % static_cast<int64_t>(bytes) == 0) continue;
    AddLint(scope, PtxLintKind::kMisalignedVector, statement,
            fmt::format("it moves {} bytes at {} + {}, and {} is aligned to {}", bytes,
                        variable.name, offset, variable.name, variable.align),
            lints);
  }
}

void LintIndexedLocalArray(PtxScope& scope, std::vector<PtxLint>& lints) {
  for (const PtxStatement& statement : scope.body.statements) {
    if (!statement.Is("ld.local") && !statement.Is("st.local")) continue;
    const auto address = AddressIn(scope, AddressOperand(statement));
    if (!address || !address->moved || address->variable.space != "local") continue;
    AddLint(
        scope, PtxLintKind::kIndexedLocalArray, statement,
        fmt::format("{} has {} bytes a thread", address->variable.name, address->variable.bytes),
        lints);
  }
}

}  // namespace cuproof
