"""A folder with a small driver of its own and programs that call it, for the tests of `cuproof run`.

The driver has what the launcher asks for and some hundred functions that do nothing but return their
number; tests/driver_model/ has one that behaves.
"""

import atexit
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CUPROOF = os.path.abspath(sys.argv.pop(1))
COUNT = 300

DRIVER = """
int cuInit(unsigned flags) { return (int)flags; }
double cuLabSum(int a, double b, int c, double d, int e, double f, int g, double h, long i, double j,
                int k, double l, int m, double n, float o, double p, int q, double r) {
  return a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r;
}
int cuLabCount(int n, ...) {
  __builtin_va_list list;
  __builtin_va_start(list, n);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += __builtin_va_arg(list, double);
  return (int)sum;
}
""" + "".join(f"int cuLab{i:03}{'x' * (i % 13)}(void) {{ return {i}; }}\n" for i in range(COUNT))

DECLARATIONS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int cuInit(unsigned flags);
double cuLabSum(int a, double b, int c, double d, int e, double f, int g, double h, long i, double j,
                int k, double l, int m, double n, float o, double p, int q, double r);
int cuLabCount(int n, ...);
"""


class Lab:
    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="cuproof-lab-")).resolve()
        atexit.register(shutil.rmtree, self.root, ignore_errors=True)
        os.chmod(self.root, 0o755)
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_BIND_NOW",
                                            "CUDA_INJECTION64_PATH", "TMPDIR", "XDG_RUNTIME_DIR")}
        self.driver = self.library("driver/libcuda.so.1", DRIVER, "-Wl,-soname,libcuda.so.1",
                                   "-Wl,--build-id")
        self.environment["LD_LIBRARY_PATH"] = str(self.root / "driver")

    def write(self, name, text, mode=0o644):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def _compile(self, name, source, options):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        code = self.write(f"{name}.c", source)
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-w", "-o", path, code, *map(str, options)], check=True)
        return path

    def library(self, name, source, *options):
        return self._compile(name, source, ["-shared", "-fPIC", *options])

    def program(self, name, body, *options):
        """A program that needs the driver; `body` is that of main."""
        source = f"{DECLARATIONS}\nint main(int argc, char** argv) {{\n{body}\n}}\n"
        return self._compile(name, source, [*options, "-Wl,--as-needed", self.driver, "-ldl",
                                            "-pthread"])

    def script(self, name, text):
        return self.write(name, text, 0o755)

    def command(self, *words, output="run", options=()):
        place = ["-o", self.root / output] if output else []
        return list(map(str, [CUPROOF, "run", *place, *options, "--", *words]))

    def run(self, *words, output="run", options=(), env=None, **more):
        """Runs a command under `cuproof run`, in a run folder that is new."""
        if output:
            shutil.rmtree(self.root / output, ignore_errors=True)
        more.setdefault("cwd", self.root)
        return subprocess.run(self.command(*words, output=output, options=options),
                              env={**self.environment, **(env or {})}, capture_output=True,
                              text=True, timeout=120, **more)

    def plain(self, *words, env=None, **more):
        return subprocess.run(list(map(str, words)), env={**self.environment, **(env or {})},
                              capture_output=True, text=True, timeout=120, cwd=self.root, **more)

    def record(self, output="run"):
        return json.loads((self.root / output / "run.json").read_text())

    def recorded(self, output="run"):
        """Ids of the processes that called the driver."""
        return {int(path.name.split(".")[0]) for path in (self.root / output).glob("*.ring")}
