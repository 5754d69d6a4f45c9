#!/usr/bin/env python3
"""The record of tools/diff_pairs/run.py is whole: every pair of pairs.tsv, with what was expected of it.

Usage: results_test.py
"""

import csv
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    with open(HERE / "pairs.tsv", encoding="utf-8") as file:
        wanted = list(csv.DictReader((line for line in file if line[0] != "#"), delimiter="\t",
                                     quoting=csv.QUOTE_NONE))
    results = json.loads((HERE / "results.json").read_text())["pairs"]
    assert len(wanted) >= 12
    assert len(results) == len(wanted), "run tools/diff_pairs/run.py again"
    for row, result in zip(wanted, results):
        name = f"{row['package']} {row['old']} -> {row['new']}"
        assert result["package"] == row["package"] and f"-{row['old']}-" in result["old"], name
        assert f"-{row['new']}-" in result["new"], name
        assert list(result["expected"]) == [text for text in row["expected"].split("; ") if text], name
        assert all(result["expected"].values()), f"{name}: {result['expected']}"
        assert row["source"].startswith("https://") and row["notes"] and row["verdict"], name
    assert len({row["package"] for row in wanted}) >= 5


if __name__ == "__main__":
    main()
