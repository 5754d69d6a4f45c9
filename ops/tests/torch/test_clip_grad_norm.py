"""clip_grad_norm_ against torch.nn.utils: the same function, but for the rounding of the norm."""

import math
import warnings

import pytest
import torch

import cuproof_ops

import samples

torch_clip = torch.nn.utils.clip_grad_norm_


def both(tensors, *arguments, **named):
    """Our result and gradients, then torch's."""
    results = []
    for clip in (cuproof_ops.clip_grad_norm_, torch_clip):
        parameters = samples.parameters(samples.clone(tensors))
        results.append((clip(parameters, *arguments, **named), [p.grad for p in parameters]))
    return results


@pytest.mark.parametrize("max_norm", [0.1, 1.0, 3.0, 1e9, math.inf, 0.0, 1e-46, -1.0])
def test_float32_is_torch_within_the_norms_error(device, max_norm):
    (ours, our_grads), (theirs, their_grads) = both(samples.many(device, [torch.float32]), max_norm)
    assert ours.dtype == theirs.dtype == torch.float32 and ours.shape == theirs.shape == ()
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=0)
    for a, b in zip(our_grads, their_grads):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=0)


@pytest.mark.parametrize("max_norm", [0.1, 0.7, 1.0, 3.0, 17.3, 333.3, 1e9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_bits_of_torch_given_the_same_norm(device, max_norm, dtype):
    tensors = samples.many(device, [dtype])
    parameters = samples.parameters(samples.clone(tensors))
    total = cuproof_ops.clip_grad_norm_(parameters, max_norm)
    # torch rounds the factor to the type of the gradients; float16 is compared without that.
    theirs = samples.parameters([tensor.float() for tensor in tensors])
    torch.nn.utils.clip_grads_with_norm_(theirs, max_norm, total)
    for a, b in zip(parameters, theirs):
        assert samples.same_bits(a.grad, b.grad.to(dtype))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sixteen_bits_are_within_torchs_rounding(device, dtype):
    (ours, our_grads), (theirs, their_grads) = both(samples.many(device, [dtype]), 1.0)
    assert ours.dtype == torch.float32 and theirs.dtype == dtype
    tolerance = 4 * torch.finfo(dtype).eps
    torch.testing.assert_close(ours, theirs.float(), rtol=tolerance, atol=0)
    for a, b in zip(our_grads, their_grads):
        torch.testing.assert_close(a, b, rtol=tolerance, atol=1e-7)


def test_mixed_types(device):
    (ours, _), (theirs, _) = both(samples.many(device), 1.0)
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=0)


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_nonfinite_norm(device, value):
    tensors = samples.many(device, [torch.float32])
    tensors[4][0] = value
    (ours, our_grads), (theirs, their_grads) = both(tensors, 1.0)
    torch.testing.assert_close(ours, theirs, equal_nan=True)
    for a, b in zip(our_grads, their_grads):
        torch.testing.assert_close(a, b, equal_nan=True)
    untouched = samples.clone(tensors)
    with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
        cuproof_ops.clip_grad_norm_(samples.parameters(untouched), 1.0, error_if_nonfinite=True)
    assert all(samples.same_bits(a, b) for a, b in zip(untouched, tensors))


def test_error_if_nonfinite_with_finite_gradients(device):
    (ours, _), (theirs, _) = both(
        samples.many(device, [torch.float32]), 1.0, error_if_nonfinite=True
    )
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=0)


def test_one_tensor_generators_none_and_nothing(device):
    (parameter,) = samples.parameters([torch.ones(4, device=device)])
    assert cuproof_ops.clip_grad_norm_(parameter, 1.0).item() == 2.0
    assert cuproof_ops.clip_grad_norm_((p for p in [parameter]), 10.0).item() <= 1.0
    bare = torch.nn.Parameter(torch.ones(3, device=device))
    assert cuproof_ops.clip_grad_norm_([bare, parameter], 10.0).item() <= 1.0
    assert cuproof_ops.clip_grad_norm_([bare], 1.0).item() == torch_clip([bare], 1.0).item() == 0
    assert cuproof_ops.clip_grad_norm_([], 1.0).item() == 0
    with pytest.warns(UserWarning, match="empty generator"):
        cuproof_ops.clip_grad_norm_((p for p in []), 1.0)


def test_parameters_that_require_grad_while_grad_is_enabled(device):
    layer = torch.nn.Linear(4, 3).to(device)
    layer(torch.ones(2, 4, device=device)).sum().backward()
    assert torch.is_grad_enabled()
    total = cuproof_ops.clip_grad_norm_(layer.parameters(), 0.5)
    assert not total.requires_grad
    grads = [parameter.grad for parameter in layer.parameters()]
    assert abs(samples.norm64(grads).item() - 0.5) < 1e-5


def left_to_torch(device="cpu"):
    """Made on the device: a copy to it has no gaps any more."""
    one = torch.randn(6, device=device)
    return {
        "cpu": ([one], {}),
        "norm 1": ([one], {"norm_type": 1.0}),
        "norm inf": ([one], {"norm_type": "inf"}),
        "float64": ([one.double(), one], {}),
        "foreach": ([one, one.half()], {"foreach": True}),
        "no foreach": ([one, one.bfloat16()], {"foreach": False}),
        "gaps": ([torch.randn(12, device=device)[::2]], {}),
        "complex": ([torch.randn(6, dtype=torch.complex64, device=device)], {}),
    }


def same_as_torch(tensors, named):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (ours, our_grads), (theirs, their_grads) = both(tensors, 0.5, **named)
    assert samples.same_bits(ours, theirs)
    for a, b in zip(our_grads, their_grads):
        assert torch.equal(a, b)


@pytest.mark.parametrize("kind", left_to_torch())
def test_cpu_gradients_are_torchs_to_the_bit(kind):
    same_as_torch(*left_to_torch()[kind])


@pytest.mark.parametrize("kind", ["norm 1", "norm inf", "float64", "gaps", "complex"])
def test_what_the_kernels_do_not_take_is_torchs_to_the_bit(device, kind):
    same_as_torch(*left_to_torch(device)[kind])


def test_a_refusal_is_not_how_it_finds_out(device, monkeypatch):
    """An operator that throws costs more than the call; so do the warnings of torch about it."""

    def fails(*arguments):
        raise AssertionError("called with gradients that it does not take")

    for name in ("grad_clip_norm_", "grad_clip_factor"):
        monkeypatch.setattr(torch.ops.cuproof, name, fails)
    for kind in ("float64", "gaps", "complex"):
        tensors, named = left_to_torch(device)[kind]
        cuproof_ops.clip_grad_norm_(samples.parameters(tensors), 0.5, **named)


def test_sparse_gradients_are_torchs(device):
    table = torch.nn.Embedding(9, 4, sparse=True).to(device)
    results = []
    for clip in (cuproof_ops.clip_grad_norm_, torch_clip):
        table.weight.grad = None
        table(torch.tensor([1, 2, 1], device=device)).sum().backward()
        try:
            results.append(clip(table.parameters(), 0.5).item())
        except (RuntimeError, NotImplementedError) as error:
            results.append(type(error))
    assert results[0] == results[1]
