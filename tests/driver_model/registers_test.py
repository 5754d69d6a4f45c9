#!/usr/bin/env python3
"""Registers, shared memory and launch bounds that we read in a cubin are those that ptxas printed.

    registers_test.py CUPROOF
"""

import ctypes
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = r"""
extern "C" __global__ void plain(float* p) { p[threadIdx.x] *= 2; }
extern "C" __global__ void __launch_bounds__(256) bounded(float* p) {
  __shared__ float tile[777];
  tile[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = tile[255 - threadIdx.x];
}
extern "C" __global__ void hungry(const float* __restrict__ a, float* b) {
  float x[140];
#pragma unroll
  for (int i = 0; i < 140; ++i) x[i] = a[i * blockDim.x + threadIdx.x];
  for (int n = 0; n < int(a[0]); ++n) {
#pragma unroll
    for (int i = 0; i < 140; ++i) x[i] = x[i] * x[(i + 1) % 140] + a[n];
  }
#pragma unroll
  for (int i = 0; i < 140; ++i) b[i * blockDim.x + threadIdx.x] = x[i];
}
"""
STATIC_SHARED, REGISTERS, MAX_THREADS = 1, 4, 0


def printed(log):
    """{kernel: (registers, static shared memory)} as `ptxas -v` has it."""
    found, name = {}, None
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '(\w+)'", line):
            name = match[1]
        if match := re.search(r"Used (\d+) registers", line):
            shared = re.search(r"(\d+) bytes smem", line)
            found[name] = (int(match[1]), int(shared[1]) if shared else 0)
    return found


def main():
    model = Path(sys.argv[1]).resolve().parent / "driver_model" / "libcuda.so.1"
    nvcc = subprocess.run([str(ROOT / "tools" / "find_nvcc.sh")], capture_output=True, text=True)
    if not model.exists() or nvcc.returncode != 0:
        print("SKIP: no nvcc, or the modelled driver was not built")
        return 77
    driver = ctypes.CDLL(str(model))
    assert driver.cuInit(0) == 0
    wrong, compared = [], 0
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder, "k.cu"), Path(folder, "k.cubin")
        source.write_text(SOURCE)
        log = subprocess.run([nvcc.stdout.strip(), "-cubin", "-arch=sm_90", "-Xptxas=-v", source, "-o", cubin],
                             check=True, capture_output=True, text=True).stderr
        module, function, value = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
        assert driver.cuModuleLoadData(ctypes.byref(module), ctypes.create_string_buffer(cubin.read_bytes())) == 0
        expected = printed(log)
        for name, (registers, shared) in expected.items():
            assert driver.cuModuleGetFunction(ctypes.byref(function), module, name.encode()) == 0
            for attribute, wanted in ((REGISTERS, registers), (STATIC_SHARED, shared)):
                assert driver.cuFuncGetAttribute(ctypes.byref(value), attribute, function) == 0
                compared += 1
                if value.value != wanted:
                    wrong.append(f"{name}: attribute {attribute} is {value.value}, ptxas printed {wanted}")
            driver.cuFuncGetAttribute(ctypes.byref(value), MAX_THREADS, function)
            if name == "bounded" and value.value != 256:
                wrong.append(f"bounded: launch bounds of {value.value}")
    if expected.get("hungry", (0,))[0] < 128:
        wrong.append(f"the kernel that should need many registers: {expected}")
    print("\n".join([*wrong, f"{compared} numbers compared, {len(wrong)} differ"]))
    return 1 if wrong or compared < 6 else 0


if __name__ == "__main__":
    sys.exit(main())
