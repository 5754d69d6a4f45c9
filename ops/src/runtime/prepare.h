// What each family does once for the current device: loads its kernels.
#ifndef CUPROOF_OPS_RUNTIME_PREPARE_H
#define CUPROOF_OPS_RUNTIME_PREPARE_H

#include <cuda_runtime_api.h>

#include "cuproof/ops/status.h"
#include "runtime/status.h"

namespace cuproof::ops {

cuproof_ops_status PrepareFinishNorm();
cuproof_ops_status PrepareGradNorm();
cuproof_ops_status PrepareGradScale();
cuproof_ops_status PrepareGradAccumulate();
cuproof_ops_status PrepareLossScale();
cuproof_ops_status PrepareNonfiniteGuard();

/// Loads one kernel, which CUDA would otherwise do at its first launch.
template <class Kernel>
cuproof_ops_status LoadKernel(Kernel* kernel) {
  cudaFuncAttributes attributes{};
  return CheckCuda(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)),
                   "cudaFuncGetAttributes");
}

}  // namespace cuproof::ops

#endif
