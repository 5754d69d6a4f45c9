"""Clipping by norm, in place of torch.nn.utils."""

import math
import types
from collections.abc import Iterable

import torch

from . import _support

_ops = torch.ops.cuproof

# Of float32. Less than that is 0 in torch's formula, while 0 means no clipping to the kernels.
SMALLEST = 2.0**-149


def clip_grad_norm_(
    parameters: torch.Tensor | Iterable[torch.Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> torch.Tensor:
    """``torch.nn.utils.clip_grad_norm_`` with one read of the gradients and, where the norm is over
    ``max_norm``, one read and write more. Never waits for the GPU unless ``error_if_nonfinite``.

    Returns the total norm before clipping, float32, ``()``. torch rounds the norm (and with it the
    factor) to the type of the gradients if all are bfloat16 or float16; here neither is.

    Gradients that are not float32, float16 or bfloat16, not dense, on the CPU or on several
    devices, sparse or of a subclass of tensor (``DTensor``: FSDP2), and norms other than 2, are
    left to torch's own function, whole, and the norm is what it returns: float64 for float64, a
    DTensor for DTensors. ``foreach`` only matters there. FSDP1 shards are plain tensors that
    nothing tells from whole ones, so the norm is that of this rank's shard: call FSDP1's own
    ``clip_grad_norm_``.
    """
    if isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    else:
        generator = isinstance(parameters, types.GeneratorType)
        parameters = list(parameters)
        if generator and not parameters:
            # torch warns about an empty generator, and only about that.
            return torch.nn.utils.clip_grad_norm_(
                (p for p in parameters), max_norm, norm_type, error_if_nonfinite, foreach
            )
    grads = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if float(norm_type) == 2.0 and _support.takes(grads):
        with torch.no_grad():
            return clip_(grads, float(max_norm), error_if_nonfinite)
    return torch.nn.utils.clip_grad_norm_(
        parameters, max_norm, norm_type, error_if_nonfinite, foreach
    )


def clip_(grads: list[torch.Tensor], max_norm: float, error_if_nonfinite: bool) -> torch.Tensor:
    if SMALLEST <= max_norm < math.inf and not error_if_nonfinite:
        total = _ops.grad_clip_norm_(grads, max_norm)
    else:
        total = _ops.grad_clip_factor(grads, None, 0.0)[0]
        if error_if_nonfinite and not torch.isfinite(total):
            raise RuntimeError(
                "The total norm of order 2.0 for gradients from `parameters` is non-finite, so it "
                "cannot be clipped. To disable this error and scale the gradients by the "
                "non-finite norm anyway, set `error_if_nonfinite=False`"
            )
        factor = torch.clamp(max_norm / (total + 1e-6), max=1.0)
        _ops.grad_scale_(grads, factor)
    _support.written(grads)
    return total
