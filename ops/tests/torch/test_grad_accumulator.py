"""GradAccumulator: float32 sums, their norm, what it refuses."""

import math

import pytest
import torch

import cuproof_ops
from cuproof_ops import BadElement, GradAccumulator

import samples


def parameters_of(tensors):
    return [torch.nn.Parameter(torch.zeros_like(tensor)) for tensor in tensors]


@pytest.mark.parametrize("dtype", samples.DTYPES)
def test_sums_are_float32_additions_in_order(device, dtype):
    batches = [samples.many(device, [dtype]) + samples.layouts(device, dtype) for _ in range(4)]
    parameters = parameters_of(batches[0])
    sums = GradAccumulator(parameters)
    for _ in range(2):
        for i, batch in enumerate(batches):
            for parameter, grad in zip(parameters, batch):
                parameter.grad = grad.clone()
            norm = sums.finish() if i == 3 else sums.add()
            assert all(parameter.grad is None for parameter in parameters)
        for t, total in enumerate(sums.tensors):
            expected = batches[0][t].float()
            for batch in batches[1:]:
                expected = expected + batch[t].float()
            assert samples.same_bits(total, expected)
        exact = samples.norm64(sums.tensors)
        torch.testing.assert_close(norm.total.double(), exact, rtol=2e-7, atol=0)
        again = cuproof_ops.grad_norm(sums.tensors)
        assert samples.same_bits(norm.total, again.total)
        assert samples.same_bits(norm.per_tensor, again.per_tensor)
        assert norm.found_inf.item() == 0 and BadElement.of(norm.first_bad) is None


def test_first_batch_overwrites_what_was_there(device):
    sums = GradAccumulator(parameters_of([torch.ones(5, device=device)]))
    sums.tensors[0].fill_(math.nan)
    sums.add([torch.ones(5, device=device, dtype=torch.bfloat16)])
    assert sums.micro_batches == 1
    norm = sums.finish([torch.ones(5, device=device, dtype=torch.bfloat16)])
    assert sums.micro_batches == 0
    assert sums.tensors[0].tolist() == [2.0] * 5
    assert norm.found_inf.item() == 0


def test_clip_and_loss_scale(device):
    sums = GradAccumulator(parameters_of([torch.ones(4, device=device)]))
    scale = torch.full((), 8.0, device=device)
    norm = sums.finish([torch.full((4,), 8.0, device=device)], loss_scale=scale, max_norm=0.5)
    assert norm.total.item() == 2.0
    torch.testing.assert_close(norm.factor.item(), 0.25 / 8, rtol=1e-5, atol=0)
    torch.testing.assert_close(norm.grad_scale.item(), 32.0, rtol=1e-5, atol=0)
    norm = sums.finish([torch.full((4,), 8.0, device=device)], loss_scale=scale)
    assert norm.factor.item() == 1 / 8 and norm.grad_scale.item() == 8.0


def test_bad_element_of_the_sum(device):
    grads = [torch.ones(3, device=device), torch.ones(70000, device=device)]
    sums = GradAccumulator(parameters_of(grads))
    grads[1][66666] = math.inf
    norm = sums.finish(grads)
    bad = BadElement.of(norm.first_bad)
    assert (bad.tensor, bad.index, bad.value, bad.dtype) == (1, 66666, math.inf, torch.float32)
    assert norm.grad_scale.item() == 1.0


def test_reset_forgets(device):
    sums = GradAccumulator(parameters_of([torch.ones(3, device=device)]))
    sums.add([torch.ones(3, device=device)])
    sums.reset()
    sums.add([torch.ones(3, device=device)])
    assert sums.tensors[0].tolist() == [1.0] * 3


def test_missing_gradient_is_named(device):
    parameters = parameters_of([torch.ones(3, device=device), torch.ones(3, device=device)])
    parameters[0].grad = torch.ones(3, device=device)
    with pytest.raises(RuntimeError, match=r"grads\[1\]: expected a gradient, got None; give"):
        GradAccumulator(parameters).add()
    assert parameters[0].grad is not None


def micro_batches(device, count):
    return torch.randn(count, 8, 16, generator=torch.Generator().manual_seed(2)).to(device).unbind()


@pytest.mark.parametrize("scale", [None, 64.0])
def test_the_loop_of_the_docstring(device, scale):
    """Against the plain loop: gradients summed by backward(), clipped, a step."""
    results = []
    for ours in (True, False):
        torch.manual_seed(1)
        model = torch.nn.Sequential(torch.nn.Linear(16, 9), torch.nn.Linear(9, 3)).to(device)
        parameters = list(model.parameters())
        optimizer = torch.optim.AdamW(parameters, lr=0.01, fused=True)
        loss_scale = None if scale is None or not ours else torch.full((), scale, device=device)

        def loss(batch):
            return model(batch).square().mean() * (1 if loss_scale is None else loss_scale)

        sums = GradAccumulator(parameters)
        for _ in range(3):
            batches = micro_batches(device, 4)
            if not ours:
                for batch in batches:
                    loss(batch).backward()
                torch.nn.utils.clip_grad_norm_(parameters, 0.1)
                optimizer.step()
                optimizer.zero_grad()
                continue
            for batch in batches[:-1]:
                loss(batch).backward()
                sums.add()
            loss(batches[-1]).backward()
            norm = sums.finish(loss_scale=loss_scale, max_norm=0.1)
            for parameter, total in zip(parameters, sums.tensors):
                parameter.grad = total
            optimizer.grad_scale, optimizer.found_inf = norm.grad_scale, norm.found_inf
            optimizer.step()
            del optimizer.grad_scale, optimizer.found_inf
            optimizer.zero_grad()
        results.append([parameter.detach() for parameter in parameters])
    for a, b in zip(*results):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)


def test_add_for_every_micro_batch_is_named(device):
    parameters = samples.parameters([torch.ones(3, device=device)])
    sums = GradAccumulator(parameters)
    sums.add()
    with pytest.raises(RuntimeError, match="call add\\(\\) for all micro-batches but the last"):
        sums.finish()


@pytest.mark.parametrize("nothing", [list, lambda: (p for p in [])])
def test_no_parameters_are_refused(nothing):
    with pytest.raises(RuntimeError, match="parameters: expected at least one tensor, got none"):
        GradAccumulator(nothing())


@pytest.mark.parametrize("max_norm", [-1.0, math.nan, 1e-46])
def test_max_norm_is_zero_or_more(device, max_norm):
    parameters = samples.parameters([torch.ones(3, device=device)])
    sums = GradAccumulator(parameters)
    with pytest.raises(ValueError, match="max_norm: expected 0 for no clipping or a number from "):
        sums.finish(max_norm=max_norm)
    assert parameters[0].grad is not None


def test_two_thousand_tensors(device):
    tensors = samples.small_mixed(device)
    sums = GradAccumulator(parameters_of(tensors))
    sums.add(tensors)
    norm = sums.finish(tensors)
    torch.testing.assert_close(norm.total.double(), 2 * samples.norm64(tensors), rtol=2e-7, atol=0)
