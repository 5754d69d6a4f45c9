#include "torch/stable.h"

#include <cstdarg>
#include <cstdio>
#include <stdexcept>

// torch without CUDA lacks it. Weak, so that the library still loads there and says what is
// missing.
#pragma weak aoti_torch_get_current_cuda_stream

namespace cuproof::ops::torch_binding {

void Fail(const char* format, ...) {
  char sentence[512];
  va_list arguments;
  va_start(arguments, format);
  // clang-tidy 14 does not see that va_start initialises it.
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
  std::vsnprintf(sentence, sizeof(sentence), format, arguments);
  va_end(arguments);
  throw std::runtime_error(sentence);
}

DeviceGuard Enter(int32_t device) {
  DeviceGuardHandle guard = nullptr;
  Check(aoti_torch_create_device_guard(device, &guard), "create_device_guard");
  return DeviceGuard(guard);
}

cudaStream_t CurrentStream(int32_t device) {
  if (aoti_torch_get_current_cuda_stream == nullptr) {
    Fail("cuproof: this torch was built without CUDA; install a CUDA build of torch");
  }
  void* stream = nullptr;
  Check(aoti_torch_get_current_cuda_stream(device, &stream), "get_current_cuda_stream");
  return static_cast<cudaStream_t>(stream);
}

Tensor NewTensor(const std::vector<int64_t>& sizes, int32_t dtype, int32_t device) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= sizes[d];
  }
  AtenTensorHandle tensor = nullptr;
  Check(aoti_torch_empty_strided(static_cast<int64_t>(sizes.size()), sizes.data(), strides.data(),
                                 dtype, aoti_torch_device_type_cuda(), device, &tensor),
        "empty_strided");
  return Tensor(tensor);
}

Facts FactsOf(AtenTensorHandle tensor) {
  Facts facts{};
  Check(aoti_torch_get_device_type(tensor, &facts.device_type), "get_device_type");
  Check(aoti_torch_get_device_index(tensor, &facts.device), "get_device_index");
  Check(aoti_torch_get_layout(tensor, &facts.layout), "get_layout");
  Check(aoti_torch_get_dtype(tensor, &facts.dtype), "get_dtype");
  Check(aoti_torch_get_numel(tensor, &facts.elements), "get_numel");
  return facts;
}

const char* DtypeName(int32_t dtype) {
  if (dtype == aoti_torch_dtype_float32()) return "float32";
  if (dtype == aoti_torch_dtype_float16()) return "float16";
  if (dtype == aoti_torch_dtype_bfloat16()) return "bfloat16";
  if (dtype == aoti_torch_dtype_float64()) return "float64";
  if (dtype == aoti_torch_dtype_complex64()) return "complex64";
  if (dtype == aoti_torch_dtype_complex128()) return "complex128";
  if (dtype == aoti_torch_dtype_uint8()) return "uint8";
  if (dtype == aoti_torch_dtype_int8()) return "int8";
  if (dtype == aoti_torch_dtype_int16()) return "int16";
  if (dtype == aoti_torch_dtype_int32()) return "int32";
  if (dtype == aoti_torch_dtype_int64()) return "int64";
  if (dtype == aoti_torch_dtype_bool()) return "bool";
  return "another dtype";
}

std::string Describe(const Facts& facts) {
  std::string text = DtypeName(facts.dtype);
  if (facts.layout != aoti_torch_layout_strided()) text += " (not strided)";
  if (facts.cuda()) return text + " on cuda:" + std::to_string(facts.device);
  if (facts.device_type == aoti_torch_device_type_cpu()) return text + " on cpu";
  return text + " on another device";
}

std::vector<Tensor> Arguments::TakeTensors() {
  const List list = TakeList();
  size_t size = 0;
  Check(torch_list_size(list.get(), &size), "list_size");
  std::vector<Tensor> tensors(size);
  for (size_t i = 0; i < size; ++i) {
    StableIValue value = 0;
    Check(torch_list_get_item(list.get(), i, &value), "list_get_item");
    tensors[i].reset(::torch::stable::detail::to<AtenTensorHandle>(value));
  }
  return tensors;
}

Tensor Arguments::TakeOptionalTensor() {
  // torch's protocol: null, or a value on the heap that the callee deletes.
  const std::unique_ptr<StableIValue> value(Take<StableIValue*>());
  if (value == nullptr) return nullptr;
  return Tensor(::torch::stable::detail::to<AtenTensorHandle>(*value));
}

}  // namespace cuproof::ops::torch_binding
