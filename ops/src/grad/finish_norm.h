// Arguments of the kernel that ends a norm, and its launch after the kernel that read a page.
#ifndef CUPROOF_OPS_GRAD_FINISH_NORM_H
#define CUPROOF_OPS_GRAD_FINISH_NORM_H

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuproof/ops/grad_norm.h"

namespace cuproof::ops {

/// What earlier pages of a long list gave.
struct NormSoFar {
  double sum;
  cuproof_ops_bad_element bad;
};

struct FinishParams {
  cuproof_ops_norm_outputs out;
  void* ring;  // cuproof_ops_guard_ring
  NormSoFar* so_far;
  uint16_t site;
  uint16_t advance_step;
  bool first_page;
  bool last_page;
};

}  // namespace cuproof::ops

#endif
