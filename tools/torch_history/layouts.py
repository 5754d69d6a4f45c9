#!/usr/bin/env python3
"""Makes data/torch_layouts.tsv: types of torch whose size changed under unchanged names, by release.

    tools/torch_history/layouts.py --store DIR/store --cache DIR/layouts

No loader sees such a change: every symbol is there, and the extension then writes past an object or reads another
field. Sizes are what a compiler says for layouts.cpp with the headers of each release (in the store of
tools/loader_oracle/run.py); nothing is run. The cache keeps a list of sizes for each release.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import build  # noqa: E402

DATE = "2026-11-30"


def minor(version):
    return int(version.split(".")[1])


def sizes(include, version):
    """type -> bytes."""
    done = subprocess.run(
        ["g++", "-S", "-O0", "-w", "-std=c++20" if minor(version) >= 11 else "-std=c++17",
         f"-D_GLIBCXX_USE_CXX11_ABI={int(minor(version) >= 7)}", f"-I{include}",
         f"-I{include}/torch/csrc/api/include", str(HERE / "layouts.cpp"), "-o", "-"],
        capture_output=True, text=True, check=True)
    return dict(re.findall(r"^cuproof_size_(\w+):\s+\.quad\s+(\d+)", done.stdout, re.M))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--out", default=str(HERE.parent.parent / "data/torch_layouts.tsv"))
    args = parser.parse_args()
    cache = Path(args.cache)
    cache.mkdir(parents=True, exist_ok=True)
    full = dict(re.findall(r"^SIZE_OF\((\w+), ([\w:]+)\)", (HERE / "layouts.cpp").read_text(), re.M))
    found = {}
    for version in build.VERSIONS:
        path = cache / f"{version}.txt"
        if not path.exists():
            got = sizes(Path(args.store, f"torch-{version}/torch/include"), version)
            path.write_text("".join(f"{name} {size}\n" for name, size in sorted(got.items())))
        found[version] = dict(line.split() for line in path.read_text().splitlines())
    lines = ["# Types of torch by size, in releases one behind the other: from first_torch to last_torch (empty: the newest known).",
             "# A type with more than one row changed its size. An extension that was compiled on one side of such a border and hands",
             "# the type to torch, or reads it inline, is broken on the other side, though it finds every symbol. The string ABI of the",
             "# build on the index counts: from 2.7 on it is the new one.",
             "type\tbytes\tfirst_torch\tlast_torch\tsource\tdate\tverified_on"]
    for name in sorted(full):
        runs = []
        for version in build.VERSIONS:
            size = found[version].get(name, "none")
            if runs and runs[-1][0] == size:
                runs[-1][2] = version
            else:
                runs.append([size, version, version])
        for size, first, last in runs:
            end = "" if last == build.VERSIONS[-1] else last.rsplit(".", 1)[0]
            lines.append("\t".join([full[name], size, first.rsplit(".", 1)[0], end, "pypi:torch", DATE,
                                    "headers of the wheel, g++ 12"]))
    Path(args.out).write_text("\n".join(lines) + "\n")
    print(f"{len(lines) - 5} rows")


if __name__ == "__main__":
    main()
