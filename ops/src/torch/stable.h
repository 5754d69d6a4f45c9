// The few things of LibTorch's stable ABI that the binding uses, as types that own.
//
// The C shims are called as they are instead of through torch::stable::Tensor, whose shared pointer
// costs an allocation for each tensor of a list.
#ifndef CUPROOF_OPS_TORCH_STABLE_H
#define CUPROOF_OPS_TORCH_STABLE_H

#include <cuda_runtime_api.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/c/shim.h>
#include <torch/csrc/stable/library.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace cuproof::ops::torch_binding {

/// Throws one line, which torch turns into a RuntimeError. printf's format.
[[noreturn, gnu::format(printf, 1, 2)]] void Fail(const char* format, ...);

/// Throws when a shim failed, which no argument of the user's should make it do.
inline void Check(AOTITorchError error, const char* call) {
  if (error != AOTI_TORCH_SUCCESS) Fail("cuproof: torch's %s failed", call);
}

struct DeleteTensor {
  void operator()(AtenTensorOpaque* tensor) const { aoti_torch_delete_tensor_object(tensor); }
};
using Tensor = std::unique_ptr<AtenTensorOpaque, DeleteTensor>;

struct DeleteList {
  void operator()(StableListOpaque* list) const { torch_delete_list(list); }
};
using List = std::unique_ptr<StableListOpaque, DeleteList>;

struct DeleteDeviceGuard {
  void operator()(DeviceGuardOpaque* guard) const { aoti_torch_delete_device_guard(guard); }
};
using DeviceGuard = std::unique_ptr<DeviceGuardOpaque, DeleteDeviceGuard>;

DeviceGuard Enter(int32_t device);

/// torch's current stream of that device.
cudaStream_t CurrentStream(int32_t device);

/// Uninitialised, contiguous, of torch's allocator. `dtype` is a code of aoti_torch_dtype_*.
Tensor NewTensor(const std::vector<int64_t>& sizes, int32_t dtype, int32_t device);

/// Where a tensor lives and what it holds.
struct Facts {
  int32_t device_type;
  int32_t device;
  int32_t layout;
  int32_t dtype;
  int64_t elements;
  bool cuda() const { return device_type == aoti_torch_device_type_cuda(); }
};
Facts FactsOf(AtenTensorHandle tensor);

/// "float64 on cpu", "float32 on cuda:1": for messages.
std::string Describe(const Facts& facts);
const char* DtypeName(int32_t dtype);

/// Takes the arguments of a boxed call off the stack, first to last. What is still there when a
/// kernel throws is never freed, so a kernel takes all of them before its first check.
class Arguments {
 public:
  Arguments(const StableIValue* stack, uint64_t count) : next_(stack), end_(stack + count) {}

  List TakeList() { return List(Take<StableListHandle>()); }
  /// A list of tensors, each taken: deleting the list does not delete what is in it.
  std::vector<torch_binding::Tensor> TakeTensors();
  torch_binding::Tensor TakeTensor() { return torch_binding::Tensor(Take<AtenTensorHandle>()); }
  /// Null for None.
  torch_binding::Tensor TakeOptionalTensor();
  double TakeDouble() { return Take<double>(); }
  int64_t TakeInt() { return Take<int64_t>(); }
  bool TakeBool() { return Take<bool>(); }

 private:
  template <class T>
  T Take() {
    static_assert(std::is_trivially_copyable_v<T>);
    if (next_ == end_) Fail("cuproof: the schema has fewer arguments than the kernel takes");
    return ::torch::stable::detail::to<T>(*next_++);
  }

  const StableIValue* next_;
  const StableIValue* end_;
};

/// Gives a result to torch.
inline StableIValue Give(Tensor tensor) { return ::torch::stable::detail::from(tensor.release()); }
inline StableIValue Give(int64_t value) { return ::torch::stable::detail::from(value); }

}  // namespace cuproof::ops::torch_binding

#endif
