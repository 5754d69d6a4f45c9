// Tensors of a call, checked, as the core takes them.
#ifndef CUPROOF_OPS_TORCH_TENSORS_H
#define CUPROOF_OPS_TORCH_TENSORS_H

#include <cstdint>
#include <vector>

#include "cuproof/ops/tensor_list.h"
#include "torch/stable.h"

namespace cuproof::ops::torch_binding {

/// A list argument. Every tensor is float32, float16 or bfloat16, strided, dense (its elements fill
/// one piece of memory without a gap or an overlap, in any order of dimensions), on one CUDA
/// device.
class TensorList {
 public:
  TensorList(std::vector<Tensor> tensors, const char* name, bool written);

  cuproof_ops_tensor_list core() const {
    return {data_.data(), elements_.data(), dtype_.data(), count()};
  }
  int64_t count() const { return static_cast<int64_t>(tensors_.size()); }
  AtenTensorHandle tensor(int64_t t) const { return tensors_[static_cast<size_t>(t)].get(); }
  int64_t elements(int64_t t) const { return elements_[static_cast<size_t>(t)]; }
  void* data(int64_t t) const { return data_[static_cast<size_t>(t)]; }
  cuproof_ops_dtype dtype(int64_t t) const {
    return static_cast<cuproof_ops_dtype>(dtype_[static_cast<size_t>(t)]);
  }
  /// -1 for an empty list.
  int32_t device() const { return device_; }
  const char* name() const { return name_; }

 private:
  void Add(size_t t, bool written);

  const char* name_;
  int32_t device_ = -1;
  std::vector<Tensor> tensors_;
  std::vector<void*> data_;
  std::vector<int64_t> elements_;
  std::vector<uint8_t> dtype_;
};

/// Whether two tensors of one shape lay their elements out in the same order.
bool SameLayout(AtenTensorHandle a, AtenTensorHandle b);

/// What a single tensor argument must be.
struct Expected {
  const char* name;
  int32_t dtype;
  int64_t elements;  // at least this many bytes when `at_least`
  bool at_least = false;
};

/// Address of a contiguous tensor that is as expected; null for a null tensor. `device` -1 takes
/// the tensor's own and keeps it for the next.
void* Address(const Tensor& tensor, const Expected& expected, int32_t* device);

}  // namespace cuproof::ops::torch_binding

#endif
