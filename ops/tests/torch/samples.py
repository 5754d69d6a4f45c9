"""Lists of tensors that tests share."""

import torch

DTYPES = [torch.float32, torch.float16, torch.bfloat16]
SIZES = [0, 1, 2, 7, 8, 255, 1024, 32767, 32768, 32769, 100003]


def many(device, dtypes=DTYPES, sizes=SIZES, scale=1.0):
    """Every size in every type."""
    return [
        (torch.randn(size, device=device) * scale).to(dtype) for size in sizes for dtype in dtypes
    ]


def small_mixed(device, count=2000):
    """Parameters of a large model's small kind: norms, biases, scalars."""
    generator = torch.Generator().manual_seed(1)
    sizes = torch.randint(1, 4096, (count,), generator=generator).tolist()
    return [
        torch.randn(size, generator=generator).to(device=device, dtype=DTYPES[i % 3])
        for i, size in enumerate(sizes)
    ]


def layouts(device, dtype):
    """Dense in other orders of dimensions, with sizes of 1 and 0."""
    return [
        torch.randn(5, 9, device=device).to(dtype).t(),
        torch.randn(2, 3, 5, 7, device=device)
        .to(dtype)
        .contiguous(memory_format=torch.channels_last),
        torch.randn(3, 1, 4, device=device).to(dtype).permute(2, 1, 0),
        torch.randn(4, 0, 3, device=device).to(dtype),
        torch.randn((), device=device).to(dtype),
    ]


def offset_view(tensor, elements):
    """A copy that starts `elements` elements behind an aligned address."""
    base = torch.empty(tensor.numel() + elements, dtype=tensor.dtype, device=tensor.device)
    view = base[elements:]
    view.copy_(tensor.reshape(-1))
    return view


def clone(tensors):
    return [tensor.clone() for tensor in tensors]


def same_bits(a, b):
    """Bitwise, so that -0 and NaN count."""
    assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, b.dtype, a.shape, b.shape)
    kind = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[a.element_size()]
    return torch.equal(a.contiguous().view(kind), b.contiguous().view(kind))


def norm64(tensors):
    return torch.stack([tensor.double().norm() for tensor in tensors]).norm()


def parameters(tensors):
    """Parameters whose gradients these are."""
    result = []
    for tensor in tensors:
        parameter = torch.nn.Parameter(torch.zeros_like(tensor))
        parameter.grad = tensor
        result.append(parameter)
    return result
