#!/usr/bin/env python3
"""The committed result of tools/loader_oracle/run.py: enough pairs, enough that load, enough kinds of failure, and
cuproof said what the loader said in all of them but those with a reason."""

import json
import sys
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "tools/loader_oracle"
sys.path[:0] = [str(FOLDER), str(HERE.parent / "tools/torch_history")]
import run  # noqa: E402
import symbol_file  # noqa: E402

LEAST_PAIRS, LEAST_SHARE, LEAST_KINDS, LEAST_ENVIRONMENTS, LEAST_WITH_LDD = 250, 0.4, 8, 10, 250
RELEASES = {"2.1", "2.4", "2.6", "2.7", "2.9", "2.11"}
WANTED = ("library: missing", "library: other number is there", "symbol: changed parameter",
          "symbol: other string ABI", "symbol: not in this torch", "symbol: of a version", "version: GLIBC",
          "version: GLIBCXX", "version: other library", "file: wrong ELF class")


def check(ok, text):
    if not ok:
        print(f"FAIL: {text}")
    return ok


def main():
    path = FOLDER / "results.json"
    result = json.loads(path.read_text())
    pairs, ranges, good = result["pairs"], result["ranges"], []
    date.fromisoformat(result["date"])
    good.append(check(result["sources"] == run.sources_hash(), "stale: tools/loader_oracle has changed since; run "
                                                               "run.py again"))
    good.append(check(path.stat().st_size < 1_000_000, "results.json has grown past 1 MB"))
    good.append(check(len(pairs) >= LEAST_PAIRS, f"{len(pairs)} pairs, {LEAST_PAIRS} wanted"))
    names = {(p["environment"], p["file"], p.get("torch"), p.get("first")) for p in pairs}
    good.append(check(len(names) == len(pairs), "a pair stands there twice"))
    loads = [p for p in pairs if p["loads"]]
    good.append(check(len(loads) >= LEAST_SHARE * len(pairs), f"{len(loads)} of {len(pairs)} load"))
    kinds = {p["kind"] for p in pairs if not p["loads"]}
    good.append(check(len(kinds) >= LEAST_KINDS, f"{len(kinds)} kinds of failure"))
    good.append(check(not set(WANTED) - kinds, f"no failure of kind {sorted(set(WANTED) - kinds)}"))
    environments = {p["environment"] for p in pairs}
    minors = {e.removeprefix("torch-").rsplit(".", 1)[0] for e in environments}
    good.append(check(len(environments) >= LEAST_ENVIRONMENTS, f"{len(environments)} environments"))
    good.append(check(not RELEASES - minors, f"no environment with torch {sorted(RELEASES - minors)}"))
    with_ldd = [p for p in pairs if "ldd" in p]
    good.append(check(len(with_ldd) >= LEAST_WITH_LDD, f"{len(with_ldd)} pairs with ldd -r"))

    for pair in pairs:
        good.append(check("agrees" in pair, f"not compared: {pair['environment']} {pair['file']}"))
        if pair.get("agrees") is False:
            good.append(check(pair.get("reason"), f"{pair['environment']} {pair['file']} differs without a "
                                                  f"reason: {pair['differs']}"))
    different = [p for p in pairs if p.get("agrees") is False]
    good.append(check(len(different) <= 0.02 * len(pairs), f"{len(different)} exceptions are too many"))

    # The newest release of the history is among the environments, and the ranges cover every release.
    history = symbol_file.History((HERE.parent / "data/torch_symbols.bin").read_bytes())
    good.append(check(history.versions[-1].rsplit(".", 1)[0] in minors, "the newest torch was not tried"))
    built_for = {r["extension"].split("_torch")[1].split("_")[0] for r in ranges}
    good.append(check(len(built_for) >= 8, f"extensions for {len(built_for)} releases only"))
    for row in ranges:
        name = row["extension"]
        good.append(check(row["asked"] == history.versions, f"{name} was not tried in every release"))
        # A change of layout is in no symbol: those die while they are initialised.
        both = sorted(row["loads_in"] + row["dies_in"])
        good.append(check(both == sorted(row["symbols_say"]),
                          f"{name} loads in {row['loads_in']}, its symbols say {row['symbols_say']}"))
    exact = sum(r["loads_in"] == r["symbols_say"] for r in ranges)
    good.append(check(exact >= 0.9 * len(ranges), f"only {exact} of {len(ranges)} ranges are exact"))
    if not all(good):
        return 1
    print(f"{len(pairs)} pairs in {len(environments)} environments, {len(loads)} load, {len(kinds)} kinds of failure, "
          f"{len(with_ldd)} with ldd -r; {len(different)} differ, each with a reason; "
          f"{exact} of {len(ranges)} torch ranges exact")
    return 0


if __name__ == "__main__":
    sys.exit(main())
