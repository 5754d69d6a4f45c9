// Whether a chunk has an Inf or a NaN, where nobody wants its sum: a fifth of the instructions.
#ifndef CUPROOF_OPS_GRAD_CHUNK_CHECK_CUH
#define CUPROOF_OPS_GRAD_CHUNK_CHECK_CUH

#include <cstdint>
#include <cstring>

#include "grad/chunk_sum.cuh"

namespace cuproof::ops {

/// One element of fp32, two of the other types: what a word holds.
template <class T>
struct WordOf;

template <>
struct WordOf<float> {
  using Type = float;
  static __device__ Type Zero() { return 0; }
  static __device__ Type TimesZero(Type value, Type seen) { return __fmaf_rn(value, 0.0f, seen); }
  static __device__ float Any(Type seen) { return seen; }
};

template <>
struct WordOf<__half> {
  using Type = __half2;
  static __device__ Type Zero() { return __float2half2_rn(0); }
  static __device__ Type TimesZero(Type value, Type seen) { return __hfma2(value, Zero(), seen); }
  static __device__ float Any(Type seen) { return __low2float(seen) + __high2float(seen); }
};

template <>
struct WordOf<__nv_bfloat16> {
  using Type = __nv_bfloat162;
  static __device__ Type Zero() { return __float2bfloat162_rn(0); }
  static __device__ Type TimesZero(Type value, Type seen) { return __hfma2(value, Zero(), seen); }
  static __device__ float Any(Type seen) { return __low2float(seen) + __high2float(seen); }
};

/// Of one lane. An element times zero is zero or NaN, and a NaN stays.
template <class T>
struct LaneCheck {
  using Word = WordOf<T>;
  typename Word::Type seen[2] = {Word::Zero(), Word::Zero()};

  __device__ void AddVector(uint4 vector) {
    const Words words{vector};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      typename Word::Type value;
      memcpy(&value, &words.word[w], sizeof(value));
      seen[w % 2] = Word::TimesZero(value, seen[w % 2]);
    }
  }
  __device__ bool Bad() const {
    const float any = Word::Any(seen[0]) + Word::Any(seen[1]);
    return any != any;
  }
};

/// Ends a chunk: its sum is 0, or is taken to find the first bad element.
template <class T>
__device__ inline void FinishChunk(const LaneCheck<T>& lane, const T* data, int64_t begin,
                                   int32_t size, uint32_t chunk, const PageSums& page,
                                   double (&)[kLanes / 32]) {
  AllowEndingKernel();
  if (__syncthreads_or(lane.Bad()) != 0) {
    SumAgain(data, begin, size, page.sum + chunk, page.bad + chunk);
  } else if (threadIdx.x == 0) {
    page.sum[chunk] = 0;
  }
}

}  // namespace cuproof::ops

#endif
