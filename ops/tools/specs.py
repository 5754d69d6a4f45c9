#!/usr/bin/env python3
"""Makes tests' tables, benchmark shapes, samples and documentation from ops/specs/*.toml."""

import argparse
import json
import math
import random
import sys
import tomllib
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPECS = ROOT / "specs"
DOCUMENT = ROOT / "docs/operators.md"
BEGIN, END = "<!-- specs.py table -->", "<!-- end -->"
SIZE_OF = {"fp32": 4, "fp16": 2, "bf16": 2}


def load(name):
    with open(SPECS / f"{name}.toml", "rb") as file:
        return tomllib.load(file)


def operators():
    return sorted(path.stem for path in SPECS.glob("*.toml") if path.stem != "sizes")


def uniform_draws(seed, count):
    """The numbers of torch.rand(count, dtype=torch.float64) on a CPU, without torch: a Mersenne
    Twister seeded as std::mt19937, 53 bits of two words, the high one first."""
    state = [seed]
    for i in range(1, 624):
        state.append((1812433253 * (state[-1] ^ state[-1] >> 30) + i) & 0xFFFFFFFF)
    twister = random.Random()
    twister.setstate((3, (*state, 624), None))
    for _ in range(count):
        bits = twister.getrandbits(32) << 32 | twister.getrandbits(32)
        yield (bits & (1 << 53) - 1) * 2.0 ** -53


def log_uniform(count, most, seed):
    return [max(1, min(most, round(math.exp(u * math.log(most))))) for u in uniform_draws(seed, count)]


def pattern_of(rule):
    """(sizes, how many tensors take them in turn)."""
    if "log_uniform" in rule:
        pattern = log_uniform(rule["count"], **rule["log_uniform"])
    elif "before" in rule:
        pattern = rule["pattern"]
        turns = [pattern[i % len(pattern)] for i in range(rule["count"])]
        pattern = rule["before"] + turns + rule["after"]
    else:
        pattern = rule.get("elements", rule.get("pattern"))
        return pattern, rule.get("count", len(pattern))
    return pattern, len(pattern)


def named_sizes():
    lists = {}
    for name, rule in load("sizes")["sizes"].items():
        pattern, count = pattern_of(rule)
        lists[name] = [pattern[i % len(pattern)] for i in range(count)]
    return lists


def dtypes_of(dtype, count):
    turns = ["fp32", "fp16", "bf16"] if dtype == "mixed" else dtype
    if isinstance(turns, str):
        turns = [turns]
    return [turns[i % len(turns)] for i in range(count)]


def combinations(spec, table):
    seen = set()
    for group in spec.get(table, []):
        for combination in product(group["sizes"], group["dtypes"], group["inputs"]):
            if combination not in seen:
                seen.add(combination)
                yield combination


def check(spec, sizes):
    """What a spec says of sizes, types and inputs must be known; a typing error is not a new axis."""
    axes = spec.get("axes", {})
    for table in ("cases", "samples"):
        for size, dtype, values in combinations(spec, table):
            if size not in sizes or dtype not in axes["dtypes"] or values not in axes["inputs"]:
                sys.exit(f"{spec['operator']}: [[{table}]] names an unknown {size}, {dtype} or {values}")
    for row in spec.get("bench", []):
        if "sizes" in row and row["sizes"] not in sizes:
            sys.exit(f"{spec['operator']}: [[bench]] names an unknown {row['sizes']}")
    ids = [error["id"] for error in spec.get("error", [])]
    if len(ids) != len(set(ids)):
        sys.exit(f"{spec['operator']}: two errors of one id")


def numbers(values):
    return ", ".join(f"{value!r}f" if isinstance(value, float) else str(value) for value in values)


def cases(spec, sizes):
    name = spec["operator"]
    lines = [f"// From ops/specs/{name}.toml by ops/tools/specs.py."]
    for axis, values in spec.get("axes", {}).items():
        if isinstance(values[0], str):
            continue
        kind = "float" if isinstance(values[0], float) else "int"
        lines.append(f"inline constexpr {kind} k_{axis}[] = {{{numbers(values)}}};")
    used = {size for size, _, _ in combinations(spec, "cases")}
    rules = load("sizes")["sizes"]
    for size in sorted(used):
        pattern, _ = pattern_of(rules[size])
        # An array of no elements is no C++.
        lines.append(f"inline constexpr long long k_{size}[] = {{{numbers(pattern or [0])}}};")
    if used:
        lines.append("inline constexpr Case kCases[] = {")
        for size, dtype, values in combinations(spec, "cases"):
            pattern, _ = pattern_of(rules[size])
            lines.append(f'    {{"{dtype}_{size}_{values}", "{dtype}", "{values}", '
                         f"k_{size}, {len(pattern)}, {len(sizes[size])}}},")
        lines.append("};")
    lines.append("inline constexpr Refusal kRefusals[] = {")
    for error in spec.get("error", []):
        lines.append(f'    {{"{error["id"]}", CUPROOF_OPS_{error["status"]}, '
                     f'{json.dumps(error["says"])}, {str(error.get("gpu", False)).lower()}}},')
    lines.append("};")
    return "\n".join(lines) + "\n"


def traffic(formula, dtype):
    return sum(SIZE_OF[dtype] if word == "size" else int(word) for word in formula.split(" + "))


def bench(spec, sizes):
    shapes = []
    for row in spec.get("bench", []):
        if "sizes" in row:
            elements = sizes[row["sizes"]]
            tensors = [{"count": 1, "elements": n, "dtype": dtype}
                       for n, dtype in zip(elements, dtypes_of(row["dtype"], len(elements)))]
        else:
            tensors = row["tensors"]
        shape = {"name": row["name"], "program": row["program"],
                 "quick_only": row.get("quick_only", False), "tensors": tensors,
                 "count": sum(t["count"] for t in tensors),
                 "elements": sum(t["count"] * t["elements"] for t in tensors)}
        formulas = row.get("bytes_per_element") or spec["bytes_per_element"]
        for way in ("read", "write"):
            shape[f"bytes_{way}"] = sum(t["count"] * t["elements"] * traffic(formulas[way], t["dtype"])
                                        for t in tensors)
        shapes.append(shape)
    return {"operator": spec["operator"], "shapes": shapes}


def samples(spec, sizes):
    rows = [{"name": f"{dtype}_{size}_{values}", "elements": sizes[size],
             "dtypes": dtypes_of(dtype, len(sizes[size])), "input": values}
            for size, dtype, values in combinations(spec, "samples")]
    return {"operator": spec["operator"], "samples": rows}


def table(specs):
    lines = [BEGIN, "| operator | does | types | in place | kernels of a call | workspace |",
             "|---|---|---|---|---|---|"]
    for spec in specs:
        first = spec["tensor"][0]
        lines.append(f"| `{spec['operator']}` | {spec['summary']} | {', '.join(first['dtypes'])} | "
                     f"{'yes' if spec['in_place'] else 'no'} | {spec['kernels']} | "
                     f"{'yes' if spec['workspace'] else 'no'} |")
    return "\n".join([*lines, END])


def write_table(specs, only_check):
    text = DOCUMENT.read_text()
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{DOCUMENT}: no lines {BEGIN} and {END}")
    new = head + table(specs) + tail
    if only_check and new != text:
        sys.exit(f"{DOCUMENT} is older than ops/specs: run ops/tools/specs.py table")
    if not only_check:
        DOCUMENT.write_text(new)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for command in ("cases", "bench", "samples"):
        sub = commands.add_parser(command)
        sub.add_argument("operator", choices=operators())
        sub.add_argument("--output", type=Path)
    commands.add_parser("table").add_argument("--check", action="store_true")
    arguments = parser.parse_args()

    sizes = named_sizes()
    specs = {name: load(name) for name in operators()}
    for spec in specs.values():
        check(spec, sizes)
    if arguments.command == "table":
        write_table(list(specs.values()), arguments.check)
        return
    made = {"cases": cases, "bench": bench, "samples": samples}[arguments.command](
        specs[arguments.operator], sizes)
    text = made if isinstance(made, str) else json.dumps(made, indent=1) + "\n"
    if arguments.output:
        arguments.output.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
