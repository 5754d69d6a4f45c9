"""The patterns of patterns.tsv, evaluated here apart from cuproof."""

import csv
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent


def patterns():
    with open(HERE / "patterns.tsv") as stream:
        rows = list(csv.DictReader((line for line in stream if not line.startswith("#")), delimiter="\t"))
    return [{**row, "bytes": int(row["bytes"])} for row in rows]


def offsets(pattern):
    """Byte offsets of the 32 lanes."""
    width, height = ([int(size) for size in pattern["block"].split("x")] + [1])[:2]
    index = re.sub(r"/", "//", pattern["index"])
    return [pattern["bytes"] * eval(index, {"__builtins__": {}},
                                    {"tx": lane % width, "ty": lane // width % height, "tz": 0, "lane": lane})
            for lane in range(32)]


def lines():
    return [" ".join(map(str, (pattern["name"], pattern["bytes"], *offsets(pattern)))) for pattern in patterns()]
