// In place: x = round(fp32(x) * factor).
#include "cuproof/ops/grad_scale.h"
#include "grad/chunk_loop.cuh"
#include "grad/launch.h"
#include "grad/tensor_list.h"
#include "grad/vector.cuh"

namespace cuproof::ops {
namespace {

/// Multiplies a vector; whether any element was Inf or NaN before.
template <class T>
__device__ inline bool ScaleVector(uint4* vector, float factor) {
  float value[kWidth<T>];
  Unpack<T>(*vector, value);
  bool bad = false;
#pragma unroll
  for (int i = 0; i < kWidth<T>; ++i) {
    bad |= IsBad(value[i]);
    value[i] *= factor;
  }
  *vector = Pack<T>(value);
  return bad;
}

template <class T>
__device__ inline bool ScaleChunk(void* tensor, Span span, float factor) {
  constexpr int kLoads = kScalePolicy.loads;
  T* data = static_cast<T*>(tensor) + span.begin;
  const int32_t size = static_cast<int32_t>(span.size);
  const int32_t vectors = size / kWidth<T>;
  const int32_t thread = static_cast<int32_t>(threadIdx.x);
  bool bad = false;
  if (IsVectorAligned(data)) {
    uint4* vector = const_cast<uint4*>(AsVectors(data));
    for (int32_t i = thread; i < vectors; i += kLoads * kLanes) {
      uint4 loaded[kLoads];
#pragma unroll
      for (int l = 0; l < kLoads; ++l) {
        const int32_t at = i + l * kLanes;
        loaded[l] = at < vectors ? __ldcs(vector + at) : uint4{0, 0, 0, 0};
      }
#pragma unroll
      for (int l = 0; l < kLoads; ++l) {
        const int32_t at = i + l * kLanes;
        bad |= ScaleVector<T>(&loaded[l], factor);
        if (at < vectors && factor != 1) __stcs(vector + at, loaded[l]);
      }
    }
  } else {
    for (int32_t i = thread; i < vectors; i += kLanes) {
      T* at = data + static_cast<int64_t>(i) * kWidth<T>;
      uint4 loaded = LoadElements(at, kWidth<T>);
      bad |= ScaleVector<T>(&loaded, factor);
      if (factor != 1) StoreElements(at, loaded, kWidth<T>);
    }
  }
  const int32_t rest = size - vectors * kWidth<T>;
  if (rest != 0 && thread == vectors % kLanes) {
    T* at = data + static_cast<int64_t>(vectors) * kWidth<T>;
    uint4 loaded = LoadElements(at, rest);
    bad |= ScaleVector<T>(&loaded, factor);
    if (factor != 1) StoreElements(at, loaded, rest);
  }
  return bad;
}

template <int kCapacity>
__global__ void __launch_bounds__(kScalePolicy.threads, kScalePolicy.min_ctas)
    GradScaleKernel(const __grid_constant__ Page<kCapacity> page, const float* factor_pointer,
                    int32_t reciprocal, float* found_inf) {
  float factor = *factor_pointer;
  if (reciprocal != 0) factor = static_cast<float>(1 / static_cast<double>(factor));
  if (factor == 1 && found_inf == nullptr) return;
  const uint32_t chunks = page.chunks();
  bool bad = false;
  for (uint32_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const int32_t t = page.tensor_of_chunk(chunk);
    const Span span = ChunkSpan(page.elements(t), chunk - page.first_chunk(t));
    void* tensor = page.entry[t].address();
    WithType(page.entry[t].dtype(), [&]<class T>() { bad |= ScaleChunk<T>(tensor, span, factor); });
  }
  if (found_inf != nullptr && bad) *found_inf = 1;
}

template <int kCapacity>
cuproof_ops_status ScalePages(const cuproof_ops_grad_scale_params& params, const Device& device,
                              cudaStream_t stream) {
  Page<kCapacity> page;
  for (int64_t next = 0; next < params.grads.count;) {
    next = FillPage(params.grads, next, &page);
    if (page.chunks() == 0) continue;
    GradScaleKernel<kCapacity>
        <<<GridSize(page.chunks(), kScalePolicy, device, params.max_ctas), kScalePolicy.threads, 0,
           stream>>>(page, params.factor, params.reciprocal, params.found_inf);
    CUPROOF_OPS_CUDA_TRY(cudaPeekAtLastError());
  }
  return Succeed();
}

}  // namespace

cuproof_ops_status PrepareGradScale() {
  CUPROOF_OPS_TRY(LoadKernel(GradScaleKernel<kPageSmall>));
  CUPROOF_OPS_TRY(LoadKernel(GradScaleKernel<kPageMiddle>));
  return LoadKernel(GradScaleKernel<kPageLarge>);
}

}  // namespace cuproof::ops

namespace ops = cuproof::ops;

cuproof_ops_status cuproof_ops_grad_scale(const cuproof_ops_grad_scale_params* params,
                                          cudaStream_t stream) {
  if (params == nullptr) {
    return ops::Fail(CUPROOF_OPS_INVALID_ARGUMENT, "params: expected a struct, got null");
  }
  CUPROOF_OPS_TRY(ops::CheckTensorList(&params->grads, "grads"));
  CUPROOF_OPS_TRY(ops::CheckMaxCtas(params->max_ctas));
  CUPROOF_OPS_TRY(ops::CheckDevicePointer(params->factor, "factor", 4, false));
  CUPROOF_OPS_TRY(ops::CheckDevicePointer(params->found_inf, "found_inf", 4, true));
  ops::Device device;
  CUPROOF_OPS_TRY(ops::CurrentDevice(&device));
  if (params->grads.count <= ops::kPageSmall) {
    return ops::ScalePages<ops::kPageSmall>(*params, device, stream);
  }
  if (params->grads.count <= ops::kPageMiddle) {
    return ops::ScalePages<ops::kPageMiddle>(*params, device, stream);
  }
  return ops::ScalePages<ops::kPageLarge>(*params, device, stream);
}
