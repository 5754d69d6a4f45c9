#!/usr/bin/env python3
"""Compare the occupancy that cuproof tells with the functions of a toolkit's cuda_occupancy.h.

The header is compiled into a program of the test for the time of the test; none of it is kept.
Every GPU of data/launch_limits.tsv that the header knows, over many kernels, blocks and amounts of
dynamic shared memory.

Usage: occupancy_test.py CUPROOF
"""

import csv
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import small_cubin

ROOT = Path(__file__).resolve().parent.parent
# What the header calls limits, by bit.
LIMITS = ["warps", "registers", "shared memory", "blocks", "barriers"]

PROGRAM = r"""
#include <cstdio>
#include <cuda_occupancy.h>

int main() {
  int sm, threads_sm, registers, shared, barriers, block;
  long shared_sm, optin, reserved, dynamic;
  while (std::scanf("%d %d %ld %ld %ld %d %d %d %d %ld", &sm, &threads_sm, &shared_sm, &optin,
                    &reserved, &registers, &shared, &barriers, &block, &dynamic) == 10) {
    cudaOccDeviceProp device;
    device.computeMajor = sm / 10;
    device.computeMinor = sm % 10;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = threads_sm;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.sharedMemPerBlock = 49152;
    device.sharedMemPerMultiprocessor = shared_sm;
    device.numSms = 1;
    device.sharedMemPerBlockOptin = optin;
    device.reservedSharedMemPerBlock = reserved;
    cudaOccFuncAttributes kernel;
    kernel.maxThreadsPerBlock = 1024;
    kernel.numRegs = registers;
    kernel.sharedSizeBytes = shared;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = dynamic;
    kernel.numBlockBarriers = barriers;
    cudaOccDeviceState state;
    cudaOccResult result;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, block, dynamic))
      std::puts("unknown");
    else
      std::printf("%d %u\n", result.activeBlocksPerMultiprocessor, result.limitingFactors);
  }
}
"""


def header_folder():
    homes = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    for home in filter(None, homes):
        if (Path(home) / "include" / "cuda_occupancy.h").is_file():
            return Path(home) / "include"
    return None


def rows():
    lines = (ROOT / "data" / "launch_limits.tsv").read_text().splitlines()
    return list(csv.DictReader((line for line in lines if line[0] != "#"), delimiter="\t"))


def kernels():
    chosen = random.Random(1)
    registers = sorted({*range(16, 256, 9), 32, 40, 64, 128, 168, 255})
    shared = [0, 1, 100, 1024, 4096, 12345, 16384, 49152]
    return [small_cubin.Kernel(f"k{i}", count, chosen.choice(shared), chosen.choice([0, 0, 1, 2, 7, 16]))
            for i, count in enumerate(registers * 3)]


def ours(cuproof, cubin, block, dynamic):
    printed = subprocess.run([cuproof, "resources", cubin, "--format", "json", "--block", str(block),
                              "--dynamic-smem", str(dynamic)],
                             capture_output=True, text=True, check=True).stdout
    return [kernel["occupancy"][0] for kernel in json.loads(printed)["files"][0]["kernels"]]


def main():
    include = header_folder()
    compiler = shutil.which("c++") or shutil.which("g++")
    if include is None or compiler is None:
        print("SKIP: no CUDA toolkit with cuda_occupancy.h, or no compiler")
        return 77
    compared, faults, asked = 0, [], []
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "occupancy.cc", Path(folder) / "occupancy"
        source.write_text(PROGRAM)
        subprocess.run([compiler, "-w", "-O1", "-I", include, source, "-o", program], check=True)
        for row in rows():
            cubin = Path(folder) / "kernels.cubin"
            cubin.write_bytes(small_cubin.cubin(int(row["sm"]), kernels()))
            optin = int(row["shared_optin"])
            for block, dynamic in itertools.product([1, 32, 96, 128, 256, 384, 512, 768, 1024],
                                                    [0, 3000, 60000, optin - 1024]):
                for kernel, answer in zip(kernels(), ours(sys.argv[1], cubin, block, dynamic)):
                    asked.append((f"{row['sm']} {row['threads_sm']} {row['shared_sm']} {optin} "
                                  f"{row['shared_reserved']} {kernel.registers} {kernel.shared} "
                                  f"{kernel.barriers} {block} {dynamic}", answer))
        printed = subprocess.run([program], input="\n".join(line for line, _ in asked),
                                 capture_output=True, text=True, check=True).stdout.splitlines()
    known = set()
    for (line, answer), theirs in zip(asked, printed, strict=True):
        if theirs == "unknown":
            continue
        known.add(line.split()[0])
        compared += 1
        blocks, factors = map(int, theirs.split())
        limits = {name for bit, name in enumerate(LIMITS) if factors >> bit & 1}
        told = set(answer["limited_by"])
        # Where barriers limit, the header leaves what had limited before it in its answer.
        agrees = told <= limits and "barriers" in told if "barriers" in limits else told == limits
        if answer["blocks_per_sm"] != blocks or not agrees:
            faults.append(f"{line}: cuproof {answer}, header {blocks} {sorted(limits)}")
    print(f"{compared} answers compared on {len(known)} capabilities, {len(faults)} differ")
    print("\n".join(faults[:20]))
    return 1 if faults or len(known) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
