"""The library calls nothing of torch but the C shims of its stable ABI, and exports nothing."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import cuproof_ops
from cuproof_ops import _library

SYSTEM_LIBRARIES = {
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
}


@pytest.fixture
def library():
    if not shutil.which("nm") or not shutil.which("readelf"):
        pytest.skip("no nm and readelf (binutils)")
    beside = Path(cuproof_ops.__file__).with_name(_library.FILE_NAME)
    return os.environ.get(_library.ENVIRONMENT) or str(beside)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_only_stable_shims_are_undefined(library):
    names = [
        line.split()[-1] for line in output("nm", "-D", "--undefined-only", library).splitlines()
    ]
    system = re.compile(r"@(GLIBC|GLIBCXX|CXXABI|GCC)_|^_ITM_|^__gmon_start__$")
    others = [name for name in names if not system.search(name)]
    assert others
    assert [name for name in others if not re.match(r"(aoti_torch|torch)_[a-z0-9_]+$", name)] == []


def test_nothing_is_exported(library):
    assert output("nm", "-D", "--defined-only", library) == ""


def test_only_libtorch_and_the_system_are_needed(library):
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", library)))
    assert needed - SYSTEM_LIBRARIES == {"libtorch.so"}


def test_no_path_of_a_machine_is_inside(library):
    assert not re.search(r"RPATH|RUNPATH", output("readelf", "-d", library))
    text = Path(library).read_bytes()
    assert re.findall(rb"/[ -~]{0,200}/ops/src/[ -~]{1,80}", text) == []
