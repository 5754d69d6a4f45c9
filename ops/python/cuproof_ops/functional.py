"""The operators one by one: thin over ``torch.ops.cuproof``.

Lists may mix float32, float16 and bfloat16 and any sizes, 0 included. Every tensor is dense: it
fills one piece of memory without gap or overlap, in any order of dimensions (contiguous,
channels_last, transposed). All lie on one CUDA device. An *index* is a place in that memory,
counted from the tensor's first element there: in a contiguous tensor that of ``tensor.view(-1)``.

Work goes to the current stream of the tensors' device. Nothing waits for the GPU, and everything
may be captured in a CUDA graph. A wrong argument raises RuntimeError, one line, before any launch.
Nothing here is handed to torch: tensors on the CPU, sparse, nested, of float64 or of a subclass
such as DTensor are wrong arguments.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from . import _support

_ops = torch.ops.cuproof


class GradNorm(NamedTuple):
    """What :func:`grad_norm` returns; all on the device of the tensors."""

    total: torch.Tensor
    """float32, ``()``: the norm of all elements."""
    per_tensor: torch.Tensor
    """float32, ``(len(tensors),)``: the norm of each tensor."""
    found_inf: torch.Tensor
    """float32, ``()``: 1 if any element is Inf or NaN, else 0."""
    first_bad: torch.Tensor
    """int64, ``(3,)``: tensor, index, and bits | dtype << 32 of the first Inf or NaN; -1, -1 if
    there is none. ``BadElement.of(first_bad)`` reads it, and waits for the GPU to do so."""


def grad_norm(tensors: Sequence[torch.Tensor], loss_scale: torch.Tensor | None = None) -> GradNorm:
    """L2 norm of all tensors as one vector, the norm of each, and where the first Inf or NaN is.

    One read. Squares are summed in float32 over short runs and in float64 above; the bits depend on
    values and sizes alone. ``loss_scale`` (float32, one element, on the device): the tensors hold
    that many times the gradient, and the norms are divided by it.

    Differentiable: d norm / d x = x / norm (``loss_scale`` counts as a constant).
    torch differs: its norm of bfloat16 or float16 tensors is rounded to that type.
    """
    tensors = _support.tensor_list("tensors", tensors)
    _support.scalar("loss_scale", loss_scale)
    if not tensors:
        raise RuntimeError("tensors: expected at least one CUDA tensor, got none; pass one")
    differentiable = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
    if differentiable or torch.compiler.is_compiling():
        return GradNorm(*_ops.grad_norm(tensors, loss_scale))
    out = GradNorm(*(_new(tensors[0], shape, dtype) for shape, dtype in _shapes(len(tensors))))
    _ops.grad_norm_out(tensors, loss_scale, 0.0, *out)
    return out


def _new(like, shape, dtype):
    # A layout of its own: the list is not checked yet.
    return like.new_empty(shape, dtype=dtype, layout=torch.strided)


def _shapes(count):
    yield (), torch.float32
    yield (count,), torch.float32
    yield (), torch.float32
    yield (3,), torch.int64


def grad_scale_(
    tensors: Sequence[torch.Tensor],
    factor: torch.Tensor,
    reciprocal: bool = False,
    found_inf: torch.Tensor | None = None,
) -> None:
    """In place: every element becomes float32(x) * factor, rounded once to the tensor's type.

    ``factor``: float32, one element, on the device. ``reciprocal``: times 1 / factor instead.
    ``found_inf`` (float32, one element) is set to 1 if an element was Inf or NaN, else left alone.
    A factor of exactly 1 writes nothing. Same bits as torch's unscale for float32 and float16.

    Under ``torch.compile(dynamic=True)`` pass no views that start inside another tensor: Inductor
    (seen in torch 2.10 and 2.15) drops their offset for any custom operator that writes to them
    (pytorch#198068). Whole tensors are right.
    """
    tensors = _support.tensor_list("tensors", tensors)
    _support.scalar("factor", factor)
    _support.scalar("found_inf", found_inf)
    _support.refuse_autograd("grad_scale_", tensors)
    if not tensors:
        return
    _ops.grad_scale_(tensors, factor, reciprocal, found_inf)
    _support.written(tensors)


def grad_scale(
    tensors: Sequence[torch.Tensor], factor: torch.Tensor, reciprocal: bool = False
) -> list[torch.Tensor]:
    """:func:`grad_scale_` on copies."""
    copies = [tensor.detach().clone() for tensor in _support.tensor_list("tensors", tensors)]
    grad_scale_(copies, factor, reciprocal)
    return copies


def grad_accumulate_(
    accumulators: Sequence[torch.Tensor], grads: Sequence[torch.Tensor], overwrite: bool = False
) -> None:
    """In place: accumulator += gradient (or = gradient with ``overwrite``), in float32.

    Accumulators are float32 with the shape and the strides of their gradient.
    :class:`GradAccumulator` gives the norm of the sums too.
    """
    accumulators = _support.tensor_list("accumulators", accumulators)
    grads = _support.tensor_list("grads", grads)
    _support.refuse_autograd("grad_accumulate_", accumulators + grads)
    if not accumulators and not grads:
        return
    _ops.grad_accumulate_(accumulators, grads, overwrite)
    _support.written(accumulators)


def loss_scale_update_(
    scale: torch.Tensor,
    growth_tracker: torch.Tensor,
    found_inf: torch.Tensor,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
) -> None:
    """In place: the rule of ``torch.amp.GradScaler.update()`` on the device.

    ``scale`` and ``found_inf``: float32, one element; ``growth_tracker``: int32, one element.
    """
    _support.scalar("scale", scale)
    _support.scalar("growth_tracker", growth_tracker)
    _support.scalar("found_inf", found_inf)
    _ops.loss_scale_update_(
        scale, growth_tracker, found_inf, growth_factor, backoff_factor, growth_interval
    )
    _support.written([scale, growth_tracker])


def nonfinite_guard(tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """``(found_inf, first_bad)`` as in :class:`GradNorm`, without the norms."""
    tensors = [tensor.detach() for tensor in _support.tensor_list("tensors", tensors)]
    if not tensors:
        raise RuntimeError("tensors: expected at least one CUDA tensor, got none; pass one")
    found_inf = _new(tensors[0], (), torch.float32)
    first_bad = _new(tensors[0], (3,), torch.int64)
    _ops.nonfinite_guard(tensors, None, found_inf, first_bad)
    return found_inf, first_bad


def prepare(device=None) -> None:
    """Loads all kernels for a device (default: the current one), which CUDA would else do at their
    first launch. After it, any operator may be captured in a CUDA graph at once, in any mode."""
    if device is None:
        ordinal = torch.cuda.current_device()
    elif isinstance(device, int):
        ordinal = device
    else:
        device = torch.device(device)
        if device.type != "cuda":
            raise RuntimeError(f"device: expected a CUDA device, got {device}; pass 'cuda:0'")
        ordinal = torch.cuda.current_device() if device.index is None else device.index
    _ops.prepare(ordinal)


def version() -> str:
    """Version and machine code inside: ``0.1.0 sm_80 sm_90 sm_100 sm_120``."""
    return _ops.version()
