#!/usr/bin/env python3
"""Unscale, check and clip: torch's sequence against one pass that leaves a factor for a fused
optimizer, and against our two passes in place.

Numbers are chosen so that replays do not wear the gradients down: the inverse scale is the fp32
number next to 1, and the limit of the norm is far away. torch multiplies by 1 as slowly as by
anything else; ours skips a factor of exactly 1, so that has a row of its own."""

import torch

import clib
import measure
import peers
import shapes
from measure import Contender

SCALE = 1 + 2 ** -23
FAR = 1e30


def stock(grads, dtype):
    """GradScaler.unscale_ and clip_grad_norm_. Returns (contenders' calls by name)."""
    found_inf = torch.zeros(1, device="cuda")
    inv_scale = torch.full((1,), 1 / SCALE, device="cuda")
    clip = peers.clip_by_foreach(grads, FAR)
    calls = {}
    if peers.has_unscale(dtype):
        unscale = peers.unscale_stock(grads, inv_scale, found_inf)

        def sequence():
            unscale()
            clip()
        calls["unscale_ + clip_grad_norm_"] = (
            sequence, "_amp_foreach_non_finite_check_and_unscale_, then foreach norm and mul")
    factor = inv_scale.to(dtype).reshape(())

    def by_mul():
        torch._foreach_mul_(grads, factor)
        return torch.isfinite(clip())

    def by_isfinite():
        torch._foreach_mul_(grads, factor)
        finite = torch.stack([torch.isfinite(g).all() for g in grads]).all()
        clip()
        return finite
    calls["_foreach_mul_ + clip_grad_norm_ + isfinite(norm)"] = (
        by_mul, "what is done where unscale_ lacks the type; checks the norm alone")
    if not peers.has_unscale(dtype):
        calls["_foreach_mul_ + isfinite(g).all() + clip_grad_norm_"] = (
            by_isfinite, "the same with a check of every gradient")
    return calls


def check(bench, dtype):
    """Ours against torch's sequence on the same small gradients, with clipping and a real scale."""
    sizes = [1, 1000, 4097, 65536, 131072]
    _, grads = shapes.slab_of(sizes, [dtype] * len(sizes), 0.5)
    exact_total, _ = shapes.norms_fp64(grads)
    scale = torch.full((1,), 64.0, device="cuda")
    max_norm = exact_total / 64 / 3
    expected = [(g.double() / 64 * (max_norm / (exact_total / 64 + 1e-6))) for g in grads]
    out = clib.Outputs(len(grads), max_norm, scale)
    bench.library.grad_norm(grads, out)()
    bench.library.grad_scale(grads, out.factor)()
    unit = {torch.float32: 2 ** -24, torch.float16: 2 ** -11, torch.bfloat16: 2 ** -8}[dtype]
    worst = max(((g.double() - e).abs() / e.abs().clamp_min(1e-4)).max().item()
                for g, e in zip(grads, expected))
    seen = {"norm_relative_error": shapes.relative(out.total_norm, exact_total / 64),
            "worst_element_in_roundings": worst / unit, "factor": out.factor.item(),
            "grad_scale": out.grad_scale.item()}
    # One rounding of the element, and the factor's own in fp32 twice.
    assert worst <= unit * 1.01 + 8 * 2 ** -24, seen
    assert abs(out.factor.item() * out.grad_scale.item() - 1) < 1e-6, seen
    return seen


def rows(bench, shape):
    dtype = shapes.DTYPES[shape.dtypes[0]]
    seen = check(bench, dtype)
    slab, grads = shapes.tensors_of(shape)
    other = torch.empty_like(slab)
    scale = torch.full((1,), SCALE, device="cuda")
    out = clib.Outputs(len(grads), FAR, scale)
    unit = clib.Outputs(len(grads), FAR)
    norm = bench.library.grad_norm(grads, out)
    multiply = bench.library.grad_scale(grads, out.factor)
    norm_of_one = bench.library.grad_norm(grads, unit)
    multiply_by_one = bench.library.grad_scale(grads, unit.factor)

    def in_place():
        norm()
        multiply()

    def in_place_of_one():
        norm_of_one()
        multiply_by_one()
    in_place_of_one()
    assert unit.factor.item() == 1
    in_place()
    assert out.factor.item() != 1
    stocks = [Contender(name, "peer", call, note=note)
              for name, (call, note) in stock(grads, dtype).items()]
    first = stocks[0].name
    factor_only = Contender("cuproof_ops grad_norm as factor", "ours", norm,
                            note="norm, check, factor and grad_scale for a fused optimizer")
    both = Contender("cuproof_ops grad_norm + grad_scale", "ours", in_place,
                     note="in place, a factor that is not 1")
    of_one = Contender("cuproof_ops grad_norm + grad_scale, factor 1", "ours", in_place_of_one,
                       note="in place, nothing to multiply: the second kernel reads nothing")
    bench.row(shape,
              [bench.read_ceiling([slab]), *bench.copy_ceilings([other], [slab]), factor_only, both,
               of_one, *stocks], "read",
              ratio=(factor_only.name, first), correct=seen,
              ratios=[[ours, peer.name] for ours in (factor_only.name, both.name, of_one.name)
                      for peer in stocks],
              floors={factor_only.name: "read", both.name: "read+copy", of_one.name: "read"})


def main():
    bench = measure.Bench("clip")
    bench.section("clip bf16", rows, bench.shape("unscale + check + clip, 64 x 4096^2 bf16"))
    bench.section("clip fp32", rows, bench.shape("unscale + check + clip, 64 x 4096^2 fp32"))
    if not bench.quick:
        bench.section("clip fp16", rows, bench.shape("unscale + check + clip, 64 x 4096^2 fp16"))
    bench.finish()


if __name__ == "__main__":
    main()
