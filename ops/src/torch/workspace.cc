#include "torch/workspace.h"

#include <vector>

#include "cuproof/ops/grad_accumulate.h"
#include "cuproof/ops/grad_norm.h"
#include "cuproof/ops/nonfinite_guard.h"
#include "torch/tensors.h"

namespace cuproof::ops::torch_binding {
namespace {

void AnswerQuery(WorkspaceQuery query, StableIValue* stack, uint64_t arguments) {
  Arguments in(stack, arguments);
  const List list = in.TakeList();
  size_t size = 0;
  Check(torch_list_size(list.get(), &size), "list_size");
  std::vector<int64_t> elements(size);
  for (size_t i = 0; i < size; ++i) {
    StableIValue value = 0;
    Check(torch_list_get_item(list.get(), i, &value), "list_get_item");
    elements[i] = ::torch::stable::detail::to<int64_t>(value);
  }
  const cuproof_ops_tensor_list core{nullptr, elements.data(), nullptr, static_cast<int64_t>(size)};
  size_t bytes = 0;
  CheckStatus(query(&core, &bytes));
  stack[0] = Give(static_cast<int64_t>(bytes));
}

}  // namespace

void CheckStatus(cuproof_ops_status status) {
  if (status != CUPROOF_OPS_OK) Fail("%s", cuproof_ops_last_error());
}

Workspace::Workspace(WorkspaceQuery query, const cuproof_ops_tensor_list& list, const Tensor& given,
                     int32_t device) {
  CheckStatus(query(&list, &bytes_));
  const auto bytes = static_cast<int64_t>(bytes_);
  if (given == nullptr) own_ = NewTensor({bytes}, aoti_torch_dtype_uint8(), device);
  data_ = Address(given == nullptr ? own_ : given,
                  {"workspace", aoti_torch_dtype_uint8(), bytes, true}, &device);
}

void GradNormWorkspace(StableIValue* stack, uint64_t arguments, uint64_t) {
  AnswerQuery(cuproof_ops_grad_norm_workspace, stack, arguments);
}

void GradAccumulateWorkspace(StableIValue* stack, uint64_t arguments, uint64_t) {
  AnswerQuery(cuproof_ops_grad_accumulate_workspace, stack, arguments);
}

void NonfiniteGuardWorkspace(StableIValue* stack, uint64_t arguments, uint64_t) {
  AnswerQuery(cuproof_ops_nonfinite_guard_workspace, stack, arguments);
}

}  // namespace cuproof::ops::torch_binding
