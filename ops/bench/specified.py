"""The rows to measure: [[bench]] of ops/specs/*.toml. Needs no torch."""

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import specs  # noqa: E402


@dataclass(frozen=True)
class Shape:
    """One row of a result. dtypes: "fp32", "fp16" or "bf16" of each tensor."""
    name: str
    program: str
    quick_only: bool
    elements: tuple
    dtypes: tuple
    bytes_read: int
    bytes_write: int

    @property
    def bytes(self):
        return self.bytes_read + self.bytes_write


def expanded(tensors, key):
    return tuple(t[key] for t in tensors for _ in range(t["count"]))


def shapes_of(program):
    """name -> Shape, of bench_<program>.py."""
    sizes, found = specs.named_sizes(), {}
    for operator in specs.operators():
        spec = specs.load(operator)
        specs.check(spec, sizes)
        for row in specs.bench(spec, sizes)["shapes"]:
            if row["program"] != program:
                continue
            if row["name"] in found:
                raise ValueError(f"two rows in ops/specs are called {row['name']!r}")
            found[row["name"]] = Shape(
                row["name"], program, row["quick_only"], expanded(row["tensors"], "elements"),
                expanded(row["tensors"], "dtype"), row["bytes_read"], row["bytes_write"])
    return found


def programs():
    """Those that the specs name."""
    sizes = specs.named_sizes()
    return {row["program"] for operator in specs.operators()
            for row in specs.bench(specs.load(operator), sizes)["shapes"]}
