#!/usr/bin/env python3
"""What data/cuda_changes.tsv calls gone from CUDA 13.0, nvcc 13.0 refuses, and what lives on it takes.

Needs nvcc of CUDA 13 on PATH, no GPU.

Usage: cuda_changes_test.py CUPROOF
"""

import csv
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "data/cuda_changes.tsv"
HEADERS = ["cuda.h", "cub/cub.cuh", "thrust/functional.h"]
LIVES = ["using cub::BlockReduce;", "using cub::DeviceReduce;", "using thrust::plus;",
         "inline void f(CUcontext* c) { cuCtxCreate(c, nullptr, 0, 0); }"]


def statements():
    """(name, line of code that uses it as code for an earlier CUDA does)"""
    with open(TABLE) as f:
        rows = list(csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t"))
    for row in rows:
        if row["kind"] == "qualified":
            yield row["name"], f"using {row['name']};"
        elif row["kind"] == "template":
            yield row["name"], f"{row['name']}<float, 2> x;"
        elif row["arguments"] == "3" and row["name"] == "cuCtxCreate":
            yield row["name"], "inline void f(CUcontext* c) { cuCtxCreate(c, 0, 0); }"
        elif row["arguments"]:
            yield row["name"], "#error no statement for it: add one here"


def refused(lines):
    """Indices of the lines with an error, each in a namespace of its own."""
    text = "".join(f"#include <{header}>\n" for header in HEADERS)
    text += "".join(f"namespace n{i} {{ {line} }}\n" for i, line in enumerate(lines))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "k.cu")
        path.write_text(text)
        out = subprocess.run(["nvcc", "-std=c++17", "-arch=sm_80", "--cuda", "-o", "/dev/null", path],
                             capture_output=True, text=True, check=False)
    numbers = re.findall(r"k\.cu\((\d+)\): error", out.stdout + out.stderr)
    return {int(number) - 1 - len(HEADERS) for number in numbers}


def main():
    if shutil.which("nvcc") is None:
        print("SKIP: no nvcc on PATH")
        return 77
    version = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    release = re.search(r"release (\d+)\.", version)
    if release is None or int(release[1]) < 13:
        print("SKIP: nvcc is not of CUDA 13")
        return 77
    gone = list(statements())
    errors = refused([line for _, line in gone] + LIVES)
    wrong = [f"{name} is called gone, and nvcc takes it" for i, (name, _) in enumerate(gone) if i not in errors]
    wrong += [f"nvcc refuses {line}" for i, line in enumerate(LIVES, len(gone)) if i in errors]
    print("\n".join(wrong) or f"{len(gone)} are gone, {len(LIVES)} are not")
    return 1 if wrong or len(gone) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
