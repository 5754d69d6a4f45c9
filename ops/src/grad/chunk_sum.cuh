// Sum of squares of one chunk: fp32 in lanes where that is right, fp64 where it is not.
//
// The fast path looks for no Inf and no NaN. It need not: squares are never negative, so a bad
// element makes the sum Inf or NaN and nothing takes that away again. Only a chunk whose sum is
// bad, or too small to trust, is read a second time, element by element.
#ifndef CUPROOF_OPS_GRAD_CHUNK_SUM_CUH
#define CUPROOF_OPS_GRAD_CHUNK_SUM_CUH

#include <cstdint>

#include "grad/block_sum.cuh"
#include "grad/finish_norm.h"
#include "grad/grad_policy.h"
#include "grad/vector.cuh"

namespace cuproof::ops {

/// Squares of one lane.
template <class T>
struct LaneSquares {
  float sum[kWidth<T>] = {};
  uint32_t bits = 0;

  __device__ void Add(const float (&value)[kWidth<T>]) {
#pragma unroll
    for (int i = 0; i < kWidth<T>; ++i) sum[i] = __fmaf_rn(value[i], value[i], sum[i]);
  }
  __device__ void AddVector(uint4 vector) {
    const Words words{vector};
    bits |= words.word[0] | words.word[1];
    bits |= words.word[2] | words.word[3];
    float value[kWidth<T>];
    Unpack<T>(vector, value);
    Add(value);
  }
  __device__ double Total() const {
    float total[kWidth<T>];
#pragma unroll
    for (int i = 0; i < kWidth<T>; ++i) total[i] = sum[i];
#pragma unroll
    for (int half = kWidth<T> / 2; half > 0; half /= 2) {
#pragma unroll
      for (int i = 0; i < half; ++i) total[i] += total[i + half];
    }
    return total[0];
  }
  /// Whether any element was not zero; the sign of a zero does not count.
  __device__ bool AnyNonZero() const {
    return (bits & (sizeof(T) == 4 ? 0x7fffffffu : 0x7fff7fffu)) != 0;
  }
};

/// Below it the squares of the chunk may have been denormal.
inline constexpr double kSmallestTrusted = 0x1p-100;

/// The second reading: fp64, and every element looked at. Out of line, so that it costs the fast
/// path no registers.
template <class T>
__device__ __noinline__ void SumAgain(const T* data, int64_t begin, int32_t size, double* out_sum,
                                      int64_t* out_bad) {
  __shared__ double sums[kLanes / 32];
  __shared__ int64_t first[kLanes / 32];
  double sum = 0;
  int64_t bad = INT64_MAX;
  const int32_t first_vector = static_cast<int32_t>(threadIdx.x) * kWidth<T>;
  for (int32_t i = first_vector; i < size; i += kLanes * kWidth<T>) {
    for (int32_t j = i; j < size && j < i + kWidth<T>; ++j) {
      const double value = ToDouble(data[j]);
      if (IsBad(value) && begin + j < bad) bad = begin + j;
      sum += value * value;
    }
  }
  __syncthreads();
  const double total = SumOfBlock<kLanes>(sum, false, sums).sum;
  const int64_t index = MinOfBlock<kLanes>(bad, first);
  if (threadIdx.x == 0) {
    *out_sum = total;
    if (index != INT64_MAX) *out_bad = index;
  }
  __syncthreads();
}

/// Lets the ending kernel be set up once all CTAs have come this far; it waits for our results.
__device__ inline void AllowEndingKernel() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Ends a chunk whose lanes are summed. `data` is the chunk's first element, number `begin` of its
/// tensor; all threads of the CTA call it.
template <class T>
__device__ inline void FinishChunk(const LaneSquares<T>& lane, const T* data, int64_t begin,
                                   int32_t size, uint32_t chunk, const PageSums& page,
                                   double (&shared)[kLanes / 32]) {
  AllowEndingKernel();
  const BlockSum block = SumOfBlock<kLanes>(lane.Total(), lane.AnyNonZero(), shared);
  const bool trusted = !IsBad(block.sum) && (block.sum >= kSmallestTrusted || !block.any);
  if (trusted) {
    if (threadIdx.x == 0) page.sum[chunk] = block.sum;
  } else {
    SumAgain(data, begin, size, page.sum + chunk, page.bad + chunk);
  }
}

}  // namespace cuproof::ops

#endif
