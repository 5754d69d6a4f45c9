#!/usr/bin/env python3
"""cuproof's numbers and model beside what run_on_gpu.py brought from a GPU.

Usage: compare.py CUPROOF OUT BUILT [--record FILE]

Prints each difference and a count for each kind; --record writes the counts, differences and, for the
banks, every figure.

Exit status: 0 all equal or explained in exceptions.tsv, 1 not, 2 could not check.
"""

import argparse
import csv
import fnmatch
import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import launch_cases
import patterns
from run_on_gpu import METRICS

HERE = Path(__file__).resolve().parent
ARCH = "sm_90"
WITHIN = 0.02  # of the wavefronts that a profiler counts
TIMED_WITHIN = 0.10  # a loop around the accesses costs clocks of its own


def cuproof_json(cuproof, *words):
    done = subprocess.run([cuproof, "resources", "--format", "json", *map(str, words)], capture_output=True,
                          text=True)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        raise SystemExit(f"cuproof resources {' '.join(map(str, words))}: exit {done.returncode}: "
                         f"{done.stderr.strip()}") from None


def kernels_of(cuproof, path, *words):
    report = cuproof_json(cuproof, path, "--gpu", ARCH, *words)
    return {kernel["name"]: kernel for file in report["files"] for kernel in file["kernels"]}


def answer(kernel):
    return next(row for row in kernel["occupancy"] if row["gpu"] == ARCH)


class Tally:
    def __init__(self):
        self.equal, self.differences = Counter(), []
        with open(HERE / "exceptions.tsv") as stream:
            self.rows = list(csv.DictReader((line for line in stream if line[0] != "#"), delimiter="\t"))

    def hold(self, kind, name, predicted, real):
        if predicted == real:
            self.equal[kind] += 1
            return
        reason = next((row["reason"] for row in self.rows if fnmatch.fnmatchcase(kind, row["kind"])
                       and fnmatch.fnmatchcase(name, row["name"])), None)
        self.differences.append({"kind": kind, "name": name, "predicted": predicted, "real": real,
                                 "reason": reason})


def expected_attributes(kernel):
    bound = kernel["max_threads"] or [1024, 1, 1]
    cluster = kernel["cluster"] or [0, 0, 0]
    return {"numRegs": kernel["registers"], "sharedSizeBytes": kernel["static_shared"],
            "localSizeBytes": kernel["cumulative_stack"],
            "constSizeBytes": kernel["constants"].get("3", 0),
            "maxThreadsPerBlock": min(bound[0] * bound[1] * bound[2], answer(kernel)["largest_block"]),
            "maxDynamicSharedSizeBytes": launch_cases.DEFAULT_SHARED - kernel["static_shared"],
            "binaryVersion": 90, "clusterDimMustBeSet": int(kernel["cluster"] is not None),
            "requiredClusterWidth": cluster[0], "requiredClusterHeight": cluster[1],
            "requiredClusterDepth": cluster[2]}


def hold_attributes(cuproof, out, built, tally):
    result = json.loads((out / "attributes.json").read_text())
    shapes = sorted({(row["block"], row["dynamic"]) for row in result["kernels"][0]["occupancy"]})
    by_shape = {shape: kernels_of(cuproof, built / "attributes", "--block", shape[0], "--dynamic-smem", shape[1])
                for shape in shapes}
    anything = by_shape[shapes[0]]
    for real in result["kernels"]:
        for field, value in expected_attributes(anything[real["kernel"]]).items():
            tally.hold(f"attribute {field}", real["kernel"], value, real[field])
        for row in real["occupancy"]:
            predicted = answer(by_shape[row["block"], row["dynamic"]][real["kernel"]])["blocks_per_sm"]
            # cuproof takes it that a program opts in to what it asks for; this one may not have.
            needs = real["sharedSizeBytes"] + row["dynamic"] > launch_cases.DEFAULT_SHARED
            if needs and row["dynamic"] and not real.get("opted_in"):
                predicted = 0
            # The driver's calculator does not look at launch bounds, though such a launch is refused.
            if row["block"] > real["maxThreadsPerBlock"] and predicted == 0 and row["blocks"] > 0:
                tally.equal["occupancy past launch bounds: none here, some by the driver's calculator"] += 1
                continue
            tally.hold("occupancy", f"{real['kernel']} block {row['block']} dynamic {row['dynamic']}",
                       predicted, row["blocks"])
    return result


def hold_launches(cuproof, out, built, tally):
    result = json.loads((out / "launches.json").read_text())
    kernels = kernels_of(cuproof, built / "launches.cubin")
    real = {row["id"]: row for row in result["launches"]}
    for launch in launch_cases.launches():
        kernel = kernels[launch.kernel]
        predicted = launch_cases.predict(launch, kernel, answer(kernel)["largest_block"])
        got = real.get(launch.id)
        tally.hold("launch", launch.id, list(predicted), got and [got["optin"], got["launch"]])
    return result


def counted(csv_text):
    """(wavefronts of a load, of a store) of each pattern in turn, from ncu's raw page."""
    rows = list(csv.DictReader(io.StringIO(csv_text)))
    values = [{way: float(row[name].replace(",", "")) for way, name in METRICS.items()}
              for row in rows if row["ID"].strip()]
    for load, store in zip(values[::2], values[1::2]):
        # Both kernels first fill the memory: what the loading one stores.
        yield (load["load"] / load["loads"],
               (store["store"] - load["store"]) / (store["stores"] - load["stores"]))


def bank_costs(cuproof, pattern):
    report = cuproof_json(cuproof, "--bank", f"{pattern['bytes']}: {pattern['index']}", "--block",
                          pattern["block"])
    warp = report["bank"]["accesses"][0]["warps"][0]
    return {"load": warp["wavefronts"], "store": warp["as_store"]}


def hold_banks(cuproof, out, tally):
    """Against a profiler's count of wavefronts, or clocks where there was none."""
    result = json.loads((out / "banks.json").read_text())
    timed = {row["pattern"]: row for row in result["timed"]}
    counts = list(counted(result["counted"]["csv"])) if "csv" in result["counted"] else []
    figures = []
    for i, pattern in enumerate(patterns.patterns()):
        name, predicted = pattern["name"], bank_costs(cuproof, pattern)
        real = dict(zip(("load", "store"), counts[i])) if counts else timed.get(name, {})
        figures.append({"pattern": name, **{way: [predicted[way], real.get(way)] for way in predicted}})
        for way, want in predicted.items():
            got = real.get(way)
            near = got is not None and abs(got - want) <= (WITHIN if counts else TIMED_WITHIN) * want
            tally.hold(f"bank {way}", name, want, want if near else got)
    return {"predicted_and_real": figures, "how": "ncu" if counts else "clocks",
            "refused": result["counted"].get("refused")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cuproof")
    parser.add_argument("out", type=Path)
    parser.add_argument("built", type=Path)
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    tally, record = Tally(), {}
    out, built, cuproof = arguments.out, arguments.built, arguments.cuproof
    if (out / "attributes.json").exists():
        result = hold_attributes(cuproof, out, built, tally)
        record.update(gpu=result["gpu"], date=result["date"], device=result["device"])
    if (out / "launches.json").exists():
        hold_launches(cuproof, out, built, tally)
    if (out / "banks.json").exists():
        record["banks"] = hold_banks(cuproof, out, tally)
    record.update(equal=dict(tally.equal), differences=tally.differences)
    for difference in tally.differences:
        print(json.dumps(difference))
    print(f"{sum(tally.equal.values())} equal, {len(tally.differences)} not: {dict(tally.equal)}")
    if arguments.record:
        arguments.record.write_text(json.dumps(record, indent=1) + "\n")
    return 1 if any(difference["reason"] is None for difference in tally.differences) else 0


if __name__ == "__main__":
    sys.exit(main())
