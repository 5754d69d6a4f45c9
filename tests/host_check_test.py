#!/usr/bin/env python3
"""The host half of `check`, on small environments that are built here: what it says, and what not.

Usage: host_check_test.py CUPROOF
"""

from pathlib import Path

from small_environment import MODULE, expect, run, says


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


def a_folder_named_by_a_relative_path(env):
    """`cuproof check venv` from beside it says what the whole path says."""
    env.extension("m.so", ["nowhere"])
    for path in ("env", "./env/", "env/../env"):
        expect(env.found(paths=[path], cwd=env.root.parent), [("error", "CP201", "nowhere")])
    module = "env/lib/python3.11/site-packages/pkg/m.so"
    expect(env.found("--env", "env", paths=[module], cwd=env.root.parent), [("error", "CP201", "nowhere")])


def relative_paths_find_what_whole_ones_find(env):
    library = env.torch("2.7.1", ["_ZN3c105thingEv"])
    sibling = env.library("libsibling.so", "int sibling(void) { return 0; }\n")
    env.extension("m.so", ["_ZN3c105thingEv", "sibling"], library, sibling, "-Wl,-rpath,$ORIGIN")
    expect(env.found(paths=["env"], cwd=env.root.parent), [])


def no_interpreter_is_one_note(env):
    """Names of Python are not called missing where there is no Python to look into."""
    (env.root / "bin/python").unlink()
    (env.root / "pyvenv.cfg").write_text("home = /nowhere\n")
    env.extension("m.so", ["PyLong_Check", "_Py_Dealloc"])
    env.extension("n.so", ["Py_IncRef"])
    found = env.found()
    assert {(f["severity"], f["id"]) for f in found} == {("note", "CP311")}, found
    env.extension("n.so", ["Py_IncRef", "nowhere", "Pyramid"])
    expect([f for f in env.found() if f["id"] != "CP311"], [("error", "CP201", "Pyramid")])


def a_file_that_cannot_be_loaded(env):
    """Cut short, as a download that ended early leaves it; and one that says so itself."""
    module = env.extension("m.so", ["puts"])
    expect(env.found(), [])
    whole = module.read_bytes()
    module.write_bytes(whole[:len(whole) // 2])
    found = env.host()
    assert any(f["id"] == "CP307" and f["message"].startswith("is damaged: ") for f in found), found
    env.build("m.so", MODULE, "-Wl,-z,nodlopen")
    found = env.found()
    expect(found, [("error", "CP307", None)])
    says(found[0], "shared object cannot be dlopen()ed")


def one_of_a_set_that_does_not_load(env):
    """TRUE NEGATIVE: bitsandbytes has a library for each CUDA, and takes the one that fits."""
    away = env.root / "away"
    for major in (12, 98):
        name = f"libcudart.so.{major}"
        runtime = env.versioned(name, name, ["cudaMalloc"], folder=env.package if major == 12 else away)
        env.extension(f"libthing_cuda{major}.so", ["cudaMalloc"], runtime, "-Wl,-rpath,$ORIGIN")
    expect(env.found(), [("note", "CP301", "libcudart.so.98")])
    (env.package / "libthing_cuda12.so").unlink()
    expect(env.found(), [("error", "CP301", "libcudart.so.98")])


def a_library_that_may_be_optional(env):
    """cupy has a module for cuTENSOR, which few install."""
    library = env.library("libother.so.2", "int other(void) { return 0; }\n", folder=env.root / "away")
    env.extension("m.so", ["other"], library)
    expect(env.found(), [("warning", "CP301", "libother.so.2")])


def a_package_without_record(env):
    folder = env.dist_info("thing", "1.0")
    (folder / "INSTALLER").write_text("pip\n")
    expect(env.found(), [])
    (folder / "RECORD").unlink()
    found = env.found()
    expect(found, [("note", "CP304", None)])
    says(found[0], "thing 1.0 has no RECORD")


if __name__ == "__main__":
    run([a_cuda_library_of_another_major, no_driver_is_no_fault, a_sibling_that_the_loader_does_not_find,
         an_undefined_symbol, the_torch_it_was_built_for, python_gives_its_own_symbols,
         a_version_that_the_library_lacks, another_copy_by_library_path, a_folder_named_by_a_relative_path,
         relative_paths_find_what_whole_ones_find, no_interpreter_is_one_note, a_file_that_cannot_be_loaded,
         one_of_a_set_that_does_not_load, a_library_that_may_be_optional, a_package_without_record])
