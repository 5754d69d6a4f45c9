"""Test programs under `cuproof run`, on the modelled driver: compile, run, read the report."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# PTX texts whose resources the modelled driver reads in a comment: an assembler is not at hand here.
PTX = """.version {isa}
.target {target}
.address_size 64
// model: {name} {model}
.visible .entry {name}()
{{
  ret;
}}
"""


def ptx(name, model="registers 32", isa="9.0", target="sm_90"):
    return PTX.format(name=name, model=model, isa=isa, target=target)


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(77)


class Lab:
    """Programs in `folder`; `driver` is the folder of a libcuda.so.1, by default the model's."""

    def __init__(self, cuproof, folder, driver="driver_model"):
        self.cuproof = Path(cuproof).resolve()
        self.folder = Path(folder)
        self.driver = self.cuproof.parent / driver
        self.compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if not self.compiler:
            skip("no C compiler")
        if not (self.driver / "libcuda.so.1").exists():
            skip("the modelled driver was not built")
        self.runs = 0

    def client(self, name):
        program = self.folder / name
        if not program.exists():
            subprocess.run([self.compiler, "-O1", "-Wall", "-Wextra", "-Werror", HERE / "clients" / f"{name}.c",
                            "-o", program, f"-L{self.driver}", "-Wl,--as-needed", "-lcuda", "-pthread", "-ldl"],
                           check=True)
        return program

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def environment(self, **more):
        return {**os.environ, "LD_LIBRARY_PATH": str(self.driver), **more}

    def plain(self, *command, **environment):
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120,
                              env=self.environment(**environment))

    def record(self, *command, options=(), **environment):
        """(what the program printed, its exit code, the folder of the run)"""
        self.runs += 1
        folder = self.folder / f"run{self.runs}"
        done = subprocess.run([str(self.cuproof), "run", "-o", str(folder), *options, "--", *map(str, command)],
                              capture_output=True, text=True, timeout=120, env=self.environment(**environment))
        self.messages = done.stderr
        return done.stdout, done.returncode, folder

    def report(self, folder, *options):
        done = subprocess.run([str(self.cuproof), "report", str(folder), *options], capture_output=True, text=True,
                              timeout=120)
        if done.returncode != 0:
            raise ValueError(f"report: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def json(self, folder):
        return json.loads(self.report(folder, "--format", "json"))
