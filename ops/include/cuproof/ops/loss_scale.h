/* Dynamic loss scaling without the host. Plain C. */
#ifndef CUPROOF_OPS_LOSS_SCALE_H
#define CUPROOF_OPS_LOSS_SCALE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "cuproof/ops/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* After a step with an Inf: scale *= backoff_factor, tracker = 0. After growth_interval steps
   without one: scale *= growth_factor unless that overflows, tracker = 0. Else tracker += 1.
   The rule of torch.amp.GradScaler.update(), and its bits: the product is rounded to fp32 once. */
typedef struct cuproof_ops_loss_scale_params {
  float* scale;            /* [1] device, in and out */
  int32_t* growth_tracker; /* [1] device, in and out */
  const float* found_inf;  /* [1] device; nonzero: the step had an Inf or NaN */
  double growth_factor;    /* at least 1 */
  double backoff_factor;   /* over 0, at most 1 */
  int32_t growth_interval; /* at least 1 */
} cuproof_ops_loss_scale_params;

CUPROOF_OPS_API cuproof_ops_status
cuproof_ops_loss_scale_update(const cuproof_ops_loss_scale_params* params, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
