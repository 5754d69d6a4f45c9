"""The host never waits on the paths that say so: torch's own check, and the profiler's count."""

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

import cuproof_ops
from cuproof_ops import GradAccumulator, GradScaler, NonfiniteGuard, functional

import samples


class Training:
    def __init__(self, device, dtype):
        sizes = (5, 1000, 70000)
        self.parameters = [
            torch.nn.Parameter(torch.randn(n, device=device).to(dtype)) for n in sizes
        ]
        self.optimizer = torch.optim.AdamW(self.parameters, lr=0.01, fused=True)
        self.scaler = GradScaler("cuda")
        self.guard = NonfiniteGuard(device=device)
        self.sums = GradAccumulator(self.parameters)

    def backward(self):
        self.optimizer.zero_grad()
        loss = sum((parameter.float() ** 2).sum() for parameter in self.parameters)
        self.scaler.scale(loss).backward()

    def unscale_and_clip(self):
        self.backward()
        self.guard.check([p.grad for p in self.parameters], site="gradients", end_of_step=True)
        self.scaler.unscale_and_clip_(self.optimizer, 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def plain_step(self):
        self.backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def unscale_then_clip(self):
        self.backward()
        self.scaler.unscale_(self.optimizer)
        cuproof_ops.clip_grad_norm_(self.parameters, 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def accumulate(self):
        self.backward()
        self.sums.add()
        self.backward()
        self.sums.finish(loss_scale=self.scaler._scale, max_norm=1.0)

    def operators(self):
        with torch.no_grad():
            grads = [parameter.detach() for parameter in self.parameters]
            norm = cuproof_ops.grad_norm(grads)
            functional.grad_scale_(grads, norm.found_inf + 1, reciprocal=True)
            functional.nonfinite_guard(grads)
            tracker = torch.zeros((), dtype=torch.int32, device=norm.total.device)
            functional.loss_scale_update_(norm.total, tracker, norm.found_inf)


PATHS = ["unscale_and_clip", "plain_step", "unscale_then_clip", "accumulate", "operators"]
each = pytest.mark.parametrize("path", PATHS)
each_dtype = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])


def warm(device, dtype, path):
    training = Training(device, dtype)
    run = getattr(training, path)
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    return run


@each
@each_dtype
def test_torch_sees_no_synchronisation(cuda, path, dtype):
    run = warm(cuda, dtype, path)
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(3):
            run()
    finally:
        torch.cuda.set_sync_debug_mode("default")


@each
@each_dtype
def test_profiler_counts_none(cuda, path, dtype):
    run = warm(cuda, dtype, path)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for _ in range(3):
            run()
    names = [event.name for event in profiler.events()]
    if not any("Kernel" in name for name in names):
        pytest.skip("the profiler saw no kernel: CUPTI is not allowed here")
    waits = [
        name
        for name in names
        if "DtoH" in name
        or "HtoD" in name
        or name in ("cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy", "cudaMalloc")
    ]
    assert waits == []
    # The profiler itself waits once at its end.
    assert names.count("cudaDeviceSynchronize") <= 1


def test_torchs_own_scaler_is_caught_by_this_check(cuda):
    parameters = samples.parameters([torch.ones(3, device=cuda)])
    optimizer = torch.optim.AdamW(parameters, foreach=True)
    scaler = torch.amp.GradScaler("cuda")
    scaler.scale(torch.zeros((), device=cuda))
    torch.cuda.set_sync_debug_mode("error")
    try:
        with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
            scaler.step(optimizer)
    finally:
        torch.cuda.set_sync_debug_mode("default")
