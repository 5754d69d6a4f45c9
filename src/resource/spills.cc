#include "resource/spills.h"

#include "resource/instructions.h"
#include "target/table.h"

namespace cuproof {
namespace {

void Add(const LocalAccess& access, Spills& spills) {
  (access.is_store ? spills.stores : spills.loads) += access.bytes;
}

std::optional<Spills> SumOf(ByteView code, uint32_t sm, const SpillOffsets& annotated) {
  Spills spills;
  for (const uint32_t offset : annotated) {
    const auto access = LocalAccessAt(code, sm, offset);
    if (!access) return std::nullopt;
    Add(*access, spills);
  }
  return spills;
}

Spills EveryLocalAccess(ByteView code, uint32_t sm) {
  Spills spills;
  const uint64_t step = InstructionSize(sm);
  for (uint64_t offset = 0; offset + step <= code.size(); offset += step) {
    if (const auto access = LocalAccessAt(code, sm, offset)) Add(*access, spills);
  }
  return spills;
}

}  // namespace

SpillAnnotations SpillAnnotationsOf(Version toolkit) {
  const Table& table = Table::Get("spill_annotations");
  SpillAnnotations newest = SpillAnnotations::kNone;
  Version newest_version;
  for (size_t i = 0; i < table.size(); ++i) {
    const Version version = ParseVersion(table.At(i, "cuda"));
    SpillAnnotations row = SpillAnnotations::kNone;
    if (table.At(i, "written") == "yes") {
      row =
          table.At(i, "equal") == "yes" ? SpillAnnotations::kCompared : SpillAnnotations::kWritten;
    }
    if (version == toolkit) return row;
    if (version > newest_version) {
      newest_version = version;
      newest = row;
    }
  }
  const bool newer = toolkit.known() && toolkit > newest_version;
  return newer && newest != SpillAnnotations::kNone ? SpillAnnotations::kWritten
                                                    : SpillAnnotations::kNone;
}

std::optional<Spills> CountSpills(ByteView code, uint32_t sm, Version toolkit,
                                  const SpillOffsets& annotated) {
  const SpillAnnotations kind = SpillAnnotationsOf(toolkit);
  if (!annotated.empty() || kind != SpillAnnotations::kNone) {
    auto spills = SumOf(code, sm, annotated);
    if (spills) {
      spills->basis =
          kind == SpillAnnotations::kCompared ? SpillBasis::kExact : SpillBasis::kByAnnotation;
    }
    return spills;
  }
  if (!KnowsInstructions(sm)) return std::nullopt;
  Spills most = EveryLocalAccess(code, sm);
  // Code without an access to local memory spills nothing, whoever made it.
  most.basis = most.stores + most.loads == 0 ? SpillBasis::kExact : SpillBasis::kAtMost;
  return most;
}

}  // namespace cuproof
