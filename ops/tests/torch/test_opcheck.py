"""torch.library.opcheck: all four of its tests, for every operator, on several samples."""

import pytest
import torch

import samples

ops = torch.ops.cuproof


def lists(device):
    for dtype in samples.DTYPES:
        yield [torch.randn(5, 7, device=device).to(dtype), torch.randn(0, device=device).to(dtype)]
        yield samples.layouts(device, dtype)
    yield samples.many(device, sizes=[0, 1, 7, 1000])
    yield [torch.randn(3, device=device)]


def scalar(device, value=1.0):
    return torch.full((), value, device=device)


def norm_outputs(tensors, device):
    return [
        scalar(device),
        torch.ones(len(tensors), device=device),
        scalar(device),
        torch.ones(3, dtype=torch.int64, device=device),
        scalar(device),
        scalar(device),
    ]


def ring(device):
    memory = torch.empty(ops.guard_ring_bytes(4), dtype=torch.uint8, device=device)
    ops.guard_ring_init_(memory, 4)
    return memory


def grad_norm(device):
    for tensors in lists(device):
        yield tensors, None
        yield tensors, scalar(device, 8.0)
        yield [tensor.clone().requires_grad_() for tensor in tensors], None
    yield [torch.randn(4, device=device, requires_grad=True)], scalar(device, 8.0)


def grad_clip_factor(device):
    for tensors in lists(device):
        yield tensors, None, 1.0
        yield tensors, scalar(device, 8.0), 0.5


def grad_clip_norm_(device):
    for tensors in lists(device):
        yield tensors, 1.0


def grad_norm_out(device):
    for tensors in lists(device):
        yield tensors, None, 0.0, *norm_outputs(tensors, device)
        yield tensors, scalar(device, 8.0), 1.0, *norm_outputs(tensors, device)[:1]
        workspace = torch.empty(
            ops.grad_norm_workspace([tensor.numel() for tensor in tensors]),
            dtype=torch.uint8,
            device=device,
        )
        # The content of a workspace is no result, but opcheck compares everything that is written.
        del workspace


def grad_scale_(device):
    for tensors in lists(device):
        yield tensors, scalar(device, 0.5)
        yield tensors, scalar(device, 3.0), True, scalar(device, 0.0)


def grad_accumulate_(device):
    for tensors in lists(device):
        sums = [torch.ones_like(tensor, dtype=torch.float32) for tensor in tensors]
        yield sums, tensors, True
        yield sums, tensors, False, None, 1.0, *norm_outputs(tensors, device)


def loss_scale_update_(device):
    for found in (0.0, 1.0):
        tracker = torch.full((), 9, dtype=torch.int32, device=device)
        yield scalar(device, 1024.0), tracker, scalar(device, found), 2.0, 0.5, 10


def nonfinite_guard(device):
    for tensors in lists(device):
        yield tensors, None, scalar(device), torch.ones(3, dtype=torch.int64, device=device)
        yield tensors, ring(device), None, None, 7, True
    yield [torch.full((3,), float("inf"), device=device)], ring(device)


def guard_ring_init_(device):
    yield ring(device), 3


def guard_ring_acknowledge_(device):
    yield ring(device), 2


SAMPLES = [
    grad_norm,
    grad_clip_factor,
    grad_clip_norm_,
    grad_norm_out,
    grad_scale_,
    grad_accumulate_,
    loss_scale_update_,
    nonfinite_guard,
    guard_ring_init_,
    guard_ring_acknowledge_,
]


@pytest.mark.parametrize("make", SAMPLES, ids=lambda make: make.__name__)
def test_opcheck(device, make):
    operator = getattr(ops, make.__name__).default
    for arguments in make(device):
        torch.library.opcheck(operator, arguments)
