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


def main():
    result = json.loads((ROOT / "bench/results/listing.json").read_text())
    wrong = []
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
