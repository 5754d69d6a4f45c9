#!/usr/bin/env python3
"""Hold `cuproof check` to what a real driver did with each image.

Why: run_on_gpu.sh recorded, on one GPU, whether each image of gpu_images.zip
ran from its SASS, ran after JIT compilation, or failed and with which error.
This test needs no GPU: it asks `cuproof check` for its verdict on the same
bytes, for the same GPU and driver, and demands the same answer for every one.

Usage: replay_test.py CUPROOF [RECORD.json]
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
LEAST_IMAGES, LEAST_RUNNING = 60, 25

# Images on which the verdict may differ from the record, each with its reason.
BODY = "the header is in order; what is wrong stands in the body, which only an assembler can judge"
EXCEPTIONS = {
    "ptx/target-debug.ptx": BODY,
    "ptx/extern-func.ptx": BODY,
    "ptx/wgmma-sm_90.ptx": BODY,
    "ptx/wgmma-sm_90a.ptx": BODY,
    "ptx/cp-async-sm_75.ptx": BODY,
    "ptx/cp-async-isa6.5.ptx": BODY,
    "ptx/shfl-sm_70.ptx": BODY,
    "damaged/ptx-misspelt.ptx": BODY,
    "fatbin/ptx80-unknown-option.fatbin": "the options in an entry are shown, not judged",
    "fatbin/container-at-8.fatbin": "not loadable as it is; check reports the container that it finds "
                                    "in a file of any form, which a program can hand over",
    "damaged/cubin-flags-says-90.cubin": "an sm_80 cubin relabelled sm_90: its note has the virtual "
                                         "architecture, so nothing else in it tells",
    "damaged/fatbin-second-cut-90-first.fatbin": "the container is cut short behind the image taken",
    "damaged/fatbin-size-short.fatbin": "the container says it is shorter than its first entry",
    "damaged/cubin-less-one.cubin": "one byte short: the driver, which cannot know the size, read the "
                                    "zero that happened to follow",
}


def verdict_of(report):
    """(verdict, error, image) in the JSON of `check`: verdict is "sass", "jit", "no",
    "unknown", "no kernels", "damaged" (which makes no claim about the error number), or
    "nothing" when the file is taken for no GPU image at all."""
    if not report["files"] or not report["files"][0]["verdicts"]:
        return "nothing", None, None
    verdict = report["files"][0]["verdicts"][0]
    if verdict["reason"] == "damaged-image":
        return "damaged", None, None
    if verdict["reason"] == "no-kernels":
        return "no kernels", None, None
    image = verdict["image"]["target"] if verdict["image"] else None
    return verdict["outcome"], verdict.get("error") or None, image


def accepted(row):
    """The answers that agree with a recorded row: a set of (verdict, error),
    with "any" for an error that does not matter."""
    if row["outcome"] in ("sass", "jit"):
        return {(row["outcome"], None)}
    if row["outcome"] == "error" and row["step"] in ("kernel", "function") and row["error"] == 500:
        # It loaded; only the kernel's name is not in it. Both ways of loading do.
        return {("sass", None), ("jit", None), ("no kernels", None)}
    if row["outcome"] == "error" and row["step"] in ("load", "kernel", "function"):
        return {("no", row["error"]), ("nothing", None)}
    # The driver took the image without a look and the GPU then choked on it, or
    # the driver itself died: nobody should say that such an image runs.
    return {("no", "any"), ("unknown", "any"), ("nothing", None)}


def agrees(answer, row):
    verdict, error, image = answer
    # Which of several images ran is told by the value that it wrote.
    if row["file"].startswith("fatbin/") and row["outcome"] in ("sass", "jit") and image != row["took"]:
        return False
    if verdict == "damaged":
        return row["outcome"] not in ("sass", "jit")
    return any(verdict == v and e in ("any", error) for v, e in accepted(row))


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    cuproof = sys.argv[1]
    record = json.loads(Path(sys.argv[2] if len(sys.argv) == 3 else
                             FIXTURES / "gpu_h200.json").read_text())
    rows, wrong = record["images"], []

    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(FIXTURES / "gpu_images.zip") as z:
            z.extractall(folder)
        files = {str(p.relative_to(folder)) for p in Path(folder).glob("*/*")}
        named = {row["file"] for row in rows}
        wrong += [f"{name}: in the zip but not in the record" for name in sorted(files - named)]
        wrong += [f"{name}: in the record but not in the zip" for name in sorted(named - files)]
        for row in rows:
            path = Path(folder) / row["file"]
            if path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() != row["sha256"]:
                wrong.append(f"{row['file']}: stale, the recorded image had other bytes")
        if wrong:
            print("\n".join(wrong))
            print(f"0 passed, {len(wrong)} failed")
            return 1

        def ask(row):
            done = subprocess.run(
                [cuproof, "check", "--deep", "--gpu", record["sm"], "--driver", record["driver"],
                 "--format", "json", str(Path(folder) / row["file"])],
                capture_output=True, text=True, timeout=60)
            try:
                return verdict_of(json.loads(done.stdout))
            except (ValueError, LookupError) as e:
                return f"exit {done.returncode}, {e!r}: {done.stderr.strip()[:200]}", None, None

        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(ask, rows))

    for row, answer in zip(rows, answers):
        if row["file"] not in EXCEPTIONS and not agrees(answer, row):
            said = " ".join(str(x) for x in answer if x is not None)
            did = row["outcome"] + "".join(f" {row[k]}" for k in ("step", "error", "took") if k in row)
            wrong.append(f"{row['file']}: check says {said}, the driver {did}")
    running = sum(row["outcome"] in ("sass", "jit") for row in rows)
    if len(rows) < LEAST_IMAGES:
        wrong.append(f"only {len(rows)} images, fewer than {LEAST_IMAGES}")
    if running < LEAST_RUNNING:
        wrong.append(f"only {running} images run, fewer than {LEAST_RUNNING}")
    if unused := sorted(set(EXCEPTIONS) - {row["file"] for row in rows}):
        wrong.append(f"exceptions for images that do not exist: {', '.join(unused)}")
    print("\n".join(wrong))
    failed = len(wrong)
    print(f"{len(rows) - len(EXCEPTIONS)} images agree, {running} of them run, {len(EXCEPTIONS)} are "
          f"explained exceptions" if not wrong else "")
    print(f"{len(rows) - min(failed, len(rows))} passed, {failed} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
