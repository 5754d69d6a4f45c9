// The walk of a CTA over the chunks of a page whose squares are summed, with the type of each.
#ifndef CUPROOF_OPS_GRAD_CHUNK_LOOP_CUH
#define CUPROOF_OPS_GRAD_CHUNK_LOOP_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "grad/finish_norm.h"
#include "grad/grad_policy.h"
#include "grad/page.h"

namespace cuproof::ops {

/// Calls body.operator()<T>() with the element type.
template <class Body>
__device__ inline void WithType(cuproof_ops_dtype dtype, const Body& body) {
  switch (dtype) {
    case CUPROOF_OPS_F32:
      body.template operator()<float>();
      break;
    case CUPROOF_OPS_F16:
      body.template operator()<__half>();
      break;
    case CUPROOF_OPS_BF16:
      body.template operator()<__nv_bfloat16>();
      break;
  }
}

/// Leaves the table where the last kernel can read it fast: each tensor's entry by the CTA that has
/// its first chunk, and those of the empty tensors before it; what is behind the last chunk by its
/// CTA.
template <class AnyPage>
__device__ inline void PublishEntries(const AnyPage& page, int32_t tensor, uint32_t chunk,
                                      PageEntry* out) {
  if (threadIdx.x != 0) return;
  if (chunk == page.first_chunk(tensor)) {
    out[tensor] = page.summed(tensor);
    for (int32_t t = tensor - 1; t >= 0 && page.first_chunk(t) == chunk; --t) {
      out[t] = page.summed(t);
    }
  }
  if (chunk + 1 == page.chunks()) {
    for (int32_t t = tensor + 1; t <= page.count; ++t) out[t] = page.summed(t);
  }
}

/// Calls body(tensor, span, chunk, shared) for every chunk of this CTA. There must be no more CTAs
/// than chunks. `shared` is another one in turn, so that a chunk need not wait until all have read
/// what the chunk before left there. The body asks for type and address, both before it branches:
/// asked for in every branch, they cost instructions.
template <class AnyPage, class Body>
__device__ inline void ForEachChunk(const AnyPage& page, const PageSums& sums, const Body& body) {
  __shared__ double shared[2][kLanes / 32];
  uint32_t chunk = blockIdx.x;
  int turn = 0;
  // Asking first would be a wait on the parameters.
  do {
    const int32_t t = page.tensor_of_chunk(chunk);
    const Span span = ChunkSpan(page.elements(t), chunk - page.first_chunk(t));
    body(t, span, chunk, shared[turn]);
    PublishEntries(page, t, chunk, sums.entry);
    chunk += gridDim.x;
    turn ^= 1;
  } while (chunk < page.chunks());
}

}  // namespace cuproof::ops

#endif
