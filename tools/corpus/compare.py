#!/usr/bin/env python3
"""Compare `cuproof inspect` with cuobjdump on real binaries from public wheels.

    tools/corpus/compare.py --cuproof build/release/cuproof --cache DIR --out result.json
    tools/corpus/compare.py --cuobjdump-only --cache DIR --out reference.json
    tools/corpus/compare.py ... --only 'bitsandbytes*'    # project, package, wheel or member

The binaries are the rows of corpus.tsv beside this file. The whole corpus needs 33
GB in DIR (20 with --drop-wheels) and 8 GB of memory (cuobjdump takes 6 of them), on
64-bit x86 Linux with python 3.9 or later and pip. A run that was stopped goes on
where it was: wheels, members and what cuobjdump said are kept in DIR.

What is compared: how often each pair of kind and architecture occurs (cubin
sm_90a, ptx compute_90). Every image that cuobjdump lists must be in ours. Images
that only cuproof lists are counted as extra, since cuobjdump reads two sections
only and never lists LTO-IR.

What cuobjdump says is taken from three runs, all with -all (without it, a file
with an executable fatbin has its relocatable fatbins left out):
  -lelf, -lptx   the lists; they name cubins by the suffix 'a' but never by 'f'
  no option      the headers, which name both; used when the counts agree
A bare cubin has no header, so there the lists decide and 'f' is not compared.
cuobjdump 13 stops at the first image older than sm_50 and at some cubins of CUDA
12.1, so such files are read by the older cuobjdump that the triton wheel carries.

Exit status: 0 nothing missing, 1 something missing, 2 something could not be
compared.
"""
import argparse
import collections
import datetime
import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

CUOBJDUMP_PACKAGE = "nvidia-cuda-cuobjdump"
CUOBJDUMP_VERSION = "13.5.37"
OLD_WHEEL = {
    "package": "triton==3.6.0",
    "wheel": "triton-3.6.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
    "wheel_sha256": "e8e323d608e3a9bfcc2d9efcc90ceefb764a82b99dea12a86d643c72539ad5d3",
    "member": "triton/backends/nvidia/bin/cuobjdump",
}
COMMAND_SECONDS = 1800

LISTED = re.compile(r"^(ELF|PTX) file +\d+: .*?\.((?:sm|compute)_\d+[af]?)\.(?:cubin|elf\.bin|ptx)$")
HEADER = re.compile(r"^Fatbin (.+?) code:$")
ARCH = re.compile(r"^arch = (?:sm|compute|lto)_(\d+[af]?)$")
KINDS = {"elf": ("cubin", "sm_"), "ptx": ("ptx", "compute_")}


class Failure(Exception):
    """Something that keeps one row from being compared; the text is one line."""


# ---- files

def read_corpus(path):
    with open(path, encoding="utf-8") as stream:
        lines = [line.rstrip("\n") for line in stream if line.strip() and not line.startswith("#")]
    names = lines[0].split("\t")
    rows = []
    for line in lines[1:]:
        values = line.split("\t")
        if len(values) != len(names):
            raise SystemExit(f"{path}: {len(values)} columns instead of {len(names)}: {line}")
        rows.append(dict(zip(names, values)))
    return rows


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for block in iter(lambda: stream.read(1 << 22), b""):
            digest.update(block)
    return digest.hexdigest()


def write_text(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".part", "w", encoding="utf-8") as stream:
        stream.write(text)
    os.replace(path + ".part", path)


def read_text(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def pip(*arguments):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace")
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if line.startswith("ERROR")]
        raise Failure("pip: " + (lines or ["exit " + str(done.returncode)])[-1][:300])


def tags_of(wheel):
    """The pip options that select exactly this wheel, whatever python runs this script."""
    python, abi, platforms = wheel[:-len(".whl")].split("-")[-3:]
    version = f"{python[2]}.{python[3:]}" if python == abi else "3.12"
    options = ["--python-version", version, "--implementation", "cp", "--abi", abi]
    for platform in platforms.split("."):
        options += ["--platform", platform]
    return options


def get_wheel(row, cache):
    folder = os.path.join(cache, "wheels")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, row["wheel"])
    checked = path + ".sha256"
    if not os.path.exists(path):
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            pip("download", "--quiet", "--no-cache-dir", "--no-deps", "--only-binary=:all:",
                *tags_of(row["wheel"]), "--dest", scratch, row["package"])
            names = os.listdir(scratch)
            if names != [row["wheel"]]:
                raise Failure(f"pip downloaded {', '.join(names)} instead of {row['wheel']}")
            os.replace(os.path.join(scratch, row["wheel"]), path)
        if os.path.exists(checked):
            os.remove(checked)
    if not os.path.exists(checked):
        found = sha256_of(path)
        if found != row["wheel_sha256"]:
            raise Failure(f"{row['wheel']}: sha256 is {found}, the corpus says {row['wheel_sha256']}")
        write_text(checked, found + "\n")
    elif read_text(checked).strip() != row["wheel_sha256"]:
        raise Failure(f"{row['wheel']}: checked with another sha256 than the corpus has")
    return path


def get_member(row, cache):
    """Path and sha256 of the extracted member."""
    path = os.path.join(cache, "members", row["wheel"][:-len(".whl")], row["member"])
    stamp = path + ".sha256"
    if os.path.exists(path) and os.path.exists(stamp):
        return path, read_text(stamp).strip()
    wheel = get_wheel(row, cache)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(row["member"]) as source, \
                open(path + ".part", "wb") as target:
            shutil.copyfileobj(source, target, 1 << 22)
    except KeyError:
        raise Failure(f"{row['wheel']} has no {row['member']}") from None
    os.replace(path + ".part", path)
    digest = sha256_of(path)
    write_text(stamp, digest + "\n")
    return path, digest


# ---- running programs

def measured(command):
    """Exit code, both outputs, wall seconds and peak memory in MB of one program."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - started > COMMAND_SECONDS:
                process.kill()
                os.wait4(process.pid, 0)
                process.returncode = -9
                raise Failure(f"{os.path.basename(command[0])} ran longer than {COMMAND_SECONDS} s")
            time.sleep(0.005)
        seconds = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return {"code": process.returncode,
                "out": out.read().decode("utf-8", "replace"),
                "err": err.read().decode("utf-8", "replace"),
                "seconds": round(seconds, 2),
                "peak_mb": round(usage.ru_maxrss / 1024)}


def cuobjdump_version(path):
    text = measured([path, "--version"])["out"]
    found = re.search(r"V(\d+(?:\.\d+)+)", text)
    if not found:
        raise Failure(f"{path} --version says no version")
    return found.group(1)


def get_cuobjdump(cache):
    folder = os.path.join(cache, "tools", CUOBJDUMP_PACKAGE + "-" + CUOBJDUMP_VERSION)
    if not os.path.isdir(folder):
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        scratch = tempfile.mkdtemp(dir=os.path.dirname(folder))
        pip("install", "--quiet", "--no-cache-dir", "--no-deps", "--only-binary=:all:", "--target", scratch,
            f"{CUOBJDUMP_PACKAGE}=={CUOBJDUMP_VERSION}")
        os.replace(scratch, folder)
    for base, _, names in os.walk(folder):
        if "cuobjdump" in names:
            path = os.path.join(base, "cuobjdump")
            os.chmod(path, 0o755)
            return path
    raise Failure(f"{CUOBJDUMP_PACKAGE} {CUOBJDUMP_VERSION} has no cuobjdump")


def get_old_cuobjdump(cache):
    path, _ = get_member(OLD_WHEEL, cache)
    os.chmod(path, 0o755)
    return path


# ---- what each program lists

def parse_list(text):
    counts = collections.Counter()
    for line in text.splitlines():
        found = LISTED.match(line)
        if found:
            kind, prefix = KINDS[found.group(1).lower()]
            counts[kind, prefix + found.group(2).split("_")[1]] += 1
        elif re.match(r"^\w+ file +\d+:", line):
            raise Failure(f"cuobjdump lists something that this script does not know: {line[:120]}")
    return counts


def parse_headers(text):
    counts = collections.Counter()
    kind = None
    for line in text.splitlines():
        header = HEADER.match(line)
        if header:
            kind = header.group(1)
            continue
        arch = ARCH.match(line)
        if arch and kind:
            name, prefix = KINDS.get(kind, (kind, "sm_"))
            counts[name, prefix + arch.group(1)] += 1
            kind = None
    return counts


def without_f(counts):
    folded = collections.Counter()
    for (kind, arch), number in counts.items():
        folded[kind, arch[:-1] if arch.endswith("f") else arch] += number
    return folded


def ask_cuobjdump(tool, version, path, digest, cache):
    """The three outputs of one cuobjdump for one file, from the cache if they are there."""
    base = os.path.join(cache, "cuobjdump", version, digest)
    if os.path.exists(base + ".json"):
        answer = json.loads(read_text(base + ".json"))
        for name in ("lelf", "lptx", "headers"):
            answer[name]["out"] = read_text(f"{base}.{name}.txt")
        return answer
    answer = {"tool": version}
    for name, option in (("lelf", ["-lelf"]), ("lptx", ["-lptx"]), ("headers", [])):
        run = measured([tool, "-all", *option, path])
        # Some versions write messages to standard output, some to standard error.
        run["messages"] = sorted({
            line.replace(path, os.path.basename(path)).strip()
            for line in (run["out"] + "\n" + run.pop("err")).splitlines()
            if line.startswith("cuobjdump ")})
        write_text(f"{base}.{name}.txt", run["out"])
        answer[name] = run
    write_text(base + ".json", json.dumps(
        {key: ({k: v for k, v in value.items() if k != "out"} if isinstance(value, dict) else value)
         for key, value in answer.items()}, indent=1) + "\n")
    return answer


def problems_of(answer):
    found = []
    for name in ("lelf", "lptx", "headers"):
        run = answer[name]
        fatal = [m for m in run["messages"] if not m.startswith("cuobjdump info")]
        none = any("does not contain device code" in m for m in run["messages"])
        if fatal:
            found += fatal
        elif run["code"] != 0 and not none:
            found.append(f"cuobjdump exit {run['code']}")
    return sorted(set(found))


def cuobjdump_half(tools, path, digest, cache):
    """What cuobjdump lists: a record for the result, the counts, and whether 'f' is in them."""
    answer = ask_cuobjdump(tools["new"], tools["new_version"], path, digest, cache)
    record = {}
    problems = problems_of(answer)
    if problems:
        record["newest_failed"] = problems
        if "old" not in tools:
            tools["old"] = get_old_cuobjdump(cache)
            tools["old_version"] = cuobjdump_version(tools["old"])
        answer = ask_cuobjdump(tools["old"], tools["old_version"], path, digest, cache)
        problems = problems_of(answer)
    lists = parse_list(answer["lelf"]["out"]) + parse_list(answer["lptx"]["out"])
    headers = parse_headers(answer["headers"]["out"])
    exact = without_f(headers) == without_f(lists)
    counts = headers if exact else lists
    record.update({
        "version": answer["tool"],
        "from": "headers" if exact else "lists",
        "images": sum(counts.values()),
        "counts": nested(counts),
        "seconds": {name: answer[name]["seconds"] for name in ("lelf", "lptx", "headers")},
        "peak_mb": max(answer[name]["peak_mb"] for name in ("lelf", "lptx", "headers")),
    })
    notes = sorted({m for name in ("lelf", "lptx", "headers") for m in answer[name]["messages"]
                    if "No PTX file found" not in m and "No ELF file found" not in m})
    if notes:
        record["messages"] = notes
    if not exact and headers:
        record["headers_differ"] = nested(headers)
    if problems:
        raise Failure("; ".join(problems)[:300])
    return record, counts, exact


def cuproof_half(tool, path):
    run = measured([tool, "inspect", "--format", "json", path])
    if run["code"] not in (0, 1):
        said = (run["err"].strip() or run["out"].strip()).splitlines()
        raise Failure(f"cuproof exit {run['code']}: {said[0][:200] if said else 'no message'}")
    try:
        files = json.loads(run["out"])["files"]
        counts = collections.Counter((image["kind"], image["arch"])
                                     for file in files for image in file["images"])
    except (ValueError, KeyError, TypeError) as error:
        raise Failure(f"cuproof printed other JSON than expected: {error!r}"[:300]) from None
    return {"images": sum(counts.values()), "counts": nested(counts),
            "seconds": run["seconds"], "peak_mb": run["peak_mb"]}, counts


def nested(counts):
    result = {}
    for (kind, arch), number in sorted(counts.items(), key=lambda item: sort_key(item[0])):
        result.setdefault(kind, {})[arch] = number
    return result


def sort_key(pair):
    kind, arch = pair
    digits = re.search(r"\d+", str(arch))
    return kind, int(digits.group()) if digits else 0, str(arch)


def in_words(counts):
    return ", ".join(f"{number} {kind} {arch}"
                     for (kind, arch), number in sorted(counts.items(), key=lambda item: sort_key(item[0])))


# ---- the run

def compare_row(row, options, tools):
    result = {key: row[key] for key in ("project", "package", "wheel", "member", "cuda")}
    path, digest = get_member(row, options.cache)
    result["size"] = os.path.getsize(path)
    result["sha256"] = digest
    if options.drop_wheels:
        wheel = os.path.join(options.cache, "wheels", row["wheel"])
        if row["wheel"] not in options.still_needed:
            for path_to_drop in (wheel, wheel + ".sha256"):
                if os.path.exists(path_to_drop):
                    os.remove(path_to_drop)
    theirs_record, theirs, exact = cuobjdump_half(tools, path, digest, options.cache)
    result["cuobjdump"] = theirs_record
    if options.cuobjdump_only:
        result["status"] = "reference only"
        return result
    ours_record, ours = cuproof_half(options.cuproof, path)
    result["cuproof"] = ours_record
    if not exact:
        theirs, ours = without_f(theirs), without_f(ours)
    missing, extra = theirs - ours, ours - theirs
    result["missing"] = nested(missing)
    result["extra"] = nested(extra)
    result["missing_images"] = sum(missing.values())
    result["extra_images"] = sum(extra.values())
    result["status"] = "missing" if missing else "extra" if extra else "same"
    if missing:
        result["text"] = "missing " + in_words(missing) + (
            "; extra " + in_words(extra) if extra else "")
    return result


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuproof", metavar="PATH", help="the program under test")
    parser.add_argument("--cache", metavar="DIR", required=True, help="where downloads are kept")
    parser.add_argument("--out", metavar="JSON", required=True, help="the result")
    parser.add_argument("--only", metavar="PATTERN", help="rows whose project, package, wheel or member match")
    parser.add_argument("--cuobjdump", metavar="PATH",
                        help=f"instead of {CUOBJDUMP_PACKAGE} {CUOBJDUMP_VERSION}")
    parser.add_argument("--cuobjdump-only", action="store_true", help="write the cuobjdump half only")
    parser.add_argument("--drop-wheels", action="store_true", help="delete a wheel once its members are extracted")
    parser.add_argument("--corpus", metavar="TSV",
                        default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus.tsv"))
    options = parser.parse_args()
    if not options.cuproof and not options.cuobjdump_only:
        parser.error("--cuproof PATH or --cuobjdump-only is needed")
    return options


def selected(rows, pattern):
    if not pattern:
        return rows
    keys = ("project", "package", "wheel", "member")
    return [row for row in rows
            if any(fnmatch.fnmatch(row[key], pattern) or pattern in row[key] for key in keys)]


def main():
    options = parse_arguments()
    rows = selected(read_corpus(options.corpus), options.only)
    if not rows:
        sys.exit(f"no row of {options.corpus} matches {options.only}")
    try:
        new = options.cuobjdump or get_cuobjdump(options.cache)
        tools = {"new": new, "new_version": cuobjdump_version(new)}
    except (Failure, OSError) as problem:
        print(f"cuobjdump: {problem}", file=sys.stderr)
        return 2
    head = {"date": datetime.date.today().isoformat(),
            "cuproof": None, "cuobjdump": tools["new_version"]}
    if options.cuproof and not options.cuobjdump_only:
        try:
            head["cuproof"] = measured([options.cuproof, "--version"])["out"].strip().split("\n")[0]
        except OSError as problem:
            print(f"cuproof: {problem}", file=sys.stderr)
            return 2

    progress = sys.stderr.isatty()
    files, failures = [], 0
    for index, row in enumerate(rows):
        options.still_needed = {later["wheel"] for later in rows[index + 1:]}
        if progress:
            text = f"[{index + 1}/{len(rows)}] {row['package']} {row['member'].rsplit('/', 1)[-1]}"
            print("\r\033[K" + text[:shutil.get_terminal_size().columns - 1], end="", file=sys.stderr, flush=True)
        try:
            result = compare_row(row, options, tools)
        except (Failure, OSError, zipfile.BadZipFile) as problem:
            result = {**{key: row[key] for key in ("project", "package", "wheel", "member", "cuda")},
                      "status": "not compared", "text": str(problem)}
        if "text" in result:
            failures += 1
            print(("\r\033[K" if progress else "") + f"{row['package']} {row['member']}: {result['text']}",
                  file=sys.stderr)
        files.append(result)
    if progress:
        print("\r\033[K", end="", file=sys.stderr)

    states = collections.Counter(file["status"] for file in files)
    totals = {
        "files": len(files),
        "projects": len({file["project"] for file in files}),
        "images_by_cuobjdump": sum(file.get("cuobjdump", {}).get("images", 0) for file in files),
        "images_by_cuproof": sum(file.get("cuproof", {}).get("images", 0) for file in files),
        "missing": sum(file.get("missing_images", 0) for file in files),
        "extra": sum(file.get("extra_images", 0) for file in files),
        **{"files_" + state.replace(" ", "_"): number for state, number in sorted(states.items())},
    }
    if "old_version" in tools:
        head["cuobjdump_for_old_images"] = tools["old_version"]
    write_text(os.path.abspath(options.out),
               json.dumps({**head, "totals": totals, "files": files}, indent=1) + "\n")
    line = (f"{totals['files']} files of {totals['projects']} projects, "
            f"{totals['images_by_cuobjdump']} images listed by cuobjdump")
    if not options.cuobjdump_only:
        line += (f", {totals['images_by_cuproof']} by cuproof: "
                 f"{totals['missing']} missing, {totals['extra']} extra")
    print(line + f", {states['not compared']} not compared")
    return 2 if states["not compared"] else 1 if states["missing"] else 0


if __name__ == "__main__":
    sys.exit(main())
