// Arguments of the kernel that ends a norm, and its launch after the kernel that read a page.
#ifndef CUPROOF_OPS_GRAD_FINISH_NORM_H
#define CUPROOF_OPS_GRAD_FINISH_NORM_H

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuproof/ops/grad_norm.h"
#include "grad/page.h"
#include "runtime/device.h"

namespace cuproof::ops {

/// What the reading kernel leaves in the workspace for the one that ends the norm.
struct PageSums {
  double* sum;       // [chunks] sum of squares of a chunk
  int64_t* bad;      // [chunks] first bad element of the tensor; written only where sum is bad
  PageEntry* entry;  // [tensors + 1] the page itself. Read from here, since a kernel's parameters
                     // are slow to read by 32 lanes at 32 places
};

/// What earlier pages of a long list gave.
struct NormSoFar {
  double sum;
  cuproof_ops_bad_element bad;
};

struct FinishParams {
  cuproof_ops_norm_outputs out;
  void* ring;  // cuproof_ops_guard_ring
  NormSoFar* so_far;
  PageSums page;
  int32_t count;         // tensors of the page
  int32_t first_tensor;  // number in the list of the page's first
  uint32_t chunks;       // of the page; 0: no kernel has read it and all its tensors are empty
  uint16_t site;
  uint16_t advance_step;
  bool first_page;
  bool last_page;
  bool wants_norm;  // else only whether and where anything is bad
};

/// Launches the kernel that ends the norm of a page, behind the one that reads it.
/// `largest` is the number of chunks of the page's largest tensor.
cuproof_ops_status LaunchFinishNorm(const FinishParams& params, uint32_t largest,
                                    const Device& device, cudaStream_t stream);

}  // namespace cuproof::ops

#endif
