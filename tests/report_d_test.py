#!/usr/bin/env python3
"""Public reports of missing libraries, GLIBC, GLIBCXX and RPATH (table D of our list, row by row), each made again
from small objects.

Usage: report_d_test.py CUPROOF
"""

import subprocess
import zipfile
from pathlib import Path

from small_environment import CUPROOF, MODULE, expect, run, says



def r58_built_for_another_cuda_major(env):
    runtime = env.versioned("libcudart.so.98", "libcudart.so.98", ["cudaMalloc"], folder=env.root / "away")
    env.versioned("libcudart.so.12", "libcudart.so.12", ["cudaMalloc"], folder=env.site / "nvidia/cuda_runtime/lib")
    env.extension("m.so", ["cudaMalloc"], runtime)
    found = env.found()
    expect(found, [("error", "CP301", "libcudart.so.98")])
    says(found[0], "there is libcudart.so.12", "install the build for libcudart.so.12")


def r60_opened_by_a_name_with_the_wrong_major(env):
    env.torch("2.11.0+cu130", [], cuda="13.0")
    env.versioned("libcudart.so.13", "libcudart.so.13", ["cudaMalloc"], folder=env.site / "nvidia/cu13/lib")
    opens = 'const char* const names[] = {%s};\nvoid* dlopen(const char*, int);\nvoid* g(int i) ' \
            "{ return dlopen(names[i], 2); }\n"
    env.build("m.so", MODULE + opens % '"libcudart.so.97"')
    found = env.found()
    expect(found, [("note", "CP306", "libcudart.so.97")])
    says(found[0], "CUDA 13.0")
    # TRUE NEGATIVE: who tries one after another is in order.
    env.build("m.so", MODULE + opens % '"libcudart.so.97", "libcudart.so.13"')
    expect(env.found(), [])


def r62_no_library_for_torchs_cuda(env):
    env.torch("2.11.0+cu131", [], cuda="13.1")
    for number in ("118", "128", "130"):
        env.build(f"libbitsandbytes_cuda{number}.so", "int x;\n", folder=env.site / "bitsandbytes")
    found = env.found()
    expect(found, [("warning", "CP310", "libbitsandbytes_cuda131.so")])
    says(found[0], "export BNB_CUDA_VERSION=130")
    # The wheel of it, before it is installed.
    wheel = env.root.parent / "bitsandbytes-0.45-py3-none-manylinux_2_24_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for number in ("118", "130"):
            archive.write(env.site / f"bitsandbytes/libbitsandbytes_cuda{number}.so",
                          f"bitsandbytes/libbitsandbytes_cuda{number}.so")
        archive.writestr("bitsandbytes-0.45.dist-info/WHEEL", "Wheel-Version: 1.0\n")
    found = env.found("--env", env.root, paths=[wheel])
    expect(found, [("warning", "CP310", "libbitsandbytes_cuda131.so")])
    says(found[0], "export BNB_CUDA_VERSION=130")
    env.torch("2.11.0+cu130", [], cuda="13.0")
    expect(env.found(), [])


def system_with_glibc(env, newest):
    """A root of a system whose libc.so.6 has versions up to that of 2.`newest`."""
    folder = env.root / "system/lib/x86_64-linux-gnu"
    env.build("ld-linux-x86-64.so.2", "int loader;\n", "-nostdlib", folder=env.root / "system/lib64")
    script = env.root / "libc.map"
    script.write_text("".join(f"GLIBC_2.{n} {{ global: f{n}; }};\n" for n in range(17, newest + 1)))
    env.build("libc.so.6", "".join(f"int f{n}(void) {{ return 0; }}\n" for n in range(17, newest + 1)),
              "-nostdlib", "-Wl,-soname,libc.so.6", f"-Wl,--version-script={script}", folder=folder)
    return folder / "libc.so.6"


def r63_built_on_a_newer_distribution(env):
    newer = system_with_glibc(env, 32)
    env.build("m.so", MODULE + "int f32(void); int g(void) { return f32(); }\n", "-nostdlib", newer)
    system_with_glibc(env, 31)
    found = [f for f in env.found("--sysroot", env.root / "system") if f["id"] != "CP311"]
    expect(found, [("error", "CP302", "GLIBC_2.32")])
    says(found[0], "ends at GLIBC_2.31", "has it: RHEL 9, Amazon Linux 2023, Ubuntu 22.04, Debian 12 or newer",
         "lower manylinux tag")
    system_with_glibc(env, 32)
    expect([f for f in env.found("--sysroot", env.root / "system") if f["id"] != "CP311"], [])


def r65_an_older_libstdcxx_comes_first(env):
    away = env.root / "away"
    script = env.root / "stdcxx.map"
    script.write_text("GLIBCXX_3.4.30 { global: old; };\nGLIBCXX_3.4.32 { global: fresh; };\n")
    new = env.library("libstdc++.so.6", "int old(void) { return 0; } int fresh(void) { return 0; }\n",
                      f"-Wl,--version-script={script}", folder=away)
    env.build("m.so", MODULE + "int fresh(void); int g(void) { return fresh(); }\n", "-nodefaultlibs", new,
              "-Wl,-rpath,$ORIGIN")
    script.write_text("GLIBCXX_3.4.30 { global: old; };\n")
    env.library("libstdc++.so.6", "int old(void) { return 0; }\n", f"-Wl,--version-script={script}")
    found = env.found()
    expect(found, [("error", "CP302", "GLIBCXX_3.4.32")])
    says(found[0], "ends at GLIBCXX_3.4.30", "the libstdc++ of GCC 13.2 or newer")


def r66_a_sibling_without_origin(env):
    sibling = env.library("libsibling.so", "int sibling(void) { return 0; }\n")
    env.extension("m.so", ["sibling"], sibling)
    found = env.found()
    expect(found, [("note", "CP301", "libsibling.so")])
    says(found[0], "RPATH from $ORIGIN")
    env.extension("m.so", ["sibling"], sibling, "-Wl,-rpath,$ORIGIN")
    expect(env.found(), [])


def r68_no_driver_in_an_image_build(env):
    """TRUE NEGATIVE: libcuda.so.1 is in no package, and on no machine without a GPU."""
    stub = env.library("libcuda.so.1", "int cuInit(int f) { return f; }\n", folder=env.root / "away")
    env.extension("m.so", ["cuInit"], stub)
    if not Path("/usr/lib/x86_64-linux-gnu/libcuda.so.1").exists():
        expect(env.found(), [])


def r68_a_stub_in_place_of_the_driver(env):
    stubs = env.root / "cuda/lib64/stubs"
    stub = env.library("libcuda.so.1", "int cuInit(int f) { return f; }\n", folder=stubs)
    env.extension("m.so", ["cuInit"], stub, f"-Wl,-rpath,{stubs}")
    found = env.found()
    expect(found, [("warning", "CP305", None)])
    says(found[0], f"taken: {stub}", "CUDA driver is a stub library")
    stub.unlink()
    if not Path("/usr/lib/x86_64-linux-gnu/libcuda.so.1").exists():
        found = env.found()
        expect(found, [("note", "CP305", None)])
        says(found[0], f"in RPATH or RUNPATH: {stubs}")


def r69_auditwheel_does_not_know_the_name(env):
    """No file is at fault: the log says it, and what to write instead."""
    log = env.root / "build.log"
    log.write_text("INFO:auditwheel.main_repair:Repairing x.whl\nauditwheel: error: cannot repair\n"
                   'Cannot repair wheel, because required library "libcudart.so.13" could not be located\n')
    text = subprocess.run([CUPROOF, "explain", log], capture_output=True, text=True, check=True).stdout
    assert "line 3: " in text and "auditwheel repair --exclude 'libcudart.so.13' WHEEL" in text, text


if __name__ == "__main__":
    run([r58_built_for_another_cuda_major, r60_opened_by_a_name_with_the_wrong_major, r62_no_library_for_torchs_cuda,
         r63_built_on_a_newer_distribution, r65_an_older_libstdcxx_comes_first, r66_a_sibling_without_origin,
         r68_no_driver_in_an_image_build, r68_a_stub_in_place_of_the_driver,
         r69_auditwheel_does_not_know_the_name])
