"""Which tensors the kernels take, and what goes to torch's own functions instead."""

from collections.abc import Sequence

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

# Where there are kernels. The tests of the Python code add "cpu", with a reference behind it.
DEVICE_TYPES = {"cuda"}
DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def is_dense(tensor: torch.Tensor) -> bool:
    """Whether the elements fill one piece of memory, in any order of dimensions."""
    if tensor.is_contiguous():
        return True
    dims = [(stride, size) for stride, size in zip(tensor.stride(), tensor.shape) if size != 1]
    expected = 1
    for stride, size in sorted(dims):
        if stride != expected:
            return False
        expected *= size
    return True


def takes(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether one call of a kernel takes all of these."""
    if not tensors:
        return False
    device = tensors[0].device
    return device.type in DEVICE_TYPES and all(
        tensor.device == device
        and tensor.dtype in DTYPES
        and tensor.layout == torch.strided
        and not is_traceable_wrapper_subclass(tensor)
        and is_dense(tensor)
        for tensor in tensors
    )


def may_take(tensors: Sequence[torch.Tensor]) -> bool:
    """:func:`takes`, or in eager mode a guess from the first tensor that costs next to nothing: the
    operator itself checks all of them before it launches anything."""
    if torch.compiler.is_compiling():
        return takes(tensors)
    return bool(tensors) and tensors[0].device.type in DEVICE_TYPES


def written(tensors: Sequence[torch.Tensor]) -> None:
    """Tells autograd that these changed, so that a backward pass that saved one complains."""
    if not torch.compiler.is_compiling():
        torch.autograd.graph.increment_version(tensors)


def refuse_autograd(name: str, tensors: Sequence[torch.Tensor]) -> None:
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        raise RuntimeError(
            f"{name}: expected tensors without requires_grad, since it has no derivative, got some "
            f"with it; call it under torch.no_grad() or on .detach()"
        )
