// Checks that every multi-tensor operator makes before it launches anything.
#ifndef CUPROOF_OPS_GRAD_TENSOR_LIST_H
#define CUPROOF_OPS_GRAD_TENSOR_LIST_H

#include <cstddef>
#include <cstdint>

#include "cuproof/ops/grad_norm.h"
#include "cuproof/ops/status.h"
#include "cuproof/ops/tensor_list.h"

namespace cuproof::ops {

size_t ElementSize(cuproof_ops_dtype dtype);

/// Arrays present, types known, sizes in range, pointers there and aligned to an element. `name` is
/// the argument in messages.
cuproof_ops_status CheckTensorList(const cuproof_ops_tensor_list* list, const char* name);

/// Only what a workspace query reads: count and elements.
cuproof_ops_status CheckSizes(const cuproof_ops_tensor_list* list, const char* name);

/// Null (where allowed) or device memory of the current device, aligned. Asks the driver, so it is
/// for the few outputs, not for lists.
cuproof_ops_status CheckDevicePointer(const void* pointer, const char* name, size_t alignment,
                                      bool optional);

cuproof_ops_status CheckMaxCtas(int32_t max_ctas);

/// Outputs and the finite limits of their numbers.
cuproof_ops_status CheckNormOutputs(const cuproof_ops_norm_outputs& out);

}  // namespace cuproof::ops

#endif
