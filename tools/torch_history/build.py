#!/usr/bin/env python3
"""Makes data/torch_symbols.bin, torch_releases.tsv and torch_shims.tsv from the torch wheels themselves.

    tools/torch_history/build.py --cache DIR                 fetch what is missing, one wheel at a time
    tools/torch_history/build.py --cache DIR --wheels DIR    read wheels that are there
    tools/torch_history/build.py --cache DIR --check         fail if the files in data/ would change

For the last patch of each minor from 2.1 on it reads the dynamic symbols of five libraries. The cache keeps
lists of names, no wheel (about 10 MB in all), so that an interrupted run goes on where it stopped.
docs/formats.md has the layout of the file.
"""

import argparse
import datetime
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "loader_oracle")]
import abi_twin  # noqa: E402
import exports  # noqa: E402
import symbol_file  # noqa: E402
import wheels  # noqa: E402

VERSIONS = ["2.1.2", "2.2.2", "2.3.1", "2.4.1", "2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.1", "2.10.0",
            "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0"]
STABLE_SINCE = "2.7"  # the release that brought the stable ABI
NAMESPACES = re.compile(r"_Z(TV|TI|TS|TT)?N[VK]*[RO]?(3c10|2at|5torch|6caffe2|4c10d)")
SHIM = re.compile(r"(aoti_torch_|torch_)\w+$")
PYTHON = re.compile(r"(_Z\d+)?THP[A-Z]\w*")


def importable(name):
    """Whether an extension could want this name of torch: its API, not its copies of other libraries."""
    if NAMESPACES.match(name):
        return "_GLOBAL__N_" not in name
    return bool(SHIM.match(name) or PYTHON.match(name))


def gather(args):
    """Exports of every release, from the cache or from wheels."""
    releases = {}
    cache = Path(args.cache)
    cache.mkdir(parents=True, exist_ok=True)
    for version in VERSIONS:
        path = cache / f"torch-{version}.json.gz"
        if not path.exists():
            with tempfile.TemporaryDirectory(dir=cache) as folder:
                given = sorted(Path(args.wheels).glob(f"torch-{version}-cp311-*x86_64.whl")) \
                    if args.wheels else []
                wheel = given[0] if given else wheels.download("torch", version, folder)
                print(f"reading {wheel.name}", flush=True)
                release = exports.read_wheel(wheel)
                release.update(wheel=wheel.name, sha256=wheels.sha256(wheel),
                               read=datetime.date.today().isoformat())
                exports.save(path, release)
        releases[version] = exports.load(path)
    return releases


def symbols_of(releases):
    """name -> [ABI (0 either, 1 old, 2 new), libraries, releases], and what could not be turned."""
    table = {}

    def note(name, abi, library, release):
        row = table.setdefault(name, [abi, 0, 0])
        row[0] = max(row[0], abi)
        row[1] |= 1 << library
        row[2] |= 1 << release

    # Old spelling of every name that the new ABI spells otherwise; some look neutral in the old ABI.
    new_of, old_of, unknown = {}, {}, Counter()
    for release in releases.values():
        if release["string_abi"] == "new":
            for library in exports.LIBRARIES:
                for name, _ in release["exports"][library]:
                    if importable(name) and ("__cxx11" in name or "B5cxx11" in name):
                        if name not in old_of:
                            old_of[name] = abi_twin.twin(name, "old")
                            new_of[old_of[name]] = name
    to_new = {}
    for bit, (version, release) in enumerate(releases.items()):
        for index, library in enumerate(exports.LIBRARIES):
            for name, _ in release["exports"][library]:
                if not importable(name):
                    continue
                if release["string_abi"] == "new":
                    twin = old_of.get(name, name)
                else:
                    if name not in to_new:
                        to_new[name] = new_of.get(name) or abi_twin.twin(name, "new")
                    twin = to_new[name]
                if twin is None:
                    unknown[version] += 1
                if twin == name or twin is None:
                    note(name, 0 if twin else 1 + (release["string_abi"] == "new"), index, bit)
                else:
                    old, new = (twin, name) if release["string_abi"] == "new" else (name, twin)
                    note(old, 1, index, bit)
                    note(new, 2, index, bit)
    return table, unknown


def table_text(comment, columns, rows):
    lines = [f"# {line}" for line in comment] + ["\t".join(columns)]
    return "\n".join(lines + ["\t".join(str(c) for c in row) for row in rows]) + "\n"


def releases_text(releases):
    rows = [(v, r["cuda"], r["string_abi"], r["wheel"], r["sha256"], "pypi:torch", r["read"],
             "the wheel's libraries") for v, r in releases.items()]
    return table_text(
        ["The torch releases of torch_symbols.bin, in its order: last patch of each minor, the Linux x86-64"
         " wheel for CPython 3.11 that the Python index serves.",
         "cuda: the toolkit in torch/version.py. string_abi: by the names that libc10 exports."],
        ["version", "cuda", "string_abi", "wheel", "sha256", "source", "date", "verified_on"], rows)


def shims_text(releases):
    first, last, library = {}, {}, {}
    for version, release in releases.items():
        for name_of_library in exports.LIBRARIES:
            for name, _ in release["exports"][name_of_library]:
                if SHIM.match(name):
                    first.setdefault(name, version)
                    last[name] = version
                    library.setdefault(name, name_of_library)
    newest = list(releases)[-1]
    # 2.3 exported 2,400 that 2.4 had no more; torch_symbols.bin knows them.
    since = list(releases).index(next(v for v in releases if v.startswith(STABLE_SINCE + ".")))
    first = {name: v for name, v in first.items() if list(releases).index(last[name]) >= since}
    rows = [(name, first[name].rsplit(".", 1)[0],
             "" if last[name] == newest else last[name].rsplit(".", 1)[0],
             library[name].removesuffix(".so"), "pypi:torch", releases[first[name]]["read"],
             f"torch {first[name]}") for name in sorted(first)]
    return table_text(
        ["C shims of torch, the only names of it that an extension for the stable ABI imports. first_torch:"
         f" the first release from {'.'.join(list(releases)[0].split('.')[:2])} on whose libraries export it.",
         f"Those that torch {STABLE_SINCE} or a later one has.",
         f"last_torch: the last that does; empty: torch {newest} still has it."],
        ["name", "first_torch", "last_torch", "library", "source", "date", "verified_on"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--wheels")
    parser.add_argument("--out", default=str(ROOT / "data"))
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    releases = gather(args)
    table, unknown = symbols_of(releases)
    data, figures = symbol_file.write(releases, table)
    made = {"torch_symbols.bin": data, "torch_releases.tsv": releases_text(releases).encode(),
            "torch_shims.tsv": shims_text(releases).encode()}
    for key, value in figures.items():
        print(f"{key}: {value}")
    print(f"names whose twin in the other ABI is unknown: {dict(unknown)}")
    status = 0
    for name, content in made.items():
        path = Path(args.out, name)
        print(f"{name}: {len(content)} bytes")
        if args.check:
            if not path.exists() or path.read_bytes() != content:
                print(f"{path} differs")
                status = 1
        else:
            path.write_bytes(content)
    return status


if __name__ == "__main__":
    sys.exit(main())
