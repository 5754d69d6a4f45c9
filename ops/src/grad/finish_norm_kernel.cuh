// One CTA turns the sums of chunks into norms, the first bad element, the clip factor and a record.
#ifndef CUPROOF_OPS_GRAD_FINISH_NORM_KERNEL_CUH
#define CUPROOF_OPS_GRAD_FINISH_NORM_KERNEL_CUH

#include <cstdint>

#include "cuproof/ops/grad_norm.h"
#include "cuproof/ops/nonfinite_guard.h"
#include "grad/block_sum.cuh"
#include "grad/finish_norm.h"
#include "grad/launch.h"
#include "grad/page.h"
#include "grad/vector.cuh"

namespace cuproof::ops {

// Tensors by number of chunks: one thread, 8 lanes, a warp, or 1,024 threads for each.
inline constexpr uint32_t kThreadChunks = 4;
inline constexpr uint32_t kEightChunks = 64;
inline constexpr uint32_t kWarpChunks = 2048;

/// Lanes that sum the tensors of a page, however many threads there are.
inline constexpr int kTotalLanes = 256;

/// Sum of `count` partial sums, taken by kLanesEach neighbouring lanes; every one of them gets it.
/// The order depends on `count` alone, since `count` also decides kLanesEach.
template <int kLanesEach>
__device__ inline double SumOfChunks(const double* sum, uint32_t count, uint32_t lane) {
  double mine = 0;
#pragma unroll 16
  for (uint32_t c = lane; c < count; c += kLanesEach) mine += sum[c];
  return WarpSum<kLanesEach>(mine);
}

/// A tensor's element as a record has it.
__device__ inline uint32_t ElementBits(const PageEntry& entry, int64_t index) {
  if (entry.dtype() == CUPROOF_OPS_F32) {
    return static_cast<const uint32_t*>(entry.address())[index];
  }
  return static_cast<const uint16_t*>(entry.address())[index];
}

__device__ inline float Norm(double sum, double scale) {
  return static_cast<float>(scale == 1 ? sqrt(sum) : sqrt(sum) / scale);
}

__device__ inline void WriteOutputs(const cuproof_ops_norm_outputs& out, double sum, double scale,
                                    bool bad) {
  if (out.total_norm == nullptr && out.factor == nullptr && out.grad_scale == nullptr) return;
  const float norm = Norm(sum, scale);
  if (out.total_norm != nullptr) *out.total_norm = norm;
  float clip = 1;
  if (out.max_norm > 0) {
    // In torch's roundings, which divides a number by a tensor in two steps. A NaN stays one.
    clip = out.max_norm * (1 / (norm + 1e-6f));
    if (clip > 1) clip = 1;
  }
  const float factor = clip * static_cast<float>(1 / scale);
  if (out.factor != nullptr) *out.factor = factor;
  if (out.grad_scale != nullptr) {
    const float divisor = clip == 1 ? static_cast<float>(scale) : static_cast<float>(scale) / clip;
    // Inf where the norm is beyond fp32: a gradient over Inf is 0, as it is times torch's factor.
    *out.grad_scale = bad ? 1 : divisor;
  }
}

/// Appends a record, if there is room. Guards of several streams may share a ring, so a slot is
/// claimed.
__device__ inline void AppendRecord(cuproof_ops_guard_ring* ring, uint16_t site,
                                    const cuproof_ops_bad_element& bad) {
  using Counter = unsigned long long;
  auto* written = reinterpret_cast<Counter*>(&ring->written);
  Counter slot = *static_cast<volatile Counter*>(written);
  while (slot - ring->read < ring->capacity) {
    const Counter seen = atomicCAS(written, slot, slot + 1);
    if (seen == slot) {
      auto* records = reinterpret_cast<cuproof_ops_guard_record*>(ring + 1);
      records[slot % ring->capacity] = {
          ring->step, bad.tensor, bad.index, bad.bits, static_cast<uint16_t>(bad.dtype), site};
      return;
    }
    slot = seen;
  }
  atomicAdd(reinterpret_cast<Counter*>(&ring->dropped), Counter{1});
}

/// Waits until the kernel before has ended and what it wrote is seen: this one may have been
/// started sooner.
__device__ inline void WaitForReadingKernel() {
#if __CUDA_ARCH__ >= 900
  if constexpr (!seeded::kMissingFence) cudaGridDependencySynchronize();
#endif
}

/// What one CTA works on. The sums of a small page are copied here first: all loads at once, where
/// one after the other they would be most of the time.
template <int kTensors, int kStaged>
struct FinishShared {
  double tensor_sum[kTensors];
  double staged[kStaged > 0 ? kStaged : 1];
  uint32_t first_chunk[kTensors + 1];
  uint16_t queue[3][kTensors];
  uint32_t queued[3];

  __device__ uint32_t chunks_of(int32_t tensor) const {
    return first_chunk[tensor + 1] - first_chunk[tensor];
  }
};

/// Copies the page into shared memory. Returns where its sums are to be read.
template <int kThreads, int kTensors, int kStaged>
__device__ inline const double* Stage(const FinishParams& params,
                                      FinishShared<kTensors, kStaged>& shared) {
  const int32_t thread = static_cast<int32_t>(threadIdx.x);
  if (thread < 3) shared.queued[thread] = 0;
  // Nobody has written a page without chunks.
  for (int32_t t = thread; t <= params.count; t += kThreads) {
    shared.first_chunk[t] = params.chunks == 0 ? 0 : params.page.entry[t].first_chunk;
  }
#pragma unroll
  for (int i = 0; i < kStaged / kThreads; ++i) {
    const uint32_t c = threadIdx.x + i * kThreads;
    if (c < params.chunks) shared.staged[c] = params.page.sum[c];
  }
  __syncthreads();
  return kStaged > 0 ? shared.staged : params.page.sum;
}

/// The sum of every tensor of the page, in shared.tensor_sum.
template <int kThreads, int kTensors, int kStaged>
__device__ inline void SumTensors(const double* sums, int32_t count,
                                  FinishShared<kTensors, kStaged>& shared) {
  const uint32_t thread = threadIdx.x;
  const uint32_t lane = thread % 32;
  for (int32_t t = static_cast<int32_t>(thread); t < count; t += kThreads) {
    const uint32_t first = shared.first_chunk[t];
    const uint32_t chunks = shared.chunks_of(t);
    if (chunks <= kThreadChunks) {
      double sum = 0;
      for (uint32_t c = 0; c < chunks; ++c) sum += sums[first + c];
      shared.tensor_sum[t] = sum;
    } else {
      const int which = chunks <= kEightChunks ? 0 : chunks <= kWarpChunks ? 1 : 2;
      // Their order is a matter of chance, and does not matter: each tensor's sum is its own.
      shared.queue[which][atomicAdd(&shared.queued[which], 1u)] = static_cast<uint16_t>(t);
    }
  }
  __syncthreads();
  for (uint32_t begin = 0; begin < shared.queued[0]; begin += kThreads / 8) {
    const uint32_t i = begin + thread / 8;
    const bool mine = i < shared.queued[0];
    const int32_t t = mine ? shared.queue[0][i] : 0;
    const uint32_t chunks = mine ? shared.chunks_of(t) : 0;
    const double sum = SumOfChunks<8>(sums + shared.first_chunk[t], chunks, lane % 8);
    if (mine && lane % 8 == 0) shared.tensor_sum[t] = sum;
  }
  for (uint32_t i = thread / 32; i < shared.queued[1]; i += kThreads / 32) {
    const int32_t t = shared.queue[1][i];
    const double sum = SumOfChunks<32>(sums + shared.first_chunk[t], shared.chunks_of(t), lane);
    if (lane == 0) shared.tensor_sum[t] = sum;
  }
  if constexpr (kThreads == 1024) {
    __shared__ double shared_sum[kThreads / 32];
    for (uint32_t i = 0; i < shared.queued[2]; ++i) {
      const int32_t t = shared.queue[2][i];
      const double* sum = sums + shared.first_chunk[t];
      const uint32_t chunks = shared.chunks_of(t);
      double mine = 0;
#pragma unroll 16
      for (uint32_t c = thread; c < chunks; c += kThreads) mine += sum[c];
      const double total = SumOfBlock<kThreads>(mine, false, shared_sum).sum;
      if (thread == 0) shared.tensor_sum[t] = total;
      __syncthreads();
    }
  }
  __syncthreads();
}

/// The sum of all tensors of the page; every thread gets it. As kTotalLanes lanes would have it,
/// however many threads there are.
template <int kThreads, class Shared>
__device__ inline double SumOfPage(const Shared& shared, int32_t count) {
  __shared__ double shared_sum[kThreads / 32];
  if (count == 1) return shared.tensor_sum[0];  // the same bits, and sooner
  double mine = 0;
  if (threadIdx.x < kTotalLanes) {
    for (int32_t t = static_cast<int32_t>(threadIdx.x); t < count; t += kTotalLanes) {
      mine += shared.tensor_sum[t];
    }
  }
  return SumOfBlock<kThreads>(mine, false, shared_sum).sum;
}

/// Whether any chunk's sum is bad; every thread gets it.
template <int kThreads>
__device__ inline bool AnyBadChunk(const PageSums& page, uint32_t chunks) {
  bool bad = false;
#pragma unroll 16
  for (uint32_t c = threadIdx.x; c < chunks; c += kThreads) bad |= IsBad(page.sum[c]);
  return __syncthreads_or(bad) != 0;
}

/// The first bad element of a page that has one; every thread gets it. Chunks are in the order of
/// tensors.
template <int kThreads>
__device__ inline cuproof_ops_bad_element FirstBad(const FinishParams& params) {
  __shared__ int64_t shared_min[kThreads / 32];
  const PageSums& page = params.page;
  int64_t bad = INT64_MAX;
  for (uint32_t c = threadIdx.x; c < params.chunks; c += kThreads) {
    if (IsBad(page.sum[c]) && c < bad) bad = c;
  }
  const auto chunk = static_cast<uint32_t>(MinOfBlock<kThreads>(bad, shared_min));
  const int32_t tensor =
      TensorOfChunk([&page](int32_t t) { return page.entry[t].first_chunk; }, params.count, chunk);
  const PageEntry& entry = page.entry[tensor];
  const int64_t index = page.bad[chunk];
  return {int64_t{params.first_tensor} + tensor, index, ElementBits(entry, index),
          static_cast<uint32_t>(entry.dtype())};
}

/// For pages of at most kTensors tensors and, if that is not 0, kStaged chunks.
template <int kThreads, int kTensors, int kStaged>
__global__ void __launch_bounds__(kThreads, 1)
    FinishNormKernel(const __grid_constant__ FinishParams params) {
  __shared__ FinishShared<kTensors, kStaged> shared;
  const int32_t thread = static_cast<int32_t>(threadIdx.x);
  WaitForReadingKernel();
  const double scale = params.out.loss_scale != nullptr ? *params.out.loss_scale : 1.0;
  double page_sum = 0;
  bool any_bad = false;
  if (params.wants_norm) {
    const double* sums = Stage<kThreads>(params, shared);
    SumTensors<kThreads>(sums, params.count, shared);
    if (params.out.tensor_norms != nullptr) {
      for (int32_t t = thread; t < params.count; t += kThreads) {
        params.out.tensor_norms[params.first_tensor + t] = Norm(shared.tensor_sum[t], scale);
      }
    }
    page_sum = SumOfPage<kThreads>(shared, params.count);
    any_bad = IsBad(page_sum);
  } else {
    any_bad = AnyBadChunk<kThreads>(params.page, params.chunks);
  }
  cuproof_ops_bad_element bad{-1, -1, 0, 0};
  if (any_bad) bad = FirstBad<kThreads>(params);
  if (thread != 0) return;

  double sum = page_sum;
  if (!params.first_page) {
    sum = params.so_far->sum + page_sum;
    if (params.so_far->bad.tensor >= 0) bad = params.so_far->bad;
  }
  if (!params.last_page) {
    *params.so_far = {sum, bad};
    return;
  }
  if (params.out.found_inf != nullptr) *params.out.found_inf = bad.tensor >= 0 ? 1 : 0;
  if (params.out.first_bad != nullptr) *params.out.first_bad = bad;
  WriteOutputs(params.out, sum, scale, bad.tensor >= 0);
  auto* ring = static_cast<cuproof_ops_guard_ring*>(params.ring);
  if (ring == nullptr) return;
  if (bad.tensor >= 0) AppendRecord(ring, params.site, bad);
  if (params.advance_step != 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&ring->step), 1ull);
  }
}

}  // namespace cuproof::ops

#endif
