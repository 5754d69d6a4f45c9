#!/usr/bin/env python3
"""Sweeps the numbers of src/grad/grad_policy.h and of src/grad/chunk.h: builds a library for each
(nvcc, all processors), times them on the main shapes, prints a table.

    bench/tune_grad.py --build DIR --ceilings libcuproof_ops_bench.so --out tune.json [--only norm]

--build-only needs no GPU; a library that is already in DIR from the same sources is not built again.
The first line of each table is what the sources say now."""

import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import machine

OPS = machine.OPS
NVCC = os.environ.get("CUPROOF_OPS_NVCC_PATH") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
FLAGS = ["-std=c++20", "-O3", "-arch=sm_90", "-Xcompiler=-fPIC,-fvisibility=hidden", "-DNDEBUG",
         "-DCUPROOF_OPS_SEEDED_BUG=0", '-DCUPROOF_OPS_VERSION="tune"',
         '-DCUPROOF_OPS_ARCHITECTURES="sm_90"']


def policy(loads, min_ctas, ctas_per_sm):
    return f".loads = {loads}, .min_ctas = {min_ctas}, .ctas_per_sm = {ctas_per_sm}"


class Variant:
    """One library. `file` is the only source that `defines` (lines of a header: nvcc's -D splits at
    commas) reach; `edits` change a copy of all."""

    def __init__(self, knob, name, file=None, defines=(), edits=()):
        self.knob, self.name, self.file = knob, name, file
        self.defines, self.edits = list(defines), list(edits)
        key = json.dumps([self.defines, self.edits])
        self.slug = f"{knob}-{hashlib.sha256(key.encode()).hexdigest()[:10]}"
        self.times, self.error = {}, None


def policies(knob, macro, file, grid):
    for loads, min_ctas in grid:
        for ctas in (0, min_ctas, 2 * min_ctas):
            text = policy(loads, min_ctas, ctas)
            yield Variant(knob, text, file, [f"#define {macro} {text}"])


def variants(only, quick):
    norm = [(4, 4), (4, 6), (4, 8), (8, 2), (8, 3), (8, 4), (16, 2), (16, 3)]
    scale = [(2, 4), (2, 8), (4, 4), (4, 6), (8, 2), (8, 4)]
    accumulate = [(1, 4), (1, 8), (2, 4), (2, 6), (4, 2), (4, 4)]
    if quick:
        norm, scale, accumulate = norm[3:6], scale[2:3], accumulate[2:3]
    found = [Variant("base", "as the sources say")]
    found += policies("norm", "CUPROOF_OPS_TUNE_NORM", "src/grad/grad_norm.cu", norm)
    found += policies("scale", "CUPROOF_OPS_TUNE_SCALE", "src/grad/grad_scale.cu", scale)
    found += policies("accumulate", "CUPROOF_OPS_TUNE_ACCUMULATE", "src/grad/grad_accumulate.cu",
                      accumulate)
    for small, large in ((13, 17), (14, 16), (14, 17), (15, 16), (16, 17), (16, 18)):
        found.append(Variant("chunk", f"small 2^{small}, large 2^{large}", edits=[
            ("src/grad/chunk.h", "kSmallChunkShift", small),
            ("src/grad/chunk.h", "kLargeChunkShift", large)]))
    for name, value in (("kFewThreads", 128), ("kFewThreads", 512), ("kFewChunks", 2048),
                        ("kFewChunks", 8192)):
        found.append(Variant("finish", f"{name} = {value}",
                             edits=[("src/grad/finish_norm.cu", name, value)]))
    return [v for v in found if v.knob == "base" or not only or v.knob in only]


def sources(root):
    """Those of the library cuproof_ops in CMakeLists.txt."""
    text = (OPS / "CMakeLists.txt").read_text()
    listed = re.search(r"add_library\(cuproof_ops SHARED(.*?)\)", text, re.S).group(1).split()
    return [root / name for name in listed if name.endswith((".cc", ".cu"))]


def run(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip()[-400:])
    return done.stderr + done.stdout


def compile_one(root, source, target, defines):
    """Whether ptxas spilled registers."""
    more = []
    if defines:
        header = target.with_suffix(".h")
        header.write_text("\n".join(defines) + "\n")
        more = ["-include", header]
    log = run([NVCC, *FLAGS, *more, f"-I{root}/include", f"-I{root}/src", "-Xptxas=-v", "-c",
               source, "-o", target])
    spilled = [line for line in log.splitlines()
               if "spill stores" in line and " 0 bytes spill stores" not in line]
    return bool(spilled)


def edited_copy(variant, folder):
    root = folder / (variant.slug + ".src")
    for part in ("include", "src/grad", "src/runtime"):
        shutil.copytree(OPS / part, root / part, dirs_exist_ok=True)
    shutil.copy(OPS / "src/seeded_bug.h", root / "src")
    for file, name, value in variant.edits:
        path = root / file
        text, changed = re.subn(rf"(\bconstexpr \w+ {name} = )[^;]+;", rf"\g<1>{value};",
                                path.read_text())
        if changed != 1:
            raise RuntimeError(f"{file}: {name} is set {changed} times")
        path.write_text(text)
    return root


def build(all_variants, folder, jobs):
    """Sets .path, .spills and .error of every variant."""
    folder = folder / machine.source_hash(machine.CORE)[:12]
    folder.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        base = {s: folder / f"base-{s.name}.o" for s in sources(OPS)}
        waits = [pool.submit(compile_one, OPS, s, o, []) for s, o in base.items() if not o.exists()]
        work = {}
        for variant in all_variants:
            variant.path = folder / f"{variant.slug}.so"
            variant.spills = None
            if variant.path.exists() or variant.knob == "base":
                continue
            if variant.edits:
                try:
                    root = edited_copy(variant, folder)
                except Exception as error:
                    variant.error = str(error)
                    continue
                work[variant] = {s: (folder / f"{variant.slug}-{s.name}.o",
                                     pool.submit(compile_one, root, s,
                                                 folder / f"{variant.slug}-{s.name}.o", []))
                                 for s in sources(root)}
            else:
                source, target = OPS / variant.file, folder / f"{variant.slug}.o"
                work[variant] = {source: (target, pool.submit(compile_one, OPS, source, target,
                                                              variant.defines))}
        for wait in waits:
            wait.result()
        links = []
        for variant in all_variants:
            if variant.path.exists() or variant.error:
                continue
            try:
                mine = work.get(variant, {})
                variant.spills = any(wait.result() for _, wait in mine.values())
                objects = [target for target, _ in mine.values()]
                if not variant.edits:
                    objects += [o for s, o in base.items() if s not in mine]
                links.append((variant, pool.submit(run, [NVCC, "-arch=sm_90", "-shared", *objects,
                                                         "-o", variant.path])))
            except Exception as error:
                variant.error = str(error)
        for variant, link in links:
            try:
                link.result()
            except Exception as error:
                variant.error = str(error)


def workloads():
    """name -> (knobs it judges, bytes, function that makes calls for a library)."""
    import torch
    import clib
    import shapes
    import specified
    l2 = 60 << 20
    bf16_slab, bf16 = shapes.square_tensors(torch.bfloat16)
    fp32_slab, fp32 = shapes.square_tensors(torch.float32, 32)
    _, sums = shapes.square_tensors(torch.float32)
    mixed_shape = specified.shapes_of("norm")["2,000 mixed tensors of 1 to 200,000"]
    mixed_bytes = mixed_shape.bytes_read
    mixed = [s[1] for s in shapes.sets_past_l2(lambda: shapes.tensors_of(mixed_shape), mixed_bytes,
                                               l2)]
    single = [shapes.slab_of([1 << 24], [torch.bfloat16])[1] for _ in range(8)]
    few = shapes.slab_of([1 << 20] * 8, [torch.bfloat16] * 8)[1]
    one = shapes.slab_of([1_536_000_000], [torch.bfloat16])[1]
    scale = torch.full((1,), 1 + 2 ** -23, device="cuda")
    flag = torch.zeros(1, device="cuda")

    def norms(lists):
        return lambda lib: [lib.grad_norm(t, clib.Outputs(len(t))) for t in lists]

    def factor_of(lists):
        def make(lib):
            out = clib.Outputs(len(lists), 0.0, scale)
            lib.grad_norm(lists, out)()
            return [lib.grad_scale(lists, out.factor)]
        return make
    sweeps = ("norm", "chunk", "finish")
    return {
        "norm 64 x 4096^2 bf16": (sweeps, clib.nbytes(bf16_slab), norms([bf16])),
        "norm 32 x 4096^2 fp32": (sweeps, clib.nbytes(fp32_slab), norms([fp32])),
        "norm 2,000 mixed": (sweeps, mixed_bytes, norms(mixed)),
        "norm one of 1.536e9": (sweeps, 2 * 1_536_000_000, norms([one])),
        "norm 8 x 1024^2, warm": (sweeps, 16 << 20, norms([few])),
        "guard 2^24, cold": (sweeps, 32 << 20, lambda lib: [lib.guard(t, flag) for t in single]),
        "scale 64 x 4096^2 bf16": (("scale", "chunk"), 2 * clib.nbytes(bf16_slab), factor_of(bf16)),
        "scale 32 x 4096^2 fp32": (("scale", "chunk"), 2 * clib.nbytes(fp32_slab), factor_of(fp32)),
        "accumulate 64 x 4096^2": (
            ("accumulate", "chunk"), 5 * clib.nbytes(bf16_slab),
            lambda lib: [lib.grad_accumulate(bf16, sums, clib.Outputs(len(sums)))]),
    }


def time_all(all_variants, rounds):
    """Fills .times: workload -> median microseconds. Variants take turns in every round."""
    import torch
    import clib
    import measure
    libraries = {}
    for variant in all_variants:
        if variant.error is None:
            try:
                libraries[variant] = clib.Library(str(variant.path))
                libraries[variant].prepare()
            except Exception as error:
                variant.error = str(error)
    for name, (knobs, size, make) in workloads().items():
        ready = []
        for variant, library in libraries.items():
            if variant.knob != "base" and variant.knob not in knobs:
                continue
            try:
                contender = measure.Contender(name, "ours", make(library))
                measure.prepare(contender, 2.5)
                ready.append((variant, contender))
            except Exception as error:
                torch.cuda.synchronize()
                variant.error = f"{name}: {error}"[:300]
        for i in range(rounds):
            for variant, contender in ready if i % 2 == 0 else reversed(ready):
                contender.rounds.append(measure.run(contender, 0.003))
        for variant, contender in ready:
            variant.times[name] = statistics.median(contender.rounds)
        yield name, size, ready


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", action="append", help="norm, scale, accumulate, chunk, finish")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--build-only", action="store_true")
    args = parser.parse_args()
    started = time.time()
    found = variants(args.only, args.quick)
    build(found, args.build, args.jobs)
    for variant in found:
        if variant.error:
            print(f"FAILED {variant.knob} {variant.name}: {variant.error}", flush=True)
    print(f"{len(found)} libraries in {time.time() - started:.0f} s", flush=True)
    if args.build_only:
        return 0
    record = {"bench": "tune", "source_sha256": {"core": machine.source_hash(machine.CORE)},
              "workloads": {}}
    for name, size, ready in time_all(found, args.rounds):
        table = sorted(((v.times[name], v) for v, _ in ready), key=lambda pair: pair[0])
        record["workloads"][name] = {
            "bytes": size, "times_us": [[v.knob, v.name, us, bool(v.spills)] for us, v in table]}
        if args.out:
            args.out.write_text(json.dumps(machine.rounded(record), indent=1) + "\n")
        base = next(us for us, v in table if v.knob == "base")
        print(f"{name}: as the sources say {base:.1f} us, {size / base / 1e6:.2f} TB/s", flush=True)
        for us, v in table[:6]:
            print(f"    {us:9.1f} us  {base / us:.3f}x  {size / us / 1e6:.2f} TB/s  {v.knob}: "
                  f"{v.name}{'  (spills)' if v.spills else ''}", flush=True)
    for knob in ("norm", "scale", "accumulate", "chunk", "finish"):
        names = [n for n, w in record["workloads"].items()
                 if any(row[0] == knob for row in w["times_us"])]
        means = []
        for variant in found:
            if variant.knob != knob or not all(n in variant.times for n in names):
                continue
            base = next(v for v in found if v.knob == "base")
            ratios = [base.times[n] / variant.times[n] for n in names]
            means.append((math.exp(statistics.mean(math.log(r) for r in ratios)), min(ratios),
                          variant.name))
        if means:
            print(f"best of {knob}, geometric mean over {len(names)} shapes, worst shape:")
            for mean, worst, name in sorted(means, reverse=True)[:5]:
                print(f"    {mean:.3f}x  {worst:.3f}x  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
