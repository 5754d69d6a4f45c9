"""Shapes and dtypes of the results, for FakeTensor, meta tensors and torch.compile.

What a kernel refuses for its dtype, device or layout is refused here with the same words, so that
no trace promises a result that the call will not give. Sizes may be symbols and are not looked at.
"""

import torch

from . import _support


def _is_ours(tensor) -> bool:
    kind = tensor.device.type
    return tensor.layout is torch.strided and (kind == "meta" or kind in _support.DEVICE_TYPES)


def _describe(tensor) -> str:
    dtype = str(tensor.dtype).removeprefix("torch.")
    layout = "" if tensor.layout is torch.strided else " (not strided)"
    return f"{dtype}{layout} on {tensor.device}"


def _list(name, tensors, dtypes=_support.DTYPES) -> None:
    words = "float32" if len(dtypes) == 1 else "float32, float16 or bfloat16"
    for i, tensor in enumerate(tensors):
        if not _is_ours(tensor):
            raise RuntimeError(
                f"{name}[{i}]: expected a strided tensor on a CUDA device, got "
                f"{_describe(tensor)}; move it or use torch's own"
            )
        if tensor.dtype not in dtypes:
            raise RuntimeError(
                f"{name}[{i}]: expected {words}, got {_describe(tensor)}; convert it or use "
                "torch's own"
            )
        if tensor.device != tensors[0].device:
            raise RuntimeError(
                f"{name}[{i}]: expected device {tensors[0].device} as {name}[0], got "
                f"{tensor.device}; call once for each device"
            )


def _single(like, dtype=torch.float32, **named) -> None:
    """Each is None or of that dtype, on the device of `like` if there is one."""
    for name, tensor in named.items():
        if tensor is None:
            continue
        if not _is_ours(tensor) or tensor.dtype != dtype:
            wanted = str(dtype).removeprefix("torch.")
            raise RuntimeError(
                f"{name}: expected {wanted} on a CUDA device, got {_describe(tensor)}; make it "
                f"with torch.empty(..., dtype=torch.{wanted})"
            )
        if like and tensor.device != like[0].device:
            raise RuntimeError(
                f"{name}: expected device {like[0].device} as the other arguments, got "
                f"{tensor.device}; move it there"
            )


def _first(name, tensors):
    _list(name, tensors)
    if not tensors:
        raise RuntimeError(f"{name}: expected at least one CUDA tensor, got none; pass one")
    return tensors[0]


def _scalar(like):
    return like.new_empty((), dtype=torch.float32)


def _grad_norm(tensors, loss_scale):
    first = _first("tensors", tensors)
    _single(tensors, loss_scale=loss_scale)
    return (
        _scalar(first),
        first.new_empty((len(tensors),), dtype=torch.float32),
        _scalar(first),
        first.new_empty((3,), dtype=torch.int64),
    )


def _grad_clip_factor(grads, loss_scale, max_norm):
    first = _first("grads", grads)
    _single(grads, loss_scale=loss_scale)
    return tuple(_scalar(first) for _ in range(4))


def _grad_clip_norm_(grads, max_norm):
    return _scalar(_first("grads", grads))


def _norm_arguments(
    like,
    loss_scale=None,
    max_norm=0.0,
    total_norm=None,
    tensor_norms=None,
    found_inf=None,
    first_bad=None,
    factor=None,
    grad_scale=None,
    workspace=None,
    max_ctas=0,
):
    _single(
        like,
        loss_scale=loss_scale,
        total_norm=total_norm,
        tensor_norms=tensor_norms,
        found_inf=found_inf,
        factor=factor,
        grad_scale=grad_scale,
    )
    _single(like, torch.int64, first_bad=first_bad)
    _single(like, torch.uint8, workspace=workspace)


def _grad_norm_out(tensors, *norm, **named):
    _list("tensors", tensors)
    _norm_arguments(tensors, *norm, **named)


def _grad_scale_(grads, factor, reciprocal=False, found_inf=None, max_ctas=0):
    _list("grads", grads)
    _single(grads, factor=factor, found_inf=found_inf)


def _grad_accumulate_(accumulators, grads, overwrite, *norm, **named):
    _list("accumulators", accumulators, (torch.float32,))
    _list("grads", grads)
    if len(accumulators) != len(grads):
        raise RuntimeError(
            f"accumulators: expected {len(grads)} tensors as grads, got {len(accumulators)}; pass "
            "one for each gradient"
        )
    if grads and accumulators[0].device != grads[0].device:
        raise RuntimeError(
            f"accumulators: expected device {grads[0].device} as grads, got "
            f"{accumulators[0].device}; move them there"
        )
    _norm_arguments(grads, *norm, **named)


def _loss_scale_update_(scale, growth_tracker, found_inf, growth, backoff, interval):
    _single([], scale=scale)
    _single([scale], torch.int32, growth_tracker=growth_tracker)
    _single([scale], found_inf=found_inf)


def _nonfinite_guard(
    tensors,
    ring=None,
    found_inf=None,
    first_bad=None,
    site=0,
    advance_step=False,
    workspace=None,
    max_ctas=0,
):
    _list("tensors", tensors)
    _single(tensors, torch.uint8, ring=ring, workspace=workspace)
    _single(tensors, found_inf=found_inf)
    _single(tensors, torch.int64, first_bad=first_bad)


def _ring(ring, number):
    _single([], torch.uint8, ring=ring)


KERNELS = {
    "grad_norm": _grad_norm,
    "grad_clip_factor": _grad_clip_factor,
    "grad_clip_norm_": _grad_clip_norm_,
    "grad_norm_out": _grad_norm_out,
    "grad_scale_": _grad_scale_,
    "grad_accumulate_": _grad_accumulate_,
    "loss_scale_update_": _loss_scale_update_,
    "nonfinite_guard": _nonfinite_guard,
    "guard_ring_init_": _ring,
    "guard_ring_acknowledge_": _ring,
}


def register() -> None:
    for name, kernel in KERNELS.items():
        torch.library.register_fake(f"cuproof::{name}", kernel)
