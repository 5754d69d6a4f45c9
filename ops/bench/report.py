#!/usr/bin/env python3
"""Makes the tables of docs/performance.md, its chart, and the figures of README.md from the JSON of
bench/results.

    bench/report.py              writes them
    bench/report.py --check      says whether they are up to date (exit 1 if not)
    bench/report.py --table DIR  a short plain table of the JSON in DIR
"""

import argparse
import json
import sys
from pathlib import Path

import chart
import targets

OPS = Path(__file__).resolve().parent.parent
RESULTS = OPS / "bench/results"
TITLES = {
    "norm": "Norm and Inf/NaN check", "clip": "Unscale, check, clip", "step": "The optimizer's step",
    "guard": "Inf/NaN guard", "accumulate": "Accumulation", "accuracy": "Accuracy",
}


def load(folder):
    """bench -> JSON, in the order of targets.BENCHES."""
    found = {}
    for bench in targets.BENCHES:
        path = Path(folder) / f"{bench}.json"
        if path.is_file():
            found[bench] = json.loads(path.read_text())
    return found


def number(value, digits=3):
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{max(0, digits - len(str(int(value))))}f}"


def escaped(name):
    return name.replace("|", "\\|")


def of_floor(row, name):
    """Share of the ceiling for the bytes that this contender has to move."""
    floor = row.get("floors", {}).get(name, row["floor"])
    parts = [row.get(f"{part}_us") for part in floor.split("+")]
    return sum(parts) / row["contenders"][name]["median_us"] if all(parts) else None


def timing_table(result):
    lines = ["| case | | time, us | TB/s | of the ceiling | cuproof_ops is | kernels | spread |",
             "|---|---|---|---|---|---|---|---|"]
    for row in result["rows"]:
        first = f"{row['name']}, {row['bytes'] / 1e9:.3g} GB"
        if row.get("dropped"):
            lines.append(f"| {first} | dropped: {row['dropped']} | | | | | | |")
            continue
        ours = next(iter(targets.of_role(row, "ours")), None)
        for name, c in row["contenders"].items():
            share = of_floor(row, name) if c["role"] == "ours" else c.get("of_floor")
            if c["role"] == "ceiling" or share is None:
                share_text = ""
            else:
                share_text = f"{share:.2f}"
            ratio = targets.times_faster(row, ours, name) if c["role"] == "peer" and ours else None
            said = "" if ratio is None else f"{ratio:.2f}x as fast"
            if ratio is not None and ratio < 1:
                said = f"**{ratio:.2f}x as fast**"
            shown = f"**{escaped(name)}**" if c["role"] == "ours" else escaped(name)
            if (c.get("relative_error") or 0) > 1e-5:
                shown += f" (total off by {c['relative_error']:.0e})"
            if c["role"] == "ceiling":
                shown = f"*ceiling: {escaped(name)}*"
            # A ceiling that is not the row's own moves other bytes.
            own = c["role"] != "ceiling" or name == row["floor"] or (
                row["floor"] == "copy" and name == "memcpy")
            rate = f"{c['tb_per_s']:.2f}" if own else ""
            kernels = "-" if c.get("kernels") is None or c["role"] == "ceiling" else c["kernels"]
            lines.append(f"| {first} | {shown} | {number(c['median_us'], 4)} | "
                         f"{rate} | {share_text} | {said} | {kernels} | "
                         f"{c['spread']:.1%} |")
            first = ""
        for name, why in row["failed"].items():
            lines.append(f"| {first} | {escaped(name)} | did not run: {escaped(why[:80])} | | | | | |")
            first = ""
    return lines


def host_table(row):
    lines = ["", f"Eager, {row['name']}, GPU idle before, median:", "",
             "| | host, us | until the GPU is done, us |", "|---|---|---|"]
    for name, entry in row["eager_host"].items():
        lines.append(f"| {escaped(name)} | {number(entry['host_us'])} | {number(entry['wall_us'])} |")
    return lines


def traits_table(result):
    lines = ["", "| one step, eager | host, us | until the GPU is done, us | kernels | "
             "copies to the host | waits seen by the profiler* | sync debug mode \"error\" |",
             "|---|---|---|---|---|---|---|"]
    for name, entry in result["traits"].items():
        seen = entry.get("profiler", {})
        lines.append(f"| {name} | {number(entry['host_us'])} | {number(entry['wall_us'])} | "
                     f"{seen.get('kernels', '-')} | {seen.get('copies_to_host', '-')} | "
                     f"{seen.get('syncs', '-')} | {escaped(entry['sync_debug_mode_error'])} |")
    lines += ["", "\\* One of them is the profiler's own, when it stops.", ""]
    alone = result.get("fused_adamw_alone_us")
    if alone:
        lines.append(f"The fused AdamW alone, without a scale to divide by: {number(alone)} us.")
    return lines


def accuracy_table(result):
    lines = ["Relative error against fp64. 2^-24 is 6e-8: below it, one error is as good as another.",
             "", "| numbers | total: cuproof_ops | best peer | worst tensor: cuproof_ops | "
             "best peer | peers that overflow or underflow |", "|---|---|---|---|---|---|"]

    def error(value):
        return "-" if value is None else f"{value:.1e}"
    for row in result["rows"]:
        wrong = [name for name, value in row["total_error"].items()
                 if value is None or value > 0.01]
        lines.append(f"| {row['name']} | {error(row['total_error']['cuproof_ops'])} | "
                     f"{error(row['total_error_best_peer'])} | "
                     f"{error(row['worst_tensor_error']['cuproof_ops'])} | "
                     f"{error(row['worst_tensor_error_best_peer'])} | {', '.join(wrong)} |")
    return lines


def losses(results):
    """Every pair in which ours is not the faster, and every target that is missed."""
    lines = []
    for result in results.values():
        for row in result["rows"]:
            if row.get("dropped") or "contenders" not in row:
                continue
            ours = next(iter(targets.of_role(row, "ours")), None)
            for peer in targets.of_role(row, "peer"):
                ratio = targets.times_faster(row, ours, peer) if ours else None
                if ratio is not None and ratio < 1:
                    lines.append(f"- {row['name']}: {peer} takes {ratio:.2f} of our time.")
    for target in targets.all_targets(results):
        if target.met is False:
            lines.append(f"- Target missed: {target.name}: {target.value:.3g}, {target.bound}.")
    return lines or ["- None in these rows."]


def target_table(results):
    lines = ["| target | bound | measured | |", "|---|---|---|---|"]
    for target in targets.all_targets(results):
        value = "-" if target.value is None else f"{target.value:.3g}"
        met = {True: "met", False: "**missed**", None: "not measured"}[target.met]
        lines.append(f"| {escaped(target.name)} | {target.bound} | {value} | {met} |")
    return lines


def machine_line(results):
    lines = []
    for result in results.values():
        m = result["machine"]
        line = (f"{m['gpu']}, driver {m['driver']}, torch {m['torch']}, Triton {m['triton']}, "
                f"nvcc {m['cuda_of_compiler']}, {result['date']}")
        if line not in lines:
            lines.append(line)
    return "; ".join(lines)


def performance(results):
    if not results:
        return ["No results yet."]
    lines = [f"Measured on: {machine_line(results)}.", "", "### Targets", "",
             *target_table(results), "", "### Losses", "", *losses(results)]
    for bench, result in results.items():
        lines += ["", f"### {TITLES[bench]}", ""]
        lines += accuracy_table(result) if bench == "accuracy" else timing_table(result)
        for row in result["rows"]:
            if "eager_host" in row:
                lines += host_table(row)
        if result.get("traits"):
            lines += traits_table(result)
        if result["failures"]:
            lines += ["", "Did not run: " + "; ".join(escaped(f) for f in result["failures"]) + "."]
        clocks = [row[when]["sm_mhz"] for row in result["rows"] for when in ("start", "end")
                  if row.get(when) and row[when].get("sm_mhz")]
        if clocks:
            lines += ["", f"SM clock {min(clocks)} to {max(clocks)} MHz at the starts and ends of "
                      "these rows."]
    return lines


def figures(results):
    """The few lines of README.md."""
    if not results:
        return ["(no results yet)"]
    lines = ["| | torch | cuproof_ops | |", "|---|---|---|---|"]

    def line(label, row, ours, peer):
        ratio = targets.times_faster(row, ours, peer)
        if ratio is not None:
            lines.append(f"| {label} | {number(row['contenders'][peer]['median_us'])} us | "
                         f"{number(row['contenders'][ours]['median_us'])} us | {ratio:.1f}x |")
    norm, clip = results.get("norm"), results.get("clip")
    line("norm of 64 x 4096² bf16 (torch: norms alone; ours: with the check)",
         targets.row_of(norm, targets.NORM_ROWS[0]), "cuproof_ops grad_norm", "_foreach_norm")
    line("norm of 2,000 tensors of mixed type (torch: norms alone; ours: with the check)",
         targets.row_of(norm, targets.NORM_ROWS[1]), "cuproof_ops grad_norm", "_foreach_norm")
    for name, word in zip(targets.CLIP_ROWS, ("bf16", "fp32")):
        row = targets.row_of(clip, name)
        peers = targets.of_role(row, "peer")
        if peers:
            fastest = min(peers, key=lambda p: peers[p]["median_us"])
            line(f"unscale, check, clip of 64 x 4096² {word}, left to the optimizer as a factor",
                 row, "cuproof_ops grad_norm as factor", fastest)
            line(f"the same in place, {word}", row, "cuproof_ops grad_norm + grad_scale", fastest)
    step = targets.row_of(results.get("step"), targets.STEP_ROW)
    if step:
        line(step["name"], step, *step["ratio_of"])
    guard = targets.row_of(results.get("guard"), targets.GUARD_ROW)
    if guard:
        line("Inf/NaN check of one bf16 tensor, 33.5 MB", guard, *guard["ratio_of"])
    accumulate = targets.row_of(results.get("accumulate"), targets.ACCUMULATE_ROW)
    if accumulate:
        line("fp32 sum += bf16 gradient, with norm, 64 x 4096²", accumulate,
             *accumulate["ratio_of"])
    lines += ["", f"Times on the GPU; {machine_line(results)}. [All of it, losses too]"
              "(docs/performance.md)."]
    return lines


def between(text, name, lines):
    """`text` with the lines between its two markers replaced."""
    begin, end = f"<!-- {name}: written by bench/report.py -->", f"<!-- end of {name} -->"
    head, rest = text.split(begin + "\n", 1)
    _, tail = rest.split(end, 1)
    return head + begin + "\n" + "\n".join(lines) + "\n" + end + tail


def documents(results):
    """path -> text as it should be."""
    found = {}
    for path, name, lines in ((OPS / "docs/performance.md", "results", performance(results)),
                              (OPS / "README.md", "figures", figures(results))):
        found[path] = between(path.read_text(), name, lines)
    found[OPS / "docs/performance.svg"] = chart.draw(results)
    return found


def plain(results):
    for bench, result in results.items():
        for row in result["rows"]:
            if "contenders" not in row:
                continue
            if row.get("dropped"):
                print(f"{row['name'][:44]:<44} DROPPED {row['dropped']}")
                continue
            ours = targets.of_role(row, "ours")
            if not ours:
                continue
            name, entry = next(iter(ours.items()))
            share = of_floor(row, name)
            ratios = "  ".join(f"{peer[:28]} {targets.times_faster(row, name, peer):.2f}x"
                               for peer in targets.of_role(row, "peer"))
            print(f"{row['name'][:44]:<44} {entry['median_us']:9.1f} us "
                  f"{f'{share:.3f}' if share else '-':>6} | {ratios}")
        for failure in result["failures"]:
            print(f"{bench}: FAILED {failure}")
    for target in targets.all_targets(results):
        word = {True: "met   ", False: "MISSED", None: "absent"}[target.met]
        print(f"{word} {target.value if target.value is not None else float('nan'):8.3g}  "
              f"{target.bound:<14} {target.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", metavar="DIR")
    args = parser.parse_args()
    if args.table:
        plain(load(args.table))
        return 0
    wrong = []
    for path, text in documents(load(RESULTS)).items():
        if not path.is_file() or path.read_text() != text:
            wrong.append(path.relative_to(OPS).as_posix())
            if not args.check:
                path.write_text(text)
    if wrong:
        print(("out of date: " if args.check else "written: ") + ", ".join(wrong))
    return 1 if args.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
