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
                                    const Device& device, cudaStream_t stream) {
  if constexpr (seeded::kWrongStream) stream = cudaStreamLegacy;
  const bool few =
      params.chunks <= kFewChunks && params.count <= kFewTensors && largest <= kWarpChunks;
  // It may be set up while the reading kernel ends, and waits for that by itself. The first GPUs
  // that can are of 9.0.
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(few ? kFewThreads : kManyThreads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = device.capability >= 90 ? 1 : 0;
  return CheckCuda(cudaLaunchKernelEx(&config, few ? kFewKernel : kManyKernel, params),
                   "cudaLaunchKernelEx(FinishNormKernel)");
}

cuproof_ops_status PrepareFinishNorm() {
  CUPROOF_OPS_TRY(LoadKernel(kFewKernel));
  return LoadKernel(kManyKernel);
}

}  // namespace cuproof::ops
