#!/usr/bin/env python3
"""Joins what run_on_gpu.sh measured into one record, and says whether a record is as it must be."""

import datetime
import hashlib
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

OPS = Path(__file__).resolve().parent.parent
MEASURED = ("include", "python", "src", "specs", "tests", "tools")
SOURCES = {".h", ".cc", ".cu", ".cuh", ".toml", ".sh", ".py", ".txt"}
SANITIZERS = ("memcheck", "initcheck", "racecheck", "synccheck")
SUITES = ("Spec/GradNormCases", "Spec/GradScaleCases", "Spec/GradAccumulateCases",
          "Spec/NonfiniteGuardCases", "GradNorm", "GradScale", "GradAccumulate", "LossScale",
          "NonfiniteGuard", "HugeTensor", "Determinism", "Refusals", "RefusalsOnGpu", "GuardRing")
TORCH_SUITES = ("test_clip_grad_norm", "test_compile", "test_errors", "test_fake",
                "test_grad_accumulator", "test_grad_norm", "test_grad_scale", "test_grad_scaler",
                "test_graph", "test_load", "test_no_sync", "test_nonfinite_guard", "test_opcheck",
                "test_spec_samples", "test_streams")
TESTS = 200  # of the suite at least; a record of fewer than all 1,486 says why in its notes
BUGS = 10
PARTS = {"tests": {}, "torch": {}, "capture_after_prepare": "", "sanitizers": {}, "seeded_bugs": []}


def sources_hash():
    """Of the sources that decide the result, wherever the checkout lies."""
    digest = hashlib.sha256()
    for place in MEASURED:
        path = OPS / place
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            inside = file.relative_to(OPS)
            if file.suffix in SOURCES and inside.parts[:2] != ("tests", "results"):
                digest.update(inside.as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def suites(work):
    """Passed, failed and skipped tests of each suite, from the lines of the logs: a process that was
    stopped counts with what it had done."""
    counts = {}
    names = {"      OK": "passed", " FAILED ": "failed", " SKIPPED": "skipped"}
    for path in sorted(work.glob("tests.*.log")):
        for how, suite in re.findall(r"^\[ ( {5} OK| FAILED | SKIPPED) \] ([\w/]+)\.\S+ \(\d+ ms\)",
                                     path.read_text(errors="replace"), re.MULTILINE):
            row = counts.setdefault(suite, {"passed": 0, "failed": 0, "skipped": 0})
            row[names[how]] += 1
    return counts


def torch_suites(work):
    """The same of the tests of the binding, by file, and the torch they ran under."""
    counts = {}
    for path in sorted(work.glob("torch*.xml")):
        for case in xml.parse(path).iter("testcase"):
            name = case.get("classname").rpartition(".")[2]
            row = counts.setdefault(name, {"passed": 0, "failed": 0, "skipped": 0})
            failed = case.find("failure") is not None or case.find("error") is not None
            row["failed" if failed else
                "skipped" if case.find("skipped") is not None else "passed"] += 1
    if not counts:
        return {}
    version = run(sys.executable, "-c", "import torch; print(torch.__version__)").strip()
    return {"version": version, "tests": counts}


def sanitizer(work, tool):
    log = (work / f"{tool}.log").read_text(errors="replace")
    found = re.search(r"ERROR SUMMARY: (\d+) error", log) or re.search(
        r"RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?", log)
    passed = re.search(r"\[  PASSED  \] (\d+) test", log)
    return {"errors": int(found.group(1)) if found else None,
            "tests": int(passed.group(1)) if passed else 0,
            "exit_code": int((work / f"{tool}.status").read_text())}


def faults(record):
    """What in a record is not as it must be."""
    wrong = []
    datetime.date.fromisoformat(record["date"])
    for suite in SUITES:
        row = record["tests"].get(suite)
        if not row or row["passed"] == 0:
            wrong.append(f"suite {suite} did not run")
        elif row["failed"]:
            wrong.append(f"suite {suite}: {row['failed']} tests failed")
    total = sum(row["passed"] for row in record["tests"].values())
    if total < TESTS or (total < 1400 and not record.get("notes")):
        wrong.append(f"{total} tests passed, expected 1,486, or {TESTS} and a note that says why")
    for suite in TORCH_SUITES:
        row = record["torch"].get("tests", {}).get(suite)
        if not row or row["passed"] == 0:
            wrong.append(f"torch: {suite} did not run")
        elif row["failed"] > row.get("mended_since", 0):  # a test that was wrong: see the notes
            wrong.append(f"torch: {suite}: {row['failed']} tests failed")
    if not record["capture_after_prepare"].startswith("OK"):
        wrong.append(f"capture after prepare: {record['capture_after_prepare']}")
    for tool in SANITIZERS:
        row = record["sanitizers"].get(tool)
        if not row or row["errors"] != 0 or row["exit_code"] != 0 or row["tests"] == 0:
            wrong.append(f"{tool}: {row}")
    seeded = {row["bug"]: row for row in record["seeded_bugs"]}
    if sorted(seeded) != list(range(BUGS + 1)):
        wrong.append(f"seeded bugs: {sorted(seeded)}")
    for bug, row in seeded.items():
        caught = row["exit_code"] != 0 and (row["failed"] > 0 or row["exit_code"] > 1)
        if caught != (bug != 0):
            wrong.append(f"seeded bug {bug} ({row['name']}): exit code {row['exit_code']}, "
                         f"{row['failed']} of {row['tests']} tests failed")
    return wrong


def main():
    work, out, seconds = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    earlier = json.loads(Path(sys.argv[4]).read_text()) if len(sys.argv) > 4 else {}
    gpu, driver = run("nvidia-smi", "--query-gpu=name,driver_version",
                      "--format=csv,noheader").splitlines()[0].split(", ")
    seeded = work / "seeded_bugs.json"
    record = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "gpu": gpu,
        "driver": driver,
        "nvcc": re.search(r"V([\d.]+)", run("nvcc", "--version")).group(1),
        "seconds": seconds,
        "sources_sha256": sources_hash(),
    }
    ran = {"tests": suites(work), "torch": torch_suites(work)}
    if (work / "capture.txt").exists():
        ran["capture_after_prepare"] = (work / "capture.txt").read_text().strip()
    if (work / "memcheck.status").exists():
        ran["sanitizers"] = {tool: sanitizer(work, tool) for tool in SANITIZERS}
    if seeded.exists():
        ran["seeded_bugs"] = json.loads(seeded.read_text())
    for part, empty in PARTS.items():
        if ran.get(part):
            record[part] = ran[part]
            continue
        record[part] = earlier.get(part, empty)
        if part in earlier:
            record.setdefault("of_an_earlier_run", {})[part] = {
                "date": earlier["date"], "sources_sha256": earlier["sources_sha256"]}
    label = re.sub(r"^nvidia-", "", gpu.lower().replace(" ", "-"))
    path = out / f"ops_{label}.json"
    path.write_text(json.dumps(record, indent=1) + "\n")
    wrong = faults(record)
    print("\n".join(wrong) or "all as it must be")
    print(path)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
