"""grad_norm: values, flags, places, layouts, addresses, derivative."""

import math

import pytest
import torch

import cuproof_ops
from cuproof_ops import BadElement

import samples


def close(a, b, ulps=2):
    """Both float32 values; b may be float64."""
    return torch.all((a.double() - b.double()).abs() <= ulps * 2.0**-24 * b.double().abs()).item()


def test_norms_of_every_size_and_type(device):
    tensors = samples.many(device)
    norm = cuproof_ops.grad_norm(tensors)
    assert close(norm.total, samples.norm64(tensors))
    assert close(norm.per_tensor, torch.stack([tensor.double().norm() for tensor in tensors]))
    assert norm.found_inf.item() == 0
    assert norm.first_bad.tolist()[:2] == [-1, -1]
    assert BadElement.of(norm.first_bad) is None


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e6, 1e30])
def test_the_whole_range_of_float32(device, scale):
    tensors = samples.many(device, [torch.float32], scale=scale)
    assert close(cuproof_ops.grad_norm(tensors).total, samples.norm64(tensors))


def test_exact_integers_are_exact(device):
    tensors = [torch.full((3,), 4.0, device=device), torch.full((16,), 1.0, device=device)]
    norm = cuproof_ops.grad_norm(tensors)
    assert norm.total.item() == 8.0
    assert norm.per_tensor.tolist() == [torch.tensor(48.0).sqrt().item(), 4.0]


def test_loss_scale_divides(device):
    tensors = samples.many(device, [torch.float32, torch.bfloat16])
    scale = torch.full((), 65536.0, device=device)
    scaled = [tensor * 65536 for tensor in tensors]
    assert close(cuproof_ops.grad_norm(scaled, scale).total, samples.norm64(tensors))
    for shape in ((1,), (1, 1)):
        norm = cuproof_ops.grad_norm(scaled, scale.reshape(shape))
        assert close(norm.total, samples.norm64(tensors))


def test_zeros_and_empties(device):
    tensors = [torch.zeros(10, device=device), torch.zeros(0, device=device)]
    norm = cuproof_ops.grad_norm(tensors)
    assert norm.total.item() == 0 and norm.per_tensor.tolist() == [0, 0]
    assert cuproof_ops.grad_norm(tensors[1:]).total.item() == 0


@pytest.mark.parametrize("dtype", samples.DTYPES)
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_first_bad_element_is_named(device, dtype, value):
    tensors = samples.many(device)
    t = next(i for i, x in enumerate(tensors) if x.numel() == 32769 and x.dtype == dtype)
    for index in (0, 1, 13, 32767, 32768):
        changed = list(tensors)
        changed[t] = tensors[t].clone()
        changed[t][index] = value
        changed[t][-1] = math.nan
        norm = cuproof_ops.grad_norm(changed)
        assert norm.found_inf.item() == 1 and not math.isfinite(norm.total.item())
        bad = BadElement.of(norm.first_bad)
        assert (bad.tensor, bad.index, bad.dtype) == (t, index, dtype)
        is_nan = index == 32768 or math.isnan(value)
        assert math.isnan(bad.value) if is_nan else bad.value == value
        kind = torch.int32 if dtype == torch.float32 else torch.int16
        mask = 0xFFFFFFFF if dtype == torch.float32 else 0xFFFF
        assert bad.bits == changed[t][index].view(kind).item() & mask


@pytest.mark.parametrize("dtype", samples.DTYPES)
def test_dense_layouts_count_in_the_order_of_memory(device, dtype):
    tensors = samples.layouts(device, dtype)
    contiguous = [tensor.contiguous() for tensor in tensors]
    assert close(cuproof_ops.grad_norm(tensors).total, samples.norm64(contiguous))
    tensors[0][2, 3] = math.inf  # of a transposed 5 x 9: element 3 * 9 + 2 of memory
    bad = BadElement.of(cuproof_ops.grad_norm(tensors).first_bad)
    assert (bad.tensor, bad.index) == (0, 29)


@pytest.mark.parametrize("dtype", samples.DTYPES)
def test_addresses_off_by_2_4_and_8_bytes(device, dtype):
    tensor = torch.randn(100003, device=device).to(dtype)
    for offset in (1, 2, 4):
        views = [samples.offset_view(tensor, offset), samples.offset_view(tensor[:9], offset)]
        assert close(cuproof_ops.grad_norm(views).total, samples.norm64(views))
        views[0][77777] = math.nan
        assert BadElement.of(cuproof_ops.grad_norm(views).first_bad)[:2] == (0, 77777)


def test_two_thousand_small_mixed_tensors(device):
    tensors = samples.small_mixed(device)
    norm = cuproof_ops.grad_norm(tensors)
    assert close(norm.total, samples.norm64(tensors))
    assert close(norm.per_tensor, torch.stack([tensor.double().norm() for tensor in tensors]))
    tensors[1999][0] = math.inf
    assert BadElement.of(cuproof_ops.grad_norm(tensors).first_bad)[:2] == (1999, 0)


def test_more_tensors_than_one_page_holds(device):
    tensors = [torch.full((3,), 1.0, device=device)] * 5000
    norm = cuproof_ops.grad_norm(tensors)
    assert norm.total.item() == torch.tensor(15000.0).sqrt().item()
    assert norm.per_tensor.shape == (5000,)


@pytest.mark.parametrize("dtype", samples.DTYPES)
@pytest.mark.parametrize("scale, shape", [(None, ()), (8.0, ()), (8.0, (1,)), (8.0, (1, 1))])
def test_derivative_is_x_over_the_norm(device, dtype, scale, shape):
    tensors = [
        torch.randn(size, device=device).to(dtype).requires_grad_() for size in (5, 300, 1, 40)
    ]
    weights = torch.randn(4, device=device)
    loss_scale = None if scale is None else torch.full(shape, scale, device=device)
    norm = cuproof_ops.grad_norm(tensors, loss_scale)
    (norm.total * 3 + (norm.per_tensor * weights).sum()).backward()

    doubles = [tensor.detach().double().requires_grad_() for tensor in tensors]
    norms = torch.stack([tensor.norm() for tensor in doubles]) / (scale or 1)
    (norms.norm() * 3 + (norms * weights.double()).sum()).backward()
    for tensor, double in zip(tensors, doubles):
        assert tensor.grad.dtype == dtype
        tolerance = 2 * torch.finfo(dtype).eps
        torch.testing.assert_close(tensor.grad.double(), double.grad, rtol=tolerance, atol=1e-7)


def test_derivative_at_zero_is_zero(device):
    zero = torch.zeros(3, device=device, requires_grad=True)
    cuproof_ops.grad_norm([zero]).total.backward()
    assert zero.grad.tolist() == [0, 0, 0]


def test_found_inf_and_first_bad_have_no_derivative(device):
    norm = cuproof_ops.grad_norm([torch.ones(3, device=device, requires_grad=True)])
    assert norm.total.requires_grad and norm.per_tensor.requires_grad
    assert not norm.found_inf.requires_grad and not norm.first_bad.requires_grad


@pytest.mark.parametrize("dtype", samples.DTYPES)
@pytest.mark.parametrize("kind", ["normal", "heavy", "mixed sizes"])
def test_error_is_no_worse_than_the_best_of_torch(cuda, dtype, kind):
    if kind == "mixed sizes":
        tensors = samples.many(cuda, [dtype], scale=1e-2)
    else:
        tensors = [torch.randn(1 << 20, device=cuda) for _ in range(8)]
        if kind == "heavy":
            tensors = [tensor / torch.rand_like(tensor).clamp_min(1e-3) for tensor in tensors]
        tensors = [tensor.to(dtype) for tensor in tensors]
    exact = samples.norm64(tensors).item()
    wide = [tensor.float() for tensor in tensors]
    best = min(
        abs(norm.item() - exact)
        for norm in (
            torch.stack(torch._foreach_norm(tensors, dtype=torch.float32)).norm(),
            torch.stack(torch._foreach_norm(wide)).norm(),
            torch.linalg.vector_norm(torch.cat([tensor.view(-1) for tensor in wide])),
        )
    )
    error = abs(cuproof_ops.grad_norm(tensors).total.item() - exact)
    # A result that is rounded correctly is as good as float32 can be, however lucky torch was.
    assert error <= max(1.1 * best, 1.001 * 2.0**-24 * exact), (error, best)


def test_where_torch_differs_it_rounds_the_norm(cuda):
    tensors = [torch.randn(1000, device=cuda, dtype=torch.bfloat16) for _ in range(3)]
    theirs = torch.nn.utils.get_total_norm(tensors)
    ours = cuproof_ops.grad_norm(tensors).total
    assert theirs.dtype == torch.bfloat16 and ours.dtype == torch.float32
    assert (theirs.double() - ours.double()).abs() <= 2.0**-6 * ours.double()


def test_same_bits_every_time_and_for_every_grid(cuda):
    tensors = samples.small_mixed(cuda, 300) + samples.many(cuda)
    first = cuproof_ops.grad_norm(tensors)
    for ctas in (0, 1, 7, 1000):
        out = [torch.full_like(value, -7) for value in first]
        torch.ops.cuproof.grad_norm_out(tensors, None, 0.0, *out, max_ctas=ctas)
        for a, b in zip(first, out):
            assert samples.same_bits(a, b)
