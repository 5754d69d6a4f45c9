// Sum of squares of one chunk, to the precision of fp64 where that costs nothing.
//
// A square of bf16 or fp16 is exact in fp32, and so, nearly always, is the sum of a few; all else
// is fp64. Only the squares of bf16 can leave the range of fp32.
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

/// Elements whose squares are summed in fp32 before fp64: bf16 has 8 bits, so four squares of 16
/// fit with room for unlike exponents; fp16 has 11, so two of 22; fp32 none.
template <class T>
inline constexpr int kSummedInFloat = 1;
template <>
inline constexpr int kSummedInFloat<__nv_bfloat16> = 4;
template <>
inline constexpr int kSummedInFloat<__half> = 2;

/// Whether the square of a finite element that is not zero may be Inf, zero or denormal in fp32.
template <class T>
inline constexpr bool kSquareLeavesRange = false;
template <>
inline constexpr bool kSquareLeavesRange<__nv_bfloat16> = true;

/// Squares of one lane.
template <class T>
struct LaneSquares {
  double sum[2] = {};  // alternately, so that one addition need not wait for the other
  uint32_t bits = 0;

  __device__ void AddVector(uint4 vector) {
    if constexpr (kSquareLeavesRange<T>) {
      const Words words{vector};
      bits |= words.word[0] | words.word[1];
      bits |= words.word[2] | words.word[3];
    }
    float value[kWidth<T>];
    Unpack<T>(vector, value);
    constexpr int kGroup = kSummedInFloat<T>;
#pragma unroll
    for (int i = 0; i < kWidth<T>; i += kGroup) {
      if constexpr (kGroup == 1) {
        const double wide = value[i];
        sum[i % 2] = __fma_rn(wide, wide, sum[i % 2]);
      } else {
        float group = value[i] * value[i];
#pragma unroll
        for (int j = 1; j < kGroup; ++j) group = __fmaf_rn(value[i + j], value[i + j], group);
        sum[i / kGroup % 2] += group;
      }
    }
  }
  __device__ double Total() const { return sum[0] + sum[1]; }
  /// Whether any element was not zero, of a type for which this matters; the sign of a zero does
  /// not count.
  __device__ bool AnyNonZero() const { return (bits & 0x7fff7fffu) != 0; }
};

/// Below it the squares of the chunk may have been denormal in fp32.
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
