// How tensors are cut into chunks, and how a chunk finds its tensor. Plain arithmetic, for host and
// device alike, so that it is fuzzed on a CPU.
#ifndef CUPROOF_OPS_GRAD_CHUNK_H
#define CUPROOF_OPS_GRAD_CHUNK_H

#include <cstdint>

#include "seeded_bug.h"

#ifdef __CUDACC__
#define CUPROOF_OPS_HOST_DEVICE __host__ __device__
#else
#define CUPROOF_OPS_HOST_DEVICE
#endif

namespace cuproof::ops {

/// A chunk is the work of one CTA at a time, and the unit in which sums are defined: it depends on
/// the size of its tensor and on nothing else. Small chunks spread a list over the GPU; a huge
/// tensor has larger ones, so that its partial sums stay few.
inline constexpr int kSmallChunkShift = 15;
inline constexpr int kLargeChunkShift = 17;
inline constexpr int64_t kLargeTensor = int64_t{1} << 26;

/// Sizes that every chunk number still fits in 32 bits for.
inline constexpr int64_t kMaxElements = int64_t{1} << 46;

CUPROOF_OPS_HOST_DEVICE constexpr int ChunkShift(int64_t elements) {
  return elements < kLargeTensor ? kSmallChunkShift : kLargeChunkShift;
}

CUPROOF_OPS_HOST_DEVICE constexpr int64_t ChunkCount(int64_t elements) {
  const int shift = ChunkShift(elements);
  if constexpr (seeded::kDroppedTail) return elements >> shift;
  return (elements + (int64_t{1} << shift) - 1) >> shift;
}

/// Elements [begin, begin + size) of a tensor.
struct Span {
  int64_t begin;
  int64_t size;
};

/// Chunk number `chunk` of a tensor, counted from its own first.
CUPROOF_OPS_HOST_DEVICE constexpr Span ChunkSpan(int64_t elements, uint32_t chunk) {
  const int shift = ChunkShift(elements);
  int64_t begin = static_cast<int64_t>(chunk) << shift;
  if constexpr (seeded::kOffset32) begin = static_cast<int32_t>(static_cast<uint32_t>(begin));
  if constexpr (seeded::kWrongChunk) begin = static_cast<int64_t>(chunk) << kSmallChunkShift;
  const int64_t rest = elements - begin;
  const int64_t full = int64_t{1} << shift;
  return {begin, rest < full ? rest : full};
}

/// The tensor that chunk `chunk` of a page belongs to: the last one whose first chunk is not behind
/// it. Of a run of equal starts only the last has chunks: empty tensors take none.
template <class FirstChunkOf>
CUPROOF_OPS_HOST_DEVICE constexpr int32_t TensorOfChunk(FirstChunkOf first_chunk_of, int32_t count,
                                                        uint32_t chunk) {
  int32_t low = 0;
  int32_t high = count;
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    const uint32_t first = first_chunk_of(middle);
    if (seeded::kEmptyTensorShift ? first < chunk : first <= chunk) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace cuproof::ops

#endif
