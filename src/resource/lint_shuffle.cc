#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "resource/lint_scope.h"

// A shuffle whose mask names lanes that do not come to it.
namespace cuproof {
namespace {

constexpr uint32_t kAllLanes = 0xFFFFFFFF;
constexpr int kDeepest = 16;             // definitions followed from a predicate
constexpr size_t kLongestRegion = 1000;  // statements; text can have a branch in each to its end

std::optional<int64_t> Combine(const PtxStatement& statement, int64_t a, int64_t b) {
  if (statement.Is("and")) return a & b;
  if (statement.Is("or")) return a | b;
  if (statement.Is("xor")) return a ^ b;
  if (statement.Is("add")) return a + b;
  if (statement.Is("sub")) return a - b;
  if (b < 0 || b > 31) return std::nullopt;
  if (statement.Is("shl")) return static_cast<int64_t>(static_cast<uint32_t>(a) << b);
  if (statement.Is("shr")) return static_cast<int64_t>(static_cast<uint32_t>(a) >> b);
  return std::nullopt;
}

std::optional<bool> Compare(const PtxStatement& statement, int64_t a, int64_t b) {
  if (statement.Is("setp.eq")) return a == b;
  if (statement.Is("setp.ne")) return a != b;
  if (statement.Has("u32")) {
    a = static_cast<uint32_t>(a);
    b = static_cast<uint32_t>(b);
  }
  if (statement.Is("setp.lt")) return a < b;
  if (statement.Is("setp.le")) return a <= b;
  if (statement.Is("setp.gt")) return a > b;
  if (statement.Is("setp.ge")) return a >= b;
  return std::nullopt;
}

bool IsThread(const PtxFlow& flow, std::string_view operand) {
  const PtxStatement* definition = flow.Definition(operand);
  return definition && definition->Is("mov") && definition->operands.back() == "%tid.x";
}

/// What 32-bit arithmetic over the number of the lane gives for one lane. %tid.x counts as one
/// where it was cut to five bits.
std::optional<int64_t> ValueFor(const PtxFlow& flow, std::string_view operand, int64_t lane,
                                int depth) {
  constexpr int64_t kBound = int64_t{1} << 32;
  if (operand == "%laneid") return lane;
  if (const auto constant = PtxConstant(operand)) {
    return *constant > -kBound && *constant < kBound ? constant : std::nullopt;
  }
  const PtxStatement* definition = depth > kDeepest ? nullptr : flow.Definition(operand);
  if (!definition || definition->operands.size() < 2) return std::nullopt;
  const auto& parts = definition->operands;
  if (definition->Is("mov")) return ValueFor(flow, parts[1], lane, depth + 1);
  if (parts.size() != 3) return std::nullopt;
  if (definition->Is("and") && IsThread(flow, parts[1])) {
    const auto bits = PtxConstant(parts[2]);
    return bits && *bits >= 0 && *bits < 32 ? std::optional(lane & *bits) : std::nullopt;
  }
  const auto a = ValueFor(flow, parts[1], lane, depth + 1);
  const auto b = a ? ValueFor(flow, parts[2], lane, depth + 1) : std::nullopt;
  const auto value = b ? Combine(*definition, *a, *b) : std::nullopt;
  return value && *value > -kBound && *value < kBound ? value : std::nullopt;
}

/// The lanes for which a guard ("%p1", "!%p1") holds; no value: not known.
std::optional<uint32_t> LanesOf(const PtxFlow& flow, std::string_view guard) {
  const bool inverted = guard.starts_with('!');
  if (inverted) guard.remove_prefix(1);
  const PtxStatement* definition = flow.Definition(guard);
  if (!definition || definition->operands.size() != 3) return std::nullopt;
  uint32_t lanes = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const auto a = ValueFor(flow, definition->operands[1], lane, 0);
    const auto b = ValueFor(flow, definition->operands[2], lane, 0);
    const auto holds = a && b ? Compare(*definition, *a, *b) : std::nullopt;
    if (!holds) return std::nullopt;
    lanes |= uint32_t{*holds != inverted} << lane;
  }
  return lanes;
}

/// Statements that only some lanes come to: those that a branch over them does not take.
struct Region {
  size_t begin = 0, end = 0;
  uint32_t lanes = kAllLanes;
};

using Labels = std::unordered_map<std::string_view, size_t>;

Labels LabelsOf(const PtxBody& body) {
  Labels labels;
  for (size_t i = 0; i < body.statements.size(); ++i) {
    const std::string_view opcode = body.statements[i].opcode;
    if (body.statements[i].IsLabel()) labels[opcode.substr(0, opcode.size() - 1)] = i;
  }
  return labels;
}

// Lanes that end are counted as there by every shuffle.
bool Ends(const PtxBody& body, size_t label) {
  const size_t next = label + 1;
  return next >= body.statements.size() || body.statements[next].Is("ret") ||
         body.statements[next].Is("exit");
}

std::vector<Region> RegionsOf(const PtxScope& scope) {
  const Labels labels = LabelsOf(scope.body);
  std::vector<Region> regions;
  for (size_t i = 0; i < scope.body.statements.size(); ++i) {
    const PtxStatement& branch = scope.body.statements[i];
    if (!branch.Is("bra") || branch.guard.empty() || branch.operands.empty()) continue;
    const auto to = labels.find(branch.operands.back());
    if (to == labels.end() || to->second <= i || Ends(scope.body, to->second)) continue;
    const auto taken = LanesOf(scope.flow, branch.guard);
    if (taken && *taken != 0 && *taken != kAllLanes) regions.push_back({i, to->second, ~*taken});
  }
  return regions;
}

std::optional<uint32_t> MaskOf(const PtxFlow& flow, std::string_view operand) {
  const PtxStatement* definition = flow.Definition(operand);
  if (definition && definition->Is("mov") && definition->operands.size() == 2) {
    operand = definition->operands[1];
  }
  const auto mask = PtxConstant(operand);
  return mask ? std::optional(static_cast<uint32_t>(*mask)) : std::nullopt;
}

}  // namespace

void LintGuardedShuffle(PtxScope& scope, std::vector<PtxLint>& lints) {
  const auto& statements = scope.body.statements;
  for (const Region& region : RegionsOf(scope)) {
    const size_t end = std::min(region.end, region.begin + kLongestRegion);
    for (size_t i = region.begin + 1; i < end; ++i) {
      const PtxStatement& statement = statements[i];
      if (statement.IsLabel()) break;  // it can be reached from elsewhere
      if (!statement.Is("shfl.sync") || statement.operands.size() < 5) continue;
      const auto mask = MaskOf(scope.flow, statement.operands.back());
      if (!mask || (*mask & ~region.lanes) == 0) continue;
      AddLint(scope, PtxLintKind::kGuardedShuffle, statement,
              fmt::format("its mask is 0x{:x}, and the lanes that come here are 0x{:x}", *mask,
                          region.lanes),
              lints);
    }
  }
}

}  // namespace cuproof
