// Boxed kernels of the gradient operators, for the registration.
#ifndef CUPROOF_OPS_TORCH_GRAD_H
#define CUPROOF_OPS_TORCH_GRAD_H

#include "torch/stable.h"

namespace cuproof::ops::torch_binding {

/// first_bad is an int64 tensor of this many elements: tensor, index, and bits | dtype << 32.
inline constexpr int64_t kBadWords = 3;
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

void GradNorm(StableIValue* stack, uint64_t arguments, uint64_t results);
void GradClipFactor(StableIValue* stack, uint64_t arguments, uint64_t results);
void GradClipNorm(StableIValue* stack, uint64_t arguments, uint64_t results);
void GradNormOut(StableIValue* stack, uint64_t arguments, uint64_t results);
void GradScale(StableIValue* stack, uint64_t arguments, uint64_t results);
void GradAccumulate(StableIValue* stack, uint64_t arguments, uint64_t results);
void LossScaleUpdate(StableIValue* stack, uint64_t arguments, uint64_t results);

}  // namespace cuproof::ops::torch_binding

#endif
