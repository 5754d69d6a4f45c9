#!/usr/bin/env python3
"""Print one hash of the sources that the fuzz targets run: src/ without tests, and fuzz/."""

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def source_hash():
    files = [*(ROOT / "src").rglob("*.cc"), *(ROOT / "src").rglob("*.h"), *(ROOT / "fuzz").glob("*.cc")]
    total = hashlib.sha256()
    for file in sorted(file for file in files if not file.name.endswith("_test.cc")):
        total.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return total.hexdigest()


if __name__ == "__main__":
    print(source_hash())
