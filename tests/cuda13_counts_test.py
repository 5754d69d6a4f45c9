#!/usr/bin/env python3
"""The counts of tests/data/cuda13_counts.tsv, on the libraries themselves.

    cuda13_counts_test.py CUPROOF [FOLDER ...]

The libraries are looked for in the folders given, in $CUDA_HOME and /usr/local/cuda, and in
$CUPROOF_TORCH_ENV. Without any of them the test is skipped.
"""

import collections
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

SKIPPED = 77


def folders(named):
    yield from map(Path, named)
    for home in (os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        if home:
            yield Path(home) / "lib64"
    if env := os.environ.get("CUPROOF_TORCH_ENV"):
        yield from Path(env).glob("lib/python3*/site-packages/nvidia/*/lib")


def main():
    cuproof, places = sys.argv[1], list(folders(sys.argv[2:]))
    table = Path(__file__).resolve().parent / "data/cuda13_counts.tsv"
    with open(table) as f:
        rows = list(csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t"))
    checked, wrong = 0, []
    for row in rows:
        found = [p / row["library"] for p in places if (p / row["library"]).is_file()]
        path = next((p for p in found if p.stat().st_size == int(row["bytes"])), None)
        if not path:
            continue
        done = subprocess.run([cuproof, "inspect", "--format", "json", path], capture_output=True)
        listed = json.loads(done.stdout)["files"][0]
        counts = collections.Counter(image["arch"] for image in listed["images"])
        want = {k: int(n) for k, n in (pair.split("=") for pair in row["counts"].split())}
        checked += 1
        if counts != want or len(listed["modules"]) != int(row["modules"]):
            wrong.append(f"{row['library']}: expected {want}, got {dict(counts)}")
    if not checked:
        print("SKIP: none of the CUDA 13.0 libraries of the table is on this machine")
        return SKIPPED
    print("\n".join(wrong) or f"{checked} libraries as in the table")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
