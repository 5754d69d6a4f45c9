#!/usr/bin/env python3
"""No false alarm: cuproof over a healthy torch environment, for each GPU that its release notes name.

    tools/torch_env/check_healthy.py --cuproof build/release/cuproof --env VENV \
        --out tools/torch_env/results.json

VENV is a virtual environment with torch 2.11 or newer from the Python index (the default, CUDA 13
wheels): python3 -m venv VENV && VENV/bin/pip install torch==2.11.0 torchvision torchaudio. Packages
beside it are checked too and listed in the result. An error is a failure; a warning must have a row in
warnings.tsv that defends it. tests/torch_env_test.py holds the committed result to the same.
"""

import argparse
import csv
import datetime
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# GPUs of the architectures in the CUDA 13.0 binaries of torch 2.11 (7.5, 8.0, 8.6, 9.0, 10.0, 12.0), and
# those that run the code of another one of them (8.9, 10.3, 12.1).
GPUS = ["T4", "A100", "RTX 3090", "L40S", "H100", "H200", "B200", "B300", "RTX 5090", "DGX Spark"]
DRIVER = "580.95.05"


def defended():
    with open(HERE / "warnings.tsv") as f:
        rows = csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t")
        return {(row["id"], row["file"], row["gpu"]) for row in rows}


def run(cuproof, env, target):
    done = subprocess.run([cuproof, "check", env, "--format", "json", *target], capture_output=True,
                          text=True)
    report = json.loads(done.stdout)
    findings = [f for f in report["findings"] if f["severity"] != "note"]
    rows = [{"id": f["id"], "severity": f["severity"],
             "file": f["file"].split("site-packages/")[-1], "message": f["message"]} for f in findings]
    return {"exit": done.returncode, "findings": rows, "problems": report["problems"],
            "files_with_device_code": len(report["files"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--cuproof", "--env", "--out"):
        parser.add_argument(name, required=True)
    args = parser.parse_args()
    packages = sorted(p.name.removesuffix(".dist-info")
                      for p in Path(args.env).glob("lib/python3*/site-packages/*.dist-info"))
    result = {"date": datetime.date.today().isoformat(), "driver": DRIVER, "packages": packages,
              "without_gpu": run(args.cuproof, args.env, []), "gpus": {}}
    bad = result["without_gpu"]["exit"]
    known = defended()
    for gpu in GPUS:
        row = run(args.cuproof, args.env, ["--gpu", gpu, "--driver", DRIVER])
        result["gpus"][gpu] = row
        open_warnings = [f for f in row["findings"]
                         if f["severity"] == "error" or (f["id"], f["file"], gpu) not in known]
        bad += len(open_warnings) + len(row["problems"])
        print(f"{gpu:<10} exit {row['exit']}, {len(row['findings'])} errors and warnings, "
              f"{len(open_warnings)} not defended")
        for f in open_warnings:
            print(f"  {f['severity']}[{f['id']}] {f['file']}: {f['message']}")
    Path(args.out).write_text(json.dumps(result, indent=1) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
