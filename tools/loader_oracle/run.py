#!/usr/bin/env python3
"""The loader is the oracle: what `cuproof link` says of a file in an environment, against what happens there.

    tools/loader_oracle/run.py --work DIR --cuproof build/release/cuproof --out tools/loader_oracle/results.json
    tools/loader_oracle/run.py --work DIR --truth-only      ask the loader, not cuproof
    tools/loader_oracle/run.py --work DIR --clean           remove what the runs left

DIR (21 GB, outside of the repository; 30 GB are fetched in all) keeps parts of wheels, compiled extensions and the loader's
answers, so that an interrupted run goes on. Needs root (for a network of its own and another user), g++,
/usr/bin/python3 of version 3.11, CUDA headers (--cuda-include) and the Python index.

For each pair of a file and an environment it records: a child process that loads torch's libraries as
`import torch` does, then the file; and, for some, `ldd -r` with the environment's folders on LD_LIBRARY_PATH,
which gives complete sets. --hide lays an empty folder over a toolkit of this machine, for all of them.
"""

import argparse
import datetime
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "torch_history")]
import build  # noqa: E402
import build_extensions  # noqa: E402
import compare  # noqa: E402
import environments  # noqa: E402
import kinds  # noqa: E402
import pairs  # noqa: E402
import synthetic  # noqa: E402
import truth  # noqa: E402
import wheels  # noqa: E402


def with_headers(name):
    return wheels.wanted(name) or name.startswith("torch/include/")


def fetch(store, work):
    """Every package, and for each torch release what it requires of NVIDIA's."""
    path = work / "resolved.json"
    resolved = json.loads(path.read_text()) if path.exists() else {}
    for version in build.VERSIONS:
        store.get("torch", version, with_headers)
        if version not in resolved:
            resolved[version] = wheels.resolve(f"torch=={version}")
            path.write_text(json.dumps(resolved))
        for name, number in resolved[version]:
            if name.startswith("nvidia-"):
                store.get(name, number)
    store.get("nvidia-nvjitlink-cu12", "12.1.105")
    for row in pairs.wheel_rows():
        try:
            store.get(row["name"], row["version"])
        except subprocess.CalledProcessError:
            print(f"no wheel of {row['name']} {row['version']} for this Python", flush=True)
    return {version: [("torch", version)] + [(n, v) for n, v in packages if n.startswith("nvidia-")]
            for version, packages in resolved.items()}


def string_abi(version):
    return "old" if build_extensions.minor(version) <= 6 else "new"


class Truth:
    """The loader's answers, kept on disk."""

    def __init__(self, path):
        self.path = path
        self.known = json.loads(path.read_text()) if path.exists() else {}

    def save(self):
        temporary = self.path.with_suffix(".new")
        temporary.write_text(json.dumps(self.known))
        temporary.rename(self.path)


class Group:
    """Files that are tried in one state of one environment."""

    def __init__(self, environment, files, torch=True, library_path=(), shadow="", ldd=lambda name: True,
                 matrix=False):
        self.matrix = matrix  # every release is asked, for the range; few of them are pairs
        self.environment, self.files, self.torch = environment, files, torch
        self.library_path, self.shadow, self.ldd = list(library_path), shadow, ldd

    def key(self, name):
        state = ("" if self.torch else "|before torch") + (f"|{self.shadow} first" if self.shadow else "")
        return f"{self.environment.name}{state}|{name}"


def ask(group, answers):
    """Fills in what is not known yet."""
    site = group.environment.site
    todo = {name: path for name, path in group.files.items() if group.key(name) not in answers.known}
    if todo:
        torch, said = truth.ask_child(site, [str(p) for p in todo.values()], group.torch, group.library_path)
        for name, path in todo.items():
            outcome = said[str(path)]
            row = {"torch": torch, "loads": outcome["loads"]}
            if not outcome["loads"]:
                row["kind"], row["names"] = kinds.kind_of(outcome, str(site))
            answers.known[group.key(name)] = row
    for name, path in group.files.items():
        row = answers.known[group.key(name)]
        if group.ldd(name) and "ldd" not in row:
            row["ldd"] = truth.ldd(path, group.library_path + group.environment.library_folders())
    answers.save()


def groups_of(environment, extensions, made, store):
    """Yields the groups of one environment, and leaves it as it was."""
    version = environment.name.removeprefix("torch-")
    chosen = version in pairs.CHOSEN
    if version == "none":
        yield Group(environment, {**made, **{k: v for k, v in extensions.items() if "torch2.6.0" in k}},
                    torch=False)
        for row in pairs.wheel_rows():
            if row["name"] in ("bitsandbytes", "cupy-cuda12x", "faiss-gpu-cu12", "onnxruntime-gpu"):
                yield from wheel_group(environment, [row], store, torch=False)
        return
    near = set(build.VERSIONS[max(0, build.VERSIONS.index(version) - 1):][:3])
    yield Group(environment, extensions, matrix=True,
                ldd=lambda name: chosen and any(f"torch{v}_" in name for v in near | {"2.6.0", "2.15.0"}))
    own = {p: environment.site / p for pattern in pairs.OWN
           for p in sorted(str(f.relative_to(environment.site)) for f in environment.site.glob(pattern))}
    yield Group(environment, {f"own:{k}": v for k, v in own.items()}, torch=False, ldd=lambda name: chosen)
    if not chosen:
        return
    for rows in pairs.rounds([row for row in pairs.wheel_rows() if pairs.tried_in(row, version)]):
        yield from wheel_group(environment, rows, store)
    if version == "2.6.0":
        yield Group(environment, made)
    if version in ("2.6.0", "2.15.0"):
        yield Group(environment, {k: v for k, v in extensions.items() if f"torch{version}_" in k}, torch=False,
                    ldd=lambda name: False)
    if version in ("2.4.1", "2.6.0"):
        # An older nvJitLink on LD_LIBRARY_PATH, as a toolkit in /usr/local would put it there.
        older = store.root / "nvidia-nvjitlink-cu12-12.1.105/nvidia/nvjitlink/lib"
        if older.exists():
            yield Group(environment, {f"own:{k}": v for k, v in own.items() if "cusparse" in k or "cuda" in k},
                        torch=False, library_path=[str(older)], shadow="older nvJitLink")
            yield Group(environment, {k: v for k, v in extensions.items() if f"torch{version}_" in k},
                        library_path=[str(older)], shadow="older nvJitLink", ldd=lambda name: False)


def wheel_group(environment, rows, store, torch=True):
    removers, files = [], {}
    for row in rows:
        folder = store.folder(row["name"], row["version"])
        if not (folder / "facts.json").exists():
            continue
        removers.append(environments.add(store, environment, row["name"], row["version"]))
        for relative in pairs.files_of(folder, row["libraries"]):
            files[f"{row['name']}-{row['version']}:{relative}"] = environment.site / relative
    if files:
        yield Group(environment, files, torch=torch)
    for remove in reversed(removers):
        remove()


def versions_of_this_machine():
    libc = platform.libc_ver()
    gcc = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    python = subprocess.run([truth.PYTHON, "--version"], capture_output=True, text=True).stdout.strip()
    return {"libc": " ".join(libc), "g++": gcc, "python": python, "machine": platform.machine()}


def sources_hash():
    """Of what decides which pairs there are and what is recorded of them."""
    digest = hashlib.sha256()
    for path in sorted(p for p in HERE.rglob("*") if p.suffix in (".py", ".cpp", ".tsv")):
        if path.name not in ("sonames.py", "exceptions.tsv"):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def hide(folders):
    """Starts again in a mount namespace where these folders are empty."""
    if not folders or os.environ.get("LOADER_ORACLE_HIDDEN"):
        return
    mounts = " && ".join(f"mount -t tmpfs none '{f}'" for f in folders)
    os.environ["LOADER_ORACLE_HIDDEN"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", mounts + ' && exec "$@"', "sh", sys.executable,
                          *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", required=True)
    parser.add_argument("--cuproof")
    parser.add_argument("--out")
    parser.add_argument("--cuda-include", default="/usr/local/cuda/include")
    parser.add_argument("--hide", action="append", default=[], metavar="DIR")
    parser.add_argument("--only", default="", help="environments, comma-separated: torch-2.6.0,torch-none")
    parser.add_argument("--truth-only", action="store_true")
    parser.add_argument("--no-fetch", action="store_true", help="use what is in the store")
    parser.add_argument("--clean", action="store_true")
    args = parser.parse_args()
    work = Path(args.work).resolve()
    if args.clean:
        for name in ("store", "envs", "extensions", "synthetic"):
            shutil.rmtree(work / name, ignore_errors=True)
        return 0
    store = wheels.Store(work / "store")
    if args.no_fetch:
        resolved = json.loads((work / "resolved.json").read_text())
        packages = {v: [("torch", v)] + [(n, x) for n, x in rows if n.startswith("nvidia-")]
                    for v, rows in resolved.items()}
    else:
        packages = fetch(store, work)
    if not os.environ.get("LOADER_ORACLE_HIDDEN"):
        build_extensions.build_all(store, {v: string_abi(v) for v in packages}, args.cuda_include,
                                   work / "extensions")
        synthetic.make(work / "synthetic")
    hide(args.hide)

    extensions = {f"extension:{p.name}": p for p in sorted((work / "extensions").glob("*.so"))}
    made = {f"synthetic:{k}": v for k, v in synthetic.make(work / "synthetic").items()}
    answers = Truth(work / "truth.json")
    results, ranges, started = [], {}, time.time()
    todo = [(f"torch-{v}", packages[v]) for v in build.VERSIONS if v in packages] + [("torch-none", [])]
    for name, content in todo:
        if args.only and name not in args.only.split(","):
            continue
        environment = environments.Environment(name, work / "envs", content)
        environment.make(store)
        for group in groups_of(environment, extensions, made, store):
            ask(group, answers)
            predicted = {} if args.truth_only else compare.predict(args.cuproof, group)
            for file in group.files:
                answer = answers.known[group.key(file)]
                row = compare.row(group, file, answer, predicted.get(file))
                if group.matrix:
                    ranges.setdefault(file, []).append(row)
                if not group.matrix or group.ldd(file):
                    results.append(row)
        shutil.rmtree(environment.folder)
        done = [r for r in results if r["environment"] == name]
        print(f"{name}: {len(done)} pairs, {sum(r['loads'] for r in done)} load, "
              f"{sum(r.get('agrees') is False for r in done)} differ; {time.time() - started:.0f} s", flush=True)
    ranges = [compare.range_row(file, rows, extensions[file]) for file, rows in sorted(ranges.items())]
    summary = compare.summary(results, ranges)
    print(json.dumps(summary, indent=1))
    if args.out:
        compare.write(args.out, {
            "date": datetime.date.today().isoformat(), "versions": versions_of_this_machine(),
            "sources": sources_hash(), "hidden": args.hide,
            "fetched_bytes": store.fetched(), "packages": {f"torch-{v}": [f"{n} {x}" for n, x in rows]
                                                           for v, rows in packages.items()},
            "summary": summary, "exceptions": compare.exceptions()}, results, ranges)
    return 0 if args.truth_only or not summary["differ_without_reason"] else 1


if __name__ == "__main__":
    sys.exit(main())
