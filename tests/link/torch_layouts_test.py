#!/usr/bin/env python3
"""Both layouts of CUDA wheels below a torch: what is loaded when an extension comes, and older copies
in LD_LIBRARY_PATH. The host opens what torch/__init__.py would; the model finds that out itself."""

import shutil

from lab import Lab

lab = Lab()
SITE = "env/lib/python3.11/site-packages"


def versions(name, *functions):
    return "-Wl,--version-script=" + str(lab.write(f"{name}.map", f"{name} {{ global: {' '.join(f + ';' for f in functions)} local: *; }};"))


def define(*functions):
    return "".join(f"int {f}(void) {{ return 1; }}" for f in functions)


def call(*functions):
    return "".join(f"int {f}(void);" for f in functions) + \
        f"int use(void) {{ return {' + '.join(f + '()' for f in functions)}; }}"


def build(layout):
    """An environment: cudart, cublas and cublasLt below nvidia/, and a torch that needs them."""
    shutil.rmtree(lab.path(SITE))
    folders = {"cu13": dict.fromkeys(("cuda_runtime", "cublas"), "cu13"),
               "parts": {"cuda_runtime": "cuda_runtime", "cublas": "cublas"}}[layout]
    cudart, cublas = (f"{SITE}/nvidia/{folders[part]}/lib" for part in ("cuda_runtime", "cublas"))
    major = "13" if layout == "cu13" else "12"
    lab.library(f"{cudart}/libcudart.so.{major}", define("cudaMalloc"), versions(f"libcudart.so.{major}", "cudaMalloc"))
    lab.library(f"{cublas}/libcublasLt.so.{major}", define("ltOld", "ltNew"),
                versions(f"libcublasLt.so.{major}", "ltOld", "ltNew"))
    lab.library(f"{cublas}/libcublas.so.{major}", call("ltOld", "ltNew") + define("gemm"),
                f"-L{lab.path(cublas)}", f"-l:libcublasLt.so.{major}", "-Wl,-rpath,$ORIGIN", "-Wl,--enable-new-dtags")
    # The copy of an older toolkit, elsewhere.
    lab.library(f"old/libcublasLt.so.{major}", define("ltOld"), versions(f"libcublasLt.so.{major}", "ltOld"))
    rpath = "-Wl,-rpath," + ":".join(f"$ORIGIN/../../nvidia/{folder}/lib" for folder in set(folders.values())) + ":$ORIGIN"
    torch = f"{SITE}/torch"
    lab.write(f"{torch}/version.py", f"__version__ = '2.11.0'\ncuda = '{major}.0'\n")
    lab.library(f"{torch}/lib/libtorch_global_deps.so", call("cudaMalloc"), f"-L{lab.path(cudart)}",
                f"-l:libcudart.so.{major}", rpath)
    lab.library(f"{torch}/lib/libc10.so", define("c10_error"))
    lab.library(f"{torch}/lib/libtorch_cuda.so", call("gemm") + define("at_op"), f"-L{lab.path(cublas)}",
                f"-l:libcublas.so.{major}", f"-L{lab.path(torch)}/lib", "-lc10", rpath, "-Wl,--allow-shlib-undefined")
    lab.library(f"{torch}/lib/libtorch_python.so", define("THPVariable"), f"-L{lab.path(torch)}/lib", "-ltorch_cuda",
                rpath, "-Wl,--allow-shlib-undefined")
    lab.library(f"{torch}/_C.cpython-311-x86_64-linux-gnu.so", define("PyInit"), f"-L{lab.path(torch)}/lib",
                "-ltorch_python", "-Wl,-rpath,$ORIGIN/lib", "-Wl,--allow-shlib-undefined")
    before = [f"global:{lab.path(torch)}/lib/libtorch_global_deps.so", f"{lab.path(torch)}/_C.cpython-311-x86_64-linux-gnu.so"]
    return lab.path(torch) / "lib", lab.path(cublas), major, before


for layout in ("cu13", "parts"):
    torch, cublas, major, before = build(layout)
    other = "12" if major == "13" else "13"
    link = [f"-L{torch}", "-lc10", "-ltorch_cuda", "-ltorch_python", "-Wl,--allow-shlib-undefined",
            "-Wl,--unresolved-symbols=ignore-all"]
    cases = {
        "linked": (call("c10_error", "at_op", "THPVariable"), link),
        "not linked": (call("c10_error"), ["-Wl,--unresolved-symbols=ignore-all"]),
        "cudart, not linked": (call("cudaMalloc"), ["-Wl,--unresolved-symbols=ignore-all"]),
        "gemm, not linked": (call("gemm"), ["-Wl,--unresolved-symbols=ignore-all"]),
        "gone": (call("c10_error", "c10_gone"), link),
        "the other CUDA": (call("c10_error"), [*link, "-Wl,--no-as-needed", lab.library(
            f"other/libcudart.so.{other}", define("cudaFree"))]),
        "this CUDA by name": (call("gemm"), [f"-L{cublas}", f"-l:libcublas.so.{major}",
                                             "-Wl,--allow-shlib-undefined"]),
    }
    for name, (code, flags) in cases.items():
        file = lab.library(f"ext_{layout}_{name.replace(' ', '_').replace(',', '')}.so", code, *flags)
        for variable in ("", lab.path("old")):
            lab.library_path = variable
            lab.open(file, f"{layout}: {name}, LD_LIBRARY_PATH={variable}", before=before)
    lab.library_path = ""

# What an older copy in LD_LIBRARY_PATH does: a versioned symbol is not in it, and torch does not load.
lab.library_path = lab.path("old")
model = lab.model("--env", lab.env, before[1])
missing = {entry["name"]: entry for entry in model["missing_symbols"]}
lab.expect("ltNew is missing", set(missing) == {"ltNew"}, model["missing_symbols"])
if "ltNew" in missing:
    lab.expect("with its version", missing["ltNew"]["version"] == f"libcublasLt.so.{major}", missing)
lab.end()
