"""GradScaler against torch.amp.GradScaler: scales, parameters, protocol; 50 steps with Infs."""

import copy
import math
import pickle

import pytest
import torch

import cuproof_ops
from cuproof_ops import GradScaler

import samples

STEPS = 50
INF_STEPS = {3: math.inf, 4: math.nan, 11: -math.inf, 30: math.inf}

ADAMW = ("fused", lambda p: torch.optim.AdamW(p, lr=0.01, fused=True))
OPTIMIZERS = [
    ADAMW,
    ("fused sgd", lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, fused=True)),
    ("foreach", lambda p: torch.optim.AdamW(p, lr=0.01, foreach=True)),
    ("loop", lambda p: torch.optim.SGD(p, lr=0.01, foreach=False)),
]
each_optimizer = pytest.mark.parametrize(
    "make", [make for _, make in OPTIMIZERS], ids=[name for name, _ in OPTIMIZERS]
)


def model(device, dtype=torch.float32):
    torch.manual_seed(3)
    layers = torch.nn.Sequential(
        torch.nn.Linear(16, 33), torch.nn.Tanh(), torch.nn.Linear(33, 5), torch.nn.LayerNorm(5)
    )
    return layers.to(device=device, dtype=dtype)


def scaler_of(kind, device, **named):
    named = {"init_scale": 2.0**10, "growth_interval": 5, **named}
    return kind(device.type, **named)


def train(device, kind, make, before_step=None, dtype=torch.float32, steps=STEPS):
    """Scales after each step, norms, and the parameters at the end."""
    net = model(device, dtype)
    optimizer = make(net.parameters())
    scaler = scaler_of(kind, device)
    batches = torch.Generator().manual_seed(4)
    scales, norms = [], []
    for step in range(steps):
        batch = torch.randn(8, 16, generator=batches).to(device=device, dtype=dtype)
        optimizer.zero_grad()
        loss = net(batch).float().square().mean()
        scaler.scale(loss).backward()
        if step in INF_STEPS:
            net[2].weight.grad[1, 2] = INF_STEPS[step]
        if before_step is not None:
            norms.append(before_step(scaler, optimizer, net))
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    return scales, norms, [parameter.detach() for parameter in net.parameters()]


def unscale(scaler, optimizer, net):
    scaler.unscale_(optimizer)


def unscale_then_clip(clip):
    def before_step(scaler, optimizer, net):
        scaler.unscale_(optimizer)
        return clip(net.parameters(), 0.05)

    return before_step


def unscale_and_clip(scaler, optimizer, net):
    return scaler.unscale_and_clip_(optimizer, 0.05)


@each_optimizer
@pytest.mark.parametrize("before_step", [None, unscale], ids=["step", "unscale"])
def test_same_scales_and_parameter_bits(device, make, before_step):
    ours = train(device, GradScaler, make, before_step)
    theirs = train(device, torch.amp.GradScaler, make, before_step)
    assert ours[0] == theirs[0]
    assert len(set(ours[0])) > 3, "the scale must go up and down for this to mean anything"
    assert all(samples.same_bits(a, b) for a, b in zip(ours[2], theirs[2]))


@each_optimizer
def test_unscale_and_clip_is_unscale_then_clip(device, make):
    scales, norms, parameters = train(device, GradScaler, make, unscale_and_clip)
    theirs = train(
        device, torch.amp.GradScaler, make, unscale_then_clip(torch.nn.utils.clip_grad_norm_)
    )
    assert scales == theirs[0]
    for step, (a, b) in enumerate(zip(norms, theirs[1])):
        assert a.dtype == torch.float32 and a.shape == ()
        if step in INF_STEPS:
            assert not torch.isfinite(a)
        else:
            # Parameters drift apart by rounding, and the norms with them.
            torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-6)
    for a, b in zip(parameters, theirs[2]):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-5)


def one_step(device, make, kind, before_step, grads, scale=2.0**10):
    parameters = samples.parameters(samples.clone(grads))
    optimizer = make(parameters)
    scaler = scaler_of(kind, device, init_scale=scale)
    scaler.scale(torch.zeros((), device=device))
    norm = before_step(scaler, optimizer, parameters)
    scaler.step(optimizer)
    return norm, parameters


def test_a_fused_step_leaves_unscaled_clipped_gradients(device):
    grads = samples.many(device, [torch.float32], scale=100.0)
    norm, parameters = one_step(
        device, ADAMW[1], GradScaler, lambda s, o, p: s.unscale_and_clip_(o, 0.5), grads
    )
    exact = samples.norm64(grads) / 2.0**10
    torch.testing.assert_close(norm.double(), exact, rtol=1e-6, atol=0)
    for parameter, grad in zip(parameters, grads):
        expected = grad.double() / 2.0**10 * (0.5 / exact)
        torch.testing.assert_close(parameter.grad.double(), expected, rtol=1e-5, atol=1e-12)


def test_in_place_gradients_are_the_definition(device):
    grads = samples.many(device, [torch.float32, torch.bfloat16], scale=100.0)
    make = OPTIMIZERS[3][1]
    norm, parameters = one_step(
        device, make, GradScaler, lambda s, o, p: s.unscale_and_clip_(o, 0.5), grads
    )
    clip = torch.clamp(0.5 / (norm + 1e-6), max=1.0)
    factor = clip * torch.tensor(2.0**-10, device=device)
    for parameter, grad in zip(parameters, grads):
        assert samples.same_bits(parameter.grad, (grad.float() * factor).to(grad.dtype))


@pytest.mark.parametrize("bad", [False, True])
def test_bfloat16_unscale_by_hand(device, bad):
    grads = samples.many(device, [torch.bfloat16], scale=100.0)
    if bad:
        grads[-1][-1] = math.inf
    scaler = scaler_of(GradScaler, device, init_scale=3.0)
    parameters = samples.parameters(samples.clone(grads))
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    scaler.scale(torch.zeros((), device=device))
    scaler.unscale_(optimizer)
    inverse = torch.tensor(3.0, device=device).double().reciprocal().float()
    for parameter, grad in zip(parameters, grads):
        assert samples.same_bits(parameter.grad, (grad.float() * inverse).bfloat16())
    (found,) = scaler._found_inf_per_device(optimizer).values()
    assert found.item() == bad


@each_optimizer
def test_bfloat16_training_follows_the_rule_of_the_scale(device, make):
    scales, _, parameters = train(device, GradScaler, make, unscale_and_clip, torch.bfloat16)
    expected, scale, good = [], 2.0**10, 0
    for step in range(STEPS):
        if step in INF_STEPS:
            scale, good = scale / 2, 0
        else:
            good += 1
            if good == 5:
                scale, good = scale * 2, 0
        expected.append(scale)
    assert scales == expected
    assert all(torch.isfinite(parameter).all() for parameter in parameters)


@each_optimizer
def test_a_bad_step_changes_nothing(device, make):
    grads = [torch.ones(5, device=device), torch.full((3,), math.nan, device=device)]
    for before in (lambda *_: None, lambda s, o, p: s.unscale_and_clip_(o, 1.0)):
        _, parameters = one_step(device, make, GradScaler, before, grads)
        assert all((parameter == 0).all() for parameter in parameters)


def test_infinite_max_norm_only_unscales(device):
    grads = samples.many(device, [torch.float32], scale=100.0)
    make = OPTIMIZERS[3][1]
    _, ours = one_step(
        device, make, GradScaler, lambda s, o, p: s.unscale_and_clip_(o, math.inf), grads
    )
    _, theirs = one_step(device, make, torch.amp.GradScaler, lambda s, o, p: s.unscale_(o), grads)
    assert all(samples.same_bits(a.grad, b.grad) for a, b in zip(ours, theirs))


@pytest.mark.parametrize("max_norm", [0.0, -1.0, math.nan])
def test_max_norm_is_over_zero(device, max_norm):
    scaler = scaler_of(GradScaler, device)
    with pytest.raises(ValueError, match="max_norm: expected a number over 0, got "):
        scaler.unscale_and_clip_(torch.optim.SGD([torch.ones(1)], lr=0.1), max_norm)


@each_optimizer
def test_protocol_errors_are_torchs(device, make):
    parameters = samples.parameters([torch.ones(3, device=device)])
    optimizer = make(parameters)
    scaler = scaler_of(GradScaler, device)
    with pytest.raises(AssertionError, match="_scale is None"):
        scaler.unscale_and_clip_(optimizer, 1.0)
    scaler.scale(torch.zeros((), device=device))
    scaler.unscale_and_clip_(optimizer, 1.0)
    with pytest.raises(RuntimeError, match="after unscale_"):
        scaler.unscale_and_clip_(optimizer, 1.0)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_and_clip_(optimizer, 1.0)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.step(optimizer)
    scaler.update()
    scaler.unscale_and_clip_(optimizer, 1.0)


def test_a_step_that_never_comes_leaves_nothing_behind(device):
    parameters = samples.parameters([torch.ones(3, device=device)])
    optimizer = ADAMW[1](parameters)
    scaler = scaler_of(GradScaler, device)
    scaler.scale(torch.zeros((), device=device))
    scaler.unscale_and_clip_(optimizer, 1.0)
    assert hasattr(optimizer, "grad_scale")
    scaler.update()
    assert not hasattr(optimizer, "grad_scale")


@pytest.mark.parametrize("instead", [None, 3.0])
def test_a_divisor_that_the_user_took_away_is_left_to_the_user(device, instead):
    parameters = samples.parameters([torch.ones(3, device=device)])
    optimizer = ADAMW[1](parameters)
    scaler = scaler_of(GradScaler, device)
    scaler.scale(torch.zeros((), device=device))
    scaler.unscale_and_clip_(optimizer, 1.0)
    del optimizer.grad_scale
    if instead is not None:
        optimizer.grad_scale = torch.full((), instead, device=device)
    scaler.update()
    assert hasattr(optimizer, "grad_scale") == (instead is not None)


@each_optimizer
def test_a_max_norm_below_float32_zeroes_as_torchs(device, make):
    grads = samples.many(device, [torch.float32])
    before = lambda s, o, p: s.unscale_and_clip_(o, 1e-46)  # noqa: E731
    _, parameters = one_step(device, make, GradScaler, before, grads)
    assert all((parameter.grad == 0).all() for parameter in parameters)


def test_a_skipped_step_leaves_the_scaled_gradients(device):
    grads = [torch.ones(5, device=device), torch.full((3,), math.nan, device=device)]
    before = lambda s, o, p: s.unscale_and_clip_(o, 1.0)  # noqa: E731
    _, parameters = one_step(device, ADAMW[1], GradScaler, before, grads)
    assert parameters[0].grad.tolist() == [1.0] * 5


def test_two_optimizers_are_clipped_each_by_its_own_norm(device):
    first, second = (samples.parameters([torch.full((4,), v, device=device)]) for v in (2.0, 4.0))
    scaler = scaler_of(GradScaler, device, init_scale=1.0)
    scaler.scale(torch.zeros((), device=device))
    optimizers = [torch.optim.SGD(each, lr=0.1) for each in (first, second)]
    norms = [scaler.unscale_and_clip_(optimizer, 1.0).item() for optimizer in optimizers]
    assert norms == [4.0, 8.0]
    assert torch.allclose(first[0].grad, second[0].grad)


def test_a_grad_scale_of_the_user_is_part_of_the_scale(device):
    grads = [torch.full((4,), 6.0, device=device)]

    def before(scaler, optimizer, parameters):
        optimizer.grad_scale = torch.full((), 3.0, device=device)
        return scaler.unscale_and_clip_(optimizer, 100.0)

    norm, (parameter,) = one_step(device, ADAMW[1], GradScaler, before, grads, scale=2.0)
    assert norm.item() == 2.0
    assert parameter.grad.tolist() == [1.0] * 4


def test_float16_gradients(device):
    grads = [torch.ones(4, device=device, dtype=torch.float16)]
    for kind in (GradScaler, torch.amp.GradScaler):
        with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
            one_step(device, OPTIMIZERS[3][1], kind, unscale, grads)
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        one_step(device, OPTIMIZERS[3][1], GradScaler, unscale_and_clip, grads)
    # A fused optimizer divides in float32, so torch lets it have them; so do we.
    norm, _ = one_step(device, ADAMW[1], GradScaler, unscale_and_clip, grads)
    assert norm.item() == 2.0 / 2.0**10


def test_no_gradients_is_torchs_assertion(device):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2, device=device))], lr=0.1)
    scaler = scaler_of(GradScaler, device)
    scaler.scale(torch.zeros((), device=device))
    with pytest.raises(AssertionError, match="No inf checks were recorded"):
        scaler.step(optimizer)


def test_two_optimizers_share_the_scale(device):
    results = []
    for kind in (GradScaler, torch.amp.GradScaler):
        first, second = (samples.parameters([torch.ones(3, device=device)]) for _ in range(2))
        second[0].grad[0] = math.inf
        optimizers = [ADAMW[1](first), torch.optim.SGD(second, lr=0.1)]
        scaler = scaler_of(kind, device)
        scaler.scale(torch.zeros((), device=device))
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update()
        results.append((scaler.get_scale(), first[0].detach(), second[0].detach()))
    assert results[0][0] == results[1][0] == 2.0**9
    assert all(samples.same_bits(a, b) for a, b in zip(results[0][1:], results[1][1:]))


def test_state_travels_between_the_two_classes(device):
    ours = scaler_of(GradScaler, device)
    ours.scale(torch.zeros((), device=device))
    theirs = scaler_of(torch.amp.GradScaler, device, init_scale=1.0)
    theirs.load_state_dict(ours.state_dict())
    assert theirs.state_dict() == ours.state_dict()
    back = scaler_of(GradScaler, device, init_scale=7.0)
    back.load_state_dict(theirs.state_dict())
    assert back.get_scale() == 2.0**10
    assert pickle.loads(pickle.dumps(ours)).state_dict() == ours.state_dict()
    assert copy.deepcopy(ours).get_scale() == 2.0**10


def test_disabled_is_a_plain_step(device):
    parameters = samples.parameters([torch.full((4,), 2.0, device=device)])
    optimizer = torch.optim.SGD(parameters, lr=1.0)
    scaler = scaler_of(GradScaler, device, enabled=False)
    assert scaler.unscale_and_clip_(optimizer, 1.0).item() == 4.0
    scaler.step(optimizer)
    scaler.update()
    torch.testing.assert_close(parameters[0].norm().item(), 1.0, rtol=1e-6, atol=0)


def test_sparse_gradients_are_unscaled(device):
    results = []
    for kind in (GradScaler, torch.amp.GradScaler):
        torch.manual_seed(5)
        table = torch.nn.Embedding(9, 4, sparse=True).to(device)
        optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
        scaler = scaler_of(kind, device)
        scaler.scale(table(torch.tensor([1, 2, 1], device=device)).sum()).backward()
        scaler.step(optimizer)
        results.append(table.weight.detach())
    assert samples.same_bits(*results)


def test_one_call_for_all_that_the_kernels_take(device, monkeypatch):
    real, calls = torch.ops.cuproof.grad_scale_, []

    def counted(grads, *arguments):
        calls.append(len(grads))
        return real(grads, *arguments)

    monkeypatch.setattr(torch.ops.cuproof, "grad_scale_", counted)
    grads = samples.many(device, [torch.float32, torch.float64, torch.bfloat16])
    one_step(device, OPTIMIZERS[3][1], GradScaler, unscale, grads)
    assert calls == [2 * len(samples.SIZES)]


def test_float64_and_gaps_go_to_torch(device):
    grads = [torch.randn(6, device=device).double(), torch.randn(6, device=device)]
    grads.append(torch.randn(12, device=device)[::2])
    results = []
    for kind in (GradScaler, torch.amp.GradScaler):
        _, parameters = one_step(device, OPTIMIZERS[3][1], kind, unscale, grads)
        results.append([parameter.grad for parameter in parameters])
    assert all(torch.equal(a, b) for a, b in zip(*results))
    norm, _ = one_step(device, OPTIMIZERS[3][1], GradScaler, unscale_and_clip, grads)
    torch.testing.assert_close(norm.double(), samples.norm64(grads) / 2.0**10)


@each_optimizer
@pytest.mark.parametrize("before_step", [None, unscale], ids=["step", "unscale"])
def test_cpu_training_is_torchs_to_the_bit(make, before_step):
    cpu = torch.device("cpu")
    ours = train(cpu, GradScaler, make, before_step, steps=15)
    theirs = train(cpu, torch.amp.GradScaler, make, before_step, steps=15)
    assert ours[0] == theirs[0]
    assert all(samples.same_bits(a, b) for a, b in zip(ours[2], theirs[2]))


def test_cpu_unscale_and_clip_is_torchs_two_calls():
    cpu = torch.device("cpu")
    ours = train(cpu, GradScaler, ADAMW[1], unscale_and_clip, steps=15)
    theirs = train(
        cpu,
        torch.amp.GradScaler,
        ADAMW[1],
        unscale_then_clip(torch.nn.utils.clip_grad_norm_),
        steps=15,
    )
    assert ours[0] == theirs[0]
    assert all(samples.same_bits(a, b) for a, b in zip(ours[2], theirs[2]))


def test_it_is_a_torch_scaler():
    assert issubclass(cuproof_ops.GradScaler, torch.amp.GradScaler)
