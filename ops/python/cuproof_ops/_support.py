"""Which tensors the kernels take, what goes to torch's own functions, and what is refused here."""

from collections.abc import Iterable, Sequence
from operator import attrgetter

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

# Where there are kernels. The tests of the Python code add "cpu", with a reference behind it.
DEVICE_TYPES = {"cuda"}
DTYPES = (torch.float32, torch.bfloat16, torch.float16)

# One tensor's memory. Any other class (DTensor above all) may hold something else, and torch's
# functions are told by its own dispatch what; an operator of ours would not be.
PLAIN = frozenset({torch.Tensor, torch.nn.Parameter, FakeTensor})

_is_nested = attrgetter("is_nested")


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
    """Whether one call of a kernel takes all of these. Asked before each call, of every tensor, so
    each word of it is one of the cheap ones: under 0.2 us a tensor."""
    if not tensors or not all(type(tensor) in PLAIN for tensor in tensors):
        return False
    # An ordinal: comparing devices would cost more than all the rest.
    ordinal = tensors[0].get_device()
    return tensors[0].device.type in DEVICE_TYPES and all(
        tensor.dtype in DTYPES
        and tensor.layout is torch.strided
        and tensor.get_device() == ordinal
        and (tensor.is_contiguous() or is_dense(tensor))
        for tensor in tensors
    )


def tensor_list(
    name: str, tensors: Iterable[torch.Tensor | None], for_none: torch.Tensor | None = None
) -> list[torch.Tensor]:
    """An argument that is to be a list of tensors. Refuses, in one line, what the dispatcher would
    answer with a page, or take apart (a tensor is a sequence of its rows)."""
    if isinstance(tensors, torch.Tensor):
        raise RuntimeError(
            f"{name}: expected a list of tensors, got one tensor; pass it as a list of one"
        )
    try:
        tensors = list(tensors)
    except TypeError:
        raise RuntimeError(
            f"{name}: expected a list of tensors, got {_kind(tensors)}; pass a list"
        ) from None
    if for_none is not None:
        tensors = [for_none if tensor is None else tensor for tensor in tensors]
    if torch.compiler.is_compiling():
        return tensors
    if not set(map(type, tensors)) <= PLAIN or any(map(_is_nested, tensors)):
        for i, tensor in enumerate(tensors):
            _expect_tensor(f"{name}[{i}]", tensor)
    return tensors


def scalar(name: str, value: torch.Tensor | None) -> torch.Tensor | None:
    """An argument that is to be a tensor on the device, or None."""
    if value is not None and not torch.compiler.is_compiling():
        _expect_tensor(name, value)
    return value


def _kind(value) -> str:
    return "a nested tensor" if getattr(value, "is_nested", False) else type(value).__name__


def _expect_tensor(name: str, value) -> None:
    if not isinstance(value, torch.Tensor):
        raise RuntimeError(f"{name}: expected a tensor, got {_kind(value)}; pass a torch.Tensor")
    if value.is_nested or is_traceable_wrapper_subclass(value):
        raise RuntimeError(
            f"{name}: expected a plain tensor, got {_kind(value)}; pass what it is made of, as "
            "DTensor.to_local() or the .unbind() of a nested tensor"
        )


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
