#!/usr/bin/env python3
"""Norms and Inf/NaN check of gradients: one pass of ours against torch's norms alone."""

import subprocess
import sys

import torch

import clib
import measure
import peers
import shapes
from measure import Contender

L2 = 60 << 20


def check_ours(bench, tensors):
    """Outputs against fp64, and the flag and place of one Inf. Returns what was seen."""
    out = clib.Outputs(len(tensors))
    call = bench.library.grad_norm(tensors, out)
    call()
    total, norms = shapes.norms_fp64(tensors)
    seen = {"total_relative_error": shapes.relative(out.total_norm, total),
            "worst_tensor_relative_error":
                ((out.tensor_norms.double() - norms).abs() / norms).max().item(),
            "found_inf_clean": out.found_inf.item()}
    victim, index = len(tensors) // 2, tensors[len(tensors) // 2].numel() - 1
    before = tensors[victim][index].clone()
    tensors[victim][index] = float("inf")
    call()
    place = out.first_bad[:2].tolist()
    tensors[victim][index] = before
    seen["found_inf_with_one"] = out.found_inf.item()
    seen["first_bad_right"] = place == [victim, index]
    assert seen["total_relative_error"] < 1e-6, seen
    assert seen["worst_tensor_relative_error"] < 1e-6, seen
    assert seen["found_inf_clean"] == 0 and seen["found_inf_with_one"] == 1, seen
    assert seen["first_bad_right"], (seen, place, victim, index)
    return seen


def contenders_of(bench, sets, triton_configs=None, stacked=True, foreach=True):
    """Ours, torch's and Triton's, over sets of tensors that are rotated."""
    exact, _ = shapes.norms_fp64(sets[0])
    found = [Contender("cuproof_ops grad_norm", "ours",
                       [bench.library.grad_norm(s, clib.Outputs(len(s))) for s in sets])]

    def peer(name, make, note):
        try:
            found.append(Contender(name, "peer", [make(s) for s in sets], note=note))
            found[-1].error = shapes.relative(peers.total_of(found[-1].calls[0]()), exact)
        except Exception as error:
            bench.result.fail(name, error)

    if foreach:
        peer("_foreach_norm", peers.foreach_norm,
             "one norm a tensor in its own type; no total, no check")
        peer("_foreach_norm fp32", lambda s: peers.foreach_norm(s, torch.float32),
             "dtype=torch.float32; no total, no check")
    if stacked:
        peer("get_total_norm", peers.total_by_foreach,
             "the norm part of clip_grad_norm_(foreach=True); no check")
        peer("get_total_norm fp32", lambda s: peers.total_by_foreach(s, torch.float32),
             "the same with fp32 norms; no check")
    try:
        with measure.deadline(60):
            note, made = peers.best_triton_norm(sets, measure.elapsed_ms, triton_configs)
        made[0]()
        error = shapes.relative(made[0].total, exact)
        assert error < 1e-5, f"Triton's norm is off by {error}"
        found.append(Contender("Triton multi-tensor norm", "peer", made, error=error,
                               note=f"total, norms and flag; {note}"))
    except Exception as error:
        bench.result.fail("Triton norm", error)
    return found


def many_squares(bench):
    shape = bench.shape("64 x 4096^2 bf16")
    slab, tensors = shapes.tensors_of(shape)
    seen = check_ours(bench, tensors)
    contenders = [bench.read_ceiling([slab]), *contenders_of(bench, [tensors])]
    if not bench.quick:
        contenders.append(Contender("torch.compile norms", "peer", peers.compiled_total(tensors),
                                    note="vector_norm fp32 of each, norm of norms; no check"))
    bench.row(shape, contenders, "read",
              ratio=("cuproof_ops grad_norm", "_foreach_norm"), correct=seen)


def many_squares_fp32(bench):
    shape = bench.shape("64 x 4096^2 fp32")
    slab, tensors = shapes.tensors_of(shape)
    seen = check_ours(bench, tensors)
    bench.row(shape,
              [bench.read_ceiling([slab]),
               *contenders_of(bench, [tensors], [(1 << 16, 4096, 8), (1 << 16, 8192, 16)])], "read",
              ratio=("cuproof_ops grad_norm", "_foreach_norm"), correct=seen)


def mixed_small(bench):
    shape = bench.shape("2,000 mixed tensors of 1 to 200,000")
    each = shape.bytes_read
    pairs = shapes.sets_past_l2(lambda: shapes.tensors_of(shape), each, L2)
    slabs, sets = [p[0] for p in pairs], [p[1] for p in pairs]
    seen = check_ours(bench, sets[0])
    contenders = [bench.read_ceiling([s[:each // 16 * 16] for s in slabs]),
                  *contenders_of(bench, sets, [(1 << 14, 2048, 4), (1 << 14, 4096, 4),
                                               (1 << 15, 4096, 8), (1 << 15, 8192, 8)])]
    row = bench.row(shape, contenders, "read",
                    ratio=("cuproof_ops grad_norm", "get_total_norm"), correct=seen,
                    sets=len(sets))
    times = 10 if bench.quick else 40
    host = {"cuproof_ops C API, list built before": measure.host_us(contenders[1].calls[0], times),
            "get_total_norm": measure.host_us(peers.total_by_foreach(sets[0]), times),
            "_foreach_norm": measure.host_us(peers.foreach_norm(sets[0]), times)}
    made = clib.Outputs(len(sets[0]))
    host["cuproof_ops C API, list built from Python"] = measure.host_us(
        lambda: bench.library.grad_norm(sets[0], made)(), times)
    row["eager_host"] = host
    row["eager_host_order"] = "each alone, GPU idle before, median"
    bench.result.write()
    for name, entry in host.items():
        print(f"    host {name:<44} {entry['host_us']:9.1f} us, until done {entry['wall_us']:.1f}",
              flush=True)


def foreach_survives(bench, elements):
    """Whether _foreach_norm takes a tensor of so many elements, tried in another process: a fault would
    end all that this one has on the GPU."""
    program = (f"import torch; x = torch.empty({elements}, dtype=torch.bfloat16, device='cuda');"
               "x.fill_(0.5); n = torch._foreach_norm([x], 2.0, dtype=torch.float32)[0].item();"
               f"assert abs(n / {0.5 * elements ** 0.5} - 1) < 1e-3, n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=90)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        bench.result.fail(f"_foreach_norm of {elements} elements", RuntimeError(last))
    return done.returncode == 0


def one_large(bench, shape):
    elements = shape.elements[0]
    foreach = elements < 1 << 31 or foreach_survives(bench, elements)
    slab, tensors = shapes.tensors_of(shape)
    seen = check_ours(bench, tensors)
    contenders = [bench.read_ceiling([slab]),
                  *contenders_of(bench, [tensors], [(1 << 17, 8192, 8), (1 << 16, 8192, 8)],
                                 stacked=False, foreach=foreach),
                  Contender("vector_norm fp32", "peer",
                            lambda: torch.linalg.vector_norm(tensors[0], dtype=torch.float32),
                            note="no check")]
    bench.row(shape, contenders, "read", ratio=("cuproof_ops grad_norm", "_foreach_norm"),
              correct=seen)


def small_lists(bench):
    """Few bytes: the launch and the end are what is timed. One set, warm."""
    for shape in (bench.shape("8 x 1024^2 bf16, warm"), bench.shape("300 x 2,048 bf16, warm")):
        slab, tensors = shapes.tensors_of(shape)
        seen = check_ours(bench, tensors)
        bench.row(shape, [
            bench.read_ceiling([slab]),
            *contenders_of(bench, [tensors], [(1 << 14, 4096, 4), (1 << 15, 8192, 8)])],
            "read", correct=seen, warm=True)


def main():
    bench = measure.Bench("norm")
    bench.section("64 x 4096^2 bf16", many_squares)
    bench.section("2,000 mixed tensors", mixed_small)
    bench.section("1.536e9 elements", one_large, bench.shape("one of 1.536e9 bf16"))
    if not bench.quick:
        bench.section("64 x 4096^2 fp32", many_squares_fp32)
        bench.section("few bytes", small_lists)
    bench.section("2^31 + 12345 elements", one_large,
                  bench.shape("one of 2^31 + 12,345 bf16"))
    bench.finish()


if __name__ == "__main__":
    main()
