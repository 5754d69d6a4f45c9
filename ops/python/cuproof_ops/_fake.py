"""Shapes and dtypes of the results, for FakeTensor, meta tensors and torch.compile."""

import torch


def _scalar(like):
    return like.new_empty((), dtype=torch.float32)


def _first(name, tensors):
    torch._check(len(tensors) > 0, lambda: f"{name}: expected at least one tensor, got none")
    return tensors[0]


def _grad_norm(tensors, loss_scale):
    first = _first("grad_norm", tensors)
    return (
        _scalar(first),
        first.new_empty((len(tensors),), dtype=torch.float32),
        _scalar(first),
        first.new_empty((3,), dtype=torch.int64),
    )


def _grad_clip_factor(grads, loss_scale, max_norm):
    first = _first("grad_clip_factor", grads)
    return tuple(_scalar(first) for _ in range(4))


def _grad_clip_norm_(grads, max_norm):
    return _scalar(_first("grad_clip_norm_", grads))


def _nothing(*args, **kwargs):
    return None


KERNELS = {
    "grad_norm": _grad_norm,
    "grad_clip_factor": _grad_clip_factor,
    "grad_clip_norm_": _grad_clip_norm_,
    "grad_norm_out": _nothing,
    "grad_scale_": _nothing,
    "grad_accumulate_": _nothing,
    "loss_scale_update_": _nothing,
    "nonfinite_guard": _nothing,
    "guard_ring_init_": _nothing,
    "guard_ring_acknowledge_": _nothing,
}


def register() -> None:
    for name, kernel in KERNELS.items():
        torch.library.register_fake(f"cuproof::{name}", kernel)
