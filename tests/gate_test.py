#!/usr/bin/env python3
"""Budgets, baselines and logs through the command: what fails, with which code, and what does not.

Where there is an nvcc, the numbers of a log and of the file that it is about must be the same.

Usage: gate_test.py CUPROOF
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CUPROOF = os.path.abspath(sys.argv[1])

KERNELS = r"""
template <typename T> __global__ void shared_sum(T* p) {
  __shared__ T s[256];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[255 - threadIdx.x];
}
template __global__ void shared_sum<float>(float*);
template __global__ void shared_sum<double>(double*);
__global__ void spills(float* p) {
  float a[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) a[i] = p[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 64; ++i) p[i * 1024 + threadIdx.x] = a[63 - i] * a[(i * 7) % 64];
}
__device__ __noinline__ float called(float x, int n) {
  float a[8];
  for (int i = 0; i < n; ++i) a[i & 7] = x * i;
  return a[n & 3];
}
__global__ void calls(float* p, int n) { p[threadIdx.x] = called(p[0], n); }
__global__ void __launch_bounds__(256, 2) bounded(float* p) { p[0] += threadIdx.x; }
"""


def log_of(registers=32, spilled=0, shared=0, name="_Z9propagatePf", arch="sm_90"):
    smem = f", {shared} bytes smem" if shared else ""
    return (f"ptxas info    : Compiling entry function '{name}' for '{arch}'\n"
            f"ptxas info    : Function properties for {name}\n"
            f"    {spilled} bytes stack frame, {spilled} bytes spill stores, {spilled} bytes spill loads\n"
            f"ptxas info    : Used {registers} registers, used 1 barriers{smem}, 360 bytes cmem[0]\n")


class Folder:
    def __init__(self):
        self.own = tempfile.TemporaryDirectory()
        self.path = Path(self.own.name)

    def write(self, name, text):
        (self.path / name).write_text(text)

    def run(self, *arguments):
        return subprocess.run([CUPROOF, *arguments], cwd=self.path, capture_output=True, text=True, check=False)

    def resources(self, *arguments):
        return self.run("resources", *arguments)

    def findings(self, *arguments):
        """Exit code and (level, id) of each finding."""
        run = self.resources(*arguments, "--format", "sarif")
        assert run.returncode in (0, 1, 2), run.stderr
        results = json.loads(run.stdout)["runs"][0]["results"]
        return run.returncode, sorted((r["level"], r["ruleId"]) for r in results)


def baselines():
    folder = Folder()
    folder.write("a.log", log_of())
    assert folder.resources("a.log", "--write-baseline", "b.json").returncode == 0
    assert folder.findings("a.log", "--baseline", "b.json") == (0, [])
    first = (folder.path / "b.json").read_bytes()
    folder.resources("a.log", "--write-baseline", "b.json")
    assert (folder.path / "b.json").read_bytes() == first, "the same kernels, another file"
    assert len(first.splitlines()) == 3, "one line a kernel"
    folder.write("a.log", log_of(spilled=8))
    assert folder.findings("a.log", "--baseline", "b.json") == (1, [("error", "CP403")])
    folder.write("a.log", log_of(registers=128))
    assert folder.findings("a.log", "--baseline", "b.json") == (0, [("warning", "CP402")])
    assert folder.findings("a.log", "--baseline", "b.json", "--fail-on", "warning")[0] == 1
    assert folder.findings("a.log", "--baseline", "b.json", "--block", "1024")[1][0] == ("error", "CP402")
    folder.write("a.log", log_of(name="_Z5otherv"))
    assert folder.findings("a.log", "--baseline", "b.json") == (1, [("error", "CP409"), ("warning", "CP405")])
    text = folder.resources("a.log", "--baseline", "b.json").stdout
    assert "warning[CP405]" in text and "_Z9propagatePf" in text, text


def occupancy():
    folder = Folder()
    folder.write("a.log", log_of(registers=32))
    folder.resources("a.log", "--block", "256", "--write-baseline", "b.json")
    folder.write("a.log", log_of(registers=40))
    code, found = folder.findings("a.log", "--block", "256", "--baseline", "b.json")
    assert (code, found) == (1, [("error", "CP404"), ("warning", "CP402")]), found


def budgets():
    folder = Folder()
    folder.write("a.log", log_of(registers=72, spilled=4, shared=2048))
    budget = '[[budget]]\nkernel = "propagate*"\n'
    for limit, code in (("registers = 72", 0), ("registers = 71", 1), ("spills = 8", 0), ("spills = 7", 1),
                        ("shared = 2048", 0), ("shared = 2047", 1), ("block = 896", 0), ("block = 1024", 1),
                        ("block = 256\noccupancy = 0.375", 0), ("block = 256\noccupancy = 0.5", 1)):
        folder.write("b.toml", f"{budget}{limit}\n")
        found = folder.findings("a.log", "--budget", "b.toml")
        assert found == (code, [("error", "CP401")] * code), (limit, found)
    folder.write("b.toml", f'{budget}registers = 1\n[[allow]]\nkernel = "*"\nreason = "r"\nuntil = 2999-01-01\n')
    assert folder.findings("a.log", "--budget", "b.toml") == (0, [])
    folder.write("b.toml", f'{budget}registers = 1\n[[allow]]\nkernel = "*"\nreason = "r"\nuntil = 2020-01-01\n')
    assert folder.findings("a.log", "--budget", "b.toml") == (1, [("error", "CP401"), ("warning", "CP406")])


def faulty_files():
    folder = Folder()
    folder.write("a.log", log_of())
    for text, words in (("[[budget]\n", "b.toml: line 1: "), ("[[budget]]\nkernel = 3\n", "line 2: 'kernel': expected"),
                        ("x = 1\n", "expected [[budget]] or [[allow]], found 'x'")):
        folder.write("b.toml", text)
        run = folder.resources("a.log", "--budget", "b.toml")
        assert run.returncode == 2 and words in run.stderr and run.stderr.count("\n") == 1, run.stderr
    for text in ("", "[]", '{"schema":"cuproof.baseline/9"}', '{"schema":"cuproof.baseline/1","kernels":[1]}'):
        folder.write("b.json", text)
        run = folder.resources("a.log", "--baseline", "b.json")
        assert run.returncode == 2 and "b.json: " in run.stderr and run.stderr.count("\n") == 1, run.stderr
    run = folder.resources("a.log", "--write-baseline", "absent/b.json")
    assert run.returncode == 2 and "absent/b.json" in run.stderr, run.stderr


def failures():
    folder = Folder()
    folder.write("run.log", log_of(registers=156) + "launch: block (512,1,1)\nCUDA error: too many resources requested "
                 "for launch\n")
    run = folder.resources("run.log")
    assert run.returncode == 1, run
    for words in ("error[CP408]", "512 threads launch with 128 registers a thread or fewer", "-maxrregcount=128",
                  "156 registers, blocks of at most 384 threads"):
        assert words in " ".join(run.stdout.split()), (words, run.stdout)
    folder.write("run.log", "RuntimeError: CUDA error: too many resources requested for launch\n")
    text = folder.resources("run.log", "--gpu", "H100", "--block", "1024").stdout
    assert "-maxrregcount=64" in text, text


def numbers_of(path, folder):
    kernels = json.loads(folder.resources(path, "--format", "json").stdout)["files"][0]["kernels"]
    wanted = ("registers", "spill_stores", "spill_loads", "static_shared", "barriers")
    return {(k["name"], k["arch"]): {name: k[name] for name in wanted} for k in kernels if k["entry"]}


def logs_equal_files():
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not nvcc:
        print("no nvcc: a log is not compared with the file that it is about")
        return
    folder = Folder()
    folder.write("k.cu", KERNELS)
    build = [nvcc, "-Xptxas", "-v", "-maxrregcount=32", "-gencode", "arch=compute_80,code=sm_80", "-gencode",
             "arch=compute_90,code=sm_90", "-c", "k.cu", "-o", "k.o"]
    done = subprocess.run(build, cwd=folder.path, capture_output=True, text=True, check=True)
    folder.write("build.log", "[1/2] make\n" + (done.stdout + done.stderr).replace("\n", "\r\n"))
    told = numbers_of("build.log", folder)
    assert len(told) == 10 and told == numbers_of("k.o", folder), (told, numbers_of("k.o", folder))
    folder.resources("k.o", "--write-baseline", "b.json")
    assert folder.findings("k.o", "--baseline", "b.json") == (0, [])
    subprocess.run([*build[:3], "-maxrregcount=24", *build[4:]], cwd=folder.path, capture_output=True, check=True)
    code, found = folder.findings("k.o", "--baseline", "b.json")
    assert code == 1 and ("error", "CP403") in found, found


def nothing_passes_unchecked():
    """A gate that checks nothing fails, and leaves a baseline that was good as it is."""
    folder = Folder()
    folder.write("a.log", log_of())
    folder.write("b.toml", '[[budget]]\nkernel = "*"\nregisters = 255\n')
    (folder.path / "empty").mkdir()
    folder.write("cut.so", "\x7fELF")
    folder.resources("a.log", "--write-baseline", "b.json")
    good = (folder.path / "b.json").read_bytes()
    for path in ("absent", "empty", "cut.so"):
        for gate in (["--baseline", "b.json"], ["--budget", "b.toml"], ["--write-baseline", "b.json"]):
            run = folder.resources(path, *gate)
            assert run.returncode == 2 and run.stderr, (path, gate, run)
            assert (folder.path / "b.json").read_bytes() == good, (path, gate)
    assert "no file with device code" in folder.resources("empty").stdout
    run = folder.resources("a.log", "absent", "--write-baseline", "b.json")
    assert run.returncode == 2 and "b.json: not written" in run.stderr, run
    assert (folder.path / "b.json").read_bytes() == good
    run = folder.resources("a.log", "--budget", "b.toml", "--gpu", "B200,H100")
    assert run.returncode == 0 and "nothing was checked for sm_100" in run.stdout, run
    folder.write("two.log", log_of() + log_of(name="_Z5otherv"))
    assert folder.findings("two.log", "--baseline", "b.json") == (0, [("note", "CP409")])


def nothing_is_overwritten():
    folder = Folder()
    folder.write("a.log", log_of())
    folder.write("b.toml", '[[budget]]\nkernel = "*"\nregisters = 255\n')
    folder.resources("a.log", "--write-baseline", "b.json")
    (folder.path / "link.log").symlink_to("a.log")
    kept = {path.name: path.read_bytes() for path in folder.path.iterdir()}
    for arguments in (["a.log", "-o", "a.log"], ["a.log", "-o", "link.log"], ["link.log", "-o", "a.log"],
                      ["a.log", "--write-baseline", "a.log"], ["a.log", "--curve", "*", "--svg", "a.log"],
                      ["a.log", "--budget", "b.toml", "-o", "b.toml"],
                      ["a.log", "--budget", "b.toml", "--write-baseline", "b.toml"],
                      ["a.log", "--baseline", "b.json", "-o", "./b.json"],
                      ["a.log", "--write-baseline", "new", "-o", "./new"]):
        run = folder.resources(*arguments)
        assert run.returncode == 2 and "file" in run.stderr and run.stderr.count("\n") == 1, (arguments, run)
        assert {path.name: path.read_bytes() for path in folder.path.iterdir()} == kept, arguments
    run = folder.run("diff", "a.log", "b.toml", "-o", "b.toml")
    assert run.returncode == 2 and "one of the files to read" in run.stderr, run
    assert folder.resources("a.log", "--baseline", "b.json", "--write-baseline", "b.json").returncode == 0


def findings_are_in_every_format():
    folder = Folder()
    folder.write("a.log", log_of(registers=72))
    folder.write("b.toml", '[[budget]]\nkernel = "*"\nregisters = 71\n')
    run = folder.resources("a.log", "--budget", "b.toml", "--format", "json")
    assert run.returncode == 1 and [f["id"] for f in json.loads(run.stdout)["findings"]] == ["CP401"], run
    run = folder.resources("a.log", "--budget", "b.toml", "--format", "csv")
    assert run.returncode == 1 and "error[CP401]" in run.stderr and "CP401" not in run.stdout, run


def logs_are_filtered():
    folder = Folder()
    folder.write("a.log", log_of() + log_of(name="_Z5otherv", arch="sm_80"))

    def kernels(*arguments):
        file, = json.loads(folder.resources("a.log", *arguments, "--format", "json").stdout)["files"]
        return [(k["name"], k["arch"]) for k in file["kernels"]]

    assert kernels() == [("_Z9propagatePf", "sm_90"), ("_Z5otherv", "sm_80")], kernels()
    assert kernels("--kernel", "other*") == [("_Z5otherv", "sm_80")]
    assert kernels("--gpu", "H100") == [("_Z9propagatePf", "sm_90")]
    assert kernels("--gpu", "sm_86") == [("_Z5otherv", "sm_80")]
    assert kernels("--gpu", "B200") == []
    text = folder.resources("a.log", "--gpu", "B200").stdout
    assert "nothing for sm_100: the code inside is for sm_80, sm_90" in " ".join(text.split()), text
    text = folder.resources("a.log", "--kernel", "none").stdout
    assert "none of 2 kernels has such a name" in " ".join(text.split()), text
    kernel = json.loads(folder.resources("a.log", "--format", "json").stdout)["files"][0]["kernels"][0]
    for name in ("recursion", "indirect_calls", "parameter_bytes", "parameters"):
        assert kernel[name] is None, (name, kernel[name])


def price():
    """The price of a limit is what ptxas says: here a ptxas of ours."""
    folder = Folder()
    folder.write("run.log", "threads per block: 1024\ntoo many resources requested for launch\n")
    folder.write("k.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry _Z1kv() { ret; }\n")
    folder.write("ptxas", "#!/bin/sh\necho \"$2 $3\" >asked\ncat <<'end'\n" + log_of(64, 312, name="_Z1kv") + "end\n")
    (folder.path / "ptxas").chmod(0o755)
    text = folder.resources("run.log", "--gpu", "H100", "--ptx", "k.ptx", "--ptxas", "./ptxas").stdout
    assert (folder.path / "asked").read_text() == "-arch=sm_90 -maxrregcount=64\n"
    assert "k() for sm_90 within 64 registers: 64 registers, spills 312 bytes of stores and 312 of loads" in (
        " ".join(text.split())), text
    text = folder.resources("run.log", "--gpu", "H100", "--ptx", "k.ptx", "--ptxas", "./absent").stdout
    assert "no price: ./absent: cannot be run" in text, text


def main():
    price()
    logs_are_filtered()
    nothing_passes_unchecked()
    nothing_is_overwritten()
    findings_are_in_every_format()
    baselines()
    occupancy()
    budgets()
    faulty_files()
    failures()
    logs_equal_files()


if __name__ == "__main__":
    main()
