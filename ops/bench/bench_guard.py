#!/usr/bin/env python3
"""The Inf/NaN guard against what torch has: one tensor, cold and warm."""

import torch

import clib
import measure
import peers
import shapes
from measure import Contender


def check(bench, tensor):
    flag = torch.full((1,), float("nan"), device="cuda")
    ring = bench.library.guard_ring(16)
    call = bench.library.guard([tensor], flag, ring, site=7)
    call()
    assert flag.item() == 0, "clean tensor reported"
    place = tensor.numel() - 3
    before = tensor[place].clone()
    tensor[place] = float("nan")
    call()
    tensor[place] = before
    assert flag.item() == 1, "NaN not reported"
    header = ring[:16].view(torch.int64).tolist()
    record = ring[64:64 + 24].view(torch.int64).tolist()
    assert header == [2, 1], f"step and written: {header}"
    assert record == [1, 0, place], f"record: {record}"
    return {"clean": 0, "with_one_nan": 1, "record": record}


def rows(bench, shape, count, **more):
    pairs = [shapes.tensors_of(shape) for _ in range(count)]
    slabs, tensors = [p[0] for p in pairs], [p[1][0] for p in pairs]
    seen = check(bench, tensors[0])
    flag = torch.zeros(1, device="cuda")
    ring = bench.library.guard_ring(64)
    ours = Contender("cuproof_ops guard with ring", "ours",
                     [bench.library.guard([t], flag, ring) for t in tensors],
                     note="flag, first bad element, record, step")
    contenders = [bench.read_ceiling(slabs), ours,
                  Contender("isfinite(x).all()", "peer", [peers.all_finite(t) for t in tensors]),
                  Contender("isfinite(_foreach_norm)", "peer",
                            [lambda t=t: torch.isfinite(torch._foreach_norm([t], 2.0)[0])
                             for t in tensors], note="cheaper trick; overflow looks like an Inf"),
                  Contender("torch.compile isfinite(x).all()", "peer",
                            peers.compiled_all_finite(tensors))]
    bench.row(shape, contenders, "read", ratio=(ours.name, "isfinite(x).all()"),
              correct=seen, sets=count, **more)


def main():
    bench = measure.Bench("guard")
    bench.section("guard 2^24 cold", rows, bench.shape("guard, 2^24 bf16, cold"), 8)
    bench.section("guard 2^24 warm", lambda b: rows(b, b.shape("guard, 2^24 bf16, warm"), 1,
                                                    warm=True))
    bench.section("guard 2^29 cold", rows, bench.shape("guard, 2^29 bf16, cold"), 1)
    if not bench.quick:
        bench.section("guard 2^20 warm", lambda b: rows(b, b.shape("guard, 2^20 bf16, warm"), 1,
                                                        warm=True))
    bench.finish()


if __name__ == "__main__":
    main()
