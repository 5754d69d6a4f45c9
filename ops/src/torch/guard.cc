#include "torch/guard.h"

#include <cstring>
#include <utility>
#include <vector>

#include "cuproof/ops/nonfinite_guard.h"
#include "torch/grad.h"
#include "torch/tensors.h"
#include "torch/workspace.h"

namespace cuproof::ops::torch_binding {
namespace {

uint32_t Capacity(int64_t capacity) {
  if (capacity < 1 || capacity > (int64_t{1} << 20)) {
    Fail("capacity: expected 1 to 1048576 records, got %lld; pass a number in that range",
         static_cast<long long>(capacity));
  }
  return static_cast<uint32_t>(capacity);
}

/// A ring of at least one record.
void* RingAddress(const Tensor& ring, int32_t* device, uint32_t capacity) {
  return Address(ring,
                 {"ring", aoti_torch_dtype_uint8(),
                  static_cast<int64_t>(cuproof_ops_guard_ring_bytes(capacity)), true},
                 device);
}

}  // namespace

void NonfiniteGuard(StableIValue* stack, uint64_t arguments, uint64_t) {
  Arguments in(stack, arguments);
  std::vector<Tensor> tensors = in.TakeTensors();
  const Tensor ring = in.TakeOptionalTensor();
  const Tensor found_inf = in.TakeOptionalTensor();
  const Tensor first_bad = in.TakeOptionalTensor();
  const int64_t site = in.TakeInt();
  const bool advance_step = in.TakeBool();
  const Tensor given = in.TakeOptionalTensor();
  const int64_t max_ctas = in.TakeInt();
  const TensorList list(std::move(tensors), "tensors", false);
  if (site < 0 || site > UINT16_MAX) {
    Fail("site: expected 0 to 65535, got %lld; number the places of the program from 0",
         static_cast<long long>(site));
  }
  if (max_ctas < 0 || max_ctas > INT32_MAX) {
    Fail("max_ctas: expected 0 to 2147483647, got %lld; 0 lets the library choose",
         static_cast<long long>(max_ctas));
  }
  int32_t device = list.device();
  cuproof_ops_nonfinite_guard_params params{};
  params.tensors = list.core();
  params.ring = RingAddress(ring, &device, 1);
  params.found_inf = static_cast<float*>(
      Address(found_inf, {"found_inf", aoti_torch_dtype_float32(), 1}, &device));
  params.first_bad = static_cast<cuproof_ops_bad_element*>(
      Address(first_bad, {"first_bad", aoti_torch_dtype_int64(), kBadWords}, &device));
  params.site = static_cast<uint16_t>(site);
  params.advance_step = advance_step ? 1 : 0;
  params.max_ctas = static_cast<int32_t>(max_ctas);
  if (device < 0) Fail("tensors: expected at least one CUDA tensor, got none; pass one");
  const DeviceGuard guard = Enter(device);
  const Workspace workspace(cuproof_ops_nonfinite_guard_workspace, params.tensors, given, device);
  CheckStatus(cuproof_ops_nonfinite_guard(&params, workspace.data(), workspace.bytes(),
                                          CurrentStream(device)));
}

void GuardRingBytes(StableIValue* stack, uint64_t arguments, uint64_t) {
  Arguments in(stack, arguments);
  stack[0] = Give(static_cast<int64_t>(cuproof_ops_guard_ring_bytes(Capacity(in.TakeInt()))));
}

void GuardRingInit(StableIValue* stack, uint64_t arguments, uint64_t) {
  Arguments in(stack, arguments);
  const Tensor ring = in.TakeTensor();
  const uint32_t capacity = Capacity(in.TakeInt());
  int32_t device = -1;
  void* address = RingAddress(ring, &device, capacity);
  const DeviceGuard guard = Enter(device);
  CheckStatus(cuproof_ops_guard_ring_init(address, cuproof_ops_guard_ring_bytes(capacity), capacity,
                                          CurrentStream(device)));
}

void GuardRingAcknowledge(StableIValue* stack, uint64_t arguments, uint64_t) {
  Arguments in(stack, arguments);
  const Tensor ring = in.TakeTensor();
  const int64_t read = in.TakeInt();
  int32_t device = -1;
  void* address = RingAddress(ring, &device, 1);
  const DeviceGuard guard = Enter(device);
  CheckStatus(cuproof_ops_guard_ring_acknowledge(address, static_cast<uint64_t>(read),
                                                 CurrentStream(device)));
}

void Prepare(StableIValue* stack, uint64_t arguments, uint64_t) {
  Arguments in(stack, arguments);
  const int64_t device = in.TakeInt();
  if (device < 0 || device > INT32_MAX) {
    Fail("device: expected an ordinal of a CUDA device, got %lld; pass 0 for the first",
         static_cast<long long>(device));
  }
  CheckStatus(cuproof_ops_prepare(static_cast<int>(device)));
}

void Version(StableIValue* stack, uint64_t, uint64_t) {
  const char* version = cuproof_ops_version();
  StringHandle handle = nullptr;
  Check(torch_new_string_handle(version, std::strlen(version), &handle), "new_string_handle");
  stack[0] = ::torch::stable::detail::from(handle);
}

}  // namespace cuproof::ops::torch_binding
