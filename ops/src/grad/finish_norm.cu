#include "grad/finish_norm_kernel.cuh"
#include "grad/grad_accumulate.h"
#include "grad/launch.h"

namespace cuproof::ops {

template <class AnyPage>
cuproof_ops_status LaunchFinishNorm(const AnyPage& page, ChunkPartials partials,
                                    const FinishParams& params, const Device& device,
                                    cudaStream_t stream) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(kFinishThreads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = device.dependent_launch() ? 1 : 0;
  return CheckCuda(
      cudaLaunchKernelEx(&config, FinishNormKernel<AnyPage>, page, partials, params),
      "cudaLaunchKernelEx(FinishNormKernel)");
}

#define CUPROOF_OPS_INSTANTIATE(capacity)                                               \
  template cuproof_ops_status LaunchFinishNorm(const Page<capacity>&, ChunkPartials,    \
                                               const FinishParams&, const Device&, cudaStream_t)
CUPROOF_OPS_INSTANTIATE(kPageSmall);
CUPROOF_OPS_INSTANTIATE(kPageMiddle);
CUPROOF_OPS_INSTANTIATE(kPagePairs);
CUPROOF_OPS_INSTANTIATE(kPageLarge);
#undef CUPROOF_OPS_INSTANTIATE

cuproof_ops_status PrepareFinishNorm() {
  CUPROOF_OPS_TRY(LoadKernel(FinishNormKernel<Page<kPageSmall>>));
  CUPROOF_OPS_TRY(LoadKernel(FinishNormKernel<Page<kPageMiddle>>));
  CUPROOF_OPS_TRY(LoadKernel(FinishNormKernel<Page<kPagePairs>>));
  return LoadKernel(FinishNormKernel<Page<kPageLarge>>);
}

}  // namespace cuproof::ops
