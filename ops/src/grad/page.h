// The table of tensors as the kernels get it: by value, in the kernel's parameters.
//
// CUDA 12.1 and sm_70 allow 32,764 bytes of parameters. A page of 16 bytes a tensor holds 2,032
// tensors; a longer list is several pages, walked in order. A short list takes a smaller page,
// since the driver copies all of it at each launch.
#ifndef CUPROOF_OPS_GRAD_PAGE_H
#define CUPROOF_OPS_GRAD_PAGE_H

#include <cstdint>

#include "cuproof/ops/tensor_list.h"
#include "grad/chunk.h"

namespace cuproof::ops {

inline constexpr int kMaxParameterBytes = 32764;

/// Element type, size of chunk and address in one word: addresses of CUDA have fewer than 56 bits.
inline constexpr int kLargeChunkBit = 59;
inline constexpr int kTypeBit = 60;

struct PageEntry {
  uint64_t type_and_address;
  uint32_t first_chunk;  // in the page
  uint32_t last_chunk_elements;

  CUPROOF_OPS_HOST_DEVICE void* address() const {
    return reinterpret_cast<void*>(type_and_address & ((uint64_t{1} << 56) - 1));
  }
  CUPROOF_OPS_HOST_DEVICE cuproof_ops_dtype dtype() const {
    return static_cast<cuproof_ops_dtype>(type_and_address >> kTypeBit);
  }
  /// Whether the tensor is cut into large chunks: what its size said before it was cut.
  CUPROOF_OPS_HOST_DEVICE int chunk_shift() const {
    return (type_and_address >> kLargeChunkBit & 1) != 0 ? kLargeChunkShift : kSmallChunkShift;
  }
};

template <int kCapacity>
struct Page {
  static constexpr int capacity = kCapacity;

  int32_t count;                   // tensors in this page
  int32_t first_tensor;            // number in the list of the page's first
  PageEntry entry[kCapacity + 1];  // one more, whose first_chunk is the number of chunks

  CUPROOF_OPS_HOST_DEVICE uint32_t chunks() const { return entry[count].first_chunk; }
  CUPROOF_OPS_HOST_DEVICE uint32_t first_chunk(int32_t tensor) const {
    return entry[tensor].first_chunk;
  }
  CUPROOF_OPS_HOST_DEVICE uint32_t chunks_of(int32_t tensor) const {
    return first_chunk(tensor + 1) - first_chunk(tensor);
  }
  CUPROOF_OPS_HOST_DEVICE int64_t elements(int32_t tensor) const {
    const uint32_t chunks = chunks_of(tensor);
    if (chunks == 0) return 0;
    return (static_cast<int64_t>(chunks - 1) << entry[tensor].chunk_shift()) +
           entry[tensor].last_chunk_elements;
  }
  /// The entry for whoever ends the norm: of the tensor whose squares were summed.
  CUPROOF_OPS_HOST_DEVICE PageEntry summed(int32_t tensor) const { return entry[tensor]; }
  CUPROOF_OPS_HOST_DEVICE int32_t tensor_of_chunk(uint32_t chunk) const {
    return TensorOfChunk([this](int32_t tensor) { return first_chunk(tensor); }, count, chunk);
  }
};

/// A second address for each tensor: fp32 accumulators.
template <int kCapacity>
struct PagePair : Page<kCapacity> {
  float* second[kCapacity];

  CUPROOF_OPS_HOST_DEVICE PageEntry summed(int32_t tensor) const {
    PageEntry entry = this->entry[tensor];
    if (tensor == this->count) return entry;
    entry.type_and_address = reinterpret_cast<uint64_t>(second[tensor]) |
                             (entry.type_and_address & uint64_t{1} << kLargeChunkBit) |
                             uint64_t{CUPROOF_OPS_F32} << kTypeBit;
    return entry;
  }
};

/// A page may hold this many chunks: the limit of a grid's x.
inline constexpr int64_t kMaxPageChunks = (int64_t{1} << 31) - 1;

/// Puts tensors from `begin` on into `page`, as many as it holds. Returns the tensor to go on with:
/// the list's count when all are in. Empty tensors take an entry but no chunk.
template <class AnyPage>
int64_t FillPage(const cuproof_ops_tensor_list& list, int64_t begin, AnyPage* page) {
  page->first_tensor = static_cast<int32_t>(begin);
  int64_t chunks = 0;
  int32_t count = 0;
  int64_t tensor = begin;
  for (; tensor < list.count && count < AnyPage::capacity; ++tensor, ++count) {
    const int64_t elements = list.elements[tensor];
    const int64_t more = ChunkCount(elements);
    if (chunks + more > kMaxPageChunks) break;
    const int shift = ChunkShift(elements);
    PageEntry& entry = page->entry[count];
    entry.type_and_address = reinterpret_cast<uint64_t>(list.data[tensor]) |
                             static_cast<uint64_t>(list.dtype[tensor]) << kTypeBit |
                             static_cast<uint64_t>(shift == kLargeChunkShift) << kLargeChunkBit;
    entry.first_chunk = static_cast<uint32_t>(chunks);
    entry.last_chunk_elements =
        more == 0 ? 0 : static_cast<uint32_t>(elements - ((more - 1) << shift));
    chunks += more;
  }
  page->count = count;
  page->entry[count] = {0, static_cast<uint32_t>(chunks), 0};
  return tensor;
}

}  // namespace cuproof::ops

#endif
