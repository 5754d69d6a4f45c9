"""Tensors that the benches share: random, never zero, in one slab so that a ceiling reads the same
bytes."""

import math

import torch

ALIGNMENT = 512  # as torch's allocator gives it
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def fill(tensor, scale=1e-3):
    """Normal numbers in pieces (no fp32 copy of gigabytes), zeros replaced."""
    for part in tensor.view(-1).split(1 << 28):
        part.normal_(0, scale)
        part[part == 0] = scale


def slab_of(sizes, dtypes, scale=1e-3):
    """(slab of bytes, tensors): one after the other, each aligned as torch would."""
    offsets, end = [], 0
    for size, dtype in zip(sizes, dtypes):
        offsets.append(end)
        end += -(-size * dtype.itemsize // ALIGNMENT) * ALIGNMENT
    slab = torch.empty(end, dtype=torch.uint8, device="cuda")
    # Gaps are filled too: the ceiling reads them.
    fill(slab[:end // 4 * 4].view(torch.float32), scale)
    tensors = []
    for offset, size, dtype in zip(offsets, sizes, dtypes):
        tensor = slab[offset:offset + size * dtype.itemsize].view(dtype)
        if dtype != torch.float32:
            fill(tensor, scale)
        tensors.append(tensor)
    return slab, tensors


def tensors_of(shape):
    """slab_of what a specified.Shape says."""
    return slab_of(shape.elements, [DTYPES[word] for word in shape.dtypes])


def square_tensors(dtype, count=64, side=4096):
    return slab_of([side * side] * count, [dtype] * count)


def sets_past_l2(make, bytes_of_one, l2_bytes):
    """As many sets as together exceed three times the L2."""
    return [make() for _ in range(max(1, math.ceil(3.2 * l2_bytes / bytes_of_one)))]


def square_sum_fp64(tensor):
    total = torch.zeros((), dtype=torch.float64, device=tensor.device)
    for part in tensor.view(-1).split(1 << 26):
        total += part.double().square().sum()
    return total


def norms_fp64(tensors):
    """(total, one for each) in fp64."""
    squares = torch.stack([square_sum_fp64(t) for t in tensors])
    return squares.sum().sqrt().item(), squares.sqrt()


def relative(value, exact):
    return abs(float(value) - exact) / exact if exact else abs(float(value))
