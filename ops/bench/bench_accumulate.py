#!/usr/bin/env python3
"""fp32 sums of bf16 gradients over micro-batches, with the norm of the sums."""

import torch

import clib
import measure
import peers
import shapes
from measure import Contender


def check(bench):
    sizes = [1, 1000, 4097, 65536, 131072]
    _, grads = shapes.slab_of(sizes, [torch.bfloat16] * len(sizes))
    _, sums = shapes.slab_of(sizes, [torch.float32] * len(sizes))
    expected = [a + g.float() for a, g in zip(sums, grads)]
    out = clib.Outputs(len(sizes))
    bench.library.grad_accumulate(grads, sums, out)()
    assert all(torch.equal(a, e) for a, e in zip(sums, expected)), "sums are not fp32 additions"
    error = shapes.relative(out.total_norm, shapes.norms_fp64(sums)[0])
    assert error < 1e-6, error
    return {"sums_bitwise": True, "norm_relative_error": error}


def rows(bench):
    shape = bench.shape("accumulate, 64 x 4096^2 bf16 into fp32")
    seen = check(bench)
    slab, grads = shapes.tensors_of(shape)
    _, sums = shapes.slab_of(shape.elements, [torch.float32] * len(shape.elements))
    half = torch.empty(shape.bytes // 2, dtype=torch.uint8, device="cuda")
    source = torch.empty(shape.bytes // 2, dtype=torch.uint8, device="cuda")
    for buffer in (half, source):
        shapes.fill(buffer.view(torch.float32))
    ours = Contender("cuproof_ops grad_accumulate", "ours",
                     bench.library.grad_accumulate(grads, sums, clib.Outputs(len(grads))),
                     note="sums, norms, check")

    def mixed():
        torch._foreach_add_(sums, grads)
        return torch._foreach_norm(sums, 2.0)

    def cast():
        torch._foreach_add_(sums, [g.float() for g in grads])
        return torch._foreach_norm(sums, 2.0)

    def add_alone():
        torch._foreach_add_(sums, grads)
    peer = Contender("_foreach_add_ of bf16 + _foreach_norm", "peer", mixed)
    cast = Contender("_foreach_add_ of casts + _foreach_norm", "peer", cast)
    alone = Contender("_foreach_add_ of bf16, no norm", "peer", add_alone)
    # The copy moves as many bytes as there are to move: 2 + 4 read and 4 written for an element.
    bench.row(shape,
              [bench.read_ceiling([slab]), *bench.copy_ceilings([half], [source]), ours, peer, cast,
               alone], "copy", ratio=(ours.name, peer.name), correct=seen,
              ratios=[[ours.name, p.name] for p in (peer, cast, alone)])


def main():
    bench = measure.Bench("accumulate")
    bench.section("accumulate", rows)
    bench.finish()


if __name__ == "__main__":
    main()
