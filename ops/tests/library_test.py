#!/usr/bin/env python3
"""The built library: what it exports, needs, weighs, and what cuproof itself says of it."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CUPROOF = ROOT / "build/release/cuproof"
HEADERS = ROOT / "ops/include/cuproof/ops"
NEEDED = re.compile(r"^(libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|librt|ld-linux-x86-64)\.so\.")
GPU_OF = {"80": "A100", "90": "H100", "100": "B200", "120": "RTX5090"}
# The runtime of CUDA, linked in, is 0.75 MB; each architecture adds about 0.1 MB.
MOST_BYTES = 3_000_000


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    library, architectures = sys.argv[1], re.findall(r"\d+", sys.argv[2])
    wrong = []

    declared = set()
    for header in HEADERS.glob("*.h"):
        text = header.read_text()
        declared |= set(re.findall(r"CUPROOF_OPS_API[^;(]*?\b(cuproof_ops_\w+)\(", text))
    exported = {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()}
    if exported != declared:
        wrong.append(f"exported but not in the headers: {sorted(exported - declared)}; "
                     f"in the headers but not exported: {sorted(declared - exported)}")

    dynamic = run("readelf", "-d", library)
    for name in re.findall(r"NEEDED\).*\[(.*)\]", dynamic):
        if not NEEDED.match(name):
            wrong.append(f"needs {name}")
    if re.search(r"\((RPATH|RUNPATH|TEXTREL)\)", dynamic):
        wrong.append("has an RPATH or text relocations")
    size = Path(library).stat().st_size
    if size > MOST_BYTES:
        wrong.append(f"has {size} bytes, at most {MOST_BYTES} are allowed")

    if CUPROOF.exists():
        gpus = ",".join(GPU_OF[a] for a in architectures if a in GPU_OF)
        check = subprocess.run([CUPROOF, "check", library, "--gpu", gpus, "--driver", "580"],
                               capture_output=True, text=True)
        if check.returncode != 0:
            wrong.append(f"cuproof check --gpu {gpus}: exit code {check.returncode}\n{check.stdout}")
    else:
        print(f"no {CUPROOF}: its check was left out")
    print("\n".join(wrong) or f"{library}: {len(exported)} functions, {size} bytes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
