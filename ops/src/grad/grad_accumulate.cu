// accumulator (fp32) += gradient, and the norm of the accumulators.
#include "cuproof/ops/grad_accumulate.h"
#include "grad/chunk_loop.cuh"
#include "grad/chunk_sum.cuh"
#include "grad/grad_accumulate.h"
#include "grad/launch.h"
#include "grad/tensor_list.h"

namespace cuproof::ops {
namespace {

static_assert(sizeof(PagePair<kPagePairs>) + sizeof(PageSums) + sizeof(int32_t) <=
              kMaxParameterBytes);

/// Four elements, the width of the accumulator's vector: its lanes are those of its own norm, so
/// that a norm taken of the accumulators later has the same bits.
constexpr int kQuad = kWidth<float>;

template <class T>
struct Quad {
  uint32_t word[sizeof(T)];  // 16 bytes of fp32, 8 of the others
};

template <class T>
__device__ inline Quad<T> LoadQuad(const T* address, bool aligned, int count) {
  Quad<T> quad;
  if constexpr (sizeof(T) == 4) {
    const Words words{aligned ? __ldcs(reinterpret_cast<const uint4*>(address))
                              : LoadElements(address, count)};
#pragma unroll
    for (int w = 0; w < 4; ++w) quad.word[w] = words.word[w];
  } else if (aligned) {
    const uint2 words = __ldcs(reinterpret_cast<const uint2*>(address));
    quad.word[0] = words.x;
    quad.word[1] = words.y;
  } else {
    const Words words{LoadElements(address, count)};
    quad.word[0] = words.word[0];
    quad.word[1] = words.word[1];
  }
  return quad;
}

template <class T>
__device__ inline void UnpackQuad(const Quad<T>& quad, float (&out)[kQuad]) {
  if constexpr (sizeof(T) == 4) {
    Unpack<float>({quad.word[0], quad.word[1], quad.word[2], quad.word[3]}, out);
  } else {
    float wide[kWidth<T>];
    Unpack<T>({quad.word[0], quad.word[1], 0, 0}, wide);
#pragma unroll
    for (int i = 0; i < kQuad; ++i) out[i] = wide[i];
  }
}

/// Where a chunk's gradients and accumulators are, and how they may be read.
template <class T>
struct Source {
  const T* gradient;
  float* accumulator;
  int32_t size;
  bool aligned;
  bool overwrite;
};

template <class T>
__device__ inline void AddQuads(const Source<T>& source, int32_t first, LaneSquares<float>& lane) {
  constexpr int kLoads = kAccumulatePolicy.loads;
  Quad<T> gradient[kLoads];
  Quad<float> old[kLoads];
#pragma unroll
  for (int l = 0; l < kLoads; ++l) {
    const int32_t at = (first + l * kLanes) * kQuad;
    const int32_t count = source.size - at;
    const bool whole = source.aligned && count >= kQuad;
    if (count > 0) {
      gradient[l] = LoadQuad(source.gradient + at, whole, count);
      if (!source.overwrite) old[l] = LoadQuad(source.accumulator + at, whole, count);
    }
  }
#pragma unroll
  for (int l = 0; l < kLoads; ++l) {
    const int32_t at = (first + l * kLanes) * kQuad;
    const int32_t count = source.size - at;
    if (count <= 0) break;
    float value[kQuad];
    UnpackQuad(gradient[l], value);
    if (!source.overwrite) {
      float before[kQuad];
      UnpackQuad(old[l], before);
#pragma unroll
      for (int i = 0; i < kQuad; ++i) value[i] = before[i] + value[i];
    }
    const uint4 sum = Pack<float>(value);
    if (source.aligned && count >= kQuad) {
      __stcs(reinterpret_cast<uint4*>(source.accumulator + at), sum);
    } else {
      StoreElements(source.accumulator + at, sum, count);
    }
    lane.AddVector(sum);
  }
}

template <class T>
__device__ inline void AccumulateChunk(const void* tensor, float* accumulators, Span span,
                                       uint32_t chunk, int32_t overwrite, PageSums sums,
                                       double (&shared)[kLanes / 32]) {
  const T* gradient = static_cast<const T*>(tensor) + span.begin;
  float* accumulator = accumulators + span.begin;
  const int32_t size = static_cast<int32_t>(span.size);
  const bool aligned = reinterpret_cast<uintptr_t>(gradient) % (kQuad * sizeof(T)) == 0 &&
                       IsVectorAligned(accumulator);
  const Source<T> source{gradient, accumulator, size, aligned, overwrite != 0};
  LaneSquares<float> lane;
  for (int32_t quad = static_cast<int32_t>(threadIdx.x); quad * kQuad < size;
       quad += kLanes * kAccumulatePolicy.loads) {
    AddQuads(source, quad, lane);
  }
  FinishChunk(lane, accumulator, span.begin, size, chunk, sums, shared);
}

__global__ void __launch_bounds__(kAccumulatePolicy.threads, kAccumulatePolicy.min_ctas)
    GradAccumulateKernel(const __grid_constant__ PagePair<kPagePairs> page, int32_t overwrite,
                         PageSums sums) {
  ForEachChunk(page, sums, [&](int32_t t, Span span, uint32_t chunk, auto& shared) {
    const void* tensor = page.entry[t].address();
    float* second = page.second[t];
    WithType(page.entry[t].dtype(), [&]<class T>() {
      AccumulateChunk<T>(tensor, second, span, chunk, overwrite, sums, shared);
    });
  });
}

cuproof_ops_status CheckAccumulators(const cuproof_ops_grad_accumulate_params& params) {
  const int64_t count = params.grads.count;
  if (count != 0 && params.accumulators == nullptr) {
    return Fail(CUPROOF_OPS_INVALID_ARGUMENT,
                "accumulators: expected a host array of %lld, got null",
                static_cast<long long>(count));
  }
  for (int64_t t = 0; t < count; ++t) {
    const float* accumulator = params.accumulators[t];
    if (params.grads.elements[t] == 0) continue;
    if (accumulator == nullptr || reinterpret_cast<uintptr_t>(accumulator) % 4 != 0) {
      return Fail(CUPROOF_OPS_INVALID_ARGUMENT,
                  "accumulators[%lld]: expected a device pointer aligned to 4 bytes, got %p",
                  static_cast<long long>(t), static_cast<const void*>(accumulator));
    }
  }
  return CUPROOF_OPS_OK;
}

}  // namespace

cuproof_ops_status PrepareGradAccumulate() { return LoadKernel(GradAccumulateKernel); }

}  // namespace cuproof::ops

namespace ops = cuproof::ops;

cuproof_ops_status cuproof_ops_grad_accumulate_workspace(const cuproof_ops_tensor_list* grads,
                                                         size_t* bytes) {
  CUPROOF_OPS_TRY(ops::CheckSizes(grads, "grads"));
  if (bytes == nullptr) {
    return ops::Fail(CUPROOF_OPS_INVALID_ARGUMENT, "bytes: expected a host pointer, got null");
  }
  *bytes = ops::WorkspaceFor(*grads, ops::kPagePairs).bytes();
  return ops::Succeed();
}

cuproof_ops_status cuproof_ops_grad_accumulate(const cuproof_ops_grad_accumulate_params* params,
                                               void* workspace, size_t workspace_bytes,
                                               cudaStream_t stream) {
  if (params == nullptr) {
    return ops::Fail(CUPROOF_OPS_INVALID_ARGUMENT, "params: expected a struct, got null");
  }
  const cuproof_ops_tensor_list& list = params->grads;
  CUPROOF_OPS_TRY(ops::CheckTensorList(&list, "grads"));
  CUPROOF_OPS_TRY(ops::CheckMaxCtas(params->max_ctas));
  CUPROOF_OPS_TRY(ops::CheckAccumulators(*params));
  CUPROOF_OPS_TRY(ops::CheckNormOutputs(params->out));
  const ops::NormWorkspace layout = ops::WorkspaceFor(list, ops::kPagePairs);
  CUPROOF_OPS_TRY(ops::CheckWorkspace(workspace, workspace_bytes, layout.bytes()));
  ops::Device device;
  CUPROOF_OPS_TRY(ops::CurrentDevice(&device));
  ops::FinishParams finish{};
  finish.out = params->out;
  finish.so_far = static_cast<ops::NormSoFar*>(workspace);
  finish.page = layout.In(workspace);
  finish.wants_norm = ops::WantsNorm(finish.out);

  ops::PagePair<ops::kPagePairs> page;
  int64_t next = 0;
  do {
    finish.first_page = next == 0;
    const int64_t begin = next;
    next = ops::FillPage(list, begin, &page);
    std::copy(params->accumulators + begin, params->accumulators + next, page.second);
    finish.last_page = next == list.count;
    if (page.chunks() > 0) {
      ops::GradAccumulateKernel<<<ops::GridSize(page.chunks(), ops::kAccumulatePolicy, device,
                                                params->max_ctas),
                                  ops::kAccumulatePolicy.threads, 0, stream>>>(
          page, params->overwrite, finish.page);
      CUPROOF_OPS_CUDA_TRY(cudaPeekAtLastError());
    }
    CUPROOF_OPS_TRY(ops::LaunchFinishNorm(ops::FinishOfPage(finish, page),
                                          ops::LargestTensorChunks(page), device, stream));
  } while (next < list.count);
  return ops::Succeed();
}
