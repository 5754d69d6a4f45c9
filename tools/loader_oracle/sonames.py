#!/usr/bin/env python3
"""Makes data/sonames.tsv: which SONAME each CUDA library has in each CUDA major, read from NVIDIA's wheels.

    tools/loader_oracle/sonames.py --store DIR/store [--fetch]

Reads every nvidia-* package of the store; --fetch adds the ones below that no torch here requires. Rows of libraries
that no wheel has (the driver) and of libraries that do not follow the toolkit stand in this script.
"""

import argparse
import re
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import wheels  # noqa: E402

DATE = "2026-11-30"
MORE = [("nvidia-cuda-runtime-cu11", "11.8.89"), ("nvidia-cublas-cu11", "11.11.3.6"),
        ("nvidia-cufft-cu11", "10.9.0.58"), ("nvidia-curand-cu11", "10.3.0.86"),
        ("nvidia-cusolver-cu11", "11.4.1.48"), ("nvidia-cusparse-cu11", "11.7.5.86"),
        ("nvidia-cuda-nvrtc-cu11", "11.8.89"), ("nvidia-cuda-cupti-cu11", "11.8.87"),
        ("nvidia-nvtx-cu11", "11.8.86"), ("nvidia-nvfatbin-cu12", "12.9.82"), ("nvidia-nvfatbin", "13.0.85"),
        ("nvidia-nvjpeg-cu12", "12.4.0.76"), ("nvidia-nvjpeg", "13.0.1.86"),
        ("nvidia-nvjitlink-cu12", "12.1.105")]
# Not tied to a toolkit major: their own releases decide.
FREE = re.compile(r"lib(cudnn|nccl|cusparseLt|nvshmem|cufile)")


def dynamic(path):
    """SONAME of a library, or nothing."""
    with open(path, "rb") as f:
        rows = {name: (offset, size) for name, offset, size in wheels.sections(f)}
        if ".dynamic" not in rows or ".dynstr" not in rows:
            return None
        f.seek(rows[".dynamic"][0])
        table = f.read(rows[".dynamic"][1])
        f.seek(rows[".dynstr"][0])
        text = f.read(rows[".dynstr"][1])
    for tag, value in struct.iter_unpack("<QQ", table[:len(table) // 16 * 16]):
        if tag == 14:
            return text[value:text.index(b"\0", value)].decode()
    return None


def major_of(package):
    """CUDA major of a package: its suffix; those of CUDA 13 have none."""
    found = re.search(r"-cu(\d+)$", package)
    return found.group(1) if found else "13"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--out", default=str(HERE.parent.parent / "data/sonames.tsv"))
    args = parser.parse_args()
    store = wheels.Store(args.store)
    if args.fetch:
        for name, version in MORE:
            try:
                store.get(name, version)
            except subprocess.CalledProcessError:
                print(f"no {name} {version}")
    rows = {}
    for folder in sorted(store.root.glob("nvidia-*")):
        facts = store.facts(*folder.name.rsplit("-", 1))
        if not facts:
            continue
        for path in sorted(folder.rglob("*.so*")):
            soname = dynamic(path)
            if not soname or not soname.startswith("lib") or ".so." not in soname or ".alt." in soname:
                continue
            stem = soname.split(".so")[0]
            major = "any" if FREE.match(stem) else major_of(facts["name"])
            rows.setdefault((stem, major, soname), []).append((facts["name"], facts["version"]))
    rows[("libcuda", "any", "libcuda.so.1")] = [("driver", "")]
    lines = ["# SONAME of each CUDA library by toolkit major; any: the library has releases of its own. The number in a SONAME is",
             "# not the toolkit's: libcusparse.so.12 is in CUDA 12 and 13, libcufft.so.12 in 13. package: where it comes from.",
             "library\tcuda_major\tsoname\tpackage\tsource\tdate\tverified_on"]

    def newest(found):
        return max(found, key=lambda row: [int(x) for x in re.findall(r"\d+", row[1])])

    for (stem, major, soname), found in sorted(rows.items()):
        name, version = newest(found)
        source = "nvidia:driver" if name == "driver" else "pypi:nvidia"
        verified = "by document" if name == "driver" else f"{name} {version}"
        lines.append("\t".join([stem, major, soname, name, source, DATE, verified]))
    Path(args.out).write_text("\n".join(lines) + "\n")
    print(f"{len(rows)} rows")


if __name__ == "__main__":
    main()
