#!/usr/bin/env python3
"""Print the tests that skipped and why, and fail if more skipped than are allowed to.

Usage: skipped.py CTEST_JUNIT_XML SKIPS_ALLOWED
"""

import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def read_allowed(path):
    lines = [line for line in Path(path).read_text().splitlines() if line and line[0] != "#"]
    names = [line.split(": ")[0] for line in lines[1:]]
    return int(lines[0]), names


def skipped_tests(path):
    """Name and reason of each: what the test printed, from the word SKIP on."""
    for case in xml.parse(path).iter("testcase"):
        if case.find("skipped") is None:
            continue
        printed = (case.findtext("system-out") or "").splitlines()
        reasons = [line.strip() for line in printed if "SKIP" in line]
        yield case.get("name"), reasons[0] if reasons else "no reason printed"


def main():
    number, names = read_allowed(sys.argv[2])
    skipped = list(skipped_tests(sys.argv[1]))
    for name, reason in skipped:
        print(f"skipped: {name}: {reason}")
    others = [name for name, _ in skipped if name not in names]
    if len(skipped) <= number and not others:
        return 0
    print(f"{len(skipped)} tests skipped, {number} may"
          + (f"; not allowed to: {', '.join(others)}" if others else ""))
    return 1


if __name__ == "__main__":
    sys.exit(main())
