"""cuproof's numbers beside those of the tools, field by field."""

import csv
import fnmatch
import json
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIELDS = ["registers", "stack_frame", "cumulative_stack", "static_shared", "barriers", "spill_stores",
          "spill_loads"]


@dataclass(frozen=True)
class Difference:
    ptxas: str
    target: str
    case: str
    kernel: str
    field: str
    printed: object
    read: object


def read(cuproof, folder):
    """{file name: {kernel: what cuproof says}} for every cubin below a folder."""
    done = subprocess.run([cuproof, "resources", "--format", "json", folder], capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        raise RuntimeError(f"cuproof resources: exit {done.returncode}: {done.stderr.strip()}") from None
    return {Path(file["file"]).name: {kernel["name"]: kernel for kernel in file["kernels"]}
            for file in report["files"]}


def bound(field, printed, found):
    """Spills that cuproof only bounds: equal when they are no more than it says."""
    read = found.get(field)
    holds = read is not None and printed[field] <= read
    return f"{field} at most", printed[field], printed[field] if holds else read


def pairs(cubin, printed, found):
    """(field, printed, read) of one kernel. What a tool does not print is not compared."""
    for field in FIELDS:
        if printed.get(field) is None:
            continue
        if field.startswith("spill_") and found.get("spill_basis") == "at most":
            yield bound(field, printed, found)
        else:
            yield field, printed[field], found.get(field)
    banks = found.get("constants") or {}
    for bank, size in {**cubin.module["constants"], **printed.get("constants", {})}.items():
        yield f"cmem[{bank}]", size, banks.get(bank)


def compare(release, cubins, reading):
    """(counts of equal by field, differences)"""
    equal, differences = Counter(), []
    for cubin in cubins:
        kernels = reading.get(cubin.path.name, {})
        for name, printed in cubin.kernels.items():
            found = kernels.get(name)
            if found is None:
                differences.append(Difference(release, cubin.target, f"{cubin.case}.{cubin.variant}", name,
                                              "kernel", "compiled", "not listed"))
                continue
            for field, want, got in pairs(cubin, printed, found):
                if want == got:
                    equal[field] += 1
                else:
                    differences.append(Difference(release, cubin.target, f"{cubin.case}.{cubin.variant}",
                                                  name, field, want, got))
    return equal, differences


def exceptions():
    with open(HERE / "exceptions.tsv") as stream:
        return list(csv.DictReader((line for line in stream if not line.startswith("#")), delimiter="\t"))


def reason(difference, rows):
    """Why this difference is known; None when it is not."""
    for row in rows:
        if all(fnmatch.fnmatchcase(str(getattr(difference, column)), row[column])
               for column in ("ptxas", "target", "case", "kernel", "field", "read")):
            return row["reason"]
    return None
