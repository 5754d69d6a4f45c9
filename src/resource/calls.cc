#include "resource/calls.h"

#include <algorithm>

#include "resource/instructions.h"

namespace cuproof {
namespace {

using Graph = std::vector<std::vector<uint32_t>>;

// A depth-first walk with its own stack: the number of functions is the input's.
bool HasCycle(const Graph& graph) {
  enum class Mark : uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(graph.size(), Mark::kNew);
  std::vector<std::pair<uint32_t, size_t>> path;
  for (uint32_t start = 0; start < graph.size(); ++start) {
    if (marks[start] != Mark::kNew) continue;
    path.emplace_back(start, 0);
    marks[start] = Mark::kOpen;
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next == graph[node].size()) {
        marks[node] = Mark::kDone;
        path.pop_back();
        continue;
      }
      const uint32_t callee = graph[node][next++];
      if (marks[callee] == Mark::kOpen) return true;
      if (marks[callee] == Mark::kNew) {
        marks[callee] = Mark::kOpen;
        path.emplace_back(callee, 0);
      }
    }
  }
  return false;
}

}  // namespace

std::optional<uint32_t> FunctionWith(const std::vector<InnerFunction>& functions, uint64_t offset) {
  auto after = std::upper_bound(
      functions.begin(), functions.end(), offset,
      [](uint64_t at, const InnerFunction& function) { return at < function.start; });
  if (after == functions.begin()) return std::nullopt;
  --after;
  if (offset - after->start >= after->size) return std::nullopt;
  return static_cast<uint32_t>(after - functions.begin());
}

CallFacts FindCalls(ByteView code, uint32_t sm, const std::vector<InnerFunction>& functions) {
  CallFacts facts;
  Graph graph(functions.size());
  const uint64_t step = InstructionSize(sm);
  for (uint64_t offset = 0; offset + step <= code.size(); offset += step) {
    if (!MayBeCall(code.data()[offset])) continue;
    const auto call = CallAt(code, sm, offset);
    if (!call) continue;
    facts.indirect |= call->through_register;
    const auto caller = FunctionWith(functions, offset);
    if (!caller || !call->target) continue;
    // A call to anywhere but a function's start is a jump within it: ptxas makes such for code that
    // it moves out of line.
    const auto callee = FunctionWith(functions, *call->target);
    if (callee && functions[*callee].start == *call->target) graph[*caller].push_back(*callee);
  }
  facts.recursive = HasCycle(graph);
  return facts;
}

}  // namespace cuproof
