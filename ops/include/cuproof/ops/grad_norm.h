/* One read of all gradients: L2 norms, Inf/NaN check, clip factor. Plain C. */
#ifndef CUPROOF_OPS_GRAD_NORM_H
#define CUPROOF_OPS_GRAD_NORM_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "cuproof/ops/status.h"
#include "cuproof/ops/tensor_list.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What one pass tells. Every pointer is device memory; null: not wanted.

   Let S be the sum of squares of all elements. Squares of bf16 and fp16 are exact in fp32, where
   four (two) neighbours are summed; all else is fp64, in an order that depends on the sizes alone:
   the same bits for any grid, address, stream, graph. A chunk (32,768 elements; 131,072 in tensors
   of 2^26 and more) whose bf16 squares leave the range of fp32 is summed again in fp64, so the norm
   is right over the whole range of every type; its error is that of the last rounding to fp32.
   With an Inf or NaN anywhere, total_norm is Inf or NaN as the sum of squares would be. */
typedef struct cuproof_ops_norm_outputs {
  float* total_norm;                  /* [1] sqrt(S) / loss_scale */
  float* tensor_norms;                /* [count] the same for each tensor; 0 for an empty one */
  float* found_inf;                   /* [1] 1 if any element is Inf or NaN, else 0 */
  cuproof_ops_bad_element* first_bad; /* [1] */

  const float* loss_scale; /* [1] in: the tensors hold loss_scale times the gradient. null: 1 */
  float max_norm;          /* clip to this norm of the unscaled gradient; 0 or less: no clipping */
  float* factor; /* [1] min(1, max_norm * (1 / (total_norm + 1e-6))) / loss_scale in fp32: multiply
                    by it */
  float* grad_scale; /* [1] 1 / factor: what a fused optimizer divides by. 1 where an element is Inf
                        or NaN, so that a skipped step reads a harmless number; Inf where the factor
                        is 0, since the norm is beyond fp32: then a gradient over it is 0, too */
} cuproof_ops_norm_outputs;

typedef struct cuproof_ops_grad_norm_params {
  cuproof_ops_tensor_list grads; /* read */
  cuproof_ops_norm_outputs out;
  int32_t max_ctas; /* 0: as many as fit the GPU. Results do not depend on it */
} cuproof_ops_grad_norm_params;

/* Bytes of workspace for this list. Depends only on count and elements. */
CUPROOF_OPS_API cuproof_ops_status
cuproof_ops_grad_norm_workspace(const cuproof_ops_tensor_list* grads, size_t* bytes);

/* workspace: device, aligned to 16, content irrelevant before and after; not to be shared by calls
   that may run at the same time. No allocation, no synchronisation; work goes to `stream` of the
   current device: two kernels for each 2,032 tensors that are not empty. */
CUPROOF_OPS_API cuproof_ops_status cuproof_ops_grad_norm(const cuproof_ops_grad_norm_params* params,
                                                         void* workspace, size_t workspace_bytes,
                                                         cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
