"""Programs whose launches are counted twice: workloads.py NAME. What they print does not change from run
to run. With WORKLOAD_NODES=FILE, `graphs` writes there what the driver says of its graph's nodes."""

import json
import os
import sys


def seeded():
    import torch

    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    return torch


def training_step(torch, compiled=False):
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 16, 3, padding=1)
            self.linear = nn.Linear(16 * 16, 64)
            self.attention = nn.MultiheadAttention(64, 4, batch_first=True)
            self.out = nn.Linear(64, 1)

        def forward(self, x):
            x = torch.relu(self.conv(x)).permute(0, 2, 3, 1).reshape(x.shape[0], 16, 256)
            x = self.linear(x)
            x, _ = self.attention(x, x, x, need_weights=False)
            return self.out(x).mean()

    model = Model().cuda()
    if compiled:
        model = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = torch.randn(8, 3, 16, 16, device="cuda")
    for _ in range(10):
        optimizer.zero_grad()
        loss = model(data) ** 2
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}")


def eager():
    training_step(seeded())


def compiled():
    training_step(seeded(), compiled=True)


def triton_kernel():
    import torch
    import triton
    import triton.language as tl

    global add_kernel

    @triton.jit
    def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)

    x = torch.arange(10000, device="cuda", dtype=torch.float32)
    out = torch.empty_like(x)
    for _ in range(50):
        add_kernel[(triton.cdiv(10000, 256),)](x, x, out, 10000, BLOCK=256)
    print(out.sum().item())


def graphs():
    torch = seeded()
    x = torch.ones(1024, 1024, device="cuda")
    weight = torch.full((1024, 1024), 0.001, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            y = torch.relu(x @ weight) + 1
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph):
        y = torch.relu(x @ weight) + 1
        z = torch.zeros_like(y)
        z.copy_(y)
        other = torch.cuda.Stream()
        other.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(other):
            w = z * 2
        torch.cuda.current_stream().wait_stream(other)
        total = w.sum()
    graph.instantiate()
    for _ in range(25):
        graph.replay()
    print(f"{total.item():.3f}")
    if "WORKLOAD_NODES" in os.environ:
        from cuda.bindings import driver

        raw = driver.CUgraph(graph.raw_cuda_graph())
        _, _, count = driver.cuGraphGetNodes(raw)
        _, nodes, _ = driver.cuGraphGetNodes(raw, count)
        kinds = {}
        for node in nodes[:count]:
            kind = driver.cuGraphNodeGetType(node)[1].name.rsplit("_", 1)[-1].lower()
            kinds[kind] = kinds.get(kind, 0) + 1
        with open(os.environ["WORKLOAD_NODES"], "w") as file:
            json.dump(kinds, file)


def jax_loop():
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(x):
        return jnp.tanh(x @ x.T).sum(axis=1, keepdims=True) + x * 0.5

    x = jnp.ones((256, 256), jnp.float32)
    for _ in range(30):
        x = step(x)
    print(f"{float(x.sum()):.3f}")


def cupy_loop():
    import cupy

    kernel = cupy.RawKernel(
        'extern "C" __global__ void twice(float* x) { x[blockIdx.x * 256 + threadIdx.x] *= 2; }', "twice"
    )
    x = cupy.ones(1 << 16, dtype=cupy.float32)
    for _ in range(10):
        kernel((256,), (256,), (x,))
        x = cupy.sqrt(x) + 1
    print(float(x.sum()), float(abs(cupy.fft.fft(x)).max()))


def threads():
    torch = seeded()
    import threading

    results = [None] * 16

    def work(number):
        with torch.cuda.stream(torch.cuda.Stream()):
            x = torch.full((100, 100), float(number), device="cuda")
            for _ in range(200):
                x = x * 0.5 + 1
            results[number] = x.sum().item()

    workers = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(results)


class Numbers:
    def __len__(self):
        return 32

    def __getitem__(self, index):
        import torch

        return torch.full((4,), float(index))


class NumbersOnGpu(Numbers):
    def __getitem__(self, index):
        import torch

        return (torch.full((4,), float(index), device="cuda") + 1).cpu()


def loaders():
    import torch
    from torch.utils.data import DataLoader

    total = torch.zeros(4, device="cuda")
    for batch in DataLoader(Numbers(), batch_size=4, num_workers=2, multiprocessing_context="fork"):
        total += batch.cuda().sum(0)
    for batch in DataLoader(NumbersOnGpu(), batch_size=4, num_workers=2, multiprocessing_context="spawn"):
        total += batch.cuda().sum(0)
    print(total.tolist())


def serve():
    """The small-op loop of the cost benchmark, by turns: see launches.cu."""
    import time

    import torch

    layers = [torch.nn.Linear(64, 64, device="cuda") for _ in range(8)]
    x = torch.randn(16, 64, device="cuda")
    with torch.no_grad():
        for _ in range(20):
            for layer in layers:
                layer(x)
        torch.cuda.synchronize()
        print("ready", flush=True)
        for line in sys.stdin:
            count = int(line)
            spent = 0.0
            for _ in range(0, count, 20):
                start = time.perf_counter_ns()
                for _ in range(20):
                    for layer in layers:
                        layer(x)
                spent += time.perf_counter_ns() - start
                torch.cuda.synchronize()
            print(f"{spent / count:.3f}", flush=True)


WORKLOADS = {
    "eager": eager, "compiled": compiled, "triton": triton_kernel, "graphs": graphs, "jax": jax_loop,
    "cupy": cupy_loop, "threads": threads, "loaders": loaders, "serve": serve,
}

if __name__ == "__main__":
    WORKLOADS[sys.argv[1]]()
