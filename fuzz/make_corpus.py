#!/usr/bin/env python3
"""Write the seeds of the fuzz targets: make_corpus.py FOLDER

They are small files made by hand (tests/hostile/craft.py), and the images of
tests/fixtures/gpu_images.zip, which we compiled from our own sources.
"""

import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "hostile"), str(ROOT / "tests")]
import craft  # noqa: E402
import small_cubin  # noqa: E402

SMALL = {
    "fatbin": [["good"], ["elf"], ["pe"], ["cubin"], ["ptx"], ["empty-containers", 3], ["lying-container", 9999],
               ["lying-entry", 9999], ["nested-containers", 3], ["container-in-image"],
               ["empty-entries", 2], ["damaged-entries", 2], ["zstd-bomb", 4096],
               ["lz4-bomb", 4096], ["claims-much", 1 << 40], ["many-archs", 3],
               ["endless-frames", 2, 3], ["frame-bombs", 2], ["section-names", 5, 99]],
    "cubin": [["cubin"], ["notes", 3], ["compat-sections", 64]],
    "ptx": [["ptx"]],
    "zip": [["zip"], ["zip-bomb", 4096], ["zip-lying-size", 9], ["zip-lying-stored", 9999],
            ["zip-bad-crc"], ["zip-encrypted"], ["zip-method", 12], ["zip-members", 3],
            ["zip-nested", 4], ["zip-overlap", 9], ["zip-comment-ends", 3], ["wheel"],
            ["wheel-without-metadata"], ["wheel-lying-record"]],
    "elf": [["section-names", 5, 99], ["string-sections", 4, 99], ["needed-names", 99],
            ["archive-names", 3, 99], ["archive-members", 3], ["pe"],
            ["elf"]],
}


def write(folder, name, data):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name.replace("/", "-")).write_bytes(data)


OBJECT = """
extern int gone(void); extern int weak __attribute__((weak));
int f1(void) { return 1; } int f2(void) { return gone() + weak; }
int _ZN3c104cuda9SetDeviceEa(int a) { return a; }
int _ZN3c101fENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(int a) { return a; }
__asm__(".symver f1,f@V1"); __asm__(".symver f2,f@@V2");
"""
VERSIONS = "V1 { global: f; }; V2 { global: f; _Z*; local: *; } V1;"


def write_shared_objects(folder):
    """Small ones with versions, imports and C++ names; none where there is no compiler."""
    if not shutil.which("gcc"):
        return
    folder.mkdir(parents=True, exist_ok=True)
    code, versions = folder / "code.c", folder / "versions.map"
    code.write_text(OBJECT)
    versions.write_text(VERSIONS)
    for hashes in ("gnu", "sysv", "both"):
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-nostdlib", "-s", code, "-Wl,--no-as-needed", "-lm",
                        f"-Wl,--version-script={versions},--hash-style={hashes},-z,noseparate-code",
                        "-Wl,-soname,libx.so,-rpath,/x,--build-id=none", "-o", folder / f"{hashes}.so"],
                       check=True)
    code.unlink()
    versions.unlink()


EVENTS = b"""{"event":"process","ts":1,"tid":7,"pid":7,"ppid":1,"exe":"/x","command":["x"],"clock_hz":2e9}
{"event":"device","ts":1,"tid":7,"device":0,"attributes":{"75":9,"76":0}}
{"event":"function","ts":2,"tid":7,"id":1,"name":"_Z5scalePf","image":1}
{"event":"log","ts":3,"tid":7,"level":0,"text":"Returning 701"}
{"event":"error","ts":4,"tid":7,"api":"cuLaunchKernel","result":701,"function":1,"grid":[1,1,1],"block":[9,1,1]}
{"event":"graph","ts":5,"tid":7,"id":1,"nodes":{"kernel":2},"complete":true,"kernels":[{"function":1,"grid":[1,1,1]}]}
"""


def write_rings(folder):
    """A header alone, one with a ring of one record, and one with events behind it."""
    header = struct.pack("<QIIIIII", int.from_bytes(b"CUPRING1", "little"), 1, 7, 1, 2, 1, 1)
    header += struct.pack("<Q6QI", 4096 + 8 * 8192 + 64, 1, 1, 1, 9, 9, 9, 1)
    ring = struct.pack("<IIIIQ", 7, 1, 1, 0, 1).ljust(4096 + 8 * 8192, b"\0")
    record = struct.pack("<IHHQ", 1, 1, 0, 5).ljust(64, b"\0")
    write(folder, "header", header.ljust(4096, b"\0"))
    write(folder, "ring", header.ljust(4096, b"\0") + ring + record)
    write(folder, "both", header.ljust(4096, b"\0") + b"\0events\n" + EVENTS)
    write(folder, "events", EVENTS)


def write_kernels(folder):
    """Cubins with every kind of attribute, calls, spills and a line table."""
    def item(number, payload):
        return bytes([4, number]) + len(payload).to_bytes(2, "little") + payload

    words = struct.Struct("<3I")
    attributes = (item(0x17, struct.pack("<IHHI", 0, 1, 8, 4 << 18)) + item(0x05, words.pack(256, 2, 1)) +
                  item(0x45, struct.pack("<IHHI", 0, 0, 0, 20000)) + item(0x3D, words.pack(2, 2, 1)) +
                  item(0x55, struct.pack("<2I", 1, 16)) + item(0x1E, bytes(4)) + bytes([3, 0x1B, 64, 0]))
    for sm in (61, 80, 90, 120):
        kernels = [small_cubin.Kernel("plain", 32), small_cubin.Kernel("_Z1kIfEvPT_", 72, 4096, 3, attributes)]
        write(folder, f"sm_{sm}", small_cubin.cubin(sm, kernels))


def write_logs(folder):
    """What ptxas, nvlink and a failed launch print; a baseline and a budget."""
    kernel = ("ptxas info    : Compiling entry function '_Z1{0}Pf' for 'sm_90'\n"
              "ptxas info    : Function properties for _Z1{0}Pf\n"
              "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
              "ptxas info    : Used 72 registers, used 1 barriers, 2048 bytes smem, 360 bytes cmem[0]\n")
    build = kernel.format("a") + kernel.format("b")
    write(folder, "build", build.encode())
    write(folder, "mixed", "\n".join(sorted(build.splitlines())).encode())
    write(folder, "linked", b"nvlink info    : Function properties for '_Z1aPf':\n"
          b"nvlink info    : used 24 registers, used 0 barriers, 40 stack, 2048 bytes smem, 540 bytes cmem[0]\n")
    write(folder, "failed", b"block (512,1,1)\nCUDA error: too many resources requested for launch\n")
    write(folder, "budget", b'[[budget]]\nkernel = "*a*"\nregisters = 64\nblock = 1024\noccupancy = 0.5\n'
          b'[[allow]]\nkernel = "*"\nreason = "r"\nuntil = 2027-01-31\n')
    write(folder, "baseline", b'{"schema":"cuproof.baseline/1","kernels":[\n{"file":"log","arch":"sm_90","kernel":"a",'
          b'"registers":72,"spills":8,"stack":8,"shared":2048,"block":null,"warps_per_sm":null}\n]}\n')


def main():
    out = Path(sys.argv[1])
    write_logs(out / "logs")
    write_kernels(out / "resources")
    write_rings(out / "trace")
    write_shared_objects(out / "dynamic")
    for target, seeds in SMALL.items():
        for name, *numbers in seeds:
            data = craft.FILES[name](*numbers)
            # Sections that only make a file large.
            if len(data) <= 256 << 10:
                write(out / target, "-".join(map(str, [name, *numbers])), data)
    images = zipfile.ZipFile(ROOT / "tests" / "fixtures" / "gpu_images.zip")
    for name in images.namelist():
        suffix = Path(name).suffix
        targets = {".cubin": ["cubin", "fatbin", "resources"], ".ptx": ["ptx", "fatbin"]}.get(suffix, ["fatbin"])
        for target in targets if suffix != ".json" else []:
            write(out / target, name, images.read(name))


if __name__ == "__main__":
    main()
