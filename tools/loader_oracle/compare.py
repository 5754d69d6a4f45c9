"""What cuproof says, beside what the loader said, and how the result is written."""

import csv
import fnmatch
import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "torch_history"))
import build  # noqa: E402
import exports  # noqa: E402
import symbol_file  # noqa: E402

HISTORY = symbol_file.History((HERE.parent.parent / "data/torch_symbols.bin").read_bytes())
SETS = ("missing_libraries", "missing_symbols", "version_errors")
FEW = 6  # names that a result lists; more are counted and hashed


def exceptions():
    with open(HERE / "exceptions.tsv") as f:
        return list(csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t"))


def sets_of(entry):
    """The three sets of one file of `cuproof link`, named as ldd -r names them."""
    symbols = {s["name"] + (f"@{s['version']}" if s["version"] else "") for s in entry["missing_symbols"]}
    return {"missing_libraries": sorted({m["name"] for m in entry["missing_libraries"]}),
            "missing_symbols": sorted(symbols),
            "version_errors": sorted({v["version"] for v in entry["version_errors"] if v["fatal"]})}


def link(cuproof, files, *options):
    """path -> entry; cuproof is told several files at once."""
    found = {}
    for at in range(0, len(files), 40):
        part = files[at:at + 40]
        done = subprocess.run([cuproof, "link", *part, *options, "--format", "json"], capture_output=True,
                              text=True)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"cuproof link: exit {done.returncode}: {done.stderr[-500:]}")
        found.update((entry["file"], entry) for entry in json.loads(done.stdout)["files"])
    return found


def predict(cuproof, group):
    """file -> {"load": entry, "ldd": entry or None}"""
    paths = {name: str(path) for name, path in group.files.items()}
    options = ["--env", str(group.environment.folder)]
    more = [] if group.torch else ["--no-torch"]
    if group.library_path:
        more += ["--library-path", ":".join(group.library_path)]
    load = link(cuproof, list(paths.values()), *options, *more)
    folders = group.library_path + group.environment.library_folders()
    wanted = [path for name, path in paths.items() if group.ldd(name)]
    ldd = link(cuproof, wanted, *options, "--ldd", "--library-path", ":".join(folders)) if wanted else {}
    return {name: {"load": load[path], "ldd": ldd.get(path)} for name, path in paths.items()}


def short(names):
    if len(names) <= FEW:
        return names
    return {"count": len(names), "sha256": hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]}


def of_unfound_libraries(entry):
    """Names with a version of a library that is not there. When ld.so traces, it leaves such versions out of its
    array and then reads behind the array: the name is reported, reported without version, or not at all."""
    missing = {m["name"] for m in entry["missing_libraries"]}
    names = {s["name"]: s["version"] for s in entry["missing_symbols"] if s["version_file"] in missing}
    return set(names) | {f"{name}@{version}" for name, version in names.items()}


def first_error_agrees(answer, entry):
    """The loader names one thing; ours must be among all that we name."""
    names = answer["names"]
    sets = sets_of(entry)
    if answer["kind"].startswith("library:"):
        return names in sets["missing_libraries"]
    if answer["kind"].startswith("version:"):
        return names in sets["version_errors"]
    if answer["kind"].startswith("symbol:"):
        return names in sets["missing_symbols"]
    return entry["error"] is not None or bool(entry["damage"])


def row(group, name, answer, predicted):
    """One line of the result."""
    line = {"environment": group.environment.name, "file": name, "loads": answer["loads"]}
    if not group.torch:
        line["torch"] = "not imported"
    elif answer["torch"] not in ("loaded", "not asked for"):
        line["torch"] = "does not load"
    if group.shadow:
        line["first"] = group.shadow
    if not answer["loads"]:
        line["kind"] = answer["kind"]
        if answer["names"]:
            line["names"] = answer["names"]
    if "ldd" in answer and group.ldd(name):
        line["ldd"] = {k: short(v) for k, v in answer["ldd"].items() if v}
    if not predicted:
        return line
    differs = []
    if predicted["load"]["loads"] != answer["loads"]:
        differs.append("outcome")
    elif not answer["loads"] and not first_error_agrees(answer, predicted["load"]):
        differs.append("first error")
    if "ldd" in line:
        if "refused" in answer["ldd"]:
            if predicted["ldd"]["error"] is None and not predicted["ldd"]["damage"]:
                differs.append("ldd refuses")
        else:
            ours, theirs = sets_of(predicted["ldd"]), answer["ldd"]
            unsure = of_unfound_libraries(predicted["ldd"])
            for key in SETS:
                extra = sorted(set(ours[key]) - set(theirs[key]) - unsure)
                lacking = sorted(set(theirs[key]) - set(ours[key]) - unsure)
                if extra or lacking:
                    differs.append({"set": key, "only_ours": short(extra), "only_ldd": short(lacking)})
    line["agrees"] = not differs
    if differs:
        line["differs"] = differs
        reason = next((e["reason"] for e in exceptions()
                       if fnmatch.fnmatch(line["environment"], e["environment"]) and
                       fnmatch.fnmatch(name, e["file"])), None)
        if reason:
            line["reason"] = reason
    return line


def history_range(path):
    """The releases of data/torch_symbols.bin that export all that a compiled extension wants of torch."""
    names = [name for name in exports.undefined(path.read_bytes()) if build.importable(name)]
    return [version for bit, version in enumerate(HISTORY.versions)
            if all(HISTORY.exported(name, bit) for name in names)]


def range_row(file, rows, path):
    """In which releases an extension loads, and what data/torch_symbols.bin says of it."""
    version = {row["environment"]: row["environment"].removeprefix("torch-") for row in rows}
    line = {"extension": file, "asked": [version[r["environment"]] for r in rows],
            "loads_in": [version[r["environment"]] for r in rows if r["loads"]],
            # It is loaded, and its own initialisation ends the process.
            "dies_in": [version[r["environment"]] for r in rows if r.get("kind") == "process died"],
            "symbols_say": [v for v in history_range(path) if v in version.values()]}
    if all("agrees" in row for row in rows):
        line["link_agrees"] = all(row["agrees"] for row in rows)
    return line


def summary(results, ranges):
    failing = Counter(r["kind"] for r in results if not r["loads"])
    compared = [r for r in results if "agrees" in r]
    return {"pairs": len(results), "load": sum(r["loads"] for r in results),
            "load_share": round(sum(r["loads"] for r in results) / max(1, len(results)), 3),
            "kinds_of_failure": dict(failing.most_common()),
            "with_ldd": sum("ldd" in r for r in results), "compared": len(compared),
            "agree": sum(r["agrees"] for r in compared),
            "differ_with_reason": sum(not r["agrees"] and "reason" in r for r in compared),
            "differ_without_reason": sum(not r["agrees"] and "reason" not in r for r in compared),
            "extensions": len(ranges), "range_exact": sum(r["loads_in"] == r["symbols_say"] for r in ranges),
            "range_exact_but_for_initialisation": sum(
                sorted(r["loads_in"] + r["dies_in"]) == sorted(r["symbols_say"]) for r in ranges)}


def write(path, head, results, ranges):
    """JSON with a line for each pair, so that a change shows where it is."""
    text = json.dumps(head, indent=1)[:-2]
    for key, rows in (("ranges", ranges), ("pairs", results)):
        text += f',\n "{key}": [\n' + ",\n".join("  " + json.dumps(r, sort_keys=True) for r in rows) + "\n ]"
    text += "\n}\n"
    json.loads(text)
    Path(path).write_text(text)
