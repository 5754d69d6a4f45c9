#!/usr/bin/env python3
"""The committed record of the GPU run: everything passed, every seeded bug was caught."""

import json
import sys
from pathlib import Path

from gpu_record import faults, sources_hash

RECORD = Path(__file__).resolve().parent / "results/h200.json"


def main():
    if not RECORD.exists():
        print(f"SKIP: no {RECORD.name} yet: ops/tests/run_on_gpu.sh makes it on a GPU")
        return 77
    record = json.loads(RECORD.read_text())
    wrong = faults(record)
    print("\n".join(wrong) or f"record of {record['date']}, {record['gpu']}, is in order")
    if record["sources_sha256"] != sources_hash():
        print("note: the sources have changed since; ops/tests/run_on_gpu.sh makes a new record")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
