#!/usr/bin/env python3
"""cuproof's numbers of kernels against ptxas: the committed results of tools/ptxas_oracle/run.py hold, and
a small part of it is done again with the ptxas at hand.

Usage: ptxas_oracle_test.py CUPROOF
"""

import json
import shutil
import sys
import tempfile
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ORACLE = ROOT / "tools/ptxas_oracle"
sys.path.insert(0, str(ORACLE))

import table  # noqa: E402
from assemble import assemble  # noqa: E402
from compare import FIELDS, compare, exceptions, read, reason  # noqa: E402
from toolkits import installed  # noqa: E402

LEAST_KERNELS = 40
RELEASES = {"12.6", "12.8", "12.9", "13.0", "13.5"}
AGAIN_TARGETS = {"sm_75", "sm_80", "sm_90", "sm_90a", "sm_100a"}
AGAIN_CASES = {"arrays", "calls", "shared", "constants", "clusters", "directives", "bounds", "parameters"}


def faults_of_results():
    result = json.loads((ORACLE / "results.json").read_text())
    date.fromisoformat(result["date"])
    if missing := RELEASES - set(result["releases"]):
        yield f"no result for ptxas {', '.join(sorted(missing))}"
    for release, one in result["releases"].items():
        if one["distinct_kernels"] < LEAST_KERNELS:
            yield f"ptxas {release}: only {one['distinct_kernels']} kernels"
        # Before 12.6 ptxas prints no barriers, and its cubins mark no spills.
        if release in RELEASES and (missing := set(FIELDS) - set(one["equal"])):
            yield f"ptxas {release}: nothing compared of {', '.join(sorted(missing))}"
        if one["spilling"] == 0:
            yield f"ptxas {release}: no kernel spills"
    for group in result["differences"]:
        if not group["reason"]:
            yield f"not explained: {json.dumps(group)}"
    if table.page(result) != (ROOT / "docs/ptxas-oracle.md").read_text():
        yield "docs/ptxas-oracle.md is not what results.json says"


def again(cuproof, tools):
    """(numbers that are equal, differences that have no reason)"""
    with tempfile.TemporaryDirectory() as folder:
        targets = [target for target in tools.targets() if target in AGAIN_TARGETS]
        cubins = assemble(tools, Path(folder), targets, AGAIN_CASES)
        equal, differences = compare(tools.release, cubins, read(cuproof, Path(folder) / "cubins"))
    rows = exceptions()
    return sum(equal.values()), [one for one in differences if reason(one, rows) is None]


def main():
    faults = list(faults_of_results())
    nvcc = shutil.which("nvcc")
    tools = installed(nvcc) if nvcc else None
    if tools:
        equal, differences = again(sys.argv[1], tools)
        faults += map(str, differences)
        if equal < 1000:
            faults.append(f"only {equal} numbers compared with ptxas {tools.build()}")
    print("\n".join(faults))
    if faults:
        return 1
    if not tools:
        print("the results hold; SKIP: no nvcc with NVRTC to assemble anew")
        return 77
    print(f"the results hold; {equal} numbers equal those of ptxas {tools.build()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
