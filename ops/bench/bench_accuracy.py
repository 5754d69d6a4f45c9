#!/usr/bin/env python3
"""Errors of norms against fp64, ours and the peers', over several kinds of numbers. Nothing is timed.

An error below half a unit of fp32's last place (2^-24) is luck: ratios are taken from there up."""

import torch

import clib
import measure
import peers
import shapes

HALF_ULP = 2.0 ** -24


def normal(n, dtype):
    return torch.randn(n, device="cuda") * 1e-3


def uniform(n, dtype):
    return torch.rand(n, device="cuda") * 0.5 + 0.25


def constant(n, dtype):
    return torch.full((n,), 0.1, device="cuda")


def heavy_tailed(n, dtype):
    value = torch.randn(n, device="cuda") / torch.randn(n, device="cuda").abs().clamp_min(1e-4)
    return value * 1e-3


def log_uniform(n, dtype):
    sign = torch.randint(0, 2, (n,), device="cuda") * 2 - 1
    return sign * 10 ** (torch.rand(n, device="cuda") * 7 - 7)


def one_large(n, dtype):
    value = torch.randn(n, device="cuda") * 1e-4
    value[n // 2] = 30
    return value


def squares_overflow(n, dtype):
    return torch.randn(n, device="cuda") * 1e21


def squares_underflow(n, dtype):
    return torch.randn(n, device="cuda") * 1e-25


KINDS = {"normal, 1e-3": normal, "uniform 0.25 to 0.75": uniform, "constant 0.1": constant,
         "heavy-tailed": heavy_tailed, "log-uniform 1e-7 to 1": log_uniform,
         "one large among small": one_large, "1e21, squares overflow fp32": squares_overflow,
         "1e-25, squares underflow fp32": squares_underflow}
WIDE = ("1e21, squares overflow fp32", "1e-25, squares underflow fp32")


def one(bench, kind, dtype, sizes):
    tensors = [KINDS[kind](n, dtype).to(dtype) for n in sizes]
    total, norms = shapes.norms_fp64(tensors)
    out = clib.Outputs(len(tensors))
    bench.library.grad_norm(tensors, out)()
    # In fp16, numbers of 1e-7 round to 0.
    safe = norms.clamp_min(1e-300)

    def worst(found):
        # isfinite: a peer whose norm overflows is simply wrong.
        error = ((torch.stack(list(found)).double() - norms).abs() / safe)
        return error.max().item() if torch.isfinite(error).all() else None

    def of_total(found):
        value = float(found)
        return abs(value - total) / total if value == value and abs(value) != float("inf") else None

    flat = [t.view(-1) for t in tensors]
    rows = {
        "cuproof_ops": (of_total(out.total_norm), worst(out.tensor_norms)),
        "get_total_norm": (of_total(peers.total_by_foreach(tensors)()),
                           worst(torch._foreach_norm(tensors, 2.0))),
        "get_total_norm fp32": (of_total(peers.total_by_foreach(tensors, torch.float32)()),
                                worst(torch._foreach_norm(tensors, 2.0, dtype=torch.float32))),
        "vector_norm fp32": (
            of_total(peers.stack_norm([torch.linalg.vector_norm(t, dtype=torch.float32)
                                       for t in flat])),
            worst([torch.linalg.vector_norm(t, dtype=torch.float32) for t in flat])),
    }
    if bench.triton:
        made = peers.TritonNorm(tensors)
        made()
        rows["Triton multi-tensor norm"] = (of_total(made.total), worst(made.norms))
    row = {"name": f"{kind}, {str(dtype).removeprefix('torch.')}", "elements": sum(sizes),
           "tensors": len(sizes), "exact_total": total,
           "total_error": {name: pair[0] for name, pair in rows.items()},
           "worst_tensor_error": {name: pair[1] for name, pair in rows.items()}}
    for key in ("total_error", "worst_tensor_error"):
        errors = row[key]
        others = [e for name, e in errors.items() if name != "cuproof_ops" and e is not None]
        ours = errors["cuproof_ops"]
        best = min(others) if others else None
        row[key + "_best_peer"] = best
        row[key + "_ratio"] = (max(ours, HALF_ULP) / max(best, HALF_ULP)
                               if ours is not None and best is not None else None)
    bench.result.add(row)
    print(f"  {row['name']:<44} total {row['total_error']['cuproof_ops']:.1e} "
          f"(best peer {row['total_error_best_peer'] or float('nan'):.1e})  "
          f"tensor {row['worst_tensor_error']['cuproof_ops']:.1e} "
          f"(best peer {row['worst_tensor_error_best_peer'] or float('nan'):.1e})", flush=True)


def main():
    bench = measure.Bench("accuracy")
    bench.triton = peers.triton is not None
    sizes = [1, 7, 1000, 32768, 32769, 1_000_003, 1 << 22, 1 << 24, (1 << 26) + 5]
    if bench.quick:
        sizes = sizes[:7]
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        for kind in KINDS:
            if dtype == torch.float16 and kind in WIDE:
                continue
            bench.section(f"{kind}, {dtype}", one, kind, dtype, sizes)
    bench.finish()


if __name__ == "__main__":
    main()
