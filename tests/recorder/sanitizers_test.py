#!/usr/bin/env python3
"""The preloaded library under ThreadSanitizer, AddressSanitizer and UndefinedBehaviorSanitizer: threads that
launch, capture, fail, come and go. Builds what it runs.

Usage: sanitizers_test.py CUPROOF
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
from ring_file import rings  # noqa: E402

DRIVER = """
#include <stdlib.h>
int cuInit(unsigned f) { return 0; }
int cuGetProcAddress_v2(const char* s, void** p, int v, unsigned long f, int* q) { return 500; }
int cuGraphInstantiateWithFlags(void** e, void* g, unsigned long long f) { *e = malloc(8); return 0; }
int cuGraphLaunch(void* e, void* s) { return 0; }
int cuLaunchKernel(void* f, unsigned a, unsigned b, unsigned c, unsigned x, unsigned y, unsigned z, unsigned m,
                   void* s, void** p, void** q) { return x > 1024; }
int cuLaunchKernelEx(const void* c, void* f, void** p, void** q) { return 0; }
int cuMemAllocAsync(void** m, unsigned long n, void* s) { *m = 0; return 0; }
int cuModuleGetFunction(void** f, void* m, const char* n) { *f = malloc(8); return 0; }
int cuModuleLoadData(void** m, const void* i) { *m = malloc(8); return 0; }
int cuModuleUnload(void* m) { free(m); return 0; }
int cuStreamBeginCapture_v2(void* s, int m) { return 0; }
int cuStreamCreate(void** s, unsigned f) { *s = malloc(8); return 0; }
int cuStreamDestroy_v2(void* s) { free(s); return 0; }
int cuStreamEndCapture(void* s, void** g) { *g = malloc(8); return 0; }
int cuStreamSynchronize(void* s) { return 0; }
"""


def main():
    compiler = shutil.which("g++")
    if not compiler:
        print("SKIP: no g++")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        (work / "driver.c").write_text(DRIVER)
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", work / "driver.so", work / "driver.c"], check=True)
        sources = [*sorted((ROOT / "inject").glob("*.cc")), HERE / "inject_stress.cc"]
        for name, flags in (("thread", ["-fsanitize=thread"]),
                            ("address", ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])):
            program = work / name
            subprocess.run([compiler, "-std=c++20", "-O1", "-g1", "-w", "-fno-exceptions", "-fno-rtti", *flags,
                            '-DCUPROOF_VERSION="0"', f"-I{ROOT}/src", "-o", program, *sources, "-ldl", "-pthread"],
                           check=True)
            folder = work / f"run_{name}"
            folder.mkdir()
            run = subprocess.run([program, work / "driver.so", folder, "8"], capture_output=True, text=True,
                                 timeout=240, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0",
                                                   "TSAN_OPTIONS": "exitcode=66"})
            launches = sorted(ring.launches() for ring in rings(folder))
            expected = [2 * 53, 3 * 8 * 8 * 53]
            if run.returncode != 0 or launches != expected:
                failed = 1
                print(f"{name}: exit code {run.returncode}, launches {launches}, expected {expected}")
                print((run.stdout + run.stderr)[:6000])
            else:
                print(f"{name}: {sum(launches)} launches, nothing found")
    return failed


if __name__ == "__main__":
    sys.exit(main())
