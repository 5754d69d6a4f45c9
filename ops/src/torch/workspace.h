// Workspace of a call: the caller's tensor, or one of torch's allocator for the time of the call.
#ifndef CUPROOF_OPS_TORCH_WORKSPACE_H
#define CUPROOF_OPS_TORCH_WORKSPACE_H

#include <cstddef>

#include "cuproof/ops/status.h"
#include "cuproof/ops/tensor_list.h"
#include "torch/stable.h"

namespace cuproof::ops::torch_binding {

/// Throws the core's own sentence.
void CheckStatus(cuproof_ops_status status);

using WorkspaceQuery = cuproof_ops_status (*)(const cuproof_ops_tensor_list*, size_t*);

class Workspace {
 public:
  /// `given` may be null. Memory of torch's allocator is free again once the call returns: torch
  /// hands it out on the same stream only, hence after the kernels that use it.
  Workspace(WorkspaceQuery query, const cuproof_ops_tensor_list& list, const Tensor& given,
            int32_t device);

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  Tensor own_;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

/// Boxed queries: sizes of the tensors in, bytes out.
void GradNormWorkspace(StableIValue* stack, uint64_t arguments, uint64_t results);
void GradAccumulateWorkspace(StableIValue* stack, uint64_t arguments, uint64_t results);
void NonfiniteGuardWorkspace(StableIValue* stack, uint64_t arguments, uint64_t results);

}  // namespace cuproof::ops::torch_binding

#endif
