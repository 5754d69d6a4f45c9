#!/usr/bin/env python3
"""`check` on source and build files: what it says of which line, and what it passes over.

Usage: source_check_test.py CUPROOF
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CUPROOF = os.path.abspath(sys.argv[1])


def found(files, *options):
    """(severity, id, file, line) of each finding about a project of these files, and the findings."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run = subprocess.run([CUPROOF, "check", folder, "--format", "json", *options], capture_output=True,
                             text=True, check=False)
        if run.returncode not in (0, 1):
            raise AssertionError(run.stderr)
        findings = json.loads(run.stdout)["findings"]
        rows = sorted((f["severity"], f["id"], os.path.relpath(f["file"], folder), f["subject"]) for f in findings)
        return rows, findings


def expect(files, options, *wanted):
    rows, findings = found(files, *options)
    assert rows == sorted(wanted), f"expected {sorted(wanted)}, got {json.dumps(findings, indent=1)}"
    return findings


def silent(files, *options):
    expect(files, options)


def architectures_that_the_toolkit_has_not():
    setup = {"setup.py": "from x import y\nflags = ['-gencode', 'arch=compute_70,code=sm_70',\n"
                         "         '-gencode', 'arch=compute_80,code=sm_80']\n"}
    one = expect(setup, ["--cuda", "13.0"], ("error", "CP701", "setup.py", "line 2"))[0]
    assert one["fix"] == "-gencode arch=compute_80,code=sm_80", one
    assert any(e.startswith("line 2: flags = ") for e in one["evidence"]), one
    assert "sm_70 is in CUDA up to 12.9" in one["evidence"], one
    silent(setup, "--cuda", "12.9")
    silent(setup)
    early = {"CMakeLists.txt": "set(CMAKE_CUDA_ARCHITECTURES 80 100)\n"}
    one = expect(early, ["--cuda", "12.6"], ("error", "CP701", "CMakeLists.txt", "line 1"))[0]
    assert one["fix"] == 'set(CMAKE_CUDA_ARCHITECTURES "80")', one


def architectures_behind_a_condition():
    """TRUE NEGATIVE: flags that are added for some releases only."""
    silent({"setup.py": "if cuda < 13:\n    flags = ['-gencode', 'arch=compute_70,code=sm_70']\n"}, "--cuda", "13.0")
    silent({"CMakeLists.txt": "if(V LESS 13)\n  set(CMAKE_CUDA_ARCHITECTURES 70)\nendif()\n"}, "--cuda", "13.0")
    silent({"Makefile": "ifeq ($(OLD),1)\nA = -arch=sm_70\nendif\n"}, "--cuda", "13.0")


def architectures_that_are_not_asked_for():
    """TRUE NEGATIVES: what is said to people, and what is one of a choice."""
    flag = "-gencode=arch=compute_70,code=sm_70"
    for text in (f"print('{flag}')\n", f"p.add_argument('--a', help='{flag}')\n", f"raise ValueError('{flag}')\n",
                 f"x = 'build it with {flag}'\n", f"x = ['{flag}'] if c else []\n", f"x = {{'12': '{flag}'}}\n",
                 f"x = [a for a in ('{flag}', 'y') if ok(a)]\n", f"x = {{\n    12: [\n        '{flag}'],\n}}\n",
                 f"def f():\n    if new:\n        return []\n    return ['{flag}']\n",
                 f"def f():\n    if new: return ['{flag}']\n    else: return ['{flag}']\n"):
        for cuda in (["--cuda", "13.0"], []):
            silent({"setup.py": text}, *cuda)
    for text in (f'message(STATUS "use\n {flag}")\n', f'option(A "{flag}" OFF)\n', f'#[[\n{flag}\n]]\n',
                 f"f($<$<VERSION_LESS:${{V}},13>:{flag}>)\n",
                 f"function(f)\n  if(NEW)\n    return()\n  endif()\n  g({flag})\nendfunction()\n",
                 f"IF(OLD)\n  g({flag})\nENDIF()\n"):
        silent({"CMakeLists.txt": text}, "--cuda", "13.0")
    silent({"Makefile": f"all:\n\t@echo use {flag}\n"}, "--cuda", "13.0")
    # Behind a guard, and behind the function, all is asked for.
    for text in (f"if old:\n    raise RuntimeError('x')\nx = ['{flag}']\n",
                 f"def f():\n    if new:\n        return []\nx = ['{flag}']\n",
                 f"x = ['{flag}'] + (['-g'] if debug else [])\n".replace(" + ", ",\n  *")):
        rows = found({"setup.py": text}, "--cuda", "13.0")[0]
        assert [row[:2] for row in rows] == [("error", "CP701")], (text, rows)


def each_list_is_mended_by_itself():
    text = {"Makefile": "A = -gencode arch=compute_60,code=sm_60 -gencode arch=compute_80,code=sm_80\n\n"
                        "B = -gencode arch=compute_70,code=sm_70 -gencode arch=compute_90,code=sm_90\n"}
    one = expect(text, ["--cuda", "13.0"], ("error", "CP701", "Makefile", "line 1"))[0]
    assert one["message"].endswith("sm_60 (line 1), sm_70 (line 3)"), one
    assert one["fix"] == ("line 1: -gencode arch=compute_80,code=sm_80; "
                          "line 3: -gencode arch=compute_90,code=sm_90"), one


def gpus_that_nothing_is_built_for():
    torch = {"setup.py": "import os\nos.environ['TORCH_CUDA_ARCH_LIST'] = '8.0;9.0a'\n"}
    options = ["--gpu", "B200", "--driver", "580"]
    one = expect(torch, options, ("warning", "CP701", "setup.py", "line 2"))[0]
    assert one["fix"] == 'TORCH_CUDA_ARCH_LIST="8.0;9.0a;10.0"', one
    silent(torch, "--gpu", "H100,A100", "--driver", "580")
    silent({"setup.py": "os.environ['TORCH_CUDA_ARCH_LIST'] = '8.0+PTX'\n"}, *options)
    silent({"CMakeLists.txt": "set(CMAKE_CUDA_ARCHITECTURES 80)\n"}, *options)  # with PTX
    expect({"CMakeLists.txt": "set(CMAKE_CUDA_ARCHITECTURES 80-real)\n"}, options,
           ("warning", "CP701", "CMakeLists.txt", "line 1"))
    silent({"setup.py": "f = f'-gencode=arch=compute_{n},code=sm_{n}', '-gencode=arch=compute_80,code=sm_80'\n"},
           *options)


PROPERTIES = "void f(cudaDeviceProp p) {\n  int a = p.clockRate;\n  int b = p.memoryBusWidth;\n}\n"


def parts_of_cuda_that_are_gone():
    """Report R79."""
    code = {"k.cu": PROPERTIES}
    one = expect(code, ["--cuda", "13.0"], ("error", "CP702", "k.cu", "line 2"))[0]
    assert one["fix"] == "cudaDeviceGetAttribute with cudaDevAttrClockRate", one
    expect(code, [], ("note", "CP702", "k.cu", "line 2"))
    silent(code, "--cuda", "12.9")
    silent(code, "--no-source")
    expect({"a.h": "#include <nvToolsExt.h>\nvoid f() { cudaThreadSynchronize(); }\n"}, ["--cuda", "13.1"],
           ("error", "CP702", "a.h", "line 1"), ("error", "CP702", "a.h", "line 2"))
    # Report R84.
    expect({"t.cu": "void f() {\n  cudaBindTexture(0, t, p);\n}\n"}, ["--cuda", "12.4"],
           ("error", "CP702", "t.cu", "line 2"))
    # Report R81: files of the host compiler.
    expect({"h.cpp": "#include <thrust/sort.h>\n"}, [], ("note", "CP702", "h.cpp", "line 1"))


def parts_of_cccl_that_are_gone():
    """Functors, iterators and base classes that CCCL 3.0, which is in CUDA 13.0, has no more."""
    text = ("#include <x>\nstruct f : thrust::unary_function<int, int> {};\n"
            "void g() { reduce(cub::Sum()); at_cuda_detail::cub::Max m; }\n")
    found = expect({"k.cu": text}, ["--cuda", "13.0"], ("error", "CP702", "k.cu", "line 2"),
                   ("error", "CP702", "k.cu", "line 3"), ("error", "CP702", "k.cu", "line 3"))
    assert {one["message"].split(":  ")[0].split(": from")[0] for one in found} == {
        "thrust::unary_function", "cub::Sum", "cub::Max"}, found
    silent({"k.cu": text}, "--cuda", "12.9")
    for mine in ("struct Sum {};\nSum s;\n", "auto s = mine::Sum();\n", "// cub::Sum\n",
                 "#if CUB_VERSION < 300000\ncub::Sum s;\n#endif\n",
                 "#if __has_include(<cuda/functional>)\ncuda::maximum<> m;\n#else\ncub::Max m;\n#endif\n",
                 "using cub::BlockReduce;\nthrust::plus<int> p;\n"):
        silent({"k.cu": mine}, "--cuda", "13.0")


def texture_references():
    """Report R84."""
    text = "texture<float, 2, cudaReadModeElementType> t;\n__global__ void k() { tex2D(t, 0, 0); }\n"
    expect({"k.cu": text}, ["--cuda", "12.0"], ("error", "CP702", "k.cu", "line 1"))
    silent({"k.cu": text}, "--cuda", "11.8")
    for mine in ("gli::texture<float> t;\nint tex2D;\n", "template <class T> class texture {};\ntexture<int> tex2D;\n",
                 "texture<int> t;\n", "int texture = 1, tex2D = texture < 2;\n".replace("texture < 2", "2")):
        silent({"k.cu": mine}, "--cuda", "13.0")
    silent({"k.cpp": text}, "--cuda", "13.0")  # of some graphics library, for all that is seen


def contexts_with_three_arguments():
    text = "void f() {\n  cuCtxCreate(&c, g(1, 2), d);\n}\n"
    one = expect({"k.cpp": text}, ["--cuda", "13.0"], ("warning", "CP702", "k.cpp", "line 2"))[0]
    assert one["fix"] == "cuCtxCreate(&context, nullptr, flags, device)", one
    silent({"k.cpp": text.replace("&c,", "&c, nullptr,")}, "--cuda", "13.0")
    silent({"k.cpp": text}, "--cuda", "12.9")
    silent({"k.cpp": "auto f = &cuCtxCreate;\n"}, "--cuda", "13.0")


def names_that_only_a_header_has():
    text = "void f() {\n  cublasLtDisableCpuInstructionsSetMask(1);\n}\n"
    one = expect({"k.cpp": text}, ["--cuda", "13.0"], ("warning", "CP702", "k.cpp", "line 2"))[0]
    assert "cublasLt.h declares it" in one["message"], one
    expect({"k.cpp": text}, [], ("note", "CP702", "k.cpp", "line 2"))
    silent({"k.cpp": "unsigned cublasLtDisableCpuInstructionsSetMask(unsigned);\n"}, "--cuda", "13.0")
    silent({"k.cpp": 'auto p = dlsym(h, "cublasLtDisableCpuInstructionsSetMask");\n'}, "--cuda", "13.0")


def functions_whose_arguments_changed():
    old = "void f() {\n  cudaMemAdvise(p, 4, cudaMemAdviseSetReadMostly, 0);\n}\n"
    one = expect({"k.cu": old}, ["--cuda", "13.0"], ("warning", "CP702", "k.cu", "line 2"))[0]
    assert "cudaMemLocation" in one["fix"], one
    silent({"k.cu": "void f() {\n  cudaMemLocation l{cudaMemLocationTypeDevice, 0};\n"
                    "  cudaMemAdvise(p, 4, cudaMemAdviseSetReadMostly, l);\n}\n"}, "--cuda", "13.0")


def code_that_knows():
    """TRUE NEGATIVES: comments, texts, other people's members, and what asks for the version."""
    for text in ("// cudaThreadSynchronize();\n/* p.clockRate */\n",
                 'const char* s = "cudaThreadSynchronize";\nauto t = R"(cudaBindTexture)";\n',
                 "struct mine { int clockRate; };\nint f(mine m) { return m.clockRate; }\n",
                 "void f(cudaDeviceProp p) {\n#if CUDART_VERSION < 13000\n  int a = p.clockRate;\n#endif\n}\n",
                 "#if !defined(CUDA_VERSION) || CUDA_VERSION < 13000\n  cudaThreadSynchronize();\n#else\n  x();\n#endif\n",
                 "#if CUDA_VERSION >= 13000\n#define OK 1\n#endif\n#ifndef OK\nvoid f(cudaDeviceProp p) { p.clockRate; }\n#endif\n",
                 "struct S { int clockRate; };\nint f(S& s, cudaDeviceProp* p) { return s.clockRate; }\n",
                 "#define cudaThreadSynchronize cudaDeviceSynchronize\nvoid f() { cudaThreadSynchronize(); }\n",
                 "void f(pool p) { p.cudaThreadExit(); }\n", "#include <nvtx3/nvToolsExt.h>\n"):
        silent({"k.cu": text}, "--cuda", "13.0")
    silent({"k.cu": "#include <thrust/sort.h>\n", "k.h": "#include <cub/cub.cuh>\n"}, "--cuda", "13.0")


def the_old_string_abi():
    """Report R48."""
    expect({"setup.py": "import torch\nf = ['-D_GLIBCXX_USE_CXX11_ABI=0']\n"}, [],
           ("warning", "CP703", "setup.py", "line 2"))
    expect({"k.cpp": "#define _GLIBCXX_USE_CXX11_ABI 0\n#include <torch/extension.h>\n"}, [],
           ("warning", "CP703", "k.cpp", "line 1"))
    silent({"setup.py": "import torch\nf = ['-D_GLIBCXX_USE_CXX11_ABI=1']\n"})
    silent({"setup.py": "import torch\nf = [f'-D_GLIBCXX_USE_CXX11_ABI={abi}']  # or -D_GLIBCXX_USE_CXX11_ABI=0\n"})
    silent({"setup.py": "f = ['-D_GLIBCXX_USE_CXX11_ABI=0']\n"})  # nothing of torch's
    for text in ("print('-D_GLIBCXX_USE_CXX11_ABI=0')", "m = 'build it with -D_GLIBCXX_USE_CXX11_ABI=0'",
                 "f = ['-D_GLIBCXX_USE_CXX11_ABI=' + ('1' if new else '0'), '-D_GLIBCXX_USE_CXX11_ABI=0' if old else '']"):
        silent({"setup.py": f"import torch\n{text}\n"})


HEURISTIC = "  cublasLtMatmulAlgoGetHeuristic(h, d, A, B, C, D, p, 1, &r, &n);\n"


def counts_that_nobody_looks_at():
    expect({"g.cu": "void f() {\n  int n = 0;\n" + HEURISTIC + "  use(r);\n}\nvoid g(int n) { if (n) h(); }\n"}, [],
           ("warning", "CP704", "g.cu", "line 3"))
    silent({"g.cu": "void f() {\n  int n = 0;\n" + HEURISTIC + "  if (n == 0) throw 1;\n}\n"})
    silent({"g.cu": "void f() {\n  int n = 0;\n  CHECK(" + HEURISTIC.strip().rstrip(";") + ");\n  CHECK(n > 0);\n}\n"})
    silent({"g.cu": "// " + HEURISTIC})


def host_compilers():
    """Report R89."""
    make = {"Makefile": "NVCC = nvcc -ccbin g++-14\n"}
    one = expect(make, ["--cuda", "12.6"], ("error", "CP705", "Makefile", "line 1"))[0]
    assert one["fix"] == "NVCC_CCBIN=g++-13", one
    silent(make, "--cuda", "12.8")
    silent(make)
    silent({"Makefile": "CC = gcc-14\n"}, "--cuda", "12.6")  # of nvcc nothing is said


def torchs_target():
    """Report R53."""
    one = expect({"setup.py": "f = ['-DTORCH_TARGET_VERSION=0x0210000000000000']\n"}, [],
                 ("warning", "CP706", "setup.py", "line 1"))[0]
    assert one["fix"] == "for torch 2.10 write 0x020a000000000000", one
    long = "f = ['" + "-DA_LONG_NAME_OF_SOMETHING=1', '" * 5 + "-DTORCH_TARGET_VERSION=0x0210000000000000']\n"
    one = found({"setup.py": long})[1][0]
    assert "…" in one["evidence"][0] and one["evidence"][0].endswith("TORCH_TARGET_VERSION=0x0210000000000000']"), one
    silent({"setup.py": "f = ['-DTORCH_TARGET_VERSION=0x020a000000000000']\n"})
    expect({"k.h": "\n#define TORCH_TARGET_VERSION 0x020a\n"}, [], ("warning", "CP706", "k.h", "line 2"))


def what_belongs_to_others():
    """TRUE NEGATIVE: environments, installed packages and build folders are not the user's source."""
    silent({"venv/pyvenv.cfg": "", "venv/k.cu": PROPERTIES, "build/k.cu": PROPERTIES,
            "lib/site-packages/x/k.cu": PROPERTIES, "k.txt": PROPERTIES, "k.py": PROPERTIES}, "--cuda", "13.0")


if __name__ == "__main__":
    for test in (architectures_that_the_toolkit_has_not, architectures_behind_a_condition,
                 architectures_that_are_not_asked_for, each_list_is_mended_by_itself,
                 gpus_that_nothing_is_built_for, parts_of_cuda_that_are_gone, parts_of_cccl_that_are_gone,
                 texture_references, contexts_with_three_arguments, names_that_only_a_header_has, functions_whose_arguments_changed,
                 code_that_knows, the_old_string_abi, counts_that_nobody_looks_at, host_compilers, torchs_target,
                 what_belongs_to_others):
        test()
        print(f"ok: {test.__name__}")
