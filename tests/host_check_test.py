#!/usr/bin/env python3
"""The host half of `check`, on small environments that are built here: what it says, and what not.

Usage: host_check_test.py CUPROOF
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CUPROOF = sys.argv[1]


class Environment:
    """A virtual environment with nothing in it but what a test puts there."""

    def __init__(self, folder):
        self.root = Path(folder) / "env"
        self.site = self.root / "lib/python3.11/site-packages"
        self.package = self.site / "pkg"
        self.package.mkdir(parents=True)
        (self.root / "bin").mkdir()
        (self.root / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).parent}\n")
        (self.root / "bin/python").symlink_to(os.path.realpath(sys.executable))

    def build(self, name, source, *flags, folder=None):
        out = (folder or self.package) / name
        out.parent.mkdir(parents=True, exist_ok=True)
        language = "c++" if "namespace" in source else "c"
        subprocess.run(["g++", "-shared", "-fPIC", "-nostartfiles", "-x", language, "-", "-x", "none",
                        "-o", out, *map(str, flags)], input=source, text=True, check=True)
        return out

    def check(self, *options, library_path=None):
        environ = {**os.environ, "LD_LIBRARY_PATH": library_path or ""}
        run = subprocess.run([CUPROOF, "check", self.root, "--format", "json", "--gpu", "H100",
                              "--driver", "580", *options], capture_output=True, text=True,
                             env=environ, check=False)
        if run.returncode not in (0, 1):
            raise AssertionError(run.stderr)
        return run.returncode, json.loads(run.stdout)["findings"]


MODULE = "int PyInit_m(void) { return 0; }\n"


def expect(found, wanted):
    got = sorted((f["severity"], f["id"], f["subject"]) for f in found)
    assert got == sorted(wanted), f"expected {wanted}, got {json.dumps(found, indent=1)}"


def a_cuda_library_of_another_major(env):
    """Report R58: built for a CUDA that the environment is not of (98: none is on the machine)."""
    stub = env.build("libcudart.so.98", "int cudaThing(void) { return 0; }\n",
                     "-Wl,-soname,libcudart.so.98", folder=env.root / "away")
    env.build("libcudart.so.12", "int cudaThing(void) { return 0; }\n",
              "-Wl,-soname,libcudart.so.12", folder=env.site / "nvidia/cuda_runtime/lib")
    env.build("m.so", MODULE + "int cudaThing(void); int f(void) { return cudaThing(); }\n", stub)
    code, found = env.check()
    expect(found, [("error", "CP301", "libcudart.so.98")])
    assert code == 1 and "there is libcudart.so.12" in found[0]["evidence"], found


def no_driver_is_no_fault(env):
    """Report R68: an image without a GPU has no libcuda.so.1; nor has a build machine."""
    stub = env.build("libcuda.so.1", "int cuInit(int f) { return f; }\n",
                     "-Wl,-soname,libcuda.so.1", folder=env.root / "away")
    env.build("m.so", MODULE + "int cuInit(int); int f(void) { return cuInit(0); }\n", stub)
    if not Path("/usr/lib/x86_64-linux-gnu/libcuda.so.1").exists():
        expect(env.check()[1], [])


def a_sibling_that_the_loader_does_not_find(env):
    """Report R66: it lies beside, and there is no $ORIGIN."""
    sibling = env.build("libsibling.so", "int sibling(void) { return 0; }\n",
                        "-Wl,-soname,libsibling.so")
    env.build("m.so", MODULE + "int sibling(void); int f(void) { return sibling(); }\n", sibling)
    expect(env.check()[1], [("note", "CP301", "libsibling.so")])
    env.build("m.so", MODULE + "int sibling(void); int f(void) { return sibling(); }\n", sibling,
              "-Wl,-rpath,$ORIGIN")
    expect(env.check()[1], [])


def an_undefined_symbol(env):
    env.build("m.so", MODULE + "int nowhere(void); int f(void) { return nowhere(); }\n")
    code, found = env.check()
    expect(found, [("error", "CP201", "nowhere")])
    assert code == 1
    expect(env.check("--no-host")[1], [])


def the_torch_it_was_built_for(env):
    """Report R44: SetDevice takes an int up to torch 2.2."""
    env.build("m.so", MODULE + 'int set(int) __asm__("_ZN3c104cuda9SetDeviceEi");\n'
              "int f(void) { return set(0); }\n")
    found = env.check()[1]
    expect(found, [("error", "CP201", "_ZN3c104cuda9SetDeviceEi")])
    evidence = found[0]["evidence"]
    assert any(line.startswith("what it wants of torch is in torch 2.1.2 to 2.2.2") for line in evidence), found
    assert "torch 2.3.1 has no _ZN3c104cuda9SetDeviceEi" in evidence, found


def python_gives_its_own_symbols(env):
    env.build("m.so", MODULE + "int PyLong_Check(void); void Py_IncRef(void*);\n"
              "void f(void) { Py_IncRef(0); }\n")
    expect(env.check()[1], [])


def a_version_that_the_library_lacks(env):
    """Reports R57 and R65: linked with a newer release than the one that is found."""
    script = env.root / "new.map"
    script.write_text("NEW_2 { global: thing; };\n")
    new = env.build("libthing.so.1", "int thing(void) { return 2; }\n", "-Wl,-soname,libthing.so.1",
                    f"-Wl,--version-script={script}", folder=env.root / "away")
    env.build("m.so", MODULE + "int thing(void); int f(void) { return thing(); }\n", new,
              "-Wl,-rpath,$ORIGIN")
    script.write_text("NEW_1 { global: thing; };\n")
    env.build("libthing.so.1", "int thing(void) { return 1; }\n", "-Wl,-soname,libthing.so.1",
              f"-Wl,--version-script={script}")
    code, found = env.check()
    expect(found, [("error", "CP302", "NEW_2")])
    assert code == 1


def another_copy_by_library_path(env):
    """Report R70: cuBLAS of the wheel, cuBLASLt of the system."""
    source = "int ltThing(void) { return 0; }\n"
    mine = env.build("libcublasLt.so.12", source, "-Wl,-soname,libcublasLt.so.12")
    other = env.build("libcublasLt.so.12", source, "-Wl,-soname,libcublasLt.so.12",
                      folder=env.root / "away")
    env.build("m.so", MODULE + "int ltThing(void); int f(void) { return ltThing(); }\n", mine,
              "-Wl,--enable-new-dtags,-rpath,$ORIGIN")
    expect(env.check()[1], [])
    expect(env.check(library_path=str(other.parent))[1],
           [("warning", "CP303", "libcublasLt.so.12")])


def main():
    for test in (a_cuda_library_of_another_major, no_driver_is_no_fault,
                 a_sibling_that_the_loader_does_not_find, an_undefined_symbol,
                 the_torch_it_was_built_for,                 python_gives_its_own_symbols, a_version_that_the_library_lacks,
                 another_copy_by_library_path):
        with tempfile.TemporaryDirectory() as folder:
            test(Environment(folder))
        print(f"ok: {test.__name__}")


if __name__ == "__main__":
    main()
