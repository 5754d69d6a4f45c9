"""grad_scale_: the bits of torch's unscale, and of the definition."""

import math

import pytest
import torch

from cuproof_ops import functional

import samples


def by_hand(tensor, factor):
    return (tensor.float() * factor).to(tensor.dtype)


@pytest.mark.parametrize("factor", [0.37, 1 / 65536, 3e-39, 1e30, -2.0, 0.0])
def test_bits_of_the_definition(device, factor):
    tensors = samples.many(device, scale=10.0)
    by = torch.full((), factor, device=device)
    expected = [by_hand(tensor, by) for tensor in tensors]
    changed = samples.clone(tensors)
    functional.grad_scale_(changed, by)
    assert all(samples.same_bits(a, b) for a, b in zip(changed, expected))


def test_reciprocal_is_taken_in_float64(device):
    tensors = samples.many(device)
    scale = torch.full((), 3.0, device=device)
    inverse = scale.double().reciprocal().float()
    changed = samples.clone(tensors)
    functional.grad_scale_(changed, scale, reciprocal=True)
    assert all(samples.same_bits(a, by_hand(b, inverse)) for a, b in zip(changed, tensors))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("factor", [0.37, 1 / 65536, 1.0, 1e10])
def test_bits_of_torch(cuda, dtype, factor):
    tensors = samples.many(cuda, [dtype], scale=100.0)
    tensors[3][1] = math.inf
    tensors[5][0] = math.nan
    by = torch.full((), factor, device=cuda)
    theirs, ours = samples.clone(tensors), samples.clone(tensors)
    their_flag, our_flag = (torch.zeros((), device=cuda) for _ in range(2))
    torch._amp_foreach_non_finite_check_and_unscale_(theirs, their_flag, by)
    functional.grad_scale_(ours, by, found_inf=our_flag)
    assert our_flag.item() == their_flag.item() == 1
    if factor == 1:
        # Nothing is written; torch rewrites a NaN with other bits.
        for a in (*ours, *theirs):
            a.nan_to_num_(nan=7.0, posinf=math.inf)
    assert all(samples.same_bits(a, b) for a, b in zip(ours, theirs))


def test_found_inf_is_set_and_never_cleared(device):
    by = torch.full((), 0.5, device=device)
    flag = torch.zeros((), device=device)
    tensors = samples.many(device)
    functional.grad_scale_(tensors, by, found_inf=flag)
    assert flag.item() == 0
    tensors[-1][-1] = math.nan
    functional.grad_scale_(tensors, by, found_inf=flag)
    assert flag.item() == 1
    functional.grad_scale_([torch.ones(3, device=device)], by, found_inf=flag)
    assert flag.item() == 1


def test_factor_of_one_keeps_the_bits_and_still_looks(device):
    tensors = samples.many(device)
    tensors[4][0] = math.nan
    changed = samples.clone(tensors)
    flag = torch.zeros((), device=device)
    functional.grad_scale_(changed, torch.ones((), device=device), found_inf=flag)
    assert flag.item() == 1
    assert all(samples.same_bits(a, b) for a, b in zip(changed, tensors))


@pytest.mark.parametrize("dtype", samples.DTYPES)
def test_layouts_and_offsets(device, dtype):
    by = torch.full((), 0.3, device=device)
    tensors = samples.layouts(device, dtype)
    tensors += [
        samples.offset_view(torch.randn(1003, device=device).to(dtype), n) for n in (1, 2, 4)
    ]
    expected = [by_hand(tensor, by) for tensor in tensors]
    functional.grad_scale_(tensors, by)
    assert all(samples.same_bits(a, b) for a, b in zip(tensors, expected))


def test_neighbours_of_a_view_are_untouched(device):
    base = torch.full((41,), 2.0, device=device, dtype=torch.bfloat16)
    functional.grad_scale_([base[3:38]], torch.full((), 4.0, device=device))
    assert base.tolist() == [2.0] * 3 + [8.0] * 35 + [2.0] * 3


def test_functional_form_leaves_the_input(device):
    tensor = torch.ones(5, device=device)
    (copy,) = functional.grad_scale([tensor], torch.full((), 3.0, device=device))
    assert tensor.tolist() == [1.0] * 5 and copy.tolist() == [3.0] * 5


def test_autograd_learns_of_the_change(device):
    leaf = torch.ones(3, device=device, requires_grad=True)
    double = leaf * 2
    saved = double * double
    with torch.no_grad():
        functional.grad_scale_([double], torch.full((), 0.5, device=device))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()


def test_empty_list_is_nothing(device):
    functional.grad_scale_([], torch.ones((), device=device))
