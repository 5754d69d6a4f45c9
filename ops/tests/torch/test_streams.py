"""Work goes to the current stream of the tensors' device, and the current device stays."""

import math

import pytest
import torch

import cuproof_ops
from cuproof_ops import BadElement, GradScaler, NonfiniteGuard, functional

import samples

LONG = 200_000_000  # cycles: a tenth of a second, far longer than any launch here


@pytest.fixture(autouse=True)
def loaded():
    """All kernels of these tests: CUDA loads one at its first launch, and may wait to do so."""
    if torch.cuda.is_available():
        cuproof_ops.prepare()
        tensor = torch.ones(10, device="cuda")
        tensor[3] = math.inf
        tensor.fill_(2)
        torch.full((), 4.0, device="cuda")
        torch.cuda._sleep(1)
        torch.cuda.synchronize()


@pytest.fixture
def late(cuda):
    """A tensor that a side stream fills with 2 only after a long sleep; it holds 1 till then."""
    tensor = torch.ones(100_000, device=cuda)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(LONG)
        tensor.fill_(2)
    return tensor, stream


def test_norm_waits_for_its_stream(late):
    tensor, stream = late
    with torch.cuda.stream(stream):
        norm = cuproof_ops.grad_norm([tensor])
    assert not stream.query()
    stream.synchronize()
    assert norm.total.item() == torch.tensor(4.0 * 100_000).sqrt().item()


def test_scale_waits_for_its_stream(late):
    tensor, stream = late
    with torch.cuda.stream(stream):
        functional.grad_scale_([tensor], torch.full((), 4.0, device=tensor.device))
    assert not stream.query()
    stream.synchronize()
    assert tensor[0].item() == 8.0


def test_guard_waits_for_its_stream(cuda):
    guard = NonfiniteGuard(device=cuda)
    tensor = torch.ones(1000, device=cuda)
    # Loading a kernel for the first time may wait for the GPU.
    tensor.narrow(0, 5, 1).fill_(0.0)
    guard.check([tensor], site="early")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(LONG)
        tensor.narrow(0, 3, 1).fill_(math.inf)
        guard.check([tensor], site="late")
    assert not stream.query()
    assert [record.index for record in guard.read()] == [3]


def test_workspace_survives_until_its_kernels_ran(cuda):
    tensors = samples.many(cuda, sizes=[1 << 20, 77, 1 << 16])
    expected = cuproof_ops.grad_norm(tensors)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(LONG)
        results = [cuproof_ops.grad_norm(tensors) for _ in range(4)]
        # Would land in a workspace that was given away too early.
        trash = [torch.full((1 << 12,), math.nan, device=cuda) for _ in range(64)]
    stream.synchronize()
    del trash
    for result in results:
        for a, b in zip(result, expected):
            assert samples.same_bits(a, b)


def test_four_streams_at_once(cuda):
    lists = [samples.many(cuda, scale=float(i + 1)) for i in range(4)]
    expected = [cuproof_ops.grad_norm(tensors).total for tensors in lists]
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in lists]
    totals = []
    for _ in range(25):
        for stream, tensors in zip(streams, lists):
            with torch.cuda.stream(stream):
                totals.append(cuproof_ops.grad_norm(tensors).total)
    torch.cuda.synchronize()
    for i, total in enumerate(totals):
        assert samples.same_bits(total, expected[i % 4])


def test_guards_of_four_streams_share_a_ring(cuda):
    guard = NonfiniteGuard(capacity=400, device=cuda)
    bad = torch.full((1000,), math.nan, device=cuda)
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in range(4)]
    for _ in range(25):
        for i, stream in enumerate(streams):
            with torch.cuda.stream(stream):
                guard.check([bad], site=str(i))
    sites = [record.site for record in guard.read()]
    assert sorted(sites) == sorted([str(i) for i in range(4)] * 25)
    assert guard.dropped == 0


def test_second_device_and_the_current_one_stays(cuda):
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    with torch.cuda.device(0):
        cuproof_ops.prepare(1)
        other = torch.device("cuda", 1)
        tensors = samples.many(other)
        norm = cuproof_ops.grad_norm(tensors)
        assert norm.total.device == other and torch.cuda.current_device() == 0
        torch.testing.assert_close(norm.total.double(), samples.norm64(tensors))
        parameters = samples.parameters(tensors)
        cuproof_ops.clip_grad_norm_(parameters, 1.0)
        exact = samples.norm64([parameter.grad for parameter in parameters]).item()
        assert abs(exact - 1) < 1e-3
        guard = NonfiniteGuard(device=1)
        tensors[-1][0] = math.nan
        guard.check(tensors, site="second")
        assert guard.read()[0].tensor == len(tensors) - 1
        assert BadElement.of(cuproof_ops.grad_norm(tensors).first_bad).index == 0
        assert torch.cuda.current_device() == 0


def test_scaler_with_gradients_on_two_devices(cuda):
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    results = []
    for kind in (GradScaler, torch.amp.GradScaler):
        torch.manual_seed(2)
        parameters = samples.parameters(
            [torch.randn(100, device="cuda:0"), torch.randn(100, device="cuda:1")]
        )
        optimizer = torch.optim.AdamW(parameters, lr=0.1, fused=True)
        scaler = kind("cuda", init_scale=4.0)
        scaler.scale(torch.zeros((), device="cuda:0"))
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(parameters, 0.5)
        scaler.step(optimizer)
        scaler.update()
        results.append([parameter.detach() for parameter in parameters])
    assert all(samples.same_bits(a, b) for a, b in zip(*results))
