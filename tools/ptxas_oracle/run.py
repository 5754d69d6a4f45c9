#!/usr/bin/env python3
"""Compare `cuproof resources` with what ptxas and nvlink of several CUDA releases print.

Assembles every source of kernels/ for every target of every ptxas and compares field by field. Writes
results.json and docs/ptxas-oracle.md. The compilers come from the Python index, into --folder.

Usage: run.py CUPROOF [--folder DIR] [--only RELEASE ...] [--again]

--again compares with the cubins of an earlier run.

Exit status: 0 every difference has a row in exceptions.tsv, 1 not, 2 could not check.
"""

import argparse
import dataclasses
import json
import sys
from collections import Counter, defaultdict
from datetime import date
from pathlib import Path

import table
from assemble import Cubin, assemble
from compare import compare, exceptions, read, reason
from spill_widths import spill_widths
from toolkits import PACKAGES, number, toolkit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def supported(tools):
    return [target for target in tools.targets() if number(target) >= 50]


def widths_of(cubins):
    total = Counter()
    for cubin in cubins:
        total.update(spill_widths(cubin.path, number(cubin.target)))
    return {f"{way} {width}": count for (way, width), count in sorted(total.items())}


def assembled(tools, folder, targets, again):
    """The cubins of a release; `again`: those of an earlier run, with what the tools said then."""
    kept = folder / "words.json"
    if again and kept.exists():
        rows = json.loads(kept.read_text())
        return [Cubin(**{**row, "path": folder / "cubins" / row["path"]}) for row in rows]
    cubins = assemble(tools, folder, targets)
    rows = [{**dataclasses.asdict(cubin), "path": cubin.path.name} for cubin in cubins]
    kept.write_text(json.dumps(rows))
    return cubins


def examine(release, folder, cuproof, again):
    tools = toolkit(release, folder)
    targets = supported(tools)
    print(f"ptxas {tools.build()}: {len(targets)} targets", flush=True)
    cubins = assembled(tools, folder / release / "made", targets, again)
    equal, differences = compare(release, cubins, read(cuproof, folder / release / "made" / "cubins"))
    return {
        "ptxas": tools.build(), "targets": targets, "cubins": len(cubins),
        "kernels": sum(len(cubin.kernels) for cubin in cubins),
        "distinct_kernels": len({name for cubin in cubins for name in cubin.kernels}),
        "linked_cubins": sum(cubin.linked for cubin in cubins),
        "spilling": sum(bool(kernel.get("spill_stores")) for cubin in cubins
                        for kernel in cubin.kernels.values()),
        "spill_widths": widths_of(cubins), "equal": dict(equal)}, differences


def explained(differences, rows):
    """The differences in groups: one reason, field and ptxas each, with how many and one example."""
    groups = defaultdict(list)
    for difference in differences:
        groups[difference.ptxas, difference.field, reason(difference, rows)].append(difference)
    return [{"ptxas": ptxas, "field": field, "reason": why, "count": len(of),
             "unknown": sum(one.read is None for one in of),
             "kernels": sorted({one.kernel for one in of}), "targets": sorted({one.target for one in of}),
             "example": {"case": of[0].case, "target": of[0].target, "kernel": of[0].kernel,
                         "printed": of[0].printed, "read": of[0].read}}
            for (ptxas, field, why), of in sorted(groups.items(), key=str)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cuproof")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/ptxas-oracle")
    parser.add_argument("--only", nargs="+", choices=PACKAGES, help="not all releases; nothing is written")
    parser.add_argument("--again", action="store_true")
    arguments = parser.parse_args()
    rows, releases, differences = exceptions(), {}, []
    for release in arguments.only or PACKAGES:
        releases[release], found = examine(release, arguments.folder.resolve(), arguments.cuproof,
                                               arguments.again)
        differences += found
        print(f"  {releases[release]['kernels']} kernels, {sum(releases[release]['equal'].values())} numbers "
              f"equal, {len(found)} not", flush=True)
    groups = explained(differences, rows)
    for group in groups:
        if group["reason"] is None:
            print(f"unexplained: {json.dumps(group)}")
    if not arguments.only:
        result = {"date": date.today().isoformat(), "releases": releases, "differences": groups}
        (HERE / "results.json").write_text(json.dumps(result, indent=1) + "\n")
        (ROOT / "docs/ptxas-oracle.md").write_text(table.page(result))
    return 1 if any(group["reason"] is None for group in groups) else 0


if __name__ == "__main__":
    sys.exit(main())
