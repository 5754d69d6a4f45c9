#include "cuproof/ops/grad_norm.h"
#include "grad/grad_norm.h"
#include "grad/grad_norm_kernel.cuh"
#include "grad/launch.h"
#include "grad/tensor_list.h"

namespace cuproof::ops {
namespace {

template <int kCapacity>
cuproof_ops_status NormOfPages(const cuproof_ops_tensor_list& list, FinishParams finish,
                               int32_t max_ctas, const Device& device, cudaStream_t stream) {
  // On the stack for the small ones; the large one is 32 KB, which a thread's stack has room for.
  Page<kCapacity> page;
  int64_t next = 0;
  do {
    finish.first_page = next == 0;
    if constexpr (seeded::kStaleTable) {
      static Page<kCapacity> earlier{};
      if (earlier.count != list.count || list.count == 0 ||
          earlier.elements(0) != list.elements[0]) {
        FillPage(list, next, &earlier);
      }
      page = earlier;
      next += page.count;
    } else {
      next = FillPage(list, next, &page);
    }
    finish.last_page = next == list.count;
    if (page.chunks() > 0) {
      auto* const kernel =
          finish.wants_norm ? &GradNormKernel<kCapacity, true> : &GradNormKernel<kCapacity, false>;
      kernel<<<GridSize(page.chunks(), kNormPolicy, device, max_ctas), kNormPolicy.threads, 0,
               stream>>>(page, finish.page);
      CUPROOF_OPS_CUDA_TRY(cudaPeekAtLastError());
    }
    CUPROOF_OPS_TRY(
        LaunchFinishNorm(FinishOfPage(finish, page), LargestTensorChunks(page), device, stream));
  } while (next < list.count);
  return Succeed();
}

}  // namespace

cuproof_ops_status NormOfList(const cuproof_ops_tensor_list& list, FinishParams finish,
                              int32_t max_ctas, void* workspace, size_t workspace_bytes,
                              cudaStream_t stream) {
  const NormWorkspace layout = WorkspaceFor(list, kPageLarge);
  CUPROOF_OPS_TRY(CheckWorkspace(workspace, workspace_bytes, layout.bytes()));
  Device device;
  CUPROOF_OPS_TRY(CurrentDevice(&device));
  finish.so_far = static_cast<NormSoFar*>(workspace);
  finish.page = layout.In(workspace);
  finish.wants_norm = WantsNorm(finish.out);
  if (list.count <= kPageSmall) {
    return NormOfPages<kPageSmall>(list, finish, max_ctas, device, stream);
  }
  if (list.count <= kPageMiddle) {
    return NormOfPages<kPageMiddle>(list, finish, max_ctas, device, stream);
  }
  return NormOfPages<kPageLarge>(list, finish, max_ctas, device, stream);
}

template <int kCapacity>
cuproof_ops_status PreparePages() {
  CUPROOF_OPS_TRY(LoadKernel(GradNormKernel<kCapacity, true>));
  return LoadKernel(GradNormKernel<kCapacity, false>);
}

cuproof_ops_status PrepareGradNorm() {
  CUPROOF_OPS_TRY(PreparePages<kPageSmall>());
  CUPROOF_OPS_TRY(PreparePages<kPageMiddle>());
  return PreparePages<kPageLarge>();
}

}  // namespace cuproof::ops

namespace ops = cuproof::ops;

cuproof_ops_status cuproof_ops_grad_norm_workspace(const cuproof_ops_tensor_list* grads,
                                                   size_t* bytes) {
  CUPROOF_OPS_TRY(ops::CheckSizes(grads, "grads"));
  if (bytes == nullptr) {
    return ops::Fail(CUPROOF_OPS_INVALID_ARGUMENT, "bytes: expected a host pointer, got null");
  }
  *bytes = ops::WorkspaceFor(*grads, ops::kPageLarge).bytes();
  return ops::Succeed();
}

cuproof_ops_status cuproof_ops_grad_norm(const cuproof_ops_grad_norm_params* params,
                                         void* workspace, size_t workspace_bytes,
                                         cudaStream_t stream) {
  if (params == nullptr) {
    return ops::Fail(CUPROOF_OPS_INVALID_ARGUMENT, "params: expected a struct, got null");
  }
  CUPROOF_OPS_TRY(ops::CheckTensorList(&params->grads, "grads"));
  CUPROOF_OPS_TRY(ops::CheckMaxCtas(params->max_ctas));
  CUPROOF_OPS_TRY(ops::CheckNormOutputs(params->out));
  ops::FinishParams finish{};
  finish.out = params->out;
  return ops::NormOfList(params->grads, finish, params->max_ctas, workspace, workspace_bytes,
                         stream);
}
