// One CTA turns the sums of chunks into norms, the first bad element, the clip factor and a record.
#ifndef CUPROOF_OPS_GRAD_FINISH_NORM_KERNEL_CUH
#define CUPROOF_OPS_GRAD_FINISH_NORM_KERNEL_CUH

#include <cuda_fp16.h>

#include <cstdint>

#include "cuproof/ops/grad_norm.h"
#include "cuproof/ops/nonfinite_guard.h"
#include "grad/block_sum.cuh"
#include "grad/chunk_sum.cuh"
#include "grad/finish_norm.h"
#include "grad/grad_policy.h"
#include "grad/page.h"

namespace cuproof::ops {

/// Waits until the kernel before has ended and its writes are seen (programmatic dependent launch).
__device__ inline void WaitForEarlierKernel() {
#if __CUDA_ARCH__ >= 900
  if constexpr (!seeded::kMissingFence) cudaGridDependencySynchronize();
#endif
}

/// Sum of `count` partial sums, taken by kLanes neighbouring lanes; every one of them gets it.
/// The order depends on `count` alone, since `count` also decides kLanes.
template <int kLanes>
__device__ inline double SumOfChunks(const double* sum, uint32_t count, uint32_t lane) {
  double mine = 0;
#pragma unroll 8
  for (uint32_t c = lane; c < count; c += kLanes) mine += sum[c];
  return WarpSum<kLanes>(mine);
}

// Tensors by number of chunks: one thread, 8 lanes, a warp, or the whole CTA for each.
inline constexpr uint32_t kThreadChunks = 4;
inline constexpr uint32_t kEightChunks = 64;
inline constexpr uint32_t kWarpChunks = 2048;

/// A tensor's element as a record has it.
template <class AnyPage>
__device__ inline uint32_t ElementBits(const AnyPage& page, int32_t tensor, int64_t index) {
  const void* data = page.entry[tensor].address();
  if (page.entry[tensor].dtype() == CUPROOF_OPS_F32) {
    return static_cast<const uint32_t*>(data)[index];
  }
  return static_cast<const uint16_t*>(data)[index];
}

__device__ inline void WriteOutputs(const FinishParams& params, double sum, double scale) {
  const cuproof_ops_norm_outputs& out = params.out;
  const float norm = static_cast<float>(sqrt(sum) / scale);
  if (out.total_norm != nullptr) *out.total_norm = norm;
  float clip = 1;
  if (out.max_norm > 0) {
    // As torch has it: a NaN stays one.
    clip = out.max_norm / (norm + 1e-6f);
    if (clip > 1) clip = 1;
  }
  const float factor = clip * static_cast<float>(1 / scale);
  if (out.factor != nullptr) *out.factor = factor;
  if (out.grad_scale != nullptr) {
    const float divisor = clip == 1 ? static_cast<float>(scale) : static_cast<float>(scale) / clip;
    *out.grad_scale = factor != 0 && isfinite(factor) && isfinite(divisor) ? divisor : 1;
  }
}

__device__ inline void WriteRecord(const FinishParams& params,
                                   const cuproof_ops_bad_element& bad) {
  auto* ring = static_cast<cuproof_ops_guard_ring*>(params.ring);
  if (ring == nullptr) return;
  if (bad.tensor >= 0) {
    // Guards of several streams may share a ring, so a slot is claimed.
    auto* written = reinterpret_cast<unsigned long long*>(&ring->written);
    unsigned long long slot = *static_cast<volatile unsigned long long*>(written);
    bool claimed = false;
    while (!claimed && slot - ring->read < ring->capacity) {
      const unsigned long long seen = atomicCAS(written, slot, slot + 1);
      claimed = seen == slot;
      if (!claimed) slot = seen;
    }
    if (claimed) {
      auto* records = reinterpret_cast<cuproof_ops_guard_record*>(ring + 1);
      records[slot % ring->capacity] = {ring->step,
                                        bad.tensor,
                                        bad.index,
                                        bad.bits,
                                        static_cast<uint16_t>(bad.dtype),
                                        params.site};
    } else {
      atomicAdd(reinterpret_cast<unsigned long long*>(&ring->dropped), 1ull);
    }
  }
  if (params.advance_step != 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&ring->step), 1ull);
  }
}

template <class AnyPage>
__global__ void __launch_bounds__(kFinishThreads, 1)
    FinishNormKernel(const __grid_constant__ AnyPage page, ChunkPartials partials,
                     FinishParams params) {
  constexpr int kWarps = kFinishThreads / 32;
  __shared__ double tensor_sum[AnyPage::capacity];
  __shared__ uint16_t queue[3][AnyPage::capacity];
  __shared__ uint32_t queued[3];
  __shared__ double shared_sum[kWarps];
  __shared__ int64_t shared_min[2][kWarps];
  const uint32_t thread = threadIdx.x;
  const uint32_t lane = thread % 32;
  if (thread < 3) queued[thread] = 0;
  __syncthreads();
  WaitForEarlierKernel();

  for (int32_t t = static_cast<int32_t>(thread); t < page.count; t += kFinishThreads) {
    const uint32_t chunks = page.chunks_of(t);
    if (chunks <= kThreadChunks) {
      double sum = 0;
      for (uint32_t c = 0; c < chunks; ++c) sum += partials.sum[page.first_chunk(t) + c];
      tensor_sum[t] = sum;
    } else {
      const int which = chunks <= kEightChunks ? 0 : chunks <= kWarpChunks ? 1 : 2;
      // Their order is a matter of chance, and does not matter: each tensor's sum is its own.
      queue[which][atomicAdd(&queued[which], 1u)] = static_cast<uint16_t>(t);
    }
  }
  __syncthreads();
  for (uint32_t first = 0; first < queued[0]; first += kFinishThreads / 8) {
    const uint32_t i = first + thread / 8;
    const bool mine = i < queued[0];
    const int32_t t = mine ? queue[0][i] : 0;
    const double sum = SumOfChunks<8>(partials.sum + page.first_chunk(t),
                                      mine ? page.chunks_of(t) : 0, lane % 8);
    if (mine && lane % 8 == 0) tensor_sum[t] = sum;
  }
  for (uint32_t i = thread / 32; i < queued[1]; i += kWarps) {
    const int32_t t = queue[1][i];
    const double sum =
        SumOfChunks<32>(partials.sum + page.first_chunk(t), page.chunks_of(t), lane);
    if (lane == 0) tensor_sum[t] = sum;
  }
  for (uint32_t i = 0; i < queued[2]; ++i) {
    const int32_t t = queue[2][i];
    const double* sum = partials.sum + page.first_chunk(t);
    const uint32_t chunks = page.chunks_of(t);
    double mine = 0;
#pragma unroll 8
    for (uint32_t c = thread; c < chunks; c += kFinishThreads) mine += sum[c];
    const double total = SumOfBlock<kFinishThreads>(mine, false, shared_sum).sum;
    if (thread == 0) tensor_sum[t] = total;
    __syncthreads();
  }
  __syncthreads();

  const double scale = params.out.loss_scale != nullptr ? *params.out.loss_scale : 1.0;
  double mine = 0;
  int64_t bad_tensor = INT64_MAX;
  for (int32_t t = static_cast<int32_t>(thread); t < page.count; t += kFinishThreads) {
    const double sum = tensor_sum[t];
    mine += sum;
    if (IsBad(sum) && t < bad_tensor) bad_tensor = t;
    if (params.out.tensor_norms != nullptr) {
      params.out.tensor_norms[page.first_tensor + t] = static_cast<float>(sqrt(sum) / scale);
    }
  }
  const double page_sum = SumOfBlock<kFinishThreads>(mine, false, shared_sum).sum;
  bad_tensor = MinOfBlock<kFinishThreads>(bad_tensor, shared_min[0]);

  int64_t bad_chunk = INT64_MAX;
  if (bad_tensor != INT64_MAX) {
    const int32_t t = static_cast<int32_t>(bad_tensor);
    const uint32_t end = page.first_chunk(t) + page.chunks_of(t);
    for (uint32_t c = page.first_chunk(t) + thread; c < end; c += kFinishThreads) {
      if (IsBad(partials.sum[c]) && c < bad_chunk) bad_chunk = c;
    }
    bad_chunk = MinOfBlock<kFinishThreads>(bad_chunk, shared_min[1]);
  }
  if (thread != 0) return;

  NormSoFar so_far = params.first_page ? NormSoFar{0, {-1, -1, 0, 0}} : *params.so_far;
  so_far.sum += page_sum;
  if (bad_chunk != INT64_MAX && so_far.bad.tensor < 0) {
    const int32_t t = static_cast<int32_t>(bad_tensor);
    const int64_t index = partials.bad[bad_chunk];
    so_far.bad = {page.first_tensor + bad_tensor, index, ElementBits(page, t, index),
                  static_cast<uint32_t>(page.entry[t].dtype())};
  }
  if (!params.last_page) {
    *params.so_far = so_far;
    return;
  }
  WriteOutputs(params, so_far.sum, scale);
  if (params.out.found_inf != nullptr) *params.out.found_inf = so_far.bad.tensor >= 0 ? 1 : 0;
  if (params.out.first_bad != nullptr) *params.out.first_bad = so_far.bad;
  WriteRecord(params, so_far.bad);
}

}  // namespace cuproof::ops

#endif
