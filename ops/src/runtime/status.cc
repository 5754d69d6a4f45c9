#include "runtime/status.h"

#include <cstdarg>
#include <cstdio>

namespace cuproof::ops {
namespace {

// In place, so that a failure inside of a program without memory can still be told.
thread_local char sentence[512] = "";

}  // namespace

cuproof_ops_status Fail(cuproof_ops_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(sentence, sizeof(sentence), format, arguments);
  va_end(arguments);
  return status;
}

cuproof_ops_status Succeed() {
  sentence[0] = '\0';
  return CUPROOF_OPS_OK;
}

cuproof_ops_status CheckCuda(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return CUPROOF_OPS_OK;
  (void)cudaGetLastError();
  const bool unsupported = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
                           error == cudaErrorNoKernelImageForDevice;
  return Fail(unsupported ? CUPROOF_OPS_UNSUPPORTED_DEVICE : CUPROOF_OPS_CUDA_ERROR,
              "%.200s: %s (%d): %s", call, cudaGetErrorName(error), static_cast<int>(error),
              cudaGetErrorString(error));
}

}  // namespace cuproof::ops

const char* cuproof_ops_last_error(void) { return cuproof::ops::sentence; }

const char* cuproof_ops_status_name(cuproof_ops_status status) {
  switch (status) {
    case CUPROOF_OPS_OK:
      return "CUPROOF_OPS_OK";
    case CUPROOF_OPS_INVALID_ARGUMENT:
      return "CUPROOF_OPS_INVALID_ARGUMENT";
    case CUPROOF_OPS_WORKSPACE_TOO_SMALL:
      return "CUPROOF_OPS_WORKSPACE_TOO_SMALL";
    case CUPROOF_OPS_UNSUPPORTED_DEVICE:
      return "CUPROOF_OPS_UNSUPPORTED_DEVICE";
    case CUPROOF_OPS_CUDA_ERROR:
      return "CUPROOF_OPS_CUDA_ERROR";
  }
  return "unknown status";
}
