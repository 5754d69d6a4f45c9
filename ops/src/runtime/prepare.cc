#include "runtime/prepare.h"

#include <cuda_runtime_api.h>

#include "cuproof/ops/status.h"
#include "runtime/device.h"
#include "runtime/status.h"

namespace cuproof::ops {
namespace {

cuproof_ops_status PrepareCurrent() {
  Device device;
  CUPROOF_OPS_TRY(CurrentDevice(&device));
  CUPROOF_OPS_TRY(PrepareFinishNorm());
  CUPROOF_OPS_TRY(PrepareGradNorm());
  CUPROOF_OPS_TRY(PrepareGradScale());
  CUPROOF_OPS_TRY(PrepareGradAccumulate());
  CUPROOF_OPS_TRY(PrepareLossScale());
  CUPROOF_OPS_TRY(PrepareNonfiniteGuard());
  return Succeed();
}

}  // namespace
}  // namespace cuproof::ops

cuproof_ops_status cuproof_ops_prepare(int device) {
  namespace ops = cuproof::ops;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    return ops::Fail(CUPROOF_OPS_UNSUPPORTED_DEVICE, "no usable CUDA device: %s (%d): %s",
                     cudaGetErrorName(error), static_cast<int>(error), cudaGetErrorString(error));
  }
  if (device < 0 || device >= count) {
    return ops::Fail(CUPROOF_OPS_INVALID_ARGUMENT, "device: expected 0 to %d, got %d", count - 1,
                     device);
  }
  int before = 0;
  CUPROOF_OPS_CUDA_TRY(cudaGetDevice(&before));
  CUPROOF_OPS_CUDA_TRY(cudaSetDevice(device));
  const cuproof_ops_status status = ops::PrepareCurrent();
  const cudaError_t restored = cudaSetDevice(before);
  if (status != CUPROOF_OPS_OK) return status;
  return ops::CheckCuda(restored, "cudaSetDevice");
}

const char* cuproof_ops_version(void) { return CUPROOF_OPS_VERSION " " CUPROOF_OPS_ARCHITECTURES; }
