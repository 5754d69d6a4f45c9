// The thread's last sentence, and the early exits that fill it.
#ifndef CUPROOF_OPS_RUNTIME_STATUS_H
#define CUPROOF_OPS_RUNTIME_STATUS_H

#include <cuda_runtime_api.h>

#include "cuproof/ops/status.h"

namespace cuproof::ops {

/// Notes the sentence for this thread and returns `status`. printf's format.
[[gnu::format(printf, 2, 3)]] cuproof_ops_status Fail(cuproof_ops_status status, const char* format,
                                                      ...);

/// Notes that the call succeeded: the sentence is empty again.
cuproof_ops_status Succeed();

/// Succeeds, or notes what `call` failed with. Takes CUDA's non-sticky error away, so that the
/// caller's next check does not find ours.
cuproof_ops_status CheckCuda(cudaError_t error, const char* call);

}  // namespace cuproof::ops

/// Leaves the function with the status of an expression that failed.
#define CUPROOF_OPS_TRY(expression)                            \
  do {                                                         \
    const cuproof_ops_status status_of_try = (expression);     \
    if (status_of_try != CUPROOF_OPS_OK) return status_of_try; \
  } while (false)

#define CUPROOF_OPS_CUDA_TRY(call) CUPROOF_OPS_TRY(::cuproof::ops::CheckCuda((call), #call))

#endif
