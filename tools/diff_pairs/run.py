#!/usr/bin/env python3
"""Compare pairs of real releases with `cuproof diff` and hold it against what their authors say.

    tools/diff_pairs/run.py --cuproof build/release/cuproof --cache DIR [--only 'bits*'] --out results.json

pairs.tsv has the pairs, the notes and what is expected. Wheels are fetched with pip into
DIR (6 GB for all) and kept there.
"""

import argparse
import csv
import fnmatch
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLATFORMS = ["manylinux1", "manylinux2010", "manylinux2014", "manylinux_2_17", "manylinux_2_24", "manylinux_2_27",
             "manylinux_2_28", "manylinux_2_34"]
# Kinds of which every change is kept; of the others, how many there are.
KEPT = ("gpu-lost", "gpu-jit-only", "gpu-implied", "gpu-own", "gpu-gained", "driver-floor", "toolkit", "library-added",
        "library-removed", "library-version", "torch-range", "file-added", "file-removed")


def rows(path):
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def wheel(package, version, python, cache):
    folder = cache / f"{package}-{version}"
    found = list(folder.glob("*.whl"))
    if not found:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
                   "--python-version", python, "-d", str(folder), f"{package}=={version}"]
        for platform in PLATFORMS:
            command += ["--platform", f"{platform}_x86_64"]
        subprocess.run(command, check=True)
        found = list(folder.glob("*.whl"))
    return found[0]


def holds(expectation, changes):
    """KIND:SUBJECT[@FILE], with ! for what must not be there."""
    wanted = not expectation.startswith("!")
    kind, _, rest = expectation.lstrip("!").partition(":")
    subject, _, file = rest.partition("@")
    there = any(change["kind"] == kind and fnmatch.fnmatchcase(change["subject"], subject)
                and (not file or any(fnmatch.fnmatchcase(name, file) for name in change["files"]))
                for change in changes)
    return there == wanted


def compare(row, cuproof, cache):
    old = wheel(row["package"], row["old"], row["python"], cache)
    new = wheel(row["package"], row["new"], row["python"], cache)
    start = time.monotonic()
    run = subprocess.run([cuproof, "diff", old, new, "--format", "json", "--fail-on", "never"], capture_output=True,
                         text=True, check=False)
    seconds = time.monotonic() - start
    if run.returncode != 0:
        raise SystemExit(f"{row['package']} {row['old']} {row['new']}: exit {run.returncode}: {run.stderr[:500]}")
    report = json.loads(run.stdout)
    changes = report["changes"]
    expected = {text: holds(text, changes) for text in row["expected"].split("; ") if text}
    kept = [f"{c['kind']} {c['subject']}: {c['old']} -> {c['new']} ({len(c['files'])} files)"
            for c in changes if c["kind"] in KEPT]
    return {"package": row["package"], "old": old.name, "new": new.name, "notes": row["notes"],
            "source": row["source"], "expected": expected, "verdict": row["verdict"],
            "changes": dict(sorted(Counter(c["kind"] for c in changes).items())), "said": kept,
            "files": report["files"], "kernels": report["kernels"], "kernels_changed": report["kernels_changed"],
            "seconds": round(seconds, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuproof", required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--only", default="*")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    results = []
    for row in rows(HERE / "pairs.tsv"):
        if not fnmatch.fnmatchcase(row["package"], arguments.only):
            continue
        result = compare(row, arguments.cuproof, arguments.cache)
        missed = [text for text, held in result["expected"].items() if not held]
        print(f"{row['package']} {row['old']} -> {row['new']}: {sum(result['changes'].values())} changes, "
              f"{result['seconds']} s" + (f", NOT AS EXPECTED: {missed}" if missed else ""), flush=True)
        results.append(result)
    version = subprocess.run([arguments.cuproof, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if arguments.out:
        arguments.out.write_text(json.dumps({"version": version, "date": time.strftime("%Y-%m-%d"), "pairs": results},
                                            indent=1) + "\n")
    return 1 if any(not held for result in results for held in result["expected"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
