// Registration of cuproof::*. Arguments that are written are not keyword-only, so that
// torch.compile does not take them for out= arguments of a function that returns them.
#include "torch/grad.h"
#include "torch/guard.h"
#include "torch/stable.h"
#include "torch/workspace.h"

namespace cuproof::ops::torch_binding {
namespace {

// Shared by grad_norm_out and grad_accumulate_; NormArguments takes them in this order.
#define CUPROOF_NORM_ARGUMENTS                                                              \
  "Tensor? loss_scale=None, float max_norm=0.0, Tensor(b!)? total_norm=None, "              \
  "Tensor(c!)? tensor_norms=None, Tensor(d!)? found_inf=None, Tensor(e!)? first_bad=None, " \
  "Tensor(f!)? factor=None, Tensor(g!)? grad_scale=None, Tensor(h!)? workspace=None, "      \
  "int max_ctas=0"

constexpr const char* kSchemas[] = {
    "grad_norm(Tensor[] tensors, Tensor? loss_scale) -> (Tensor, Tensor, Tensor, Tensor)",
    "grad_clip_factor(Tensor[] grads, Tensor? loss_scale, float max_norm) -> "
    "(Tensor, Tensor, Tensor, Tensor)",
    "grad_clip_norm_(Tensor(a!)[] grads, float max_norm) -> Tensor",
    "grad_norm_out(Tensor[] tensors, " CUPROOF_NORM_ARGUMENTS ") -> ()",
    "grad_scale_(Tensor(a!)[] grads, Tensor factor, bool reciprocal=False, "
    "Tensor(b!)? found_inf=None, int max_ctas=0) -> ()",
    "grad_accumulate_(Tensor(a!)[] accumulators, Tensor[] grads, bool "
    "overwrite, " CUPROOF_NORM_ARGUMENTS ") -> ()",
    "loss_scale_update_(Tensor(a!) scale, Tensor(b!) growth_tracker, Tensor found_inf, "
    "float growth_factor, float backoff_factor, int growth_interval) -> ()",
    "nonfinite_guard(Tensor[] tensors, Tensor(a!)? ring=None, Tensor(b!)? found_inf=None, "
    "Tensor(c!)? first_bad=None, int site=0, bool advance_step=False, "
    "Tensor(d!)? workspace=None, int max_ctas=0) -> ()",
    "guard_ring_init_(Tensor(a!) ring, int capacity) -> ()",
    "guard_ring_acknowledge_(Tensor(a!) ring, int read) -> ()",
    "guard_ring_bytes(int capacity) -> int",
    "grad_norm_workspace(int[] elements) -> int",
    "grad_accumulate_workspace(int[] elements) -> int",
    "nonfinite_guard_workspace(int[] elements) -> int",
    "prepare(int device) -> ()",
    "version() -> str",
};
#undef CUPROOF_NORM_ARGUMENTS

void ImplementOnTensors(::torch::stable::detail::StableLibrary& library) {
  library.impl("grad_norm", GradNorm);
  library.impl("grad_clip_factor", GradClipFactor);
  library.impl("grad_clip_norm_", GradClipNorm);
  library.impl("grad_norm_out", GradNormOut);
  library.impl("grad_scale_", GradScale);
  library.impl("grad_accumulate_", GradAccumulate);
  library.impl("loss_scale_update_", LossScaleUpdate);
  library.impl("nonfinite_guard", NonfiniteGuard);
  library.impl("guard_ring_init_", GuardRingInit);
  library.impl("guard_ring_acknowledge_", GuardRingAcknowledge);
}

}  // namespace
}  // namespace cuproof::ops::torch_binding

namespace binding = cuproof::ops::torch_binding;

STABLE_TORCH_LIBRARY(cuproof, library) {
  for (const char* schema : binding::kSchemas) library.def(schema);
}

STABLE_TORCH_LIBRARY_IMPL(cuproof, CUDA, library) { binding::ImplementOnTensors(library); }

// These only refuse, with the sentence that names the argument, where torch would print a page.
STABLE_TORCH_LIBRARY_IMPL(cuproof, CPU, library) { binding::ImplementOnTensors(library); }
STABLE_TORCH_LIBRARY_IMPL(cuproof, SparseCUDA, library) { binding::ImplementOnTensors(library); }
STABLE_TORCH_LIBRARY_IMPL(cuproof, SparseCPU, library) { binding::ImplementOnTensors(library); }
STABLE_TORCH_LIBRARY_IMPL(cuproof, SparseCsrCUDA, library) { binding::ImplementOnTensors(library); }
STABLE_TORCH_LIBRARY_IMPL(cuproof, SparseCsrCPU, library) { binding::ImplementOnTensors(library); }
STABLE_TORCH_LIBRARY_IMPL(cuproof, MkldnnCPU, library) { binding::ImplementOnTensors(library); }
STABLE_TORCH_LIBRARY_IMPL(cuproof, QuantizedCUDA, library) { binding::ImplementOnTensors(library); }
STABLE_TORCH_LIBRARY_IMPL(cuproof, QuantizedCPU, library) { binding::ImplementOnTensors(library); }

STABLE_TORCH_LIBRARY_IMPL(cuproof, CompositeExplicitAutograd, library) {
  library.impl("guard_ring_bytes", binding::GuardRingBytes);
  library.impl("grad_norm_workspace", binding::GradNormWorkspace);
  library.impl("grad_accumulate_workspace", binding::GradAccumulateWorkspace);
  library.impl("nonfinite_guard_workspace", binding::NonfiniteGuardWorkspace);
  library.impl("prepare", binding::Prepare);
  library.impl("version", binding::Version);
}
