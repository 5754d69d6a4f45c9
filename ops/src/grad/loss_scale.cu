#include "cuproof/ops/loss_scale.h"
#include "grad/launch.h"
#include "grad/tensor_list.h"

namespace cuproof::ops {
namespace {

__global__ void UpdateLossScaleKernel(cuproof_ops_loss_scale_params params) {
  if (*params.found_inf != 0) {
    *params.scale = static_cast<float>(*params.scale * params.backoff_factor);
    *params.growth_tracker = 0;
    return;
  }
  const int32_t steps = *params.growth_tracker + 1;
  if (steps != params.growth_interval) {
    *params.growth_tracker = steps;
    return;
  }
  const auto grown = static_cast<float>(*params.scale * params.growth_factor);
  if (isfinite(grown)) *params.scale = grown;
  *params.growth_tracker = 0;
}

cuproof_ops_status CheckFactor(double value, const char* name, double low, double high,
                               const char* range) {
  // Written so that NaN fails.
  if (value >= low && value <= high) return CUPROOF_OPS_OK;
  return Fail(CUPROOF_OPS_INVALID_ARGUMENT, "%s: expected %s, got %g", name, range, value);
}

}  // namespace

cuproof_ops_status PrepareLossScale() { return LoadKernel(UpdateLossScaleKernel); }

}  // namespace cuproof::ops

namespace ops = cuproof::ops;

cuproof_ops_status cuproof_ops_loss_scale_update(const cuproof_ops_loss_scale_params* params,
                                                 cudaStream_t stream) {
  if (params == nullptr) {
    return ops::Fail(CUPROOF_OPS_INVALID_ARGUMENT, "params: expected a struct, got null");
  }
  CUPROOF_OPS_TRY(ops::CheckDevicePointer(params->scale, "scale", 4, false));
  CUPROOF_OPS_TRY(ops::CheckDevicePointer(params->growth_tracker, "growth_tracker", 4, false));
  CUPROOF_OPS_TRY(ops::CheckDevicePointer(params->found_inf, "found_inf", 4, false));
  CUPROOF_OPS_TRY(
      ops::CheckFactor(params->growth_factor, "growth_factor", 1, 3e38, "a number of at least 1"));
  CUPROOF_OPS_TRY(ops::CheckFactor(params->backoff_factor, "backoff_factor", 1e-38, 1,
                                   "a number over 0, at most 1"));
  if (params->growth_interval < 1) {
    return ops::Fail(CUPROOF_OPS_INVALID_ARGUMENT, "growth_interval: expected at least 1, got %d",
                     params->growth_interval);
  }
  ops::UpdateLossScaleKernel<<<1, 1, 0, stream>>>(*params);
  CUPROOF_OPS_CUDA_TRY(cudaPeekAtLastError());
  return ops::Succeed();
}
