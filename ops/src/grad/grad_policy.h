// Tuning of the gradient kernels: numbers only. Measured on an H200 by bench/tune_grad.py; the
// other architectures are compiled, never timed.
#ifndef CUPROOF_OPS_GRAD_GRAD_POLICY_H
#define CUPROOF_OPS_GRAD_GRAD_POLICY_H

#include <cstdio>

namespace cuproof::ops {

/// How one CTA walks through a chunk. `threads` is part of the definition of the sums (the lanes),
/// so it is the same for every architecture; the rest changes speed alone.
struct WalkPolicy {
  int threads;      // lanes of a chunk
  int loads;        // 16-byte loads of a thread in flight
  int min_ctas;     // of a multiprocessor: bounds the registers
  int ctas_per_sm;  // of the grid; 0: one CTA for each chunk

  bool operator==(const WalkPolicy&) const = default;
};

inline constexpr int kLanes = 256;

#ifndef CUPROOF_OPS_TUNE_NORM
#define CUPROOF_OPS_TUNE_NORM .loads = 16, .min_ctas = 4, .ctas_per_sm = 0
#endif
#ifndef CUPROOF_OPS_TUNE_SCALE
#define CUPROOF_OPS_TUNE_SCALE .loads = 8, .min_ctas = 3, .ctas_per_sm = 0
#endif
#ifndef CUPROOF_OPS_TUNE_ACCUMULATE
#define CUPROOF_OPS_TUNE_ACCUMULATE .loads = 4, .min_ctas = 2, .ctas_per_sm = 0
#endif

inline constexpr WalkPolicy kNormPolicy{.threads = kLanes, CUPROOF_OPS_TUNE_NORM};
inline constexpr WalkPolicy kScalePolicy{.threads = kLanes, CUPROOF_OPS_TUNE_SCALE};
inline constexpr WalkPolicy kAccumulatePolicy{.threads = kLanes, CUPROOF_OPS_TUNE_ACCUMULATE};

/// Registers that `policy` leaves for a thread: 65,536 of a multiprocessor in steps of 8.
constexpr int RegisterLimit(const WalkPolicy& policy) {
  const int limit = 65536 / (policy.threads * policy.min_ctas) / 8 * 8;
  return limit < 255 ? limit : 255;
}

/// As the initialiser that would make it.
inline int Print(const WalkPolicy& policy, char* text, size_t size) {
  return std::snprintf(text, size,
                       "{.threads = %d, .loads = %d, .min_ctas = %d, .ctas_per_sm = %d}",
                       policy.threads, policy.loads, policy.min_ctas, policy.ctas_per_sm);
}

}  // namespace cuproof::ops

#endif
