#!/usr/bin/env python3
"""What the driver and one GPU of sm_90 say about kernels: attributes and occupancy, launches around the
limits, shared-memory bank conflicts. compare.py holds cuproof's numbers to it.

Usage: run_on_gpu.py OUT BUILT [--only PART,...] [--fake]

BUILT: the folder that build.sh made. Writes OUT/attributes.json, launches.json and banks.json, each as
soon as it is known; each part has its own time limit. --fake runs nothing and writes numbers that mean
nothing, to try the path.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import launch_cases
import patterns

PARTS = ("attributes", "launches", "banks")
# Wavefronts and instructions of shared-memory loads and stores.
METRICS = {
    "load": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "store": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "loads": "smsp__inst_executed_op_shared_ld.sum",
    "stores": "smsp__inst_executed_op_shared_st.sum",
}


def lines_of(command, text, limit):
    """The JSON objects that a program printed, and why it ended; also of one that did not end."""
    try:
        done = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True,
                              timeout=limit)
        out, end = done.stdout, {"exit": done.returncode, "stderr": done.stderr[-2000:]}
    except subprocess.TimeoutExpired as late:
        out = (late.stdout or b"").decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        end = {"exit": None, "stderr": f"stopped after {limit} s"}
    found = []
    for line in out.splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            end["odd_line"] = line[:200]
    return found, end


def attributes(built):
    found, end = lines_of([built / "attributes"], "", 60)
    return {"device": found[:1], "kernels": found[1:], "end": end}


def launches(built):
    """A broken context ends the program; the cases behind it go to a new process."""
    cases = launch_cases.launches()
    answers, ends = [], []
    while len(answers) < len(cases) and len(ends) < 10:
        text = "\n".join(case.line() for case in cases[len(answers):]) + "\n"
        found, end = lines_of([built / "launches", built / "launches.cubin"], text, 60)
        ends.append(end)
        if not found or "id" not in found[0]:
            break
        answers += found
    return {"launches": answers, "ends": ends}


def profiler():
    places = [shutil.which("ncu")]
    for folder in (Path("/usr/local/cuda/bin"), Path("/opt/nvidia/nsight-compute")):
        places += [str(path) for path in sorted(folder.rglob("ncu"))] if folder.is_dir() else []
    return next((place for place in places if place and os.access(place, os.X_OK)), None)


def counted(built):
    """Wavefronts an instruction with one resident warp, by ncu; or why not."""
    ncu = profiler()
    if not ncu:
        return {"refused": "no ncu here"}
    command = [ncu, "--csv", "--page", "raw", "--metrics", ",".join(METRICS.values()), built / "banks", "1"]
    try:
        done = subprocess.run([str(word) for word in command], input="\n".join(patterns.lines()) + "\n",
                              capture_output=True, text=True, timeout=90)
    except subprocess.TimeoutExpired:
        return {"refused": "ncu did not end in 90 s"}
    refused = re.search(r"ERR_\w+.*", done.stdout + done.stderr)
    if refused or '"ID"' not in done.stdout:
        return {"refused": refused[0] if refused else (done.stdout + done.stderr)[-500:]}
    return {"csv": done.stdout[done.stdout.index('"ID"'):], "version": ncu}


def banks(built):
    found, end = lines_of([built / "banks", 8], "\n".join(patterns.lines()) + "\n", 60)
    return {"timed": found, "end": end, "counted": counted(built)}


def fake(part):
    """What a run leaves, with numbers of nothing: for a trial of the path."""
    if part == "attributes":
        return {"device": [{"device": "fake", "sm": 90}], "kernels": [{"kernel": "k000", "status": 0, "occupancy": []}],
                "end": {"exit": 0}}
    if part == "launches":
        return {"launches": [{"id": case.id, "found": 0, "optin": 0, "nonportable": 0, "launch": 0, "run": 0}
                             for case in launch_cases.launches()], "ends": []}
    return {"timed": [{"pattern": row["name"], "bytes": row["bytes"], "warps": 8, "load": 1.0, "store": 1.0,
                       "instructions": 2048} for row in patterns.patterns()],
            "end": {"exit": 0}, "counted": {"refused": "fake"}}


def driver():
    try:
        words = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                               capture_output=True, text=True, timeout=20)
        return words.stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("built", type=Path)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--fake", action="store_true")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for part in arguments.only.split(","):
        start = time.monotonic()
        result = fake(part) if arguments.fake else globals()[part](arguments.built.resolve())
        result = {"date": date.today().isoformat(), "gpu": driver(),
                  "seconds": round(time.monotonic() - start, 1), **result}
        (arguments.out / f"{part}.json").write_text(json.dumps(result, indent=1) + "\n")
        count = len(result.get("kernels") or result.get("launches") or result.get("timed") or [])
        print(f"{part}: {count} answers, {result['seconds']} s", flush=True)
        failed += count == 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
