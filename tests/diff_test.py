#!/usr/bin/env python3
"""`cuproof diff` on small releases: what it says changed, and what it does not.

Usage: diff_test.py CUPROOF
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

CUPROOF = os.path.abspath(sys.argv[1])
FIXTURES = Path(__file__).resolve().parent / "fixtures"


def diff(old, new, *options, codes=(0, 1)):
    run = subprocess.run([CUPROOF, "diff", old, new, "--format", "json", *options], capture_output=True, text=True,
                         check=False)
    assert run.returncode in codes, run.stderr
    report = json.loads(run.stdout)
    return run.returncode, [(c["kind"], c["subject"], c["old"], c["new"]) for c in report["changes"]], report


def images():
    """Name -> bytes of the small images of the fixture."""
    with zipfile.ZipFile(FIXTURES / "gpu_images.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def wheel(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr("p-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: cp311-cp311-linux_x86_64\n")


def nothing_changes(folder):
    sound = folder / "sound-1.0-py3-none-any.whl"
    wheel(sound, {name: content for name, content in images().items() if not name.startswith("damaged/")})
    code, changes, report = diff(sound, sound)
    assert (code, changes, report["problems"]) == (0, [], []), (changes, report["problems"])
    assert report["files"] > 20 and report["kernels"] > 20, report
    text = subprocess.run([CUPROOF, "diff", sound, sound], capture_output=True, text=True, check=True).stdout
    assert "nothing that a user would see has changed" in text, text


def damage_is_told(folder):
    for name in ("fatbin-half.fatbin", "cubin-half.cubin", "fatbin-zstd-cut.fatbin"):
        (folder / name).write_bytes(images()["damaged/" + name])
        for options in ([], ["--no-kernels"]) if name == "fatbin-half.fatbin" else ([],):
            _, _, report = diff(folder / name, folder / name, *options, codes=(2,))
            assert report["problems"], name
        text = subprocess.run([CUPROOF, "diff", folder / name, folder / name], capture_output=True, text=True,
                              check=False).stdout
        assert "nothing that a user" not in text, text


def wrong_paths(folder):
    (folder / "empty").mkdir()
    (folder / "a.cu").write_text("__global__ void k() {}\n")
    for path in ("empty", "a.cu"):
        _, _, report = diff(folder / path, folder / path, codes=(2,))
        assert "nothing to compare" in report["problems"][0]["phrase"], report
    (folder / "some").mkdir()
    (folder / "some" / "a.cubin").write_bytes(images()["cubin/sm_90-cuda13.0.cubin"])
    code, changes, _ = diff(folder / "some", folder / "empty")
    assert code == 1 and ("gpu-lost", "sm_90", "code of its own", "nothing") in changes, changes


def gpus(folder):
    found = images()
    hopper = found["cubin/sm_90-cuda13.0.cubin"]
    ampere = found["cubin/sm_80-cuda13.0.cubin"]
    wheel(folder / "p-1.0-py3-none-any.whl", {"p/a.cubin": hopper})
    wheel(folder / "p-2.0-py3-none-any.whl", {"p/a.cubin": ampere})
    code, changes, _ = diff(folder / "p-1.0-py3-none-any.whl", folder / "p-2.0-py3-none-any.whl")
    assert code == 1, changes
    assert ("gpu-lost", "sm_90", "code of its own", "nothing") in changes, changes
    assert ("gpu-gained", "sm_86", "nothing", "code of an earlier GPU of its major") in changes, changes
    code, _, _ = diff(folder / "p-1.0-py3-none-any.whl", folder / "p-2.0-py3-none-any.whl", "--fail-on", "never")
    assert code == 0
    code, changes, _ = diff(folder / "p-1.0-py3-none-any.whl", folder / "p-2.0-py3-none-any.whl", "--gpu", "A100")
    assert [c for c in changes if c[0].startswith("gpu")] == [
        ("gpu-gained", "sm_80", "nothing", "code of its own")], changes


def unreadable(folder):
    code, _, report = diff(FIXTURES / "gpu_images.zip", folder / "absent.whl", codes=(2,))
    assert report["problems"], report


def parameters(folder):
    """A struct that grows: the kernel keeps its name, and a host that was built before passes too little."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        print("no nvcc: kernel parameters are compared in src/diff/compare_test.cc only")
        return
    source = "struct P { float* p; int n; %s };\n__global__ void scale(P p, int m) { p.p[threadIdx.x] *= m + p.n; }\n"
    for name, member in (("old", ""), ("new", "int extra; double more;")):
        (folder / f"{name}.cu").write_text(source % member)
        subprocess.run([nvcc, "-arch=sm_90", "-cubin", f"{name}.cu", "-o", f"{name}.cubin"], cwd=folder, check=True,
                       capture_output=True)
    code, changes, report = diff(folder / "old.cubin", folder / "new.cubin")
    found = [c for c in report["changes"] if c["kind"] == "parameters"]
    assert len(found) == 1, changes
    assert found[0]["subject"] == "scale(P, int)", found
    assert found[0]["old"] == "2 parameters in 20 bytes" and found[0]["new"] == "2 parameters in 28 bytes", found
    assert found[0]["evidence"] == ["parameter 0: 24 bytes at offset 0, was 16 bytes at offset 0",
                                    "parameter 1: 4 bytes at offset 24, was 4 bytes at offset 16"], found
    assert code == 0 and found[0]["severity"] == "warning"
    code, _, _ = diff(folder / "old.cubin", folder / "new.cubin", "--fail-on", "warning")
    assert code == 1


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nothing_changes(folder)
        gpus(folder)
        unreadable(folder)
        damage_is_told(folder)
        wrong_paths(folder)
        parameters(folder)


if __name__ == "__main__":
    main()
