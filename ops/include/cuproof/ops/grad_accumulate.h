/* fp32 sums of gradients over micro-batches, with the norm of the sums in the same pass. Plain C.
 */
#ifndef CUPROOF_OPS_GRAD_ACCUMULATE_H
#define CUPROOF_OPS_GRAD_ACCUMULATE_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "cuproof/ops/grad_norm.h"
#include "cuproof/ops/status.h"
#include "cuproof/ops/tensor_list.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuproof_ops_grad_accumulate_params {
  cuproof_ops_tensor_list grads; /* read */
  float* const* accumulators;    /* [count] host array of device pointers to fp32, as many elements
                                    as the gradient has, aligned to 4; in and out */
  int32_t overwrite;             /* nonzero: accumulator = gradient (first micro-batch: no zeroing),
                                    zero: accumulator += gradient, one fp32 addition an element */
  cuproof_ops_norm_outputs out;  /* of the accumulators after this call */
  int32_t max_ctas;              /* 0: as many as fit the GPU. Results do not depend on it */
} cuproof_ops_grad_accumulate_params;

CUPROOF_OPS_API cuproof_ops_status
cuproof_ops_grad_accumulate_workspace(const cuproof_ops_tensor_list* grads, size_t* bytes);

/* workspace: as for cuproof_ops_grad_norm. Gradients and accumulators may be memory of
   cudaMallocAsync on the same stream. Two kernels for each 1,344 tensors that are not empty. */
CUPROOF_OPS_API cuproof_ops_status
cuproof_ops_grad_accumulate(const cuproof_ops_grad_accumulate_params* params, void* workspace,
                            size_t workspace_bytes, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
