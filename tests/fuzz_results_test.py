#!/usr/bin/env python3
"""Hold fuzz/results.json to its form: every target ran for 600 processor seconds, without a crash.

The fuzz targets run for hours, so their result is committed. When the sources have changed since,
this test says so, and does not fail: `fuzz/run.sh --record 600` makes the result new.
"""

import datetime
import json
import sys
from pathlib import Path

FUZZ = Path(__file__).resolve().parent.parent / "fuzz"
sys.path.insert(0, str(FUZZ))
from source_hash import source_hash  # noqa: E402

LEAST_SECONDS = 600


def problems(results):
    # Its long run is still to come: it found a fault in each of the first ones.
    not_recorded = {"dynamic", "trace", "resources", "logs"}
    expected = {file.stem.removeprefix("fuzz_") for file in FUZZ.glob("fuzz_*.cc")} - not_recorded
    rows = results["targets"]
    found = {row["target"] for row in rows}
    if found != expected or len(rows) != len(expected):
        yield f"targets are {sorted(found)}, expected {sorted(expected)}"
    for row in rows:
        if row["cpu_seconds"] < LEAST_SECONDS:
            yield f"{row['target']}: {row['cpu_seconds']} s, expected {LEAST_SECONDS} or more"
        if row["executions"] <= 0:
            yield f"{row['target']}: no executions"
        if row["crashes"] != 0:
            yield f"{row['target']}: {row['crashes']} crashes"
    if datetime.date.fromisoformat(results["date"]) > datetime.date.today():
        yield f"dated {results['date']}, which is still to come"
    for key in ("compiler", "sanitizers"):
        if not results[key]:
            yield f"'{key}' is empty"
    if len(results["sources"]) != 64:
        yield "'sources' is no SHA-256"


def main():
    results = json.loads((FUZZ / "results.json").read_text())
    failures = list(problems(results))
    for failure in failures:
        print(f"fuzz/results.json: {failure}")
    if results["sources"] != source_hash():
        print(f"stale: the sources have changed since {results['date']}")
    executions = sum(row["executions"] for row in results["targets"])
    print(f"{len(results['targets'])} targets, {executions:,} executions, {len(failures)} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
