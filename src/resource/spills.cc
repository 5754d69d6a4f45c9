#include "resource/spills.h"

#include "resource/instructions.h"
#include "target/table.h"

namespace cuproof {
namespace {

class Counter {
 public:
  Counter(ByteView code, uint32_t sm, const std::vector<InnerFunction>& functions)
      : code_(code), sm_(sm), functions_(functions) {}

  std::optional<SpillsOfCode> Of(const SpillOffsets& offsets) {
    for (const uint32_t offset : offsets) {
      if (!Add(offset)) return std::nullopt;
    }
    return sum_;
  }

  SpillsOfCode OfEveryAccess() {
    const uint64_t step = InstructionSize(sm_);
    for (uint64_t offset = 0; offset + step <= code_.size(); offset += step) Add(offset);
    return sum_;
  }

 private:
  bool Add(uint64_t offset) {
    const auto access = LocalAccessAt(code_, sm_, offset);
    if (!access) return false;
    Spills& spills = FunctionWith(functions_, offset) ? sum_.functions : sum_.own;
    (access->is_store ? spills.stores : spills.loads) += access->bytes;
    return true;
  }

  ByteView code_;
  uint32_t sm_;
  const std::vector<InnerFunction>& functions_;
  SpillsOfCode sum_;
};

void SetBasis(SpillBasis basis, SpillsOfCode& spills) {
  spills.own.basis = spills.functions.basis = basis;
}

}  // namespace

SpillAnnotations SpillAnnotationsOf(Version toolkit) {
  const Table& table = Table::Get("spill_annotations");
  Version nearest;
  SpillAnnotations answer = SpillAnnotations::kNone;
  for (size_t i = 0; i < table.size(); ++i) {
    const Version version = ParseVersion(table.At(i, "cuda"));
    if (version > toolkit || version < nearest) continue;
    nearest = version;
    answer = SpillAnnotations::kNone;
    if (table.At(i, "written") != "yes") continue;
    const bool compared = version == toolkit && table.At(i, "equal") == "yes";
    answer = compared ? SpillAnnotations::kCompared : SpillAnnotations::kWritten;
  }
  return answer;
}

std::optional<SpillsOfCode> CountSpills(ByteView code, uint32_t sm, Version toolkit,
                                        const SpillOffsets& annotated,
                                        const std::vector<InnerFunction>& functions) {
  const SpillAnnotations kind = SpillAnnotationsOf(toolkit);
  Counter counter(code, sm, functions);
  if (!annotated.empty() || kind != SpillAnnotations::kNone) {
    auto spills = counter.Of(annotated);
    const bool compared = kind == SpillAnnotations::kCompared;
    if (spills) SetBasis(compared ? SpillBasis::kExact : SpillBasis::kByAnnotation, *spills);
    return spills;
  }
  if (!KnowsInstructions(sm)) return std::nullopt;
  SpillsOfCode most = counter.OfEveryAccess();
  // Code without an access to local memory spills nothing, whoever made it.
  const Spills& own = most.own;
  const Spills& inner = most.functions;
  const bool none = own.stores + own.loads + inner.stores + inner.loads == 0;
  SetBasis(none ? SpillBasis::kExact : SpillBasis::kAtMost, most);
  return most;
}

}  // namespace cuproof
