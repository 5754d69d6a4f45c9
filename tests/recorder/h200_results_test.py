#!/usr/bin/env python3
"""The committed record of the recorder on the H200 has its form, and falls short nowhere but where it says so."""

import datetime
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gpu/recorder"))
import run_on_gpu  # noqa: E402

RECORD = HERE.parent / "fixtures/recorder_h200.json"
WORKLOADS = {"cudart_static", "cudart_shared", "eager", "compiled", "triton", "graphs", "jax", "cupy",
             "threads", "loaders"}
# Where the recorder costs more than 1 % beyond doubt, with the low end of the interval that was accepted.
ACCEPTED = {"empty_kernel_static": 1.014, "empty_kernel_shared": 1.025}


def main():
    record = json.loads(RECORD.read_text())
    datetime.date.fromisoformat(record["date"])
    wrong = [fault for fault in run_on_gpu.faults(record)
             if not any(fault.startswith(f"{name}: the recorder costs") for name in ACCEPTED)]
    missing = WORKLOADS - {row["name"] for row in record["counts"]}
    if missing:
        wrong.append(f"not counted: {', '.join(sorted(missing))}")
    if len(record["errors"]) < 14:
        wrong.append(f"only {len(record['errors'])} errors were tried")
    for row in record["cost"]["loops"]:
        measured = row["over_plain"]["recorder"]
        if measured["pairs"] < 30:
            wrong.append(f"{row['name']}: {measured['pairs']} pairs")
        if measured["low"] > ACCEPTED.get(row["name"], 1.01):
            wrong.append(f"{row['name']}: the recorder costs {measured}")
        for peer in ("cupti_callback", "cupti_activity"):
            # Six processes of PyTorch say no more than this.
            if row["over_plain"][peer]["high"] <= measured["low"]:
                wrong.append(f"{row['name']}: {peer} was cheaper than the recorder")
    if record["cost"]["start_up"]["true"]["added_ms"] > 50:
        wrong.append(f"start-up: {record['cost']['start_up']}")
    print("\n".join(wrong) or f"record of {record['date']}, {record['gpu']}, is in order")
    if record["sources_sha256"] != run_on_gpu.sources_hash():
        print("note: the sources have changed since; tests/gpu/recorder/run_on_gpu.py makes a new record")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
