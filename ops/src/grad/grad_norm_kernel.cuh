// Reads every chunk of a page once and leaves its sum of squares, or only whether it is bad.
#ifndef CUPROOF_OPS_GRAD_GRAD_NORM_KERNEL_CUH
#define CUPROOF_OPS_GRAD_GRAD_NORM_KERNEL_CUH

#include <type_traits>

#include "grad/chunk_check.cuh"
#include "grad/chunk_loop.cuh"
#include "grad/chunk_sum.cuh"
#include "grad/page.h"

namespace cuproof::ops {

/// Gives each lane its vectors. The last one may have fewer elements; the others are then zero.
template <class Lane, class T>
__device__ inline Lane ReadChunk(const T* data, int32_t size) {
  constexpr int kLoads = kNormPolicy.loads;
  Lane lane;
  const int32_t vectors = size / kWidth<T>;
  const auto lane_index = static_cast<int32_t>(threadIdx.x);
  if (IsVectorAligned(data)) {
    const uint4* vector = AsVectors(data);
    for (int32_t i = lane_index; i < vectors; i += kLoads * kLanes) {
      uint4 loaded[kLoads];
#pragma unroll
      for (int l = 0; l < kLoads; ++l) {
        const int32_t at = i + l * kLanes;
        loaded[l] = at < vectors ? LoadStreaming(vector + at) : uint4{0, 0, 0, 0};
      }
#pragma unroll
      for (int l = 0; l < kLoads; ++l) lane.AddVector(loaded[l]);
    }
  } else {
#pragma unroll 4
    for (int32_t i = lane_index; i < vectors; i += kLanes) {
      lane.AddVector(LoadElements(data + static_cast<int64_t>(i) * kWidth<T>, kWidth<T>));
    }
  }
  const int32_t rest = size - vectors * kWidth<T>;
  if (rest != 0 && lane_index == vectors % kLanes) {
    lane.AddVector(LoadElements(data + static_cast<int64_t>(vectors) * kWidth<T>, rest));
  }
  return lane;
}

template <class T, bool kSums>
__device__ inline void ReadTyped(const void* tensor, Span span, uint32_t chunk,
                                 const PageSums& sums, double (&shared)[kLanes / 32]) {
  using Lane = std::conditional_t<kSums, LaneSquares<T>, LaneCheck<T>>;
  const T* data = static_cast<const T*>(tensor) + span.begin;
  const int32_t size = static_cast<int32_t>(span.size);
  FinishChunk(ReadChunk<Lane>(data, size), data, span.begin, size, chunk, sums, shared);
}

/// kSums: leaves sums of squares, else 0 or a bad number.
template <int kCapacity, bool kSums>
__global__ void __launch_bounds__(kNormPolicy.threads, kNormPolicy.min_ctas)
    GradNormKernel(const __grid_constant__ Page<kCapacity> page, PageSums sums) {
  ForEachChunk(page, sums, [&](int32_t t, Span span, uint32_t chunk, auto& shared) {
    const void* tensor = page.entry[t].address();
    WithType(page.entry[t].dtype(),
             [&]<class T>() { ReadTyped<T, kSums>(tensor, span, chunk, sums, shared); });
  });
}

}  // namespace cuproof::ops

#endif
