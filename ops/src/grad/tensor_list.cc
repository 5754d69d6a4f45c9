#include "grad/tensor_list.h"

#include <cuda_runtime_api.h>

#include <cmath>

#include "grad/chunk.h"
#include "runtime/status.h"

namespace cuproof::ops {
namespace {

constexpr auto kBadArgument = CUPROOF_OPS_INVALID_ARGUMENT;

const char* MemoryName(cudaMemoryType type) {
  switch (type) {
    case cudaMemoryTypeUnregistered:
      return "host memory unknown to CUDA";
    case cudaMemoryTypeHost:
      return "pinned host memory";
    case cudaMemoryTypeDevice:
      return "device memory";
    case cudaMemoryTypeManaged:
      return "managed memory";
  }
  return "memory of an unknown kind";
}

cuproof_ops_status CheckTensor(const cuproof_ops_tensor_list& list, int64_t t, const char* name) {
  if (list.dtype[t] > CUPROOF_OPS_BF16) {
    return Fail(kBadArgument, "%s.dtype[%lld]: expected 0 (fp32), 1 (fp16) or 2 (bf16), got %u",
                name, static_cast<long long>(t), list.dtype[t]);
  }
  const void* data = list.data[t];
  if (list.elements[t] == 0) return CUPROOF_OPS_OK;
  if (data == nullptr) {
    return Fail(kBadArgument, "%s.data[%lld]: expected a device pointer to %lld elements, got null",
                name, static_cast<long long>(t), static_cast<long long>(list.elements[t]));
  }
  const size_t size = ElementSize(static_cast<cuproof_ops_dtype>(list.dtype[t]));
  if (reinterpret_cast<uintptr_t>(data) % size != 0) {
    return Fail(kBadArgument, "%s.data[%lld]: expected an address aligned to %zu bytes, got %p",
                name, static_cast<long long>(t), size, data);
  }
  return CUPROOF_OPS_OK;
}

}  // namespace

size_t ElementSize(cuproof_ops_dtype dtype) { return dtype == CUPROOF_OPS_F32 ? 4 : 2; }

cuproof_ops_status CheckSizes(const cuproof_ops_tensor_list* list, const char* name) {
  if (list == nullptr) return Fail(kBadArgument, "%s: expected a tensor list, got null", name);
  if (list->count < 0 || list->count > INT32_MAX) {
    return Fail(kBadArgument, "%s.count: expected 0 to 2147483647, got %lld", name,
                static_cast<long long>(list->count));
  }
  if (list->count == 0) return CUPROOF_OPS_OK;
  if (list->elements == nullptr) {
    return Fail(kBadArgument, "%s.elements: expected a host array of %lld, got null", name,
                static_cast<long long>(list->count));
  }
  for (int64_t t = 0; t < list->count; ++t) {
    if (list->elements[t] < 0 || list->elements[t] > kMaxElements) {
      return Fail(kBadArgument, "%s.elements[%lld]: expected 0 to 2^46, got %lld", name,
                  static_cast<long long>(t), static_cast<long long>(list->elements[t]));
    }
  }
  return CUPROOF_OPS_OK;
}

cuproof_ops_status CheckTensorList(const cuproof_ops_tensor_list* list, const char* name) {
  CUPROOF_OPS_TRY(CheckSizes(list, name));
  if (list->count == 0) return CUPROOF_OPS_OK;
  if (list->data == nullptr || list->dtype == nullptr) {
    return Fail(kBadArgument, "%s.%s: expected a host array of %lld, got null", name,
                list->data == nullptr ? "data" : "dtype", static_cast<long long>(list->count));
  }
  for (int64_t t = 0; t < list->count; ++t) CUPROOF_OPS_TRY(CheckTensor(*list, t, name));
  return CUPROOF_OPS_OK;
}

cuproof_ops_status CheckDevicePointer(const void* pointer, const char* name, size_t alignment,
                                      bool optional) {
  if (pointer == nullptr) {
    if (optional) return CUPROOF_OPS_OK;
    return Fail(kBadArgument, "%s: expected a device pointer, got null", name);
  }
  if (reinterpret_cast<uintptr_t>(pointer) % alignment != 0) {
    return Fail(kBadArgument, "%s: expected an address aligned to %zu bytes, got %p", name,
                alignment, pointer);
  }
  cudaPointerAttributes attributes{};
  CUPROOF_OPS_CUDA_TRY(cudaPointerGetAttributes(&attributes, pointer));
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged) {
    return Fail(kBadArgument, "%s: expected device memory, got %s at %p", name,
                MemoryName(attributes.type), pointer);
  }
  int device = 0;
  CUPROOF_OPS_CUDA_TRY(cudaGetDevice(&device));
  if (attributes.type == cudaMemoryTypeDevice && attributes.device != device) {
    return Fail(kBadArgument, "%s: expected memory of the current device %d, got device %d", name,
                device, attributes.device);
  }
  return CUPROOF_OPS_OK;
}

cuproof_ops_status CheckMaxCtas(int32_t max_ctas) {
  if (max_ctas >= 0) return CUPROOF_OPS_OK;
  return Fail(kBadArgument, "max_ctas: expected 0 or more, got %d", max_ctas);
}

cuproof_ops_status CheckNormOutputs(const cuproof_ops_norm_outputs& out) {
  CUPROOF_OPS_TRY(CheckDevicePointer(out.total_norm, "out.total_norm", 4, true));
  CUPROOF_OPS_TRY(CheckDevicePointer(out.tensor_norms, "out.tensor_norms", 4, true));
  CUPROOF_OPS_TRY(CheckDevicePointer(out.found_inf, "out.found_inf", 4, true));
  CUPROOF_OPS_TRY(CheckDevicePointer(out.first_bad, "out.first_bad", 8, true));
  CUPROOF_OPS_TRY(CheckDevicePointer(out.loss_scale, "out.loss_scale", 4, true));
  CUPROOF_OPS_TRY(CheckDevicePointer(out.factor, "out.factor", 4, true));
  CUPROOF_OPS_TRY(CheckDevicePointer(out.grad_scale, "out.grad_scale", 4, true));
  if (std::isnan(out.max_norm)) {
    return Fail(kBadArgument, "out.max_norm: expected a number (0 or less: no clipping), got NaN");
  }
  return CUPROOF_OPS_OK;
}

}  // namespace cuproof::ops
