#include "grad/finish_norm_kernel.cuh"
#include "runtime/prepare.h"

namespace cuproof::ops {
namespace {

// A page of few chunks is summed by a small CTA, which starts sooner; one of many by a large one,
// which reads more at a time. The bits are the same.
constexpr int kFewThreads = 256;
constexpr uint32_t kFewChunks = 4096;
constexpr int kFewTensors = 64;
constexpr int kManyThreads = 1024;
static_assert(kFewThreads >= kTotalLanes);

constexpr auto* kFewKernel = FinishNormKernel<kFewThreads, kFewTensors, kFewChunks>;
constexpr auto* kManyKernel = FinishNormKernel<kManyThreads, kPageLarge, 0>;

}  // namespace

cuproof_ops_status LaunchFinishNorm(const FinishParams& params, uint32_t largest,
                                    cudaStream_t stream) {
  if constexpr (seeded::kWrongStream) stream = cudaStreamLegacy;
  if (params.chunks <= kFewChunks && params.count <= kFewTensors && largest <= kWarpChunks) {
    kFewKernel<<<1, kFewThreads, 0, stream>>>(params);
  } else {
    kManyKernel<<<1, kManyThreads, 0, stream>>>(params);
  }
  return CheckCuda(cudaPeekAtLastError(), "launch of FinishNormKernel");
}

cuproof_ops_status PrepareFinishNorm() {
  CUPROOF_OPS_TRY(LoadKernel(kFewKernel));
  return LoadKernel(kManyKernel);
}

}  // namespace cuproof::ops
