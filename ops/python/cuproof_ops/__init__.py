"""Gradient norms, clipping, loss scaling and Inf/NaN guards that never wait for the GPU.

(But for ``error_if_nonfinite``, ``NonfiniteGuard.read``, ``BadElement.of``, and ``GradScaler.step``
with an optimizer that is not fused.)

Importing registers the operators ``torch.ops.cuproof.*`` and does nothing else. Needs torch 2.10 or
newer, built for CUDA; a GPU only once an operator runs on one.

========================  ======================================================================
``grad_norm``             L2 norm, norms of the tensors, Inf/NaN flag and place, in one read
``clip_grad_norm_``       in place of ``torch.nn.utils.clip_grad_norm_``
``GradScaler``            in place of ``torch.amp.GradScaler``; bfloat16 too; ``unscale_and_clip_``
``GradAccumulator``       float32 sums of gradients over micro-batches, with the norm of the sums
``NonfiniteGuard``        a ring on the GPU: which step, tensor and element went bad first
``prepare``               loads all kernels, so that a CUDA graph may be captured at once
``functional``            the operators one by one: ``help('cuproof_ops.functional')``
========================  ======================================================================
"""

from . import _library

_library.load()

from . import _autograd, _fake, functional  # noqa: E402
from .functional import GradNorm, prepare, version  # noqa: E402
from .grad_accumulator import ClippedNorm, GradAccumulator  # noqa: E402
from .grad_clip import clip_grad_norm_  # noqa: E402
from .grad_scaler import GradScaler  # noqa: E402
from .nonfinite_guard import BadElement, GuardRecord, NonfiniteGuard  # noqa: E402

grad_norm = functional.grad_norm
__version__ = version().split()[0]

_fake.register()
_autograd.register()

__all__ = [
    "BadElement",
    "ClippedNorm",
    "GradAccumulator",
    "GradNorm",
    "GradScaler",
    "GuardRecord",
    "NonfiniteGuard",
    "clip_grad_norm_",
    "functional",
    "grad_norm",
    "prepare",
    "version",
]
