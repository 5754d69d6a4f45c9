// Sums over a CTA in a fixed order, in fp64.
#ifndef CUPROOF_OPS_GRAD_BLOCK_SUM_CUH
#define CUPROOF_OPS_GRAD_BLOCK_SUM_CUH

#include <cstdint>

#include "seeded_bug.h"

namespace cuproof::ops {

/// Over kLanes neighbouring lanes of a warp; every one of them gets the sum.
template <int kLanes>
__device__ inline double WarpSum(double value) {
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  }
  return value;
}

struct BlockSum {
  double sum;
  bool any;
};

/// Over the CTA; every thread gets both. `shared` must not be in use by an earlier call that some
/// thread may still read: alternate between two.
template <int kThreads>
__device__ inline BlockSum SumOfBlock(double value, bool any, double (&shared)[kThreads / 32]) {
  const double warp = WarpSum<32>(value);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = warp;
  bool any_thread;
  if constexpr (seeded::kMissingBarrier) {
    any_thread = any;
  } else {
    any_thread = __syncthreads_or(any) != 0;
  }
  double sum = 0;
#pragma unroll
  for (int w = 0; w < kThreads / 32; ++w) sum += shared[w];
  return {sum, any_thread};
}

/// The smallest of the CTA; every thread gets it.
template <int kThreads>
__device__ inline int64_t MinOfBlock(int64_t value, int64_t (&shared)[kThreads / 32]) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    const int64_t other = __shfl_xor_sync(0xffffffffu, value, distance);
    value = other < value ? other : value;
  }
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < kThreads / 32; ++w) value = shared[w] < value ? shared[w] : value;
  return value;
}

}  // namespace cuproof::ops

#endif
