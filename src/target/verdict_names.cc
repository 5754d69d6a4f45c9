#include <array>

#include "target/verdict.h"

namespace cuproof {
namespace {

struct ReasonRow {
  Reason reason;
  const char* id;
  int error;
};

constexpr std::array kReasons = {
    ReasonRow{Reason::kNone, "none", 0},
    ReasonRow{Reason::kNoImage, "no-image", 209},
    ReasonRow{Reason::kPtxTooNew, "ptx-newer-than-driver", 222},
    ReasonRow{Reason::kPtxInvalid, "ptx-invalid", 218},
    ReasonRow{Reason::kPtxTarget, "ptx-target-above-gpu", 218},
    ReasonRow{Reason::kRuntimeTooNew, "runtime-newer-than-driver", 35},
    ReasonRow{Reason::kZstdOldDriver, "zstd-image-old-driver", 200},
    ReasonRow{Reason::kDamaged, "damaged-image", 0},
    ReasonRow{Reason::kGpuDropped, "gpu-dropped-by-driver", 0},
    ReasonRow{Reason::kLtoOnly, "lto-ir-only", 209},
    ReasonRow{Reason::kNoKernels, "no-kernels", 0},
    ReasonRow{Reason::kNewerThanData, "newer-than-data", 0},
};

const ReasonRow& RowOf(Reason reason) {
  for (const ReasonRow& row : kReasons) {
    if (row.reason == reason) return row;
  }
  return kReasons[0];
}

}  // namespace

const char* OutcomeText(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRunsSass:
      return "runs";
    case Outcome::kRunsJit:
      return "runs after JIT";
    case Outcome::kDoesNotRun:
      return "does not run";
    case Outcome::kUnknown:
      break;
  }
  return "unknown";
}

const char* OutcomeId(Outcome outcome) {
  switch (outcome) {
    case Outcome::kRunsSass:
      return "sass";
    case Outcome::kRunsJit:
      return "jit";
    case Outcome::kDoesNotRun:
      return "no";
    case Outcome::kUnknown:
      break;
  }
  return "unknown";
}

int ReasonError(Reason reason) { return RowOf(reason).error; }
const char* ReasonId(Reason reason) { return RowOf(reason).id; }

}  // namespace cuproof
