// Workspace layout and launches that the gradient operators share. For .cu files.
#ifndef CUPROOF_OPS_GRAD_LAUNCH_H
#define CUPROOF_OPS_GRAD_LAUNCH_H

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "grad/finish_norm.h"
#include "grad/grad_policy.h"
#include "grad/page.h"
#include "runtime/device.h"
#include "runtime/prepare.h"
#include "runtime/status.h"

namespace cuproof::ops {

inline constexpr size_t kSoFarBytes = 64;
static_assert(sizeof(NormSoFar) <= kSoFarBytes);

/// Pages of a norm's list, by length of the list. A small page costs less to launch.
inline constexpr int kPageSmall = 16;
inline constexpr int kPageMiddle = 256;
inline constexpr int kPageLarge = 2032;
static_assert(sizeof(Page<kPageLarge>) + sizeof(PageSums) <= kMaxParameterBytes);

/// Chunks of the largest page, when pages hold `capacity` tensors.
inline int64_t LargestPageChunks(const cuproof_ops_tensor_list& list, int capacity) {
  int64_t largest = 0;
  int64_t chunks = 0;
  int64_t in_page = 0;
  for (int64_t t = 0; t < list.count; ++t) {
    const int64_t more = ChunkCount(list.elements[t]);
    if (in_page == capacity || chunks + more > kMaxPageChunks) {
      largest = std::max(largest, chunks);
      chunks = 0;
      in_page = 0;
    }
    chunks += more;
    ++in_page;
  }
  return std::max(largest, chunks);
}

/// A workspace for pages of at most `chunks` chunks and `tensors` tensors.
struct NormWorkspace {
  int64_t chunks;
  int64_t tensors;

  size_t bytes() const {
    return kSoFarBytes + static_cast<size_t>(chunks) * (sizeof(double) + sizeof(int64_t)) +
           static_cast<size_t>(tensors + 1) * sizeof(PageEntry);
  }
  PageSums In(void* workspace) const {
    char* begin = static_cast<char*>(workspace) + kSoFarBytes;
    auto* sum = reinterpret_cast<double*>(begin);
    auto* bad = reinterpret_cast<int64_t*>(sum + chunks);
    return {sum, bad, reinterpret_cast<PageEntry*>(bad + chunks)};
  }
};

/// For a list in pages of `capacity` tensors.
inline NormWorkspace WorkspaceFor(const cuproof_ops_tensor_list& list, int capacity) {
  return {LargestPageChunks(list, capacity), std::min<int64_t>(list.count, capacity)};
}

/// A workspace that is there, aligned and large enough.
cuproof_ops_status CheckWorkspace(const void* workspace, size_t bytes, size_t needed);

/// CTAs for `chunks` chunks: one each, or as many as the policy or the caller allows.
inline unsigned GridSize(uint32_t chunks, const WalkPolicy& policy, const Device& device,
                         int32_t max_ctas) {
  uint32_t ctas = chunks;
  if (policy.ctas_per_sm > 0) {
    ctas = std::min(ctas, static_cast<uint32_t>(policy.ctas_per_sm * device.multiprocessors));
  }
  if (max_ctas > 0) ctas = std::min(ctas, static_cast<uint32_t>(max_ctas));
  return ctas;
}

/// Whether any output needs the sums, or only whether and where anything is bad.
inline bool WantsNorm(const cuproof_ops_norm_outputs& out) {
  return out.total_norm != nullptr || out.tensor_norms != nullptr || out.factor != nullptr ||
         out.grad_scale != nullptr;
}

/// What the ending kernel must know of `page`.
template <class AnyPage>
FinishParams FinishOfPage(FinishParams finish, const AnyPage& page) {
  finish.count = page.count;
  finish.first_tensor = page.first_tensor;
  finish.chunks = page.chunks();
  return finish;
}

template <class AnyPage>
uint32_t LargestTensorChunks(const AnyPage& page) {
  uint32_t largest = 0;
  for (int32_t t = 0; t < page.count; ++t) largest = std::max(largest, page.chunks_of(t));
  return largest;
}

}  // namespace cuproof::ops

#endif
