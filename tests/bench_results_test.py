#!/usr/bin/env python3
"""The committed benchmark result has its form, and does not fall short of what the README claims."""

import json
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEAST_TIMES_FASTER = {"libtorch_cuda.so": 20, "libcublasLt.so.13": 8}
MOST_ANONYMOUS = 64e6
LEAST_ENVIRONMENT, MOST_SECONDS = 5e9, 3.0
MOST_LIBRARY_SECONDS, MOST_BOTH_HALVES_SECONDS = 0.050, 5.0


def host():
    """What is wrong with the result of bench/host.py."""
    path = ROOT / "bench/results/host.json"
    if not path.exists():  # until it is measured on a quiet machine
        return []
    result = json.loads(path.read_text())
    wrong = [] if result["rounds"] >= 5 else [f"host: only {result['rounds']} rounds"]
    if result["symbols"] < 24_000:
        wrong.append(f"host: the library wants {result['symbols']} symbols only")
    made = result["libraries"][0]
    if made["cuproof_s"]["median"] > MOST_LIBRARY_SECONDS:
        wrong.append(f"host: {made['file']} took {made['cuproof_s']['median']:.3f} s")
    if not {"cuproof_s", "auditwheel_s"} <= set(result["wheel"]):
        wrong.append("host: the wheel was not measured with both")
    if result["environment"]["bytes"] < LEAST_ENVIRONMENT:
        wrong.append(f"host: the environment has {result['environment']['bytes']} bytes only")
    if result["environment"]["both_halves_s"]["median"] > MOST_BOTH_HALVES_SECONDS:
        wrong.append(f"host: both halves took {result['environment']['both_halves_s']['median']:.2f} s")
    return wrong


def resources():
    """What is wrong with the result of bench/resources.py."""
    path = ROOT / "bench/results/resources.json"
    if not path.exists():  # until it is measured on a quiet machine
        return []
    result = json.loads(path.read_text())
    wrong = [] if result["rounds"] >= 2 else [f"resources: only {result['rounds']} rounds"]
    row = {row["file"]: row for row in result["resources"]}.get("libtorch_cuda.so")
    if row is None:
        return wrong + ["resources: libtorch_cuda.so was not measured"]
    if row["kernels"] < 100_000:
        wrong.append(f"resources: {row['kernels']} kernels only")
    for name, least in [("times_faster", 3), ("times_faster_one_gpu", 10)]:
        if row[name] < least:
            wrong.append(f"resources: {name} is {row[name]:.1f}, target {least}")
    if row["share_of_memory"] > 0.1:
        wrong.append(f"resources: {row['share_of_memory']:.2f} of cuobjdump's memory")
    return wrong


def main():
    result = json.loads((ROOT / "bench/results/listing.json").read_text())
    wrong = host() + resources()
    date.fromisoformat(result["date"])
    if result["rounds"] < 5:
        wrong.append(f"only {result['rounds']} rounds")
    rows = {row["file"]: row for row in result["listing"]}
    for name, least in LEAST_TIMES_FASTER.items():
        row = rows.get(name)
        if not row:
            wrong.append(f"{name} was not measured")
            continue
        if row["times_faster"] < least:
            wrong.append(f"{name}: {row['times_faster']:.1f} times faster, target {least}")
        if row["cuproof_anonymous_bytes"] > MOST_ANONYMOUS:
            wrong.append(f"{name}: {row['cuproof_anonymous_bytes']} bytes of anonymous memory")
    environment = result["environment"]
    if environment["bytes"] < LEAST_ENVIRONMENT:
        wrong.append(f"the environment has {environment['bytes']} bytes only")
    if environment["cuproof_check_s"]["median"] > MOST_SECONDS:
        wrong.append(f"the environment took {environment['cuproof_check_s']['median']:.2f} s")
    print("\n".join(wrong) or "benchmark result of " + result["date"] + " is in order")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
