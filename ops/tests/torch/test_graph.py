"""CUDA graphs: every operator and a whole training step, captured, replayed with other data."""

import math
import subprocess
import sys
import textwrap

import torch

import cuproof_ops
from cuproof_ops import GradAccumulator, GradScaler, NonfiniteGuard, functional

import samples


def test_capture_right_after_prepare_in_a_fresh_process(cuda):
    code = """
    import torch, cuproof_ops
    from cuproof_ops import functional
    ops = torch.ops.cuproof
    lists = [[torch.ones(5, device="cuda")] * n for n in (3, 40, 400, 3000)]
    sums = [[torch.zeros(5, device="cuda") for _ in grads] for grads in lists]
    one = torch.ones((), device="cuda")
    half = torch.full((), 0.5, device="cuda")
    tracker = torch.zeros((), dtype=torch.int32, device="cuda")
    ring = torch.empty(ops.guard_ring_bytes(4), dtype=torch.uint8, device="cuda")
    cuproof_ops.prepare()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="global"):
        ops.guard_ring_init_(ring, 4)
        for grads, totals in zip(lists, sums):
            norm = cuproof_ops.grad_norm(grads)
            ops.grad_scale_(totals, half)
            ops.grad_accumulate_(totals, grads, False)
            ops.nonfinite_guard(grads, ring)
        ops.loss_scale_update_(one, tracker, norm.found_inf, 2.0, 0.5, 1)
        ops.guard_ring_acknowledge_(ring, 0)
    for _ in range(2):
        graph.replay()
    assert norm.total.item() == torch.tensor(15000.0).sqrt().item()
    assert one.item() == 4.0
    assert all(t[0].tolist() == [1.5] * 5 for t in sums)
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


def captured(call):
    cuproof_ops.prepare()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="global"):
        result = call()
    return graph, result


def refill(tensors, others):
    for tensor, other in zip(tensors, others):
        tensor.copy_(other)


def variants(device):
    """Lists of the same sizes and other values."""
    for seed in range(3):
        torch.manual_seed(seed)
        tensors = samples.many(device, scale=10.0**seed)
        if seed == 1:
            tensors[20][0] = math.inf
        yield tensors


def test_norm(cuda):
    static = samples.many(cuda)
    graph, result = captured(lambda: cuproof_ops.grad_norm(static))
    for tensors in variants(cuda):
        refill(static, tensors)
        graph.replay()
        for a, b in zip(result, cuproof_ops.grad_norm(tensors)):
            assert samples.same_bits(a, b)


def test_clip(cuda):
    static = samples.parameters(samples.many(cuda))
    graph, total = captured(lambda: cuproof_ops.clip_grad_norm_(static, 1.0))
    for tensors in variants(cuda):
        refill([parameter.grad for parameter in static], tensors)
        graph.replay()
        eager = samples.parameters(tensors)
        assert samples.same_bits(total, cuproof_ops.clip_grad_norm_(eager, 1.0))
        assert all(samples.same_bits(a.grad, b.grad) for a, b in zip(static, eager))


def test_scale(cuda):
    static = samples.many(cuda)
    factor, found = torch.ones((), device=cuda), torch.zeros((), device=cuda)

    def call():
        found.zero_()
        functional.grad_scale_(static, factor, found_inf=found)

    graph, _ = captured(call)
    for value, tensors in zip((1.0, 0.25, 1e-3), variants(cuda)):
        refill(static, tensors)
        factor.fill_(value)
        graph.replay()
        flag = torch.zeros((), device=cuda)
        functional.grad_scale_(tensors, factor, found_inf=flag)
        assert found.item() == flag.item()
        assert all(samples.same_bits(a, b) for a, b in zip(static, tensors))


def test_accumulator(cuda):
    static = samples.many(cuda)
    sums = GradAccumulator(static)

    def call():
        sums.add(static)
        return sums.finish(static, max_norm=1.0)

    graph, result = captured(call)
    eager = GradAccumulator(static)
    for tensors in variants(cuda):
        refill(static, tensors)
        graph.replay()
        eager.add(tensors)
        for a, b in zip(result, eager.finish(tensors, max_norm=1.0)):
            assert samples.same_bits(a, b)
        assert all(samples.same_bits(a, b) for a, b in zip(sums.tensors, eager.tensors))


def test_guard_counts_steps_at_every_replay(cuda):
    guard = NonfiniteGuard(device=cuda)
    static = torch.ones(1000, device=cuda)
    graph, _ = captured(lambda: guard.check([static], site="replayed", end_of_step=True))
    for step in range(6):
        static.fill_(1)
        if step in (2, 5):
            static[step] = math.nan
        graph.replay()
    records = guard.read()
    assert [(record.step, record.index, record.site) for record in records] == [
        (2, 2, "replayed"),
        (5, 5, "replayed"),
    ]


def test_loss_scale(cuda):
    scale = torch.full((), 8.0, device=cuda)
    tracker = torch.zeros((), dtype=torch.int32, device=cuda)
    found = torch.zeros((), device=cuda)
    graph, _ = captured(
        lambda: functional.loss_scale_update_(scale, tracker, found, growth_interval=3)
    )
    theirs = [scale.clone(), tracker.clone()]
    for bad in (0, 0, 0, 1, 0, 0, 0, 0, 1, 1):
        found.fill_(bad)
        graph.replay()
        torch._amp_update_scale_(*theirs, found, 2.0, 0.5, 3)
        assert (scale.item(), tracker.item()) == (theirs[0].item(), theirs[1].item())


class Step:
    """Forward, backward, unscale and clip, fused step, update of the scale. Elementwise, so that
    its bits do not depend on what cuBLAS chooses."""

    def __init__(self, device):
        torch.manual_seed(7)
        sizes = (3, 1000, 40000)
        self.parameters = [torch.nn.Parameter(torch.randn(n, device=device)) for n in sizes]
        self.inputs = [torch.randn(n, device=device) for n in sizes]
        self.optimizer = torch.optim.AdamW(self.parameters, lr=0.01, fused=True, capturable=True)
        self.scaler = GradScaler("cuda", init_scale=2.0**10, growth_interval=4)
        self.guard = NonfiniteGuard(device=device)

    def run(self):
        for parameter in self.parameters:
            parameter.grad = None
        loss = sum(
            (parameter * value).square().mean()
            for parameter, value in zip(self.parameters, self.inputs)
        )
        self.scaler.scale(loss).backward()
        grads = [parameter.grad for parameter in self.parameters]
        self.guard.check(grads, site="gradients", end_of_step=True)
        norm = self.scaler.unscale_and_clip_(self.optimizer, 0.05)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return norm

    def state(self):
        return [
            *(parameter.detach() for parameter in self.parameters),
            self.scaler._scale,
            self.scaler._growth_tracker,
            *(state["exp_avg"] for state in self.optimizer.state.values()),
        ]


def test_whole_step_with_backward(cuda):
    eager, static = Step(cuda), Step(cuda)
    cuproof_ops.prepare()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            static.run()
    torch.cuda.current_stream().wait_stream(side)
    for _ in range(3):
        eager.run()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        replayed_norm = static.run()
    for step in range(12):
        for a, b in zip(static.inputs, eager.inputs):
            values = torch.randn_like(a)
            if step == 5 and values.numel() == 1000:
                values[77] = math.inf
            a.copy_(values)
            b.copy_(values)
        graph.replay()
        norm = eager.run()
        assert samples.same_bits(replayed_norm, norm)
        for a, b in zip(static.state(), eager.state()):
            assert samples.same_bits(a, b)
    assert static.guard.read() == eager.guard.read()
    assert eager.scaler.get_scale() not in (2.0**10, 2.0**9)
