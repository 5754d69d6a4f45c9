#!/usr/bin/env python3
"""The committed result of tools/torch_env/check_healthy.py: no error, and every warning defended."""

import csv
import json
import sys
from datetime import date
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "tools/torch_env"


def main():
    result = json.loads((FOLDER / "results.json").read_text())
    with open(FOLDER / "warnings.tsv") as f:
        rows = list(csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t"))
    known = {(row["id"], row["file"], row["gpu"]) for row in rows if len(row["why"]) > 40}
    wrong = []
    date.fromisoformat(result["date"])
    if not any(name.startswith("torch-") for name in result["packages"]):
        wrong.append("no torch in the environment")
    if result["without_gpu"]["exit"] != 0:
        wrong.append("exit code without a GPU is not 0")
    if len(result["gpus"]) < 7:
        wrong.append(f"only {len(result['gpus'])} GPUs")
    for gpu, row in result["gpus"].items():
        if row["exit"] != 0 or row["problems"]:
            wrong.append(f"{gpu}: exit {row['exit']}")
        for finding in row["findings"]:
            if finding["severity"] == "error" or (finding["id"], finding["file"], gpu) not in known:
                wrong.append(f"{gpu}: {finding['id']} {finding['file']} is not defended")
    print("\n".join(wrong) or "no false alarm in the result of " + result["date"])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
