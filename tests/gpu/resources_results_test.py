#!/usr/bin/env python3
"""What an H200 said of kernels beside cuproof's numbers: the committed record of resources/compare.py is
whole, every difference has its reason, and `cuproof resources --bank` still says what was counted.

Usage: resources_results_test.py CUPROOF
"""

import json
import sys
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "resources"))

import launch_cases  # noqa: E402
import patterns  # noqa: E402
from compare import bank_costs  # noqa: E402

LEAST = {"occupancy": 2000, "launch": 95, "bank load": 20, "bank store": 20, "attribute numRegs": 200,
         "attribute sharedSizeBytes": 200, "attribute localSizeBytes": 200, "attribute maxThreadsPerBlock": 200}


def faults(record, cuproof):
    date.fromisoformat(record["date"])
    if "H200" not in record["gpu"]:
        yield f"not of an H200: {record['gpu']}"
    for kind, least in LEAST.items():
        if record["equal"].get(kind, 0) < least:
            yield f"{kind}: {record['equal'].get(kind, 0)} equal, expected {least} or more"
    for difference in record["differences"]:
        if not difference["reason"]:
            yield f"not explained: {difference}"
    if len(launch_cases.launches()) < 100:
        yield "fewer than 100 launches"
    told = {figure["pattern"] for figure in record["banks"]["predicted_and_real"]}
    if told != {pattern["name"] for pattern in patterns.patterns()}:
        yield "the record is not about the patterns of patterns.tsv"
    by_name = {pattern["name"]: pattern for pattern in patterns.patterns()}
    for figure in record["banks"]["predicted_and_real"]:
        now = bank_costs(cuproof, by_name[figure["pattern"]])
        for way, predicted in now.items():
            real = figure[way][1]
            if abs(predicted - real) > 0.02 * predicted:
                yield f"{figure['pattern']}, {way}: predicted {predicted}, counted {real}"


def main():
    record = json.loads((HERE.parent / "fixtures/resources_h200.json").read_text())
    found = list(faults(record, sys.argv[1]))
    print("\n".join(found) or f"{sum(record['equal'].values())} answers of {record['gpu']} equal, {record['date']}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
