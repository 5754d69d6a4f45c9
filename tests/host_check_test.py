#!/usr/bin/env python3
"""The host half of `check`, on small environments that are built here: what it says, and what not.

Usage: host_check_test.py CUPROOF
"""

import shutil
import subprocess
from pathlib import Path

from small_environment import CUPROOF, MODULE, expect, run, says


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


def a_bare_name_is_a_file_of_this_folder(env):
    """dlopen("m.so") would search for it, and dlopen("libc10.so") give torch's."""
    env.torch("2.7.1", ["_ZN3c105thingEv"])
    away = env.root.parent / "away"
    env.extension("m.so", ["nowhere"], folder=away)
    expect(env.found("--env", env.root, paths=["m.so"], cwd=away), [("error", "CP201", "nowhere")])
    env.extension("libc10.so", ["nowhere"], "-Wl,-soname,libc10.so", folder=away)
    expect(env.found("--env", env.root, paths=["libc10.so"], cwd=away), [("error", "CP201", "nowhere")])
    env.extension("good.so", ["puts"], folder=away)
    expect(env.found("--env", env.root, paths=["good.so"], cwd=away), [])


def the_environment_among_the_paths(env):
    """What --help says of --env; of two environments none is meant."""
    module = env.extension("m.so", ["nowhere"], folder=env.root.parent / "away")
    expect(env.found(paths=[env.root, module]), [("error", "CP201", "nowhere")])
    expect(env.found(paths=[module, env.root]), [("error", "CP201", "nowhere")])
    expect(env.found(paths=[module]), [])
    text = subprocess.run([CUPROOF, "check", module], capture_output=True, text=True, check=False).stdout
    assert "name the environment with --env" in text, text
    text = subprocess.run([CUPROOF, "check", module, "--env", env.root], capture_output=True, text=True,
                          check=False).stdout
    assert "name the environment" not in text, text


def a_string_function_says_which_abi_is_whose(env):
    """c10::Device::str() has a tag under the new ABI, and nothing under the old one."""
    old, new = "_ZNK3c106Device3strEv", "_ZNK3c106Device3strB5cxx11Ev"
    for wanted, there, whose in ((old, new, "old"), (new, old, "new")):
        library = env.torch("2.7.1", [there])
        env.extension("m.so", [wanted], library)
        found = env.found()
        expect(found, [("error", "CP201", wanted)])
        assert f"built with the {whose} std::string ABI" in found[0]["message"], found


def a_library_that_nobody_linked(env):
    """Importing torch first does not help: its libraries are in no scope of another module's."""
    env.torch("2.7.1", ["_ZN3c105thingEv"])
    env.extension("m.so", ["_ZN3c105thingEv"])
    found = env.found()
    expect(found, [("error", "CP201", "_ZN3c105thingEv")])
    assert found[0]["fix"].startswith("link it with libc10.so (-lc10)"), found


def a_library_in_a_folder_of_the_package(env):
    for folder in (env.package, env.root.parent / "project"):
        library = env.library("libsub.so", "int sub(void) { return 0; }\n", folder=folder / "lib")
        module = env.extension("m.so", ["sub"], library, folder=folder)
        for path in (module, folder):
            found = env.found("--env", env.root, paths=[path])
            expect(found, [("note", "CP301", "libsub.so")])
            says(found[0], "-Wl,-rpath,'$ORIGIN/lib'", f"there is {library}")


def files_that_are_no_shared_object(env):
    """Named by the user: what the loader says of them, with an environment and without."""
    for content, says_loader in ((b"", "file too short"), (b"\x7fELF", "file too short"),
                                 (b"GROUP ( libx.so.1 )" * 9, "invalid ELF header")):
        path = env.package / "n.so"
        path.write_bytes(content)
        for options in ((), ("--env", env.root)):
            code, found = env.check(*options, paths=[path])
            expect([f for f in found if f["id"] == "CP307"], [("error", "CP307", None)])
            assert code == 1 and says_loader in found[0]["message"] + found[-1]["message"], found
        path.unlink()
    note = env.root.parent / "notes.txt"
    note.write_text("x")
    assert not [f for f in env.found(paths=[note]) if f["id"] == "CP307"]


def folders_that_an_editable_install_adds(env):
    for name, content in (("easy-install.pth", "{}\n"), ("x.pth", "import os\n{}\n")):
        source = env.root.parent / "source"
        source.mkdir(exist_ok=True)
        (env.site / name).write_text(content.format(source))
        expect(env.found(), [])  # nothing native in it
        env.extension("m.so", ["puts"], folder=source)
        found = env.found()
        expect(found, [("note", "CP116", None)])
        says(found[0], f"also on sys.path, not looked into (from {name})", str(source))
        expect(env.found(paths=[env.root, source]), [])
        (env.site / name).unlink()
        (source / "m.so").unlink()


def projects_that_are_editable_installs(env):
    """They are the environment's: what their modules lack is told, and not of their builds and environments."""
    source = env.root.parent / "source"
    for name, content, package in (
            ("__editable__.x-1.0.pth", "{}\n", source), ("x.pth", "{}/src\n", source / "src"),
            ("__editable___x_1_0_finder.py", "\nMAPPING: dict[str, str] = {{'x': '{}/x'}}\n", source / "x")):
        package.mkdir(parents=True)
        (source / "pyproject.toml").write_text("[project]\n")
        (env.site / name).write_text(content.format(source))
        env.extension("m.so", ["nowhere"], folder=package)
        for other in ("build/lib", ".venv/lib", "env2", "dist"):
            env.extension("m.so", ["elsewhere"], folder=package / other)
        (package / "env2/pyvenv.cfg").write_text("")
        found = env.found()
        expect(found, [("error", "CP201", "nowhere")])
        assert found[0]["file"] == str(package / "m.so"), found
        (env.site / name).unlink()
        shutil.rmtree(source)


def many_libraries_of_one_kind(env):
    """A build for another CUDA lacks all of its libraries: one finding, and not one each."""
    names = ["libcublas.so.11", "libcublasLt.so.11", "libcudart.so.11.0", "libcusparse.so.11", "libcudnn.so.98"]
    env.build("libcudart.so.12", "int c(void) { return 0; }\n", "-Wl,-soname,libcudart.so.12",
              folder=env.site / "nvidia/cuda_runtime/lib")
    away = [env.library(name, f"int f{i}(void) {{ return 0; }}\n", folder=env.root / "away")
            for i, name in enumerate(names)]
    env.extension("m.so", [f"f{i}" for i in range(len(names))], *away)
    found = env.found()
    folded = [f for f in found if f["message"].startswith("needs 4 libraries of CUDA 11")]
    assert len(folded) == 1 and folded[0]["severity"] == "error", found
    says(folded[0], "missing: libcublas.so.11, libcublasLt.so.11, libcudart.so.11.0, libcusparse.so.11",
         "there is libcudart.so.12", "nvidia-cusparse-cu11")
    expect([f for f in found if f not in folded], [("error", "CP301", "libcudnn.so.98")])
    # Two are told one by one.
    env.extension("m.so", ["f0", "f2"], away[0], away[2])
    expect(env.found(), [("error", "CP301", "libcublas.so.11"), ("error", "CP301", "libcudart.so.11.0")])
    # Those of one folder that nobody looks into.
    lib = [env.library(f"libpart{i}.so", f"int p{i}(void) {{ return 0; }}\n", folder=env.package / "lib")
           for i in range(3)]
    env.extension("m.so", ["p0", "p1", "p2"], *lib)
    found = env.found()
    expect(found, [("note", "CP301", "libpart0.so")])
    says(found[0], "needs 3 libraries of", "-Wl,-rpath,'$ORIGIN/lib'")


def a_name_that_only_a_header_has(env):
    """cublasLt.h declares it; no libcublasLt that is known exports it."""
    name = "cublasLtDisableCpuInstructionsSetMask"
    library = env.versioned("libcublasLt.so.13", "libcublasLt.so.13", ["cublasLtCreate"])
    env.extension("m.so", [name, "cublasLtCreate"], library, "-Wl,-rpath,$ORIGIN")
    found = env.found()
    expect(found, [("error", "CP201", name)])
    says(found[0], "cublasLt.h declares it, and libcublasLt of CUDA 12.9 to 13.5 does not export it", "take the call out")


def copies_that_are_not_loaded(env):
    """LD_LIBRARY_PATH of another toolkit: its copy is loaded, and of the file that is not, nothing is missing."""
    away = env.root / "away"
    new = env.versioned("libnvJitLink.so.12", "libnvJitLink.so.12", ["a", "b"])
    env.versioned("libnvJitLink.so.12", "libnvJitLink.so.12", ["a"], folder=away)
    env.build("libcusparse.so.12", "int b(void); int c(void) { return b(); }\n",
              "-Wl,-soname,libcusparse.so.12", new, "-Wl,--enable-new-dtags,-rpath,$ORIGIN")
    env.build("libcusparse.so.12", "int c(void) { return 0; }\n", "-Wl,-soname,libcusparse.so.12", folder=away)
    expect(env.found(), [])
    found = env.found(library_path=str(away))
    expect(found, [("warning", "CP303", "libnvJitLink.so.12")])


def a_copy_whose_release_is_known(env):
    """A toolkit has libcublasLt.so.12 as a link to the release; it may be the newer one."""
    source = "int ltThing(void) { return 0; }\n"
    whole = env.build("libcublasLt.so.12.5.3.2", source, "-Wl,-soname,libcublasLt.so.12")
    mine = env.package / "libcublasLt.so.12"
    mine.symlink_to(whole.name)
    module = env.extension("m.so", ["ltThing"], mine, "-Wl,--enable-new-dtags,-rpath,$ORIGIN")
    for release, word in (("12.8.4.1", "a newer"), ("12.4.5.8", "an older")):
        away = env.root.parent / release
        other = env.build(f"libcublasLt.so.{release}", source, "-Wl,-soname,libcublasLt.so.12", folder=away)
        (away / "libcublasLt.so.12").symlink_to(other.name)
        found = [f for f in env.found(library_path=str(away)) if f["file"] == str(module)]
        expect(found, [("warning", "CP303", "libcublasLt.so.12")])
        says(found[0], f"LD_LIBRARY_PATH puts {word} libcublasLt.so.12", f"release {release}", "release 12.5.3.2")


if __name__ == "__main__":
    run([a_cuda_library_of_another_major, no_driver_is_no_fault, a_sibling_that_the_loader_does_not_find,
         an_undefined_symbol, the_torch_it_was_built_for, python_gives_its_own_symbols,
         a_version_that_the_library_lacks, another_copy_by_library_path, a_folder_named_by_a_relative_path,
         relative_paths_find_what_whole_ones_find, no_interpreter_is_one_note, a_file_that_cannot_be_loaded,
         a_bare_name_is_a_file_of_this_folder, the_environment_among_the_paths,
         a_string_function_says_which_abi_is_whose, a_library_that_nobody_linked,
         a_library_in_a_folder_of_the_package, files_that_are_no_shared_object,
         folders_that_an_editable_install_adds, projects_that_are_editable_installs, many_libraries_of_one_kind,
         a_name_that_only_a_header_has, copies_that_are_not_loaded, a_copy_whose_release_is_known,
         one_of_a_set_that_does_not_load, a_library_that_may_be_optional, a_package_without_record])
