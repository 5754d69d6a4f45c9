#!/usr/bin/env python3
"""Compile a kernel with nvcc and demand that `cuproof inspect` lists what was asked for.

Needs a CUDA toolkit (nvcc on PATH), no GPU. The architectures and compression
modes are those of the toolkit at hand.

Usage: nvcc_test.py CUPROOF
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "data" / "probe.cu"
# Oldest and newest that one toolkit or another knows; those of the toolkit at hand are taken.
REAL = ["sm_60", "sm_70", "sm_75", "sm_80", "sm_90", "sm_90a", "sm_100a", "sm_100f", "sm_103f",
        "sm_120", "sm_121a"]


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Toolkit:
    def __init__(self):
        release = re.search(r"release (\d+)\.(\d+)", output("nvcc", "--version"))
        self.version = tuple(map(int, release.groups()))
        known = set(re.findall(r"sm_\d+", output("nvcc", "--list-gpu-code")))
        family = self.version >= (12, 9)
        self.real = [arch for arch in REAL
                     if arch.rstrip("af") in known and (family or not arch.endswith("f"))]
        self.modes = re.search(r"--compress-mode \[([^\]]*)\]", output("nvcc", "--help"))
        self.modes = self.modes.group(1).split(",") if self.modes else []


def virtual(real):
    return real.replace("sm_", "compute_")


def generate(*pairs):
    return [f"-gencode=arch={virtual(real)},code={code}" for real, code in pairs]


# What each mode does to these images. In "speed" and "balance" nvcc leaves small cubins alone.
PACKED = {
    None: {"none", "lz4", "zstd"},
    "default": {"none", "lz4", "zstd"},
    "none": {"none"},
    "size": {"zstd"},
    "speed": {"none", "lz4"},
    "balance": {"none", "lz4", "zstd"},
}


def cases(toolkit):
    """(file to make, options of nvcc, images that must be listed, ways they may be packed)"""
    newest = toolkit.real[-1]
    every = generate(*((real, real) for real in toolkit.real)) + generate((newest, virtual(newest)))
    images = [("cubin", real, False) for real in toolkit.real] + [("ptx", virtual(newest), False)]
    for mode in [None, *toolkit.modes]:
        option = [f"--compress-mode={mode}"] if mode else []
        yield f"{mode}.o", ["-c", *option, *every], images, PACKED.get(mode, PACKED[None])
    yield "all.fatbin", ["-fatbin", *every], images, PACKED[None]
    yield "linked.so", ["-shared", "-cudart=none", *every], images, PACKED[None]
    for real in toolkit.real:
        yield f"{real}.cubin", ["-cubin", f"-arch={real}"], [("cubin", real, False)], {"none"}
        yield f"{real}.ptx", ["-ptx", f"-arch={virtual(real)}"], [("ptx", virtual(real), False)], \
            {"none"}
    oldest = toolkit.real[0]
    for real in (oldest, newest):
        relocatable = [("cubin", real, True), ("ptx", virtual(real), True)]
        yield f"{real}.rdc.o", ["-dc", *generate((real, f"[{real},{virtual(real)}]"))], \
            relocatable, PACKED[None]
    lto = oldest.replace("sm_", "lto_")
    # Always for a device link: the command does not say so again.
    yield "lto.o", ["-dc", *generate((oldest, lto))], [("lto-ir", lto, False)], PACKED[None]


def listed(cuproof, path):
    report = json.loads(output(cuproof, "inspect", "--deep", "--format", "json", str(path)))
    (file,) = report["files"]
    return file


def fault(cuproof, folder, case):
    name, options, images, ways = case
    path = folder / name
    command = ["nvcc", "-Xcompiler", "-fPIC", *options, "-o", str(path), str(SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return f"{name}: nvcc failed: {' '.join(command)}\n{done.stderr}"
    file = listed(cuproof, path)
    found = file["images"]
    if name == "linked.so":
        # The device link adds a stub for each target, without a kernel; see docs/formats.md.
        kernels = {image["module"] for image in found if image["kind"] == "ptx"}
        found = [image for image in found if image["module"] in kernels]
    asked = Counter(images)
    got = Counter((i["kind"], i["arch"], i["relocatable"]) for i in found)
    if got != asked:
        return f"{name}: asked for {dict(asked - got)} and not listed; listed beyond: {dict(got - asked)}"
    if odd := sorted({i["compression"] for i in found} - ways):
        return f"{name}: packed {', '.join(odd)}; nvcc was asked for one of {', '.join(sorted(ways))}"
    if damaged := [i["damage"] for i in found if i["damage"]] + file["damage"]:
        return f"{name}: said to be damaged: {damaged[0]}"
    return None


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if not shutil.which("nvcc"):
        print("SKIP: no nvcc on PATH")
        return 77
    toolkit = Toolkit()
    todo = list(cases(toolkit))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        faults = list(filter(None, pool.map(lambda c: fault(sys.argv[1], Path(folder), c), todo)))
    for text in faults:
        print(text)
    print(f"nvcc {'.'.join(map(str, toolkit.version))}, {', '.join(toolkit.real)}")
    print(f"{len(todo) - len(faults)} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
