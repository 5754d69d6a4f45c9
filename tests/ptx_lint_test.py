#!/usr/bin/env python3
"""Notes on PTX of nvcc: each of CP411 to CP414 for the kernel made for it, none for code that is right
(CUB, cooperative groups, masks and vectors that fit).

Usage: ptx_lint_test.py CUPROOF
"""

import json
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
TOLD = {("CP411", "double_literal"), ("CP412", "mask_of_absent_lanes"),
        ("CP413", "vector_off_its_alignment"), ("CP414", "array_indexed_at_run_time")}


def found(cuproof, path):
    done = subprocess.run([cuproof, "resources", "--lint", "--format", "sarif", path], capture_output=True,
                          text=True)
    try:
        results = json.loads(done.stdout)["runs"][0]["results"]
    except (json.JSONDecodeError, KeyError, IndexError):
        raise SystemExit(f"exit {done.returncode}: {done.stderr}{done.stdout[:500]}") from None
    return {(result["ruleId"], result["message"]["text"].split(": ")[1].split("(")[0]) for result in results}


def compile_ptx(source, arch, folder):
    out = folder / f"{Path(source).stem}.{arch}.ptx"
    subprocess.run(["nvcc", "-std=c++17", "-ptx", f"-arch={arch}", DATA / source, "-o", out], check=True)
    return out


def main():
    if not shutil.which("nvcc"):
        print("SKIP: no nvcc on PATH")
        return 77
    jobs = [("lints_told.cu", "sm_80"), ("lints_told.cu", "sm_90"), ("lints_silent.cu", "sm_90")]
    wrong = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda job: compile_ptx(*job, Path(folder)), jobs))
        for (source, arch), path in zip(jobs, made):
            expected = TOLD if source == "lints_told.cu" else set()
            if (told := found(sys.argv[1], path)) != expected:
                wrong.append(f"{source} for {arch}: expected {sorted(expected)}, told {sorted(told)}")
    print("\n".join(wrong) or "each note for its kernel, none for code that is right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
