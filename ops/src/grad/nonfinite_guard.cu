#include "cuproof/ops/nonfinite_guard.h"
#include "grad/grad_norm.h"
#include "grad/launch.h"
#include "grad/tensor_list.h"

namespace cuproof::ops {
namespace {

constexpr uint32_t kMaxRingCapacity = 1u << 20;

__global__ void InitGuardRingKernel(cuproof_ops_guard_ring* ring, uint32_t capacity) {
  *ring = {};
  ring->capacity = capacity;
}

__global__ void AcknowledgeGuardRingKernel(cuproof_ops_guard_ring* ring, uint64_t read) {
  ring->read = read;
}

}  // namespace

cuproof_ops_status PrepareNonfiniteGuard() {
  CUPROOF_OPS_TRY(LoadKernel(InitGuardRingKernel));
  return LoadKernel(AcknowledgeGuardRingKernel);
}

}  // namespace cuproof::ops

namespace ops = cuproof::ops;

size_t cuproof_ops_guard_ring_bytes(uint32_t capacity) {
  if (capacity == 0 || capacity > ops::kMaxRingCapacity) return 0;
  return sizeof(cuproof_ops_guard_ring) + capacity * sizeof(cuproof_ops_guard_record);
}

cuproof_ops_status cuproof_ops_guard_ring_init(void* ring, size_t bytes, uint32_t capacity,
                                               cudaStream_t stream) {
  const size_t needed = cuproof_ops_guard_ring_bytes(capacity);
  if (needed == 0) {
    return ops::Fail(CUPROOF_OPS_INVALID_ARGUMENT, "capacity: expected 1 to %u records, got %u",
                     ops::kMaxRingCapacity, capacity);
  }
  if (bytes < needed) {
    return ops::Fail(CUPROOF_OPS_INVALID_ARGUMENT,
                     "bytes: expected at least %zu for %u records, got %zu", needed, capacity,
                     bytes);
  }
  CUPROOF_OPS_TRY(ops::CheckDevicePointer(ring, "ring", 16, false));
  ops::InitGuardRingKernel<<<1, 1, 0, stream>>>(static_cast<cuproof_ops_guard_ring*>(ring),
                                                capacity);
  CUPROOF_OPS_CUDA_TRY(cudaPeekAtLastError());
  return ops::Succeed();
}

cuproof_ops_status cuproof_ops_guard_ring_acknowledge(void* ring, uint64_t read,
                                                      cudaStream_t stream) {
  CUPROOF_OPS_TRY(ops::CheckDevicePointer(ring, "ring", 16, false));
  ops::AcknowledgeGuardRingKernel<<<1, 1, 0, stream>>>(static_cast<cuproof_ops_guard_ring*>(ring),
                                                       read);
  CUPROOF_OPS_CUDA_TRY(cudaPeekAtLastError());
  return ops::Succeed();
}

cuproof_ops_status cuproof_ops_nonfinite_guard_workspace(const cuproof_ops_tensor_list* tensors,
                                                         size_t* bytes) {
  CUPROOF_OPS_TRY(ops::CheckSizes(tensors, "tensors"));
  return cuproof_ops_grad_norm_workspace(tensors, bytes);
}

cuproof_ops_status cuproof_ops_nonfinite_guard(const cuproof_ops_nonfinite_guard_params* params,
                                               void* workspace, size_t workspace_bytes,
                                               cudaStream_t stream) {
  if (params == nullptr) {
    return ops::Fail(CUPROOF_OPS_INVALID_ARGUMENT, "params: expected a struct, got null");
  }
  CUPROOF_OPS_TRY(ops::CheckTensorList(&params->tensors, "tensors"));
  CUPROOF_OPS_TRY(ops::CheckMaxCtas(params->max_ctas));
  CUPROOF_OPS_TRY(ops::CheckDevicePointer(params->ring, "ring", 16, true));
  CUPROOF_OPS_TRY(ops::CheckDevicePointer(params->found_inf, "found_inf", 4, true));
  CUPROOF_OPS_TRY(ops::CheckDevicePointer(params->first_bad, "first_bad", 8, true));
  ops::FinishParams finish{};
  finish.out.found_inf = params->found_inf;
  finish.out.first_bad = params->first_bad;
  finish.ring = params->ring;
  finish.site = params->site;
  finish.advance_step = params->advance_step;
  return ops::NormOfList(params->tensors, finish, params->max_ctas, workspace, workspace_bytes,
                         stream);
}
