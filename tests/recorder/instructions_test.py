#!/usr/bin/env python3
"""Instructions that a hook adds to a call: a count does not depend on the machine's mood, so it can be a
gate where nanoseconds cannot. Steps through calls of a driver that returns at once, plain and recorded.

Usage: instructions_test.py CUPROOF
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from launch_lab import Lab  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# What a hook may add, in instructions, with GCC 12 at -O2: measured 2026-11-30, and a tenth more.
LIMITS = {
    "flight": {"cuLaunchKernel": 182, "cuLaunchKernelEx": 202, "cuGraphLaunch": 172},
    "idle": {"cuLaunchKernel": 6, "cuLaunchKernelEx": 6, "cuGraphLaunch": 6},
}

PROGRAM = """
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
struct config { unsigned grid[3], block[3], shared; void* stream; void* attributes; unsigned count; };
int main(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  void *context, *module, *function, *stream;
  ((int (*)(unsigned))dlsym(driver, "cuInit"))(0);
  ((int (*)(void**, unsigned, int))dlsym(driver, "cuCtxCreate_v2"))(&context, 0, 0);
  ((int (*)(void**, const void*))dlsym(driver, "cuModuleLoadData"))(&module, "//\\n.version 8.0\\n");
  ((int (*)(void**, void*, const char*))dlsym(driver, "cuModuleGetFunction"))(&function, module, "kernel");
  ((int (*)(void**, unsigned))dlsym(driver, "cuStreamCreate"))(&stream, 1);
  int (*kernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                void**) = dlsym(driver, "cuLaunchKernel");
  int (*ex)(const struct config*, void*, void**, void**) = dlsym(driver, "cuLaunchKernelEx");
  int (*graph)(void*, void*) = dlsym(driver, "cuGraphLaunch");
  const struct config config = {{1, 1, 1}, {64, 1, 1}, 0, stream, 0, 0};
  for (int i = 0; i < 20; ++i) {
    kernel(function, 1, 1, 1, 64, 1, 1, 0, stream, 0, 0);
    ex(&config, function, 0, 0);
    graph(function, stream);
  }
  __asm__ volatile("int3");
  kernel(function, 1, 1, 1, 64, 1, 1, 0, stream, 0, 0);
  __asm__ volatile("int3");
  __asm__ volatile("int3");
  ex(&config, function, 0, 0);
  __asm__ volatile("int3");
  __asm__ volatile("int3");
  graph(function, stream);
  __asm__ volatile("int3");
  return 0;
}
"""


def main():
    lab = Lab()
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", lab.driver,
                    ROOT / "tests/driver_model/instant_driver.c"], check=True)
    program = lab._compile("program", PROGRAM, ["-O1", "-ldl"])
    stepper = lab.root / "stepper"
    subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-o", stepper, HERE / "count_instructions.c"],
                   check=True)

    def counts(run):
        if run.returncode == 77:
            print("SKIP: a process may not be traced here")
            sys.exit(77)
        numbers = [int(line) for line in run.stdout.split()]
        if run.returncode != 0 or len(numbers) != 3:
            sys.exit(f"the stepper: exit code {run.returncode}, {run.stdout!r} {run.stderr!r}")
        return dict(zip(("cuLaunchKernel", "cuLaunchKernelEx", "cuGraphLaunch"), numbers))

    plain = counts(lab.plain(stepper, program))
    failed = 0
    for mode, limits in LIMITS.items():
        under = counts(lab.run(stepper, program, options=("--quiet", "--mode", mode)))
        for call, limit in limits.items():
            added = under[call] - plain[call]
            failed += not 0 < added <= limit
            print(f"{mode} {call}: {added} instructions added (limit {limit}), {plain[call]} plain")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
