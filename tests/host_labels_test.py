#!/usr/bin/env python3
"""What `check` says of a file beside what is missing: labels in names, torch's stable ABI, types that changed their
size, operators that two files claim, wheels. Small objects that are made here.

Usage: host_labels_test.py CUPROOF
"""

import zipfile
from pathlib import Path

from small_environment import MODULE, expect, run, says

OLD = "_ZN3c105ErrorC2ENS_14SourceLocationESs"
NEW = "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
SET_DEVICE_INT = "_ZN3c104cuda9SetDeviceEi"  # up to torch 2.2
IMAGES = Path(__file__).parent / "fixtures/gpu_images.zip"


def wheel(env, name, *files):
    """Puts files of the package folder into a wheel; they are gone from the environment."""
    path = env.root.parent / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for file in files:
            out.write(file, f"pkg/{file.name}")
            file.unlink()
        out.writestr("x-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: x\nVersion: 1.0\n")
    return path


def a_label_of_the_other_string_abi(env):
    library = env.torch("2.7.1", [OLD, NEW])
    module = env.extension("m.so", [NEW], library)
    env.dist_info("x", "1.0+cu12torch2.7cxx11abiFALSE", [("pkg/m.so", module.read_bytes())])
    found = env.found()
    expect(found, [("warning", "CP205", "1.0+cu12torch2.7cxx11abiFALSE")])
    says(found[0], "the name says old std::string ABI", NEW, "cxx11abiTRUE")


def a_label_that_is_right(env):
    """TRUE NEGATIVE, for each part of a label."""
    library = env.torch("2.7.1", [OLD, NEW])
    runtime = env.versioned("libcudart.so.12", "libcudart.so.12", ["cudaMalloc"])
    module = env.extension("m.so", [NEW, "cudaMalloc"], library, runtime, "-Wl,-rpath,$ORIGIN")
    env.dist_info("x", "1.0+cu126torch2.7cxx11abiTRUE", [("pkg/m.so", module.read_bytes())])
    expect(env.found(), [])


def a_label_of_another_cuda(env):
    runtime = env.versioned("libcudart.so.13", "libcudart.so.13", ["cudaMalloc"])
    module = env.extension("m.so", ["cudaMalloc"], runtime, "-Wl,-rpath,$ORIGIN")
    env.dist_info("x", "1.0+cu121", [("pkg/m.so", module.read_bytes())])
    found = env.found()
    expect(found, [("warning", "CP205", "1.0+cu121")])
    says(found[0], "the name says CUDA 12, and the file needs libcudart.so.13")


def a_label_of_another_torch(env):
    library = env.torch("2.2.2", [SET_DEVICE_INT])
    module = env.extension("m.so", [SET_DEVICE_INT], library)
    env.dist_info("x", "1.0+torch2.6", [("pkg/m.so", module.read_bytes())])
    found = env.found()
    expect(found, [("warning", "CP205", "1.0+torch2.6")])
    says(found[0], "the name says torch 2.6", "torch 2.1.2 to 2.2.2")


def a_type_of_torch_that_grew(env):
    """It finds every name, and reads c10::TensorImpl as torch 2.2 had it."""
    name = "_ZN3c1010TensorImpl17set_requires_gradEb"
    library = env.torch("2.10.0", [name])
    module = env.extension("m.so", [name], library)
    data = [("pkg/m.so", module.read_bytes())]
    folder = env.dist_info("x", "1.0", data)
    expect(env.found(), [])
    for pin, found_there in (("2.2.1", [("warning", "CP207", None)]), ("2.10.0", []), ("2.9.0", [])):
        (folder / "METADATA").write_text(f"Name: x\nVersion: 1.0\nRequires-Dist: torch=={pin}\n")
        found = env.found()
        expect(found, found_there)
        if found_there:
            says(found[0], "c10::TensorImpl: 192 bytes in torch 2.2, 184 in torch 2.10", "torch==2.2.1")


CLAIM = "static int claim __asm__(\"_ZL31TORCH_LIBRARY_static_init_myops\");\nstatic int claim = 1;\n" \
        "int used(void) { return claim++; }\n"


def two_packages_that_claim_one_operator_library(env):
    library = env.torch("2.7.1", [NEW])
    for package in ("one", "two"):
        module = env.extension("m.so", [NEW], library, more=CLAIM.replace("used", f"used_{package}"),
                               folder=env.site / package)
        env.dist_info(package, "1.0", [(f"{package}/m.so", module.read_bytes())])
    found = env.found()
    expect(found, [("note", "CP204", "myops")])
    says(found[0], "one/m.so", "two/m.so", "2 packages claim the operator library myops")


def variants_of_one_package(env):
    """TRUE NEGATIVE: a package has a file for each GPU and imports one of them."""
    library = env.torch("2.7.1", [NEW])
    files = []
    for variant in ("sm90", "sm100"):
        module = env.extension("m.so", [NEW], library, more=CLAIM, folder=env.package / variant)
        files.append((f"pkg/{variant}/m.so", module.read_bytes()))
    env.dist_info("pkg", "1.0", files)
    expect(env.found(), [])


def two_files_of_one_load_that_claim_it(env):
    library = env.torch("2.7.1", [NEW])
    second = env.library("libops.so", CLAIM.replace("used", "second"))
    env.extension("m.so", [NEW, "second"], library, second, "-Wl,-rpath,$ORIGIN", more=CLAIM)
    found = env.found()
    expect(found, [("error", "CP204", "myops")])
    says(found[0], f"the other one: {second}", "Only a single TORCH_LIBRARY can be used")


def two_libraries_that_a_file_brings_along(env):
    library = env.torch("2.7.1", [NEW])
    parts = [env.extension(f"lib{name}.so", [NEW], library, f"-Wl,-soname,lib{name}.so",
                           more=CLAIM.replace("used", name)) for name in ("first", "second")]
    env.extension("m.so", ["first", "second"], *parts, "-Wl,-rpath,$ORIGIN")
    found = env.found()
    expect(found, [("error", "CP204", "myops")])
    says(found[0], "needs two libraries that claim the operator library myops", *map(str, parts))
    env.extension("m.so", ["first"], parts[0], "-Wl,-rpath,$ORIGIN")
    expect(env.found(), [])


def calls_whose_arguments_changed(env):
    """Cubins of CUDA 11 and a call without a version, which libcudart.so.13 takes otherwise."""
    with zipfile.ZipFile(IMAGES) as images:
        image = env.root.parent / "image"
        image.write_bytes(images.read("fatbin/sass90-cuda11.8.fatbin"))
    code = f'__asm__(".pushsection .nv_fatbin,\\"a\\"\\n.incbin \\"{image}\\"\\n.popsection");\n'
    env.torch("2.11.0", [])
    env.versioned("libcudart.so.13", "libcudart.so.13", ["cudaMemAdvise", "cudaMalloc"])
    plain = env.library("libplain.so", "int cudaMemAdvise(void) { return 0; } int cudaMalloc(void) { return 0; }\n",
                        folder=env.root / "away")
    # Linked with a library that has the names without versions; at run time it is libcudart.so.13.
    module = env.extension("m.so", ["cudaMemAdvise", "cudaMalloc"], plain, "-Wl,-rpath,$ORIGIN", more=code)
    module.write_bytes(module.read_bytes().replace(b"libplain.so\0", b"libnear.so\0\0"))
    env.library("libnear.so", "int near;\n", env.package / "libcudart.so.13", "-Wl,-rpath,$ORIGIN")
    found = [f for f in env.host() if f["file"] == str(module)]
    expect(found, [("warning", "CP208", "cudaMemAdvise")])
    says(found[0], "calls cudaMemAdvise as CUDA 11 has it, and would get that of CUDA 13", "cudaMemLocation")


def a_wheel_as_if_installed(env):
    library = env.torch("2.7.1", [NEW])
    sibling = env.library("libsibling.so", "int sibling(void) { return 0; }\n")
    good = env.extension("good.so", [NEW, "sibling"], library, sibling, "-Wl,-rpath,$ORIGIN")
    bad = env.extension("bad.so", [OLD], library)
    path = wheel(env, "x-1.0-cp311-cp311-linux_x86_64.whl", sibling, good, bad)
    found = env.found("--env", env.root, paths=[path])
    expect(found, [("error", "CP201", OLD)])
    says(found[0], "bad.so", "old std::string ABI")
    # RPATHs lead out of the wheel into the environment: no folder of it is there yet.
    env.extension("far.so", [NEW], library, "-Wl,-rpath,$ORIGIN/../torch/lib")
    path = wheel(env, "y-1.0-cp311-cp311-linux_x86_64.whl", env.package / "far.so")
    env.package.rmdir()
    expect(env.found("--env", env.root, paths=[path]), [])


def a_wheel_without_an_environment(env):
    library = env.torch("2.2.2", [SET_DEVICE_INT])
    module = env.extension("m.so", [SET_DEVICE_INT], library)
    path = wheel(env, "x-1.0+cu121torch2.2-cp311-cp311-linux_x86_64.whl", module)
    found = env.found(paths=[path])
    expect(found, [("note", "CP209", None)])
    says(found[0], "fits torch 2.1.2 to 2.2.2", "torch 2.3.1 has no _ZN3c104cuda9SetDeviceEi")
    path = path.rename(path.with_name("x-1.0+cu121torch2.6-cp311-cp311-linux_x86_64.whl"))
    expect(env.found(paths=[path]), [("note", "CP209", None), ("warning", "CP205", "1.0+cu121torch2.6")])
    expect(env.found("--no-host", paths=[path]), [])


def a_file_that_is_none_of_torchs(env):
    """TRUE NEGATIVE: without an environment nothing is said of what wants nothing of torch."""
    path = wheel(env, "x-1.0-cp311-cp311-linux_x86_64.whl", env.build("m.so", MODULE))
    expect(env.found(paths=[path]), [])


if __name__ == "__main__":
    run([a_label_of_the_other_string_abi, a_label_that_is_right, a_label_of_another_cuda, a_label_of_another_torch,
         a_type_of_torch_that_grew, two_packages_that_claim_one_operator_library, variants_of_one_package,
         two_files_of_one_load_that_claim_it, two_libraries_that_a_file_brings_along, calls_whose_arguments_changed, a_wheel_as_if_installed,
         a_wheel_without_an_environment, a_file_that_is_none_of_torchs])
