#!/usr/bin/env python3
"""The committed result of tools/corpus/compare.py: nothing that cuobjdump lists is missing, over enough
binaries of enough projects, and it is about the binaries of corpus.tsv."""

import collections
import csv
import json
import sys
from datetime import date
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "tools/corpus"
LEAST_BINARIES, LEAST_PROJECTS = 25, 12


def main():
    result = json.loads((FOLDER / "results.json").read_text())
    with open(FOLDER / "corpus.tsv") as f:
        rows = list(csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t"))
    date.fromisoformat(result["date"])
    wrong = []
    files = result["files"]
    if {(f["package"], f["member"]) for f in files} != {(r["package"], r["member"]) for r in rows}:
        wrong.append("the result is not about the binaries of corpus.tsv")
    for f in files:
        if f["missing"] or not f["cuproof"]["images"] and f["cuobjdump"]["images"]:
            wrong.append(f"{f['package']} {f['member']}: missing {f['missing']}")
    majors = collections.defaultdict(set)
    for f in files:
        majors[f["project"]].add(f["cuda"].split(".")[0])
    if len(files) < LEAST_BINARIES or len(majors) < LEAST_PROJECTS:
        wrong.append(f"only {len(files)} binaries of {len(majors)} projects")
    if not any(seen >= {"11", "12", "13"} for seen in majors.values()):
        wrong.append("no project with builds for CUDA 11, 12 and 13")
    print("\n".join(wrong) or f"{len(files)} binaries of {len(majors)} projects, nothing missing, "
          f"cuobjdump {result['cuobjdump']}, {result['date']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
