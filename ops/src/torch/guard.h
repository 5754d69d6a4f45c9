// Boxed kernels of the guard and of the library as a whole, for the registration.
#ifndef CUPROOF_OPS_TORCH_GUARD_H
#define CUPROOF_OPS_TORCH_GUARD_H

#include "torch/stable.h"

namespace cuproof::ops::torch_binding {

void NonfiniteGuard(StableIValue* stack, uint64_t arguments, uint64_t results);
void GuardRingBytes(StableIValue* stack, uint64_t arguments, uint64_t results);
void GuardRingInit(StableIValue* stack, uint64_t arguments, uint64_t results);
void GuardRingAcknowledge(StableIValue* stack, uint64_t arguments, uint64_t results);
void Prepare(StableIValue* stack, uint64_t arguments, uint64_t results);
void Version(StableIValue* stack, uint64_t arguments, uint64_t results);

}  // namespace cuproof::ops::torch_binding

#endif
