#!/usr/bin/env python3
"""Notes about how a file was linked: libraries of which it uses nothing (CP312), beside `ldd -r -u`,
and search paths that lead to folders of one machine (CP313).

Usage: host_notes_test.py CUPROOF
"""

import subprocess
from pathlib import Path

from small_environment import MODULE, expect, run, says


def unused_by_ldd(module):
    """File names under "Unused direct dependencies", without those of compilers and the C library."""
    text = subprocess.run(["ldd", "-r", "-u", module], capture_output=True, text=True, check=False).stdout
    _, _, listed = text.partition("Unused direct dependencies:")
    return {Path(line.strip()).name for line in listed.splitlines() if line.strip()} - {
        "libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"}


def unused(env, module):
    found = [f for f in env.found() if f["file"] == str(module)]
    names = set()
    for finding in found:
        assert (finding["severity"], finding["id"]) == ("note", "CP312"), found
        listed = finding["message"].removeprefix("is linked with ").split(" and uses nothing")[0]
        names |= set(listed.split(", "))
    assert len(found) <= 1, found
    return names


def a_library_of_which_nothing_is_used(env):
    a = env.library("libone.so", "int one(void) { return 1; }\n")
    b = env.library("libtwo.so", "int two(void) { return 2; }\n")
    c = env.library("libthree.so", "int three(void) { return 3; }\nint data_of_three = 3;\n")
    origin = "-Wl,-rpath,$ORIGIN"
    for wanted, more, idle in (
            (["one", "two", "three"], "", set()),
            (["one"], "", {"libtwo.so", "libthree.so"}),
            (["two"], "extern int data_of_three; int* d(void) { return &data_of_three; }\n", {"libone.so"}),
            (["two"], "extern int data_of_three __attribute__((weak)); int* d(void) { return &data_of_three; }\n",
             {"libone.so"}),
            (["puts"], "", {"libone.so", "libtwo.so", "libthree.so"})):
        module = env.extension("m.so", wanted, a, b, c, origin, "-lm", more=more)
        assert unused(env, module) == idle == unused_by_ldd(module), (wanted, idle, unused_by_ldd(module))


def as_needed_is_the_fix(env):
    a = env.library("libone.so", "int one(void) { return 1; }\n")
    module = env.extension("m.so", ["puts"], "-Wl,-rpath,$ORIGIN", "-Wl,--as-needed", a)
    assert unused(env, module) == set() == unused_by_ldd(module)


def a_library_that_brings_what_is_used(env):
    """TRUE NEGATIVE, where ldd is of another mind: libx.so is empty, and its libx_cpu.so has the name."""
    part = env.library("libx_cpu.so", "int part(void) { return 1; }\n")
    whole = env.library("libx.so", "int nothing_of_mine;\n", part, "-Wl,-rpath,$ORIGIN")
    module = env.extension("m.so", ["part"], "-Wl,-rpath,$ORIGIN", "-Wl,--unresolved-symbols=ignore-all", whole)
    assert unused(env, module) == set()
    assert unused_by_ldd(module) == {"libx.so"}


def a_library_that_is_there_for_what_it_does(env):
    """TRUE NEGATIVE: it registers something when it is loaded. And torch's, whatever is used of them."""
    a = env.library("libregister.so", "int n;\n__attribute__((constructor)) void a(void) { n++; }\n"
                    "__attribute__((constructor)) void b(void) { n++; }\n")
    torch = env.torch("2.7.1", ["_ZN3c105thingEv"])
    module = env.extension("m.so", ["puts"], a, torch, "-Wl,-rpath,$ORIGIN:$ORIGIN/../torch/lib")
    assert unused(env, module) == set()


def a_driver_that_is_not_used(env):
    """It cannot be imported without a GPU, for nothing; whether a driver is here or not."""
    stub = env.library("libcuda.so.1", "int cuInit(int f) { return f; }\n", folder=env.root / "away")
    module = env.extension("m.so", ["puts"], stub)
    assert unused(env, module) == {"libcuda.so.1"}
    says(env.found()[0], "without a driver it cannot be imported")
    module = env.extension("m.so", ["cuInit"], stub)
    assert unused(env, module) == set()


def a_missing_library_is_not_said_to_be_unused(env):
    """What is in it is not known."""
    away = env.library("libaway.so.1", "int away(void) { return 1; }\n", folder=env.root / "away")
    env.extension("m.so", ["puts"], away)
    expect(env.found(), [("warning", "CP301", "libaway.so.1")])


def folders_of_the_machine_that_built_it(env):
    env.extension("m.so", ["puts"], "-Wl,-rpath,$ORIGIN:/usr/local/cuda-12.1/lib64:/home/me/build/:/usr/lib/x:"
                  f"{env.root}/lib:/home/me/build")
    found = env.found()
    expect(found, [("note", "CP313", "/usr/local/cuda-12.1/lib64")])
    assert found[0]["evidence"][:-1] == ["in RPATH or RUNPATH: /usr/local/cuda-12.1/lib64",
                                         "in RPATH or RUNPATH: /home/me/build"], found
    for path in ("$ORIGIN/../x", "$ORIGIN", "/usr/lib/x86_64-linux-gnu", "/lib64", "${ORIGIN}/y"):
        env.extension("m.so", ["puts"], f"-Wl,-rpath,{path}")
        expect(env.found(), [])
    # The old form is not looked at where the new one is; stubs have a finding of their own.
    env.extension("m.so", ["puts"], "-Wl,--disable-new-dtags,-rpath,/opt/x")
    expect(env.found(), [("note", "CP313", "/opt/x")])
    env.extension("m.so", ["puts"], "-Wl,-rpath,/usr/local/cuda/lib64/stubs")
    expect(env.found(), [("note", "CP305", None)])


def many_files_are_one_line(env):
    """Files that were built alike fold into one note of the text."""
    for i in range(20):
        env.build(f"m{i}.so", MODULE, f"-Wl,-rpath,/opt/cuda-{i}/lib64")
    from small_environment import CUPROOF
    text = subprocess.run([CUPROOF, "check", env.root, "--gpu", "H100"], capture_output=True, text=True,
                          check=True).stdout
    assert text.count("CP313") == 1 and "20 files: looks for" in text, text


if __name__ == "__main__":
    run([a_library_of_which_nothing_is_used, as_needed_is_the_fix, a_library_that_brings_what_is_used,
         a_library_that_is_there_for_what_it_does, a_driver_that_is_not_used,
         a_missing_library_is_not_said_to_be_unused, folders_of_the_machine_that_built_it,
         many_files_are_one_line])
