#!/usr/bin/env python3
"""Public reports of copies and mixed versions of CUDA's libraries in one process (table E of our list, row by row),
each made again from small objects.

Usage: report_e_test.py CUPROOF
"""

import os
import subprocess
import sys

from small_environment import CUPROOF, expect, run, says

def r70_cublaslt_of_the_system(env):
    env.versioned("libcublasLt.so.12", "libcublasLt.so.12", ["cublasLtCreate"])
    mine = env.package / "libcublasLt.so.12"
    other = env.versioned("libcublasLt.so.12", "libcublasLt.so.12", ["cublasLtCreate"], folder=env.root / "away")
    env.extension("m.so", ["cublasLtCreate"], mine, "-Wl,--enable-new-dtags,-rpath,$ORIGIN")
    expect(env.found(), [])
    found = env.found(library_path=str(other.parent))
    expect(found, [("warning", "CP303", "libcublasLt.so.12")])
    says(found[0], "unset LD_LIBRARY_PATH", f"taken: {other}", f"not taken: {mine}")


def r72_an_older_nvjitlink_before_the_wheels(env):
    new, old = "__nvJitLinkComplete_12_4", "__nvJitLinkComplete_12_1"
    mine = env.versioned("libnvJitLink.so.12", "libnvJitLink.so.12", [new, old])
    other = env.versioned("libnvJitLink.so.12", "libnvJitLink.so.12", [old], folder=env.root / "away")
    sparse = env.library("libcusparse.so.12", f"int {new}(void); int cusparseCreate(void) {{ return {new}(); }}\n",
                         mine, "-Wl,--enable-new-dtags,-rpath,$ORIGIN")
    env.extension("m.so", ["cusparseCreate"], sparse, "-Wl,--enable-new-dtags,-rpath,$ORIGIN")
    expect(env.found(), [])
    found = [f for f in env.found(library_path=str(other.parent)) if f["file"].endswith("m.so")]
    expect(found, [("error", "CP303", "libnvJitLink.so.12")])
    says(found[0], f"undefined symbol: {new}, version")
    says(found[0], f"undefined symbol: {new}, version libnvJitLink.so.12", f"taken: {other}")


def cudnn(env, folder, parts):
    """A cuDNN whose libcudnn_graph.so.9 opens its engines by name, as that of 9.10 does."""
    source = ('const char* const parts[] = {"libcudnn_engines_ours.so", "libcudnn_heuristic_ours.so"};\n'
              "const char* cudnnGraph(int i) { return parts[i]; }\n")
    env.library("libcudnn_graph.so.9", source, "-Wl,--enable-new-dtags,-rpath,$ORIGIN", folder=folder)
    for part in parts:
        env.library(part, f"int version(void) {{ return {len(str(folder))}; }}\n", folder=folder)


def r75_a_part_of_cudnn_from_elsewhere(env):
    both = ["libcudnn_engines_ours.so.9", "libcudnn_heuristic_ours.so.9"]
    own = env.site / "nvidia/cudnn/lib"
    system = env.root / "away"
    cudnn(env, own, both)
    expect(env.found(), [])
    cudnn(env, system, both)
    (own / both[0]).unlink()
    found = env.found(library_path=str(system))
    # The one that is gone, and the other, which LD_LIBRARY_PATH takes from there too.
    expect(found, [("warning", "CP309", name) for name in both])
    says(found[0], "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", f"found: {system / both[0]} (LD_LIBRARY_PATH)")
    found = env.found()
    expect(found, [("warning", "CP309", both[0])])
    says(found[0], "no such file is beside it")


def r76_two_packages_own_one_file(env):
    path = "nvidia/nccl/lib/libnccl.so.2"
    library = env.library("libnccl.so.2", "int ncclGetVersion(void) { return 1; }\n",
                          folder=env.site / "nvidia/nccl/lib")
    data = library.read_bytes()
    env.dist_info("nvidia-nccl-cu11", "2.21.5", [("nvidia/__init__.py", b""), (path, b"older")])
    expect(env.found(), [])
    env.dist_info("nvidia-nccl-cu12", "2.27.5", [("nvidia/__init__.py", b" "), (path, data)])
    found = env.found()
    expect(found, [("warning", "CP304", None)])
    says(found[0], path, "owned by nvidia-nccl-cu11 2.21.5", "by its size it is of nvidia-nccl-cu12 2.27.5")


def r76_one_file_twice_the_same(env):
    """TRUE NEGATIVE: two packages bring one file with the same contents."""
    files = [("nvidia/nccl/lib/libnccl.so.2", b"same")]
    env.dist_info("nvidia-nccl-cu12", "2.27.5", files)
    env.dist_info("nvidia-nccl", "2.27.5", files)
    expect(env.found(), [])


STUB = "_ZN3cub6kernelIiEEvPT_"
REGISTER = "int __cudaRegisterFatBinary(void*); int __cudaRegisterFunction(void*, void*, const char*, const char*);\n"
KERNEL = (f'__attribute__((weak)) void stub(int* p) __asm__("{STUB}");\n'
          "__attribute__((weak)) void stub(int* p) { *p = 1; }\n"
          "static void* handle;\n"
          f'__attribute__((constructor)) static void enter(void) {{\n  __cudaRegisterFatBinary(&handle);\n'
          f'  __cudaRegisterFunction(handle, (void*)stub, "{STUB}", "{STUB}");\n}}\n')
RUNTIME = ["__cudaRegisterFatBinary", "__cudaRegisterFunction"]
HERE = "-Wl,-rpath,$ORIGIN"


def two_libraries(env, *second_flags, second=REGISTER, hidden=""):
    """A module that needs two libraries with the same kernel, as nvcc makes them up to CUDA 12."""
    runtime = env.versioned("libcudart.so.12", "libcudart.so.12", RUNTIME)
    a = env.library("libA.so", REGISTER + KERNEL + "int a(void) { return 0; }\n", runtime, HERE)
    b = env.library("libB.so", second + KERNEL.replace("weak", f"weak{hidden}") + "int b(void) { return 0; }\n",
                    *(second_flags or [runtime]), HERE)
    env.extension("m.so", ["a", "b"], a, b, HERE)


def r21_a_kernel_of_two_libraries(env):
    two_libraries(env)
    # The loader of this machine says the same: libB.so is bound to the stub of libA.so.
    told = subprocess.run([sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(env.package / 'm.so')!r}, 2)"],
                          env={**os.environ, "LD_DEBUG": "bindings"}, capture_output=True, text=True, check=True).stderr
    assert any("libB.so" in line.split(" to ")[0] and "libA.so" in line.split(" to ")[1] and STUB in line
               for line in told.splitlines() if " to " in line), "the loader keeps them apart"
    found = env.host()
    expect(found, [("warning", "CP203", STUB)])
    says(found[0], "void cub::kernel<int>(int*)", "the loader keeps that of", "libA.so",
         "libB.so registers its own device code", "error 98 (invalid device function)", "-fvisibility=hidden")


def r21_hidden_kernels(env):
    """TRUE NEGATIVE: hidden in one of them, each keeps its own."""
    two_libraries(env, hidden=', visibility("hidden")')
    expect(env.host(), [])


def r21_a_weak_function_that_is_no_kernel(env):
    """TRUE NEGATIVE: templates are weak in each library that has them, and most are no kernels."""
    runtime = env.versioned("libcudart.so.12", "libcudart.so.12", RUNTIME)
    plain = KERNEL.replace(f'"{STUB}", "{STUB}"', '"other", "other"')
    a = env.library("libA.so", REGISTER + plain + "int a(void) { return 0; }\n", runtime, HERE)
    b = env.library("libB.so", REGISTER + plain + "int b(void) { return 0; }\n", runtime, HERE)
    env.extension("m.so", ["a", "b"], a, b, HERE)
    expect(env.host(), [])


def r78_two_runtimes_share_a_kernel(env):
    own = "int __cudaRegisterFatBinary(void* p) { return 0; }\n" \
          "int __cudaRegisterFunction(void* a, void* b, const char* c, const char* d) { return 0; }\n"
    two_libraries(env, "-Wl,-Bsymbolic-functions", "-Wl,--dynamic-list-data", second=own)
    env.build("libB.so", own + KERNEL + "int b(void) { return 0; }\n", "-Wl,-soname,libB.so", HERE)
    found = env.host()
    expect(found, [("warning", "CP203", STUB)])
    says(found[0], "a CUDA runtime of its own", "error 52 (__global__ function call is not configured)")


def r72_and_r74_from_the_log(env):
    """The words of torch's import and of JAX, which goes on with the CPU."""
    log = env.root / "run.log"
    log.write_text("W0000 cuda_executor.cc:1] Unable to load cuSPARSE. Is it installed?\n"
                   "ImportError: /x/libcusparse.so.12: undefined symbol: __nvJitLinkComplete_12_4, "
                   "version libnvJitLink.so.12\nall is well\n")
    text = subprocess.run([CUPROOF, "explain", log], capture_output=True, text=True, check=True).stdout
    assert text.count("page: CP303") == 2 and "unset LD_LIBRARY_PATH" in text, text
    assert "JAX goes on without the GPU" in text and "line 2: ImportError" in text, text
    log.write_text("all is well\n")
    text = subprocess.run([CUPROOF, "explain", log], capture_output=True, text=True, check=True).stdout
    assert "no line of it" in text, text


if __name__ == "__main__":
    run([r70_cublaslt_of_the_system, r72_an_older_nvjitlink_before_the_wheels, r75_a_part_of_cudnn_from_elsewhere,
         r76_two_packages_own_one_file, r76_one_file_twice_the_same, r21_a_kernel_of_two_libraries,
         r21_hidden_kernels, r21_a_weak_function_that_is_no_kernel, r78_two_runtimes_share_a_kernel,
         r72_and_r74_from_the_log])
