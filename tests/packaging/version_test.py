#!/usr/bin/env python3
"""The version stands in one place, and the command and the wheel's metadata take it from there.

Usage: version_test.py CUPROOF
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def main():
    cmake, pyproject = (ROOT / "CMakeLists.txt").read_text(), (ROOT / "pyproject.toml").read_text()
    version = re.search(r"project\(cuproof VERSION ([0-9.]+)", cmake).group(1)
    printed = subprocess.run([sys.argv[1], "--version"], capture_output=True, text=True).stdout
    # Read as text: tomllib is newer than the oldest Python that the tests run on.
    pattern = re.search(r"^regex = '(.*)'$", pyproject, re.MULTILINE)
    faults = []
    if printed != f"cuproof {version}\n":
        faults.append(f"CMakeLists.txt has version {version}, `cuproof --version` prints {printed!r}")
    if re.search(r"^version\s*=", pyproject, re.MULTILINE):
        faults.append("pyproject.toml has a version of its own")
    if not pattern or re.search(pattern.group(1), cmake).group("value") != version:
        faults.append("the pattern in pyproject.toml does not find the version of CMakeLists.txt")
    for fault in faults:
        print(fault)
    print(f"{3 - len(faults)} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
