"""Plain kernels for CPU tensors, of the operators' own contract. For tests of the Python code."""

import contextlib
import functools

import torch

from cuproof_ops import _support

DTYPES = [torch.float32, torch.float16, torch.bfloat16]


def flat(tensor):
    """The elements in the order of memory."""
    return tensor.as_strided((tensor.numel(),), (1,))


def bits(tensor):
    return flat(tensor).view(torch.int32 if tensor.element_size() == 4 else torch.int16)


def first_bad(tensors):
    for t, tensor in enumerate(tensors):
        bad = (~torch.isfinite(flat(tensor))).nonzero()
        if len(bad):
            index = int(bad[0])
            mask = 0xFFFFFFFF if tensor.element_size() == 4 else 0xFFFF
            element = int(bits(tensor)[index]) & mask
            return torch.tensor([t, index, element | DTYPES.index(tensor.dtype) << 32])
    return torch.tensor([-1, -1, 0])


def square_sums(tensors):
    return torch.stack([flat(tensor).double().square().sum() for tensor in tensors])


def clip_factor(norm, max_norm):
    """torch's, in float32 throughout."""
    return torch.clamp((norm + 1e-6).reciprocal() * max_norm, max=1.0)


def norms(tensors, loss_scale, max_norm):
    sums = square_sums(tensors) if tensors else torch.zeros(0, dtype=torch.float64)
    scale = torch.ones((), dtype=torch.float64) if loss_scale is None else loss_scale.double()
    scale = scale.reshape(())
    total = (sums.sum().sqrt() / scale).float()
    clip = clip_factor(total, max_norm) if max_norm > 0 else torch.ones(())
    factor = clip * (1 / scale).float()
    bad = first_bad(tensors)
    divisor = torch.ones(()) if bad[0] >= 0 else scale.float() / clip
    found = torch.tensor(float(bad[0] >= 0))
    return total, (sums.sqrt() / scale).float(), found, bad, factor, divisor


def grad_norm(tensors, loss_scale):
    return norms(tensors, loss_scale, 0.0)[:4]


def grad_clip_factor(grads, loss_scale, max_norm):
    total, _, found, _, factor, divisor = norms(grads, loss_scale, max_norm)
    return total, found, factor, divisor


def grad_clip_norm_(grads, max_norm):
    total, _, _, _, factor, _ = norms(grads, None, max_norm)
    grad_scale_(grads, factor)
    return total


def grad_norm_out(tensors, loss_scale=None, max_norm=0.0, *outs):
    given = outs[:6]
    for out, value in zip(given, norms(tensors, loss_scale, max_norm)):
        if out is not None:
            out.copy_(value.reshape(out.shape))


def grad_scale_(grads, factor, reciprocal=False, found_inf=None, max_ctas=0):
    factor = factor.reshape(())
    if reciprocal:
        factor = (1 / factor.double()).float()
    for grad in grads:
        if found_inf is not None and not torch.isfinite(grad).all():
            found_inf.fill_(1)
        if factor != 1:
            grad.copy_((grad.float() * factor).to(grad.dtype))


def grad_accumulate_(accumulators, grads, overwrite, *norm):
    for accumulator, grad in zip(accumulators, grads):
        assert accumulator.stride() == grad.stride()
        if overwrite:
            accumulator.copy_(grad)
        else:
            accumulator.add_(grad.float())
    grad_norm_out(accumulators, *norm)


def loss_scale_update_(scale, growth_tracker, found_inf, growth, backoff, interval):
    torch._amp_update_scale_(scale, growth_tracker, found_inf, growth, backoff, interval)


def nonfinite_guard(
    tensors,
    ring=None,
    found_inf=None,
    first=None,
    site=0,
    advance_step=False,
    workspace=None,
    ctas=0,
):
    bad = first_bad(tensors)
    if found_inf is not None:
        found_inf.fill_(float(bad[0] >= 0))
    if first is not None:
        first.copy_(bad)
    if ring is None:
        return
    words = ring[:64].view(torch.int64)
    if bad[0] >= 0:
        capacity = int(ring[32:36].view(torch.int32))
        if words[1] - words[2] < capacity:
            slot = 64 + int(words[1]) % capacity * 32
            record = ring[slot : slot + 32]
            record[:24].view(torch.int64).copy_(torch.stack([words[0], bad[0], bad[1]]))
            element, dtype = int(bad[2]) & 0xFFFFFFFF, int(bad[2]) >> 32
            raw = element.to_bytes(4, "little") + dtype.to_bytes(2, "little")
            raw += site.to_bytes(2, "little")
            record[24:].copy_(torch.tensor(list(raw), dtype=torch.uint8))
            words[1] += 1
        else:
            words[3] += 1
    if advance_step:
        words[0] += 1


def guard_ring_init_(ring, capacity):
    ring.zero_()
    ring[32:36].view(torch.int32).fill_(capacity)


def guard_ring_acknowledge_(ring, read):
    ring[16:24].view(torch.int64).fill_(read)


KERNELS = [
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


def refusing(kernel):
    """As the real ones do, before anything is written."""

    @functools.wraps(kernel)
    def checked(*arguments):
        for argument in arguments:
            if isinstance(argument, list) and argument and not _support.takes(argument):
                raise RuntimeError("expected tensors that the kernels take, got others")
        return kernel(*arguments)

    return checked


@contextlib.contextmanager
def installed():
    library = torch.library.Library("cuproof", "IMPL")
    for kernel in KERNELS:
        library.impl(kernel.__name__, refusing(kernel), "CPU", allow_override=True)
    _support.DEVICE_TYPES.add("cpu")
    try:
        yield
    finally:
        _support.DEVICE_TYPES.discard("cpu")
        library._destroy()
