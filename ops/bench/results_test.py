#!/usr/bin/env python3
"""The committed results have their form and reach the targets, but for the shortfalls listed here; the
documents say what the results say. Sources that moved since are said, and do not fail."""

import sys
from datetime import date

import machine
import report
import targets

# name of the target: (what was accepted, why). A shortfall that is gone, or worse, fails.
ACCEPTED = {}

# Peers that cannot do a row: how their line in "failures" begins, and why.
FAILURES_OF_PEERS = {
    "_foreach_norm of 2147495993 elements": "torch faults past 2^31 elements (pytorch#169930)",
}

MOST_WORSE = 0.03
LEAST_ROUNDS = 7
MOST_DROPPED = 1


def form(bench, result):
    wrong = []

    def need(condition, what):
        if not condition:
            wrong.append(f"{bench}: {what}")
    try:
        date.fromisoformat(result["date"])
    except (KeyError, ValueError):
        need(False, "no date")
    need(not result["settings"]["quick"], "a quick run")
    need(result["settings"]["rounds"] >= LEAST_ROUNDS, f"{result['settings']['rounds']} rounds")
    for key in ("gpu", "driver", "torch", "triton", "cuda_of_compiler", "cuproof_ops"):
        need(result["machine"].get(key), f"machine.{key} is missing")
    need(set(result["source_sha256"]) == {"core", "binding"}, "source_sha256")
    need(result["rows"], "no rows")
    for failure in result["failures"]:
        need(any(failure.startswith(known) for known in FAILURES_OF_PEERS), f"failed: {failure}")
    dropped = [row["name"] for row in result["rows"] if row.get("dropped")]
    need(len(dropped) <= MOST_DROPPED, f"dropped: {dropped}")
    for row in result["rows"]:
        if "contenders" not in row:
            continue
        name = row["name"]
        need(row["bytes"] > 0 and row["floor"], f"{name}: bytes or floor")
        need(row["start"].get("sm_mhz") and row["end"].get("power_w"), f"{name}: clock or power")
        need(targets.of_role(row, "ours"), f"{name}: ours did not run: {row['failed']}")
        need(targets.of_role(row, "ceiling"), f"{name}: no ceiling")
        for label, c in row["contenders"].items():
            # The ceiling runs beside each contender of rows that are not graphs.
            need(len(c["rounds_us"]) >= result["settings"]["rounds"], f"{name}: {label}: rounds")
            need(c["min_us"] <= c["median_us"], f"{name}: {label}: median under the fastest")
            # Nothing reads what it must faster than the memory.
            if c["role"] == "ours" and not row.get("warm") and c.get("of_read"):
                need(c["of_read"] < 1.05, f"{name}: {label} is faster than the ceiling")
    return wrong


def main():
    results = report.load(report.RESULTS)
    if not results:
        print("no results are committed")
        return 77
    wrong = [f"{bench} was not measured" for bench in targets.BENCHES if bench not in results]
    for bench, result in results.items():
        wrong += form(bench, result)
    for target in targets.all_targets(results):
        accepted = ACCEPTED.get(target.name, (None,))[0]
        if target.met is None:
            wrong.append(f"no value: {target.name}")
        elif target.met and accepted is not None:
            wrong.append(f"met now, so no longer to be accepted: {target.name}")
        elif not target.met and accepted is None:
            wrong.append(f"missed: {target.name}: {target.value:.3g}, {target.bound}")
        elif not target.met:
            worse = (accepted / target.value if target.least is not None
                     else target.value / accepted if accepted else 2)
            if worse > 1 + MOST_WORSE:
                wrong.append(f"worse than accepted: {target.name}: {target.value:.3g}, was "
                             f"{accepted:.3g}")
    known = {t.name for t in targets.all_targets(results)}
    wrong += [f"accepted, but no target: {name}" for name in ACCEPTED if name not in known]
    for path, text in report.documents(results).items():
        if not path.is_file() or path.read_text() != text:
            wrong.append(f"{path.relative_to(report.OPS)} is out of date: run bench/report.py")
    now = {"core": machine.source_hash(machine.CORE), "binding": machine.source_hash(machine.BINDING)}
    for bench, result in results.items():
        parts = ("core", "binding") if bench == "step" else ("core",)
        moved = [p for p in parts if result["source_sha256"][p] != now[p]]
        if moved:
            print(f"stale: {bench}.json of {result['date']}: {' and '.join(moved)} moved since")
    print("\n".join(wrong) or "results are in order")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
