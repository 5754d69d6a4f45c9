#include "torch/tensors.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cuproof::ops::torch_binding {
namespace {

struct Shape {
  int64_t dims;
  const int64_t* sizes;
  const int64_t* strides;
};

Shape ShapeOf(AtenTensorHandle tensor) {
  Shape shape{};
  int64_t* sizes = nullptr;
  int64_t* strides = nullptr;
  Check(aoti_torch_get_dim(tensor, &shape.dims), "get_dim");
  Check(aoti_torch_get_sizes(tensor, &sizes), "get_sizes");
  Check(aoti_torch_get_strides(tensor, &strides), "get_strides");
  shape.sizes = sizes;
  shape.strides = strides;
  return shape;
}

bool IsContiguous(AtenTensorHandle tensor) {
  bool contiguous = false;
  Check(aoti_torch_is_contiguous(tensor, &contiguous), "is_contiguous");
  return contiguous;
}

bool IsDense(AtenTensorHandle tensor) {
  if (IsContiguous(tensor)) return true;
  const Shape shape = ShapeOf(tensor);
  std::vector<int64_t> order(static_cast<size_t>(shape.dims));
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int64_t d) { return shape.sizes[d] == 1; });
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return shape.strides[a] < shape.strides[b]; });
  int64_t expected = 1;
  for (const int64_t d : order) {
    if (shape.strides[d] != expected) return false;
    expected *= shape.sizes[d];
  }
  return true;
}

bool CoreDtype(int32_t dtype, uint8_t* core) {
  if (dtype == aoti_torch_dtype_float32()) {
    *core = CUPROOF_OPS_F32;
  } else if (dtype == aoti_torch_dtype_bfloat16()) {
    *core = CUPROOF_OPS_BF16;
  } else if (dtype == aoti_torch_dtype_float16()) {
    *core = CUPROOF_OPS_F16;
  } else {
    return false;
  }
  return true;
}

void* DataOf(AtenTensorHandle tensor, bool written) {
  if (written) {
    void* data = nullptr;
    Check(torch_get_mutable_data_ptr(tensor, &data), "get_mutable_data_ptr");
    return data;
  }
  const void* data = nullptr;
  Check(torch_get_const_data_ptr(tensor, &data), "get_const_data_ptr");
  return const_cast<void*>(data);
}

}  // namespace

TensorList::TensorList(std::vector<Tensor> tensors, const char* name, bool written)
    : name_(name), tensors_(std::move(tensors)) {
  data_.reserve(tensors_.size());
  elements_.reserve(tensors_.size());
  dtype_.reserve(tensors_.size());
  for (size_t t = 0; t < tensors_.size(); ++t) Add(t, written);
}

void TensorList::Add(size_t t, bool written) {
  AtenTensorHandle tensor = tensors_[t].get();
  const Facts facts = FactsOf(tensor);
  uint8_t dtype = 0;
  if (!facts.cuda() || facts.layout != aoti_torch_layout_strided()) {
    Fail("%s[%zu]: expected a strided tensor on a CUDA device, got %s; move it or use torch's own",
         name_, t, Describe(facts).c_str());
  }
  if (!CoreDtype(facts.dtype, &dtype)) {
    Fail("%s[%zu]: expected float32, float16 or bfloat16, got %s; convert it or use torch's own",
         name_, t, Describe(facts).c_str());
  }
  if (device_ < 0) device_ = facts.device;
  if (facts.device != device_) {
    Fail("%s[%zu]: expected device cuda:%d as %s[0], got cuda:%d; call once for each device", name_,
         t, device_, name_, facts.device);
  }
  if (!IsDense(tensor)) {
    Fail("%s[%zu]: expected dense memory, got strides with gaps or overlaps; pass .contiguous()",
         name_, t);
  }
  // An empty tensor may have no memory, which the shim takes for an error.
  data_.push_back(facts.elements == 0 ? nullptr : DataOf(tensor, written));
  elements_.push_back(facts.elements);
  dtype_.push_back(dtype);
}

bool SameLayout(AtenTensorHandle a, AtenTensorHandle b) {
  if (IsContiguous(a) && IsContiguous(b)) return true;
  const Shape x = ShapeOf(a);
  const Shape y = ShapeOf(b);
  if (x.dims != y.dims) return false;
  for (int64_t d = 0; d < x.dims; ++d) {
    if (x.sizes[d] != y.sizes[d]) return false;
    if (x.sizes[d] != 1 && x.strides[d] != y.strides[d]) return false;
  }
  return true;
}

void* Address(const Tensor& tensor, const Expected& expected, int32_t* device) {
  if (tensor == nullptr) return nullptr;
  const Facts facts = FactsOf(tensor.get());
  if (!facts.cuda() || facts.dtype != expected.dtype) {
    Fail("%s: expected %s on a CUDA device, got %s; make it with torch.empty(..., dtype=torch.%s)",
         expected.name, DtypeName(expected.dtype), Describe(facts).c_str(),
         DtypeName(expected.dtype));
  }
  if (*device < 0) *device = facts.device;
  if (facts.device != *device) {
    Fail("%s: expected device cuda:%d as the other arguments, got cuda:%d; move it there",
         expected.name, *device, facts.device);
  }
  if (expected.at_least ? facts.elements < expected.elements
                        : facts.elements != expected.elements) {
    Fail("%s: expected %s%lld elements, got %lld; make it of that size", expected.name,
         expected.at_least ? "at least " : "", static_cast<long long>(expected.elements),
         static_cast<long long>(facts.elements));
  }
  if (!IsContiguous(tensor.get())) {
    Fail("%s: expected a contiguous tensor, got one with strides; pass .contiguous()",
         expected.name);
  }
  return facts.elements == 0 ? nullptr : DataOf(tensor.get(), true);
}

}  // namespace cuproof::ops::torch_binding
