#!/usr/bin/env python3
"""What `cmake --install --component c` gives is enough to build and run a C program."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HEADERS = Path(__file__).resolve().parent.parent / "include"
PROGRAM = """
#include <stdio.h>
int main(void) { return puts(cuproof_ops_version()) < 0; }
"""


def main():
    cmake, build, compiler, *cuda_headers = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder)
        subprocess.run([cmake, "--install", build, "--component", "c", "--prefix", prefix],
                       check=True, stdout=subprocess.DEVNULL)
        headers = sorted(str(path.relative_to(HEADERS)) for path in HEADERS.rglob("*.h"))
        installed = prefix / "include"
        found = sorted(str(path.relative_to(installed)) for path in installed.rglob("*.h"))
        if found != headers:
            sys.exit(f"install_test.py: expected the headers {headers}, got {found}")
        libraries = list(prefix.rglob("libcuproof_ops.so"))
        if len(libraries) != 1:
            sys.exit(f"install_test.py: expected one libcuproof_ops.so, got {libraries}")

        source, program = prefix / "program.c", prefix / "program"
        source.write_text("".join(f"#include <{header}>\n" for header in headers) + PROGRAM)
        includes = [word for path in [installed, *cuda_headers] for word in ("-isystem", path)]
        library = libraries[0].parent
        subprocess.run([compiler, "-x", "c", *includes, source, "-x", "none", "-o", program,
                        f"-L{library}", "-lcuproof_ops"], check=True)
        version = subprocess.run([program], check=True, capture_output=True, text=True,
                                 env={**os.environ, "LD_LIBRARY_PATH": str(library)}).stdout
        if " sm_" not in version:
            sys.exit(f"install_test.py: expected a version with machine code, got {version!r}")


if __name__ == "__main__":
    main()
