"""Subclasses of tensor, DTensor above all: torch's own functions get them whole, or one line says
that they are not taken."""

import pytest
import torch
import torch.distributed
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor, init_device_mesh

import cuproof_ops
from cuproof_ops import GradAccumulator, GradScaler, NonfiniteGuard, functional

import samples

each_placement = pytest.mark.parametrize("placement", [Shard(0), Replicate()], ids=str)
each_optimizer = pytest.mark.parametrize(
    "make",
    [
        lambda parameters: torch.optim.AdamW(parameters, lr=0.01, fused=True),
        lambda parameters: torch.optim.SGD(parameters, lr=0.01),
    ],
    ids=["fused", "not fused"],
)


@pytest.fixture(scope="module")
def mesh():
    if not torch.distributed.is_gloo_available():
        pytest.skip("torch without gloo")
    torch.distributed.init_process_group(
        "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    )
    yield init_device_mesh("cpu", (1,))
    torch.distributed.destroy_process_group()


def distributed(mesh, placement, tensor):
    return distribute_tensor(tensor, mesh, [placement])


def parameters_on(mesh, placement, plain_too=False):
    torch.manual_seed(6)
    kinds = [lambda tensor: distributed(mesh, placement, tensor)] * 2
    if plain_too:
        kinds = [lambda tensor: tensor, kinds[0]]
    result = []
    for kind in kinds:
        parameter = torch.nn.Parameter(kind(torch.randn(6, 3)))
        parameter.grad = kind(torch.randn(6, 3) * 4)
        result.append(parameter)
    return result


def whole(tensor):
    tensor = tensor.detach()
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def same(ours, theirs):
    assert type(ours) is type(theirs)
    assert samples.same_bits(whole(ours), whole(theirs))


@each_placement
def test_clip_is_torchs(with_reference, mesh, placement):
    results = []
    for clip in (cuproof_ops.clip_grad_norm_, torch.nn.utils.clip_grad_norm_):
        parameters = parameters_on(mesh, placement)
        results.append([clip(parameters, 0.5), *(p.grad for p in parameters)])
    for ours, theirs in zip(*results):
        same(ours, theirs)


def scaled_step(kind, parameters, make, before):
    optimizer = make(parameters)
    scaler = kind("cpu", init_scale=4.0)
    scaler.scale(torch.zeros(()))
    norm = before(scaler, optimizer, parameters)
    scaler.step(optimizer)
    scaler.update()
    return [*([] if norm is None else [norm]), *parameters], scaler.get_scale()


def unscale(scaler, optimizer, parameters):
    scaler.unscale_(optimizer)


def nothing(scaler, optimizer, parameters):
    pass


def unscale_then_clip(scaler, optimizer, parameters):
    scaler.unscale_(optimizer)
    return torch.nn.utils.clip_grad_norm_(parameters, 0.5)


def unscale_and_clip(scaler, optimizer, parameters):
    return scaler.unscale_and_clip_(optimizer, 0.5)


@each_optimizer
@each_placement
@pytest.mark.parametrize("bad", [False, True])
@pytest.mark.parametrize(
    "ours, theirs",
    [(nothing, nothing), (unscale, unscale), (unscale_and_clip, unscale_then_clip)],
    ids=["step", "unscale", "unscale and clip"],
)
def test_scaler_is_torchs(with_reference, mesh, placement, make, bad, ours, theirs):
    results = []
    for kind, before in ((GradScaler, ours), (torch.amp.GradScaler, theirs)):
        parameters = parameters_on(mesh, placement)
        if bad:
            parameters[1].grad.to_local()[2, 1] = torch.inf
        results.append(scaled_step(kind, parameters, make, before))
    assert results[0][1] == results[1][1] == (2.0 if bad else 4.0)
    for a, b in zip(results[0][0], results[1][0]):
        same(a, b)


def test_plain_gradients_beside_distributed_ones(with_reference, mesh):
    parameters = parameters_on(mesh, Shard(0), plain_too=True)
    before = [whole(parameter.grad).clone() for parameter in parameters]
    scaler = GradScaler("cpu", init_scale=4.0)
    scaler.scale(torch.zeros(()))
    scaler.unscale_(torch.optim.SGD(parameters, lr=0.1))
    for parameter, grad in zip(parameters, before):
        assert torch.equal(whole(parameter.grad), grad / 4)


class Labelled(torch.Tensor):
    """A subclass as users write it, with nothing of its own."""


def test_any_subclass_is_torchs(with_reference):
    results = []
    for clip in (cuproof_ops.clip_grad_norm_, torch.nn.utils.clip_grad_norm_):
        torch.manual_seed(6)
        (parameter,) = samples.parameters([torch.randn(6).as_subclass(Labelled)])
        results.append([clip([parameter], 0.5), parameter.grad])
    for ours, theirs in zip(*results):
        same(ours, theirs)


def test_what_hands_nothing_to_torch_says_so(with_reference, mesh):
    tensor = distributed(mesh, Shard(0), torch.ones(4))
    plain = torch.ones(4)
    guard = NonfiniteGuard(device="cpu")
    for call in (
        lambda: cuproof_ops.grad_norm([plain, tensor]),
        lambda: cuproof_ops.grad_norm([plain], tensor),
        lambda: functional.grad_scale_([tensor], torch.ones(())),
        lambda: functional.grad_accumulate_([plain], [tensor]),
        lambda: functional.nonfinite_guard([tensor]),
        lambda: guard.check([tensor]),
        lambda: GradAccumulator([tensor]),
        lambda: GradAccumulator([plain]).add([tensor]),
    ):
        with pytest.raises(RuntimeError, match="expected a plain tensor, got DTensor; ") as error:
            call()
        assert "\n" not in str(error.value)
