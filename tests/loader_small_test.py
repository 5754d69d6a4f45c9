#!/usr/bin/env python3
"""cuproof link against this machine's loader, on small objects that are made here: those that load, and one or more
for each way to fail. tools/loader_oracle/run.py does the same with torch's releases and other people's wheels."""

import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools/loader_oracle"))
import compare  # noqa: E402
import environments  # noqa: E402
import run  # noqa: E402
import synthetic  # noqa: E402
import truth  # noqa: E402

LEAST_KINDS = 10


def main():
    cuproof = sys.argv[1]
    for tool in ("gcc", "ldd", truth.PYTHON):
        if not shutil.which(tool):
            print(f"SKIP: no {tool}")
            return 77
    # The objects are ours: they need no other user and no network of their own.
    truth.NOBODY = ["env", "-i", "PATH=/usr/bin:/bin", "LC_ALL=C"]
    with tempfile.TemporaryDirectory() as folder:
        environment = environments.Environment("torch-none", folder, [])
        environment.make(None)
        made = {f"synthetic:{name}": path for name, path in synthetic.make(Path(folder, "objects")).items()}
        group = run.Group(environment, made, torch=False)
        answers = run.Truth(Path(folder, "truth.json"))
        run.ask(group, answers)
        predicted = compare.predict(cuproof, group)
        rows = [compare.row(group, name, answers.known[group.key(name)], predicted[name]) for name in made]
    bad = [row for row in rows if not row["agrees"] and "reason" not in row]
    for row in bad:
        print(f"FAIL: {row}")
    kinds = {row["kind"] for row in rows if not row["loads"]}
    if len(kinds) < LEAST_KINDS:
        print(f"FAIL: only {len(kinds)} kinds of failure: {sorted(kinds)}")
        return 1
    reasons = sum("reason" in row for row in rows)
    print(f"{len(rows)} objects, {sum(row['loads'] for row in rows)} load, {len(kinds)} kinds of failure, "
          f"{reasons} differ with a reason")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
