// Boxed kernels of the gradient operators. What each argument means stands in the schemas
// (library.cc) and in include/cuproof/ops; here it is checked and passed on.
#include "torch/grad.h"

#include <utility>
#include <vector>

#include "cuproof/ops/grad_accumulate.h"
#include "cuproof/ops/grad_norm.h"
#include "cuproof/ops/grad_scale.h"
#include "cuproof/ops/loss_scale.h"
#include "torch/stable.h"
#include "torch/tensors.h"
#include "torch/workspace.h"

namespace cuproof::ops::torch_binding {
namespace {

int32_t F32() { return aoti_torch_dtype_float32(); }
int32_t I64() { return aoti_torch_dtype_int64(); }

int32_t MaxCtas(int64_t value) {
  if (value < 0 || value > INT32_MAX) {
    Fail("max_ctas: expected 0 to 2147483647, got %lld; 0 lets the library choose",
         static_cast<long long>(value));
  }
  return static_cast<int32_t>(value);
}

/// The arguments that grad_norm_out and grad_accumulate_ have in common, in their order.
struct NormArguments {
  explicit NormArguments(Arguments* in)
      : loss_scale(in->TakeOptionalTensor()),
        max_norm(in->TakeDouble()),
        total_norm(in->TakeOptionalTensor()),
        tensor_norms(in->TakeOptionalTensor()),
        found_inf(in->TakeOptionalTensor()),
        first_bad(in->TakeOptionalTensor()),
        factor(in->TakeOptionalTensor()),
        grad_scale(in->TakeOptionalTensor()) {}

  cuproof_ops_norm_outputs Outputs(int64_t count, int32_t* device) const {
    cuproof_ops_norm_outputs out{};
    const auto scalar = [&](const Tensor& tensor, const char* name) {
      return static_cast<float*>(Address(tensor, {name, F32(), 1}, device));
    };
    out.loss_scale = scalar(loss_scale, "loss_scale");
    out.max_norm = static_cast<float>(max_norm);
    out.total_norm = scalar(total_norm, "total_norm");
    out.tensor_norms =
        static_cast<float*>(Address(tensor_norms, {"tensor_norms", F32(), count}, device));
    out.found_inf = scalar(found_inf, "found_inf");
    out.first_bad = static_cast<cuproof_ops_bad_element*>(
        Address(first_bad, {"first_bad", I64(), kBadWords}, device));
    out.factor = scalar(factor, "factor");
    out.grad_scale = scalar(grad_scale, "grad_scale");
    return out;
  }

  Tensor loss_scale;
  double max_norm;
  Tensor total_norm, tensor_norms, found_inf, first_bad, factor, grad_scale;
};

/// A device for a call whose list may be empty.
int32_t NeedDevice(int32_t device, const char* name) {
  if (device < 0) Fail("%s: expected at least one CUDA tensor, got none; pass one", name);
  return device;
}

float* ScalarOf(const Tensor& tensor, int32_t* device) {
  return static_cast<float*>(Address(tensor, {"result", F32(), 1}, device));
}

void RunNorm(const cuproof_ops_tensor_list& list, const cuproof_ops_norm_outputs& out,
             int32_t max_ctas, const Tensor& given, int32_t device) {
  const DeviceGuard guard = Enter(device);
  const Workspace workspace(cuproof_ops_grad_norm_workspace, list, given, device);
  const cuproof_ops_grad_norm_params params{list, out, max_ctas};
  CheckStatus(
      cuproof_ops_grad_norm(&params, workspace.data(), workspace.bytes(), CurrentStream(device)));
}

void RunScale(const cuproof_ops_tensor_list& list, const float* factor, bool reciprocal,
              float* found_inf, int32_t max_ctas, int32_t device) {
  const DeviceGuard guard = Enter(device);
  const cuproof_ops_grad_scale_params params{list, factor, reciprocal, found_inf, max_ctas};
  CheckStatus(cuproof_ops_grad_scale(&params, CurrentStream(device)));
}

}  // namespace

void GradNorm(StableIValue* stack, uint64_t arguments, uint64_t) {
  Arguments in(stack, arguments);
  std::vector<Tensor> tensors = in.TakeTensors();
  const Tensor loss_scale = in.TakeOptionalTensor();
  const TensorList list(std::move(tensors), "tensors", false);
  int32_t device = NeedDevice(list.device(), "tensors");
  cuproof_ops_norm_outputs out{};
  out.loss_scale = static_cast<float*>(Address(loss_scale, {"loss_scale", F32(), 1}, &device));
  Tensor total = NewTensor({}, F32(), device);
  Tensor norms = NewTensor({list.count()}, F32(), device);
  Tensor found_inf = NewTensor({}, F32(), device);
  Tensor bad = NewTensor({kBadWords}, I64(), device);
  out.total_norm = ScalarOf(total, &device);
  out.tensor_norms =
      static_cast<float*>(Address(norms, {"tensor_norms", F32(), list.count()}, &device));
  out.found_inf = ScalarOf(found_inf, &device);
  out.first_bad =
      static_cast<cuproof_ops_bad_element*>(Address(bad, {"first_bad", I64(), kBadWords}, &device));
  RunNorm(list.core(), out, 0, nullptr, device);
  stack[0] = Give(std::move(total));
  stack[1] = Give(std::move(norms));
  stack[2] = Give(std::move(found_inf));
  stack[3] = Give(std::move(bad));
}

void GradClipFactor(StableIValue* stack, uint64_t arguments, uint64_t) {
  Arguments in(stack, arguments);
  std::vector<Tensor> grads = in.TakeTensors();
  const Tensor loss_scale = in.TakeOptionalTensor();
  const TensorList list(std::move(grads), "grads", false);
  int32_t device = NeedDevice(list.device(), "grads");
  cuproof_ops_norm_outputs out{};
  out.loss_scale = static_cast<float*>(Address(loss_scale, {"loss_scale", F32(), 1}, &device));
  out.max_norm = static_cast<float>(in.TakeDouble());
  Tensor total = NewTensor({}, F32(), device);
  Tensor found_inf = NewTensor({}, F32(), device);
  Tensor factor = NewTensor({}, F32(), device);
  Tensor grad_scale = NewTensor({}, F32(), device);
  out.total_norm = ScalarOf(total, &device);
  out.found_inf = ScalarOf(found_inf, &device);
  out.factor = ScalarOf(factor, &device);
  out.grad_scale = ScalarOf(grad_scale, &device);
  RunNorm(list.core(), out, 0, nullptr, device);
  stack[0] = Give(std::move(total));
  stack[1] = Give(std::move(found_inf));
  stack[2] = Give(std::move(factor));
  stack[3] = Give(std::move(grad_scale));
}

void GradClipNorm(StableIValue* stack, uint64_t arguments, uint64_t) {
  Arguments in(stack, arguments);
  const TensorList list(in.TakeTensors(), "grads", true);
  int32_t device = NeedDevice(list.device(), "grads");
  cuproof_ops_norm_outputs out{};
  out.max_norm = static_cast<float>(in.TakeDouble());
  Tensor total = NewTensor({}, F32(), device);
  const Tensor factor = NewTensor({}, F32(), device);
  out.total_norm = ScalarOf(total, &device);
  out.factor = ScalarOf(factor, &device);
  RunNorm(list.core(), out, 0, nullptr, device);
  RunScale(list.core(), out.factor, false, nullptr, 0, device);
  stack[0] = Give(std::move(total));
}

void GradNormOut(StableIValue* stack, uint64_t arguments, uint64_t) {
  Arguments in(stack, arguments);
  std::vector<Tensor> tensors = in.TakeTensors();
  const NormArguments norm(&in);
  const Tensor workspace = in.TakeOptionalTensor();
  const TensorList list(std::move(tensors), "tensors", false);
  const int32_t max_ctas = MaxCtas(in.TakeInt());
  int32_t device = list.device();
  const cuproof_ops_norm_outputs out = norm.Outputs(list.count(), &device);
  RunNorm(list.core(), out, max_ctas, workspace, NeedDevice(device, "tensors"));
}

void GradScale(StableIValue* stack, uint64_t arguments, uint64_t) {
  Arguments in(stack, arguments);
  std::vector<Tensor> grads = in.TakeTensors();
  const Tensor factor = in.TakeTensor();
  const bool reciprocal = in.TakeBool();
  const Tensor found_inf = in.TakeOptionalTensor();
  const TensorList list(std::move(grads), "grads", true);
  const int32_t max_ctas = MaxCtas(in.TakeInt());
  int32_t device = list.device();
  const auto* by = static_cast<const float*>(Address(factor, {"factor", F32(), 1}, &device));
  auto* found = static_cast<float*>(Address(found_inf, {"found_inf", F32(), 1}, &device));
  RunScale(list.core(), by, reciprocal, found, max_ctas, device);
}

void GradAccumulate(StableIValue* stack, uint64_t arguments, uint64_t) {
  Arguments in(stack, arguments);
  std::vector<Tensor> accumulator_list = in.TakeTensors();
  std::vector<Tensor> grad_list = in.TakeTensors();
  const bool overwrite = in.TakeBool();
  const NormArguments norm(&in);
  const Tensor given = in.TakeOptionalTensor();
  const TensorList sums(std::move(accumulator_list), "accumulators", true);
  const TensorList grads(std::move(grad_list), "grads", false);
  const int32_t max_ctas = MaxCtas(in.TakeInt());
  if (sums.count() != grads.count()) {
    Fail("accumulators: expected %lld tensors as grads, got %lld; pass one for each gradient",
         static_cast<long long>(grads.count()), static_cast<long long>(sums.count()));
  }
  int32_t device = grads.device();
  if (sums.device() != device) {
    Fail("accumulators: expected device cuda:%d as grads, got cuda:%d; move them there", device,
         sums.device());
  }
  std::vector<float*> accumulators(static_cast<size_t>(sums.count()));
  for (int64_t t = 0; t < sums.count(); ++t) {
    if (sums.dtype(t) != CUPROOF_OPS_F32) {
      Fail(
          "accumulators[%lld]: expected float32, got another dtype; make it with "
          "torch.empty_like(grad, dtype=torch.float32)",
          static_cast<long long>(t));
    }
    if (sums.elements(t) != grads.elements(t) || !SameLayout(sums.tensor(t), grads.tensor(t))) {
      Fail(
          "accumulators[%lld]: expected the shape and strides of grads[%lld] (%lld elements), got "
          "others (%lld elements); make it with torch.empty_like(grad, dtype=torch.float32)",
          static_cast<long long>(t), static_cast<long long>(t),
          static_cast<long long>(grads.elements(t)), static_cast<long long>(sums.elements(t)));
    }
    accumulators[static_cast<size_t>(t)] = static_cast<float*>(sums.data(t));
  }
  cuproof_ops_grad_accumulate_params params{};
  params.grads = grads.core();
  params.accumulators = accumulators.data();
  params.overwrite = overwrite;
  params.out = norm.Outputs(grads.count(), &device);
  params.max_ctas = max_ctas;
  const DeviceGuard guard = Enter(NeedDevice(device, "grads"));
  const Workspace workspace(cuproof_ops_grad_accumulate_workspace, params.grads, given, device);
  CheckStatus(cuproof_ops_grad_accumulate(&params, workspace.data(), workspace.bytes(),
                                          CurrentStream(device)));
}

void LossScaleUpdate(StableIValue* stack, uint64_t arguments, uint64_t) {
  Arguments in(stack, arguments);
  const Tensor scale = in.TakeTensor();
  const Tensor tracker = in.TakeTensor();
  const Tensor found_inf = in.TakeTensor();
  int32_t device = -1;
  cuproof_ops_loss_scale_params params{};
  params.scale = static_cast<float*>(Address(scale, {"scale", F32(), 1}, &device));
  params.growth_tracker = static_cast<int32_t*>(
      Address(tracker, {"growth_tracker", aoti_torch_dtype_int32(), 1}, &device));
  params.found_inf = static_cast<float*>(Address(found_inf, {"found_inf", F32(), 1}, &device));
  params.growth_factor = in.TakeDouble();
  params.backoff_factor = in.TakeDouble();
  const int64_t interval = in.TakeInt();
  if (interval < 1 || interval > INT32_MAX) {
    Fail("growth_interval: expected 1 to 2147483647, got %lld; pass a number of steps",
         static_cast<long long>(interval));
  }
  params.growth_interval = static_cast<int32_t>(interval);
  const DeviceGuard guard = Enter(device);
  CheckStatus(cuproof_ops_loss_scale_update(&params, CurrentStream(device)));
}

}  // namespace cuproof::ops::torch_binding
