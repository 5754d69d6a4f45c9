#!/usr/bin/env python3
"""Functions that a CUDA header declares and the library beside it does not export, as rows of
data/declared_not_exported.tsv.

Usage: declared_names.py ROOT...

ROOT is a folder with include/ and lib/ (a toolkit, or what wheels of one CUDA release were unpacked to: every
folder below that holds the header and the library is looked into). It needs clang and nm. It prints the rows; the
comment and the header of the table stay as they are.
"""

import argparse
import json
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

# Headers of a C interface, what its names begin with, and the libraries that together export it.
HEADERS = {
    "cublas_v2.h": ("cublas", ["libcublas.so"]),
    "cublasXt.h": ("cublasXt", ["libcublas.so"]),
    "cublasLt.h": ("cublasLt", ["libcublasLt.so"]),
    "cuda_runtime_api.h": ("cuda", ["libcudart.so"]),
    "cufft.h": ("cufft", ["libcufft.so"]),
    "cufftXt.h": ("cufft", ["libcufft.so"]),
    "cufftw.h": ("fftw", ["libcufftw.so"]),
    "curand.h": ("curand", ["libcurand.so"]),
    "cusolverDn.h": ("cusolver", ["libcusolver.so"]),
    "cusolverSp.h": ("cusolverSp", ["libcusolver.so"]),
    "cusolverRf.h": ("cusolverRf", ["libcusolver.so"]),
    "cusolverMg.h": ("cusolverMg", ["libcusolverMg.so"]),
    "cusparse.h": ("cusparse", ["libcusparse.so"]),
    "nvJitLink.h": ("nvJitLink", ["libnvJitLink.so"]),
    "nvrtc.h": ("nvrtc", ["libnvrtc.so"]),
    "nccl.h": ("nccl", ["libnccl.so"]),
    "cudnn.h": ("cudnn", ["libcudnn.so", "libcudnn_adv.so", "libcudnn_cnn.so", "libcudnn_graph.so", "libcudnn_ops.so"]),
    "cupti.h": ("cupti", ["libcupti.so"]),
}


def first(root, pattern):
    """The file of that name that lies least deep."""
    return min(root.rglob(pattern), key=lambda path: len(path.parts), default=None)


def declared(header, includes):
    """Names under which a program would ask for the functions of this header, with what it includes of its own
    folder. Those with a body are no business of the library."""
    text = f'#include "{header.name}"\n'
    command = ["clang", "-x", "c++", "-fsyntax-only", "-w", "-Xclang", "-ast-dump=json",
               *(f"-I{folder}" for folder in includes), "-"]
    out = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if out.returncode != 0:
        raise SystemExit(f"{header}: {out.stderr.strip().splitlines()[0]}")
    return names_of(json.loads(out.stdout), str(header.parent), [""])


def names_of(node, folder, file):
    """clang names the file of a place only where it changes."""
    names = {}
    for inner in node.get("inner", []):
        place = inner.get("loc", {})
        place = place.get("expansionLoc", place.get("spellingLoc", place))
        file[0] = place.get("file", file[0])
        here = file[0]
        if inner["kind"] in ("LinkageSpecDecl", "NamespaceDecl"):
            names.update(names_of(inner, folder, file))
        if inner["kind"] == "FunctionDecl" and here.startswith(folder):
            body = any(part["kind"] == "CompoundStmt" for part in inner.get("inner", []))
            if not body and inner.get("storageClass") != "static" and not inner["name"].startswith("__"):
                names[inner.get("mangledName", inner["name"])] = Path(here).name
    return names


def exported(library):
    text = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in text.splitlines()}


def release(root, includes):
    """"13.0" of CUDART_VERSION, which every release's headers have."""
    for folder in includes:
        header = folder / "cuda_runtime_api.h"
        found = header.exists() and re.search(r"#define CUDART_VERSION\s+(\d+)", header.read_text(errors="replace"))
        if found:
            return f"{int(found[1]) // 1000}.{int(found[1]) % 1000 // 10}"
    raise SystemExit(f"{root}: no cuda_runtime_api.h")


def rows(root):
    includes = sorted({path.parent for path in root.rglob("*.h") if path.parent.name == "include"})
    cuda = release(root, includes)
    for name, (prefix, wanted) in HEADERS.items():
        header = first(root, name)
        libraries = [path for stem in wanted if (path := first(root, stem + ".[0-9]*"))]
        if header is None or not libraries:
            print(f"not compared: {name} of {root}", file=sys.stderr)
            continue
        given = set().union(*map(exported, libraries))
        names = declared(header, includes)
        # A header of this library, not one that it includes of another.
        own = {name: where for name, where in names.items() if name.startswith(prefix)}
        print(f"{header}: {len(own)} declared, {len(set(own) - given)} not in {libraries[0].name}", file=sys.stderr)
        for missing in sorted(set(own) - given):
            yield missing, wanted[0].removesuffix(".so"), own[missing], cuda


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="+", type=Path)
    known = {}
    for root in parser.parse_args().root:
        for name, library, header, cuda in rows(root.resolve()):
            known.setdefault((library, header, name), []).append(cuda)
    for (library, header, name), releases in sorted(known.items()):
        print("\t".join([name, library, header, ";".join(sorted(releases, key=lambda text: [int(n) for n in text.split(".")])), "nvidia:headers", date.today().isoformat(),
                         "its library, nm -D"]))


if __name__ == "__main__":
    main()
