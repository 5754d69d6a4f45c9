/* In place: every element times a factor that lies on the device. Plain C. */
#ifndef CUPROOF_OPS_GRAD_SCALE_H
#define CUPROOF_OPS_GRAD_SCALE_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "cuproof/ops/status.h"
#include "cuproof/ops/tensor_list.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuproof_ops_grad_scale_params {
  cuproof_ops_tensor_list grads; /* in and out: x becomes the fp32 product x * factor, rounded to
                                    the tensor's type: the bits of torch's unscale and clip */
  const float* factor; /* [1] device, in. Exactly 1: nothing is written, and without found_inf
                          nothing is read */
  int32_t reciprocal;  /* nonzero: multiply by fp32(1 / fp64(*factor)) instead */
  float* found_inf; /* [1] device: set to 1 if an element is Inf or NaN before the multiplication,
                       else left alone (as torch's unscale does). null: not wanted */
  int32_t max_ctas; /* 0: as many as fit the GPU. Results do not depend on it */
} cuproof_ops_grad_scale_params;

/* No workspace. No allocation, no synchronisation; one kernel for each 2,032 tensors. */
CUPROOF_OPS_API cuproof_ops_status
cuproof_ops_grad_scale(const cuproof_ops_grad_scale_params* params, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
