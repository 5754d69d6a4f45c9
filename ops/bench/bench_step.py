#!/usr/bin/env python3
"""The optimizer's side of a training step: unscale, clip, fused AdamW, update of the scale.

1.3 billion fp32 parameters of the sizes of a GPT (24 layers of 2,048), one copy for torch's
GradScaler and one for ours. Backward is left out: gradients lie there already."""

import statistics

import torch

import clib
import measure
import shapes
from measure import Contender

NEAR_ONE = 1 + 2 ** -23
MAX_NORM = 1.0
SYNCS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize")


class Side:
    """Parameters, optimizer and scaler of one contender; step() is what is timed."""

    def __init__(self, make_scaler, clip, sizes, seed=5):
        torch.manual_seed(seed)
        self.parameters = [torch.nn.Parameter(torch.randn(n, device="cuda") * 0.02)
                           for n in sizes]
        for p in self.parameters:
            p.grad = torch.empty_like(p)
        self.optimizer = torch.optim.AdamW(self.parameters, lr=1e-3, weight_decay=0.1, fused=True)
        self.make_scaler, self.clip = make_scaler, clip
        self.loss = torch.ones((), device="cuda")
        self.set_scaler(NEAR_ONE)

    def set_scaler(self, scale):
        self.scaler = self.make_scaler(scale)

    def set_gradients(self, seed, scale):
        torch.manual_seed(seed)
        for p in self.parameters:
            p.grad.normal_(0, 1e-4 * scale)

    def clip_only(self):
        self.scaler.scale(self.loss)
        self.clip(self)

    def step(self):
        self.clip_only()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def unscale_and_clip(self):
        """A step without the optimizer; the scaler's stages are reset as update() would."""
        self.clip_only()
        self.scaler.update()


def stock_side(sizes):
    def clip(side):
        side.scaler.unscale_(side.optimizer)
        torch.nn.utils.clip_grad_norm_(side.parameters, MAX_NORM, foreach=True)
    return Side(lambda scale: torch.amp.GradScaler("cuda", init_scale=scale), clip, sizes)


def our_side(sizes):
    import cuproof_ops

    def clip(side):
        side.scaler.unscale_and_clip_(side.optimizer, MAX_NORM)
    return Side(lambda scale: cuproof_ops.GradScaler(init_scale=scale), clip, sizes)


def check(stock, ours):
    """The same three steps, the second with an Inf, at a real scale. Parameters must agree."""
    scale = 2.0 ** 16
    for side in (stock, ours):
        side.set_scaler(scale)
        for seed in range(3):
            side.set_gradients(seed, float(side.scaler.get_scale()) if seed else scale)
            if seed == 1:
                side.parameters[3].grad.view(-1)[1] = float("inf")
            side.step()
    worst = max((a - b).abs().max().item()
                for a, b in zip(stock.parameters, ours.parameters))
    scales = [float(side.scaler.get_scale()) for side in (stock, ours)]
    seen = {"worst_parameter_difference": worst, "learning_rate": 1e-3, "scales": scales}
    assert worst < 1e-3 * 1e-3, seen
    assert scales[0] == scales[1] == scale / 2, seen
    for side in (stock, ours):
        side.set_scaler(NEAR_ONE)
        side.set_gradients(9, 1.0)
    return seen


def syncs_and_launches(step):
    """What the profiler saw in one step: waits of the host, copies to it, launches, kernels."""
    from torch.profiler import ProfilerActivity, profile
    step()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as found:
        step()
    counts = {"syncs": 0, "copies_to_host": 0, "launches": 0, "kernels": 0}
    for event in found.events():
        if getattr(event, "is_user_annotation", False) or event.name.startswith("Optimizer."):
            continue
        on_gpu = event.device_type == torch.autograd.DeviceType.CUDA
        if event.name in SYNCS and not on_gpu:
            counts["syncs"] += 1
        elif on_gpu and "Memcpy DtoH" in event.name:
            counts["copies_to_host"] += 1
        elif on_gpu and not event.name.startswith(("Memcpy", "Memset")):
            counts["kernels"] += 1
        elif event.name.startswith(("cudaLaunchKernel", "cuLaunchKernel")):
            counts["launches"] += 1
    # The profiler itself waits for the device once when it stops.
    counts["note"] = "one of the waits is the profiler's own, at its end"
    counts["names"] = sorted({e.name for e in found.events() if e.name in SYNCS})
    return counts


def strict(step):
    """Whether a step runs where every synchronisation that torch knows of is an error."""
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        step()
        return "ran"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:160]}"
    finally:
        torch.cuda.set_sync_debug_mode("default")


def rows(bench, whole, clip_alone):
    """`whole` and `clip_alone`: the two rows, of the same parameters."""
    sizes = whole.elements
    stock = stock_side(sizes)
    ours = our_side(sizes)
    count = sum(sizes)
    seen = check(stock, ours)
    sentinel, _ = shapes.slab_of([1 << 30], [torch.float32])
    read = bench.read_ceiling([sentinel])
    traits = {}
    for name, side in (("torch.amp.GradScaler", stock), ("cuproof_ops.GradScaler", ours)):
        traits[name] = {"sync_debug_mode_error": strict(side.step),
                        **measure.host_us(side.step, 3 if bench.quick else 10)}
        try:
            traits[name]["profiler"] = syncs_and_launches(side.step)
        except Exception as error:
            bench.result.fail(f"profiler of {name}", error)
    bench.result.data["traits"] = traits
    bench.result.write()
    for name, entry in traits.items():
        print(f"    {name}: host {entry['host_us']:.0f} us, wall {entry['wall_us']:.0f} us, "
              f"{entry.get('profiler')}, sync debug: {entry['sync_debug_mode_error']}", flush=True)
    names = ("cuproof_ops.GradScaler", "torch.amp.GradScaler")
    bench.row(whole,
              [read, Contender(names[0], "ours", ours.step, how="stream", least=5,
                               note="unscale_and_clip_, step, update"),
               Contender(names[1], "peer", stock.step, how="stream", least=5,
                         note="unscale_, clip_grad_norm_(foreach=True), step, update")],
              "optimizer", ratio=names, correct=seen, parameters=count, tensors=len(sizes))
    bench.row(clip_alone,
              [read, Contender(names[0], "ours", ours.unscale_and_clip, how="stream", least=10,
                               note="unscale_and_clip_, update"),
               Contender(names[1], "peer", stock.unscale_and_clip, how="stream", least=10,
                         note="unscale_, clip_grad_norm_(foreach=True), update")],
              "optimizer", ratio=names, parameters=count, tensors=len(sizes))
    alone = statistics.median(measure.elapsed_ms(ours.optimizer.step) for _ in range(7))
    bench.result.data["fused_adamw_alone_us"] = alone * 1e3
    bench.result.write()
    print(f"    fused AdamW alone {alone:.2f} ms", flush=True)


def clip_rows(bench):
    """clip_grad_norm_ as a user calls it, over many small tensors: device time by graph, and eager."""
    import cuproof_ops
    under = bench.shape("clip_grad_norm_, 2,000 mixed tensors, not over the limit")
    over = bench.shape("clip_grad_norm_, 2,000 mixed tensors, over the limit")
    each = under.bytes_read
    pairs = shapes.sets_past_l2(lambda: shapes.tensors_of(under), each, 60 << 20)
    sets = []
    for _, tensors in pairs:
        parameters = [torch.nn.Parameter(torch.empty_like(t)) for t in tensors]
        for p, t in zip(parameters, tensors):
            p.grad = t
        sets.append(parameters)
    for shape, max_norm in ((under, 1e30), (over, 1.0)):
        def ours(parameters):
            return lambda: cuproof_ops.clip_grad_norm_(parameters, max_norm)

        def stock(parameters):
            return lambda: torch.nn.utils.clip_grad_norm_(parameters, max_norm, foreach=True)
        names = ("cuproof_ops.clip_grad_norm_", "torch.nn.utils.clip_grad_norm_")
        norms = [float(f(sets[0])()) for f in (ours, stock)]
        row = bench.row(shape,
                        [bench.read_ceiling([s[:each // 16 * 16] for s, _ in pairs]),
                         Contender(names[0], "ours", [ours(s) for s in sets]),
                         Contender(names[1], "peer", [stock(s) for s in sets],
                                   note="foreach=True")],
                        "read", ratio=names, correct={"norms": norms}, sets=len(sets))
        times = 5 if bench.quick else 30
        row["eager_host"] = {name: measure.host_us(f(sets[0]), times)
                             for name, f in zip(names, (ours, stock))}
        bench.result.write()
        for name, entry in row["eager_host"].items():
            print(f"    host {name:<44} {entry['host_us']:9.1f} us, until done "
                  f"{entry['wall_us']:.1f}", flush=True)


def main():
    bench = measure.Bench("step")
    if bench.quick:
        bench.section("AdamW step", rows, bench.shape("AdamW step, 0.21 B fp32 parameters"),
                      bench.shape("unscale and clip alone, 0.21 B fp32 parameters"))
    else:
        bench.section("AdamW step", rows, bench.shape("AdamW step, 1.32 B fp32 parameters"),
                      bench.shape("unscale and clip alone, 1.32 B fp32 parameters"))
    bench.section("clip_grad_norm_", clip_rows)
    bench.finish()


if __name__ == "__main__":
    main()
