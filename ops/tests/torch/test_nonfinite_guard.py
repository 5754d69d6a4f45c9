"""NonfiniteGuard: what a record says, order, a full ring, sites, steps."""

import math

import pytest
import torch

from cuproof_ops import BadElement, NonfiniteGuard, functional


def bad_at(device, index, value, dtype=torch.float32, size=100):
    tensor = torch.ones(size, device=device, dtype=dtype)
    tensor[index] = value
    return tensor


def test_nothing_bad_is_nothing_written(device):
    guard = NonfiniteGuard(device=device)
    guard.check([torch.ones(5, device=device)], site="a", end_of_step=True)
    assert guard.read() == [] and guard.dropped == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_record(device, dtype, value):
    guard = NonfiniteGuard(device=device)
    good = torch.ones(3, device=device)
    guard.check([good], site="loss")
    guard.check([good], site="gradients", end_of_step=True)
    guard.check([good, bad_at(device, 42, value, dtype)], site="gradients")
    (record,) = guard.read()
    assert (record.step, record.site, record.tensor, record.index) == (1, "gradients", 1, 42)
    assert record.dtype == dtype
    assert math.isnan(record.value) if math.isnan(value) else record.value == value
    kind = torch.int32 if dtype == torch.float32 else torch.int16
    mask = 0xFFFFFFFF if dtype == torch.float32 else 0xFFFF
    assert record.bits == torch.tensor(value, dtype=dtype).view(kind).item() & mask
    assert guard.read() == []


def test_payload_of_a_nan_is_kept(device):
    guard = NonfiniteGuard(device=device)
    tensor = torch.ones(3, device=device)
    tensor.view(torch.int32)[1] = 0x7FABCDEF
    guard.check([tensor])
    assert guard.read()[0].bits == 0x7FABCDEF


def test_full_ring_keeps_the_oldest_and_counts_the_rest(device):
    guard = NonfiniteGuard(capacity=3, device=device)
    bad = [bad_at(device, 0, math.inf)]
    for _ in range(5):
        guard.check(bad, end_of_step=True)
    assert [record.step for record in guard.read()] == [0, 1, 2]
    assert guard.dropped == 2
    for _ in range(2):
        guard.check(bad, end_of_step=True)
    assert [record.step for record in guard.read()] == [5, 6]
    guard.check(bad, end_of_step=True)
    guard.check(bad, end_of_step=True)
    assert [record.step for record in guard.read()] == [7, 8], "slots are used round and round"


def test_sites_are_names(device):
    guard = NonfiniteGuard(device=device)
    bad = [bad_at(device, 0, math.nan)]
    for site in ("a", "b", "a", ""):
        guard.check(bad, site=site)
    assert [record.site for record in guard.read()] == ["a", "b", "a", ""]


def test_one_name_too_many_is_refused_and_not_kept(device):
    guard = NonfiniteGuard(device=device)
    bad = [bad_at(device, 0, math.nan)]
    guard._sites = {str(i): i for i in range(1 << 16)}
    for _ in range(2):
        with pytest.raises(RuntimeError, match="site: expected at most 65536 different names, got"):
            guard.check(bad, site="one more")
    guard.check(bad, site="65535")
    assert [record.site for record in guard.read()] == ["65535"]


def test_none_is_skipped_and_keeps_its_place(device):
    guard = NonfiniteGuard(device=device)
    bad = bad_at(device, 5, math.inf, torch.bfloat16)
    guard.check([None, torch.ones(3, device=device), None, bad, None], end_of_step=True)
    guard.check([None, None], end_of_step=True)
    guard.check((tensor for tensor in (None, bad)))
    records = guard.read()
    assert [(r.step, r.tensor, r.index) for r in records] == [(0, 3, 5), (2, 1, 5)]


def test_the_example_of_the_readme(device):
    model = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)]).to(device)
    model[1](torch.full((1, 2), math.inf, device=device)).sum().backward()
    guard = NonfiniteGuard(device=device)
    guard.check([p.grad for p in model.parameters()], site="gradients", end_of_step=True)
    (record,) = guard.read()
    assert record.tensor == 2, "the unused layer's two parameters count"


def test_empty_lists_and_tensors(device):
    guard = NonfiniteGuard(device=device)
    guard.check([], end_of_step=True)
    guard.check([torch.ones(0, device=device)], end_of_step=True)
    guard.check([torch.ones(0, device=device), bad_at(device, 7, math.nan)])
    (record,) = guard.read()
    assert (record.step, record.tensor, record.index) == (2, 1, 7)


def test_tensors_that_require_grad(device):
    guard = NonfiniteGuard(device=device)
    leaf = torch.ones(3, device=device, requires_grad=True)
    loss = (leaf / 0).sum()
    guard.check([leaf, loss])
    loss.backward()
    assert [(record.tensor, record.index) for record in guard.read()] == [(1, 0)]


def test_without_a_ring(device):
    found, bad = functional.nonfinite_guard([bad_at(device, 9, math.inf, torch.float16)])
    assert found.item() == 1
    assert BadElement.of(bad) == BadElement(0, 9, math.inf, 0x7C00, torch.float16)
    found, bad = functional.nonfinite_guard([torch.ones(3, device=device)])
    assert found.item() == 0 and BadElement.of(bad) is None


@pytest.mark.parametrize("capacity", [0, -1, 1 << 21])
def test_capacity_is_checked(device, capacity):
    with pytest.raises(RuntimeError, match="capacity: expected 1 to 1048576 records, got"):
        NonfiniteGuard(capacity=capacity, device=device)
