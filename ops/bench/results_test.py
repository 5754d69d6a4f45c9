#!/usr/bin/env python3
"""The benches measure what ops/specs says, no more and no less. The committed results have those rows,
have their form and reach the targets, but for the shortfalls listed here; the documents say what the
results say. Sources that moved since are said, and do not fail."""

import ast
import sys
from datetime import date
from pathlib import Path

import machine
import report
import specified
import targets

# name of the target: (what was accepted, why). A shortfall that is gone, or worse, fails.
ACCEPTED = {}

# Peers that cannot do a row: how their line in "failures" begins, and why.
FAILURES_OF_PEERS = {
    "_foreach_norm of 2147495993 elements": "torch faults past 2^31 elements (pytorch#169930)",
}

# Measures errors of numbers, not times of shapes.
WITHOUT_SHAPES = {"accuracy"}

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


def asked_for(path):
    """Names in bench.shape("...") of a bench program, and complaints. The program itself cannot be run:
    it needs a GPU."""
    names, wrong = set(), []
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        literal = node.args and isinstance(node.args[0], ast.Constant)
        if node.func.attr == "shape":
            if literal:
                names.add(node.args[0].value)
            else:
                wrong.append(f"{path.name}:{node.lineno}: the name of a shape is no literal")
        if node.func.attr == "row" and literal:
            wrong.append(f"{path.name}:{node.lineno}: a row without a shape of ops/specs")
    return names, wrong


def shapes_of_benches():
    """Benches against [[bench]] of ops/specs, both ways, and what the targets are about."""
    found = {path.stem.removeprefix("bench_"): path
             for path in Path(__file__).resolve().parent.glob("bench_*.py")}
    wrong = [f"ops/specs has rows for {program}, and there is no bench_{program}.py"
             for program in sorted(specified.programs() - found.keys())]
    for program, path in sorted(found.items()):
        asked, complaints = asked_for(path)
        specs = specified.shapes_of(program)
        wrong += complaints
        wrong += [f"{path.name} measures {name!r}, which no [[bench]] of ops/specs has"
                  for name in sorted(asked - specs.keys())]
        wrong += [f"[[bench]] {name!r} of ops/specs: {path.name} does not measure it"
                  for name in sorted(specs.keys() - asked)]
        wrong += [f"targets.py asks for {name!r}, which no [[bench]] of ops/specs has"
                  for name in targets.ROWS.get(program, ())
                  if not any(known.startswith(name) for known in specs)]
    return wrong


def rows_of_result(bench, result):
    """The rows are those of ops/specs, with its numbers of bytes."""
    specs = specified.shapes_of(bench)
    rows = {row["name"]: row for row in result["rows"]}
    wrong = [f"{bench}: {name}: no [[bench]] of ops/specs has this row"
             for name in rows if name not in specs]
    for name, shape in specs.items():
        if name not in rows:
            wrong += [] if shape.quick_only else [f"{bench}: {name} was not measured"]
        elif rows[name]["bytes"] != shape.bytes:
            wrong.append(f"{bench}: {name}: {rows[name]['bytes']} bytes, ops/specs has {shape.bytes}")
    return wrong


def main():
    wrong = shapes_of_benches()
    results = report.load(report.RESULTS)
    if not results:
        print("\n".join(wrong) or "no results are committed")
        return 1 if wrong else 77
    wrong += [f"{bench} was not measured" for bench in targets.BENCHES if bench not in results]
    for bench, result in results.items():
        wrong += form(bench, result)
        if bench not in WITHOUT_SHAPES:
            wrong += rows_of_result(bench, result)
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
