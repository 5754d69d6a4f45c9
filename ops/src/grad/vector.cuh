// 16-byte vectors of fp32, fp16 and bf16 elements: loads at any alignment, to floats and back.
#ifndef CUPROOF_OPS_GRAD_VECTOR_CUH
#define CUPROOF_OPS_GRAD_VECTOR_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "seeded_bug.h"

namespace cuproof::ops {

/// Elements in a vector.
template <class T>
inline constexpr int kWidth = 16 / static_cast<int>(sizeof(T));

union Words {
  uint4 vector;
  uint32_t word[4];
};

/// Read once and not kept in L1. Only for memory that no kernel in flight writes.
__device__ inline uint4 LoadStreaming(const uint4* address) {
  uint4 value;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(address));
  return value;
}

/// The vector whose first element is at `address`, wherever that is: elements one by one.
template <class T>
__device__ inline uint4 LoadElements(const T* address, int count) {
  using Bits = typename std::conditional<sizeof(T) == 4, uint32_t, uint16_t>::type;
  constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));
  const Bits* element = reinterpret_cast<const Bits*>(address);
  Words words;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    words.word[w] = 0;
#pragma unroll
    for (int e = 0; e < kPerWord; ++e) {
      const int i = w * kPerWord + e;
      if (i < count) words.word[w] |= static_cast<uint32_t>(element[i]) << (e * 16);
    }
  }
  return words.vector;
}

template <class T>
__device__ inline void StoreElements(T* address, uint4 vector, int count) {
  using Bits = typename std::conditional<sizeof(T) == 4, uint32_t, uint16_t>::type;
  constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));
  Bits* element = reinterpret_cast<Bits*>(address);
  const Words words{vector};
#pragma unroll
  for (int i = 0; i < kWidth<T>; ++i) {
    if (i < count) element[i] = static_cast<Bits>(words.word[i / kPerWord] >> (i % kPerWord * 16));
  }
}

__device__ inline bool IsVectorAligned(const void* address) {
  if constexpr (seeded::kMisalignedVector) return true;
  return reinterpret_cast<uintptr_t>(address) % 16 == 0;
}

template <class T>
__device__ inline const uint4* AsVectors(const T* address) {
  if constexpr (seeded::kMisalignedVector) {
    return reinterpret_cast<const uint4*>(reinterpret_cast<uintptr_t>(address) & ~uintptr_t{15});
  }
  return reinterpret_cast<const uint4*>(address);
}

/// All elements as fp32, exactly.
template <class T>
__device__ inline void Unpack(uint4 vector, float (&out)[kWidth<T>]);

template <>
__device__ inline void Unpack<float>(uint4 vector, float (&out)[4]) {
  const Words words{vector};
#pragma unroll
  for (int w = 0; w < 4; ++w) out[w] = __uint_as_float(words.word[w]);
}

template <>
__device__ inline void Unpack<__nv_bfloat16>(uint4 vector, float (&out)[8]) {
  const Words words{vector};
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    out[2 * w] = __uint_as_float(words.word[w] << 16);
    out[2 * w + 1] = __uint_as_float(words.word[w] & 0xffff0000u);
  }
}

template <>
__device__ inline void Unpack<__half>(uint4 vector, float (&out)[8]) {
  const Words words{vector};
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const __half2 pair = *reinterpret_cast<const __half2*>(&words.word[w]);
    const float2 both = __half22float2(pair);
    out[2 * w] = both.x;
    out[2 * w + 1] = both.y;
  }
}

/// Rounded to nearest even, once.
template <class T>
__device__ inline uint4 Pack(const float (&in)[kWidth<T>]);

template <>
__device__ inline uint4 Pack<float>(const float (&in)[4]) {
  return {__float_as_uint(in[0]), __float_as_uint(in[1]), __float_as_uint(in[2]),
          __float_as_uint(in[3])};
}

template <>
__device__ inline uint4 Pack<__nv_bfloat16>(const float (&in)[8]) {
  Words words;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(in[2 * w], in[2 * w + 1]);
    words.word[w] = *reinterpret_cast<const uint32_t*>(&pair);
  }
  return words.vector;
}

template <>
__device__ inline uint4 Pack<__half>(const float (&in)[8]) {
  Words words;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const __half2 pair = __floats2half2_rn(in[2 * w], in[2 * w + 1]);
    words.word[w] = *reinterpret_cast<const uint32_t*>(&pair);
  }
  return words.vector;
}

/// One element as fp64, exactly.
template <class T>
__device__ inline double ToDouble(T value) {
  return static_cast<double>(static_cast<float>(value));
}

/// Inf or NaN.
template <class Float>
__device__ inline bool IsBad(Float value) {
  if constexpr (seeded::kInfinityIsFine) return value != value;
  return !isfinite(value);
}

}  // namespace cuproof::ops

#endif
