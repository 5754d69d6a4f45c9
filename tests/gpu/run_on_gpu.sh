#!/usr/bin/env bash
# Record what the CUDA driver of this machine does with each image of
# tests/fixtures/gpu_images.zip. Needs one GPU, its driver, a C compiler and
# python3; no CUDA toolkit.
#
# Usage: run_on_gpu.sh OUTDIR
#
# Writes OUTDIR/<gpu>.json (h200.json on an H200), one row per image, and the
# oracle's own lines in OUTDIR/raw/. The first pass takes every image with the
# driver as it is. Three more take the fatbins alone: with eager loading, with
# PTX forced, and with the JIT switched off. The disk cache of JIT results is off
# in all of them.
set -euo pipefail

if [ $# -ne 1 ]; then
    echo "usage: $0 OUTDIR" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
images_zip="$here/../fixtures/gpu_images.zip"
mkdir -p "$1/raw"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m zipfile -e "$images_zip" "$work/images"
mv "$work/images/manifest.json" "$work/manifest.json"
"${CC:-cc}" -std=c11 -O1 -Wall -Wextra -o "$work/oracle" "$here/oracle.c" -ldl

export CUDA_CACHE_DISABLE=1
jobs=${JOBS:-8}
start=$(date +%s)
pass() { # NAME VARIABLE=VALUE [FILE...]
    local name=$1 setting=$2
    shift 2
    env "$setting" "$work/oracle" -j "$jobs" -t 15 "$work/images" "$@" >"$out/raw/$name.jsonl"
    echo "$name: $(($(wc -l <"$out/raw/$name.jsonl") - 1)) images," \
         "$(($(date +%s) - start)) s since start" >&2
}
mapfile -t fatbins < <(cd "$work/images" && printf '%s\n' fatbin/*)
pass default CUDA_CACHE_DISABLE=1
pass eager CUDA_MODULE_LOADING=EAGER "${fatbins[@]}"
pass force_ptx CUDA_FORCE_PTX_JIT=1 "${fatbins[@]}"
pass no_jit CUDA_DISABLE_PTX_JIT=1 "${fatbins[@]}"

python3 - "$images_zip" "$work/manifest.json" "$out" "$(($(date +%s) - start))" <<'PY'
"""Join the passes with the manifest into one file, one line per image."""
import datetime, hashlib, json, re, subprocess, sys
from pathlib import Path

images_zip, manifest, out, seconds = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
STEPS = ("load", "kernel", "function", "launch", "sync")


def outcome(tried, values):
    """What happened, in one word, with the step and the error if it failed."""
    for step in STEPS:
        if tried.get(step):
            return {"outcome": "error", "step": step, "error": tried[step]}
    if "died_in" in tried:
        how = "hang" if "timed_out_s" in tried else "crash"
        return {"outcome": how, "step": tried["died_in"]}
    took = values.get(str(tried.get("value")))
    if not took:
        return {"outcome": "other-value", "value": tried.get("value")}
    kind = "sass" if took["code"] == "SASS" else "jit"
    return {"outcome": kind, "value": tried["value"], "took": took["target"]}


def driver_version():
    try:
        text = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                              capture_output=True, text=True, check=True).stdout
        return text.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        text = Path("/proc/driver/nvidia/version").read_text()
        return re.search(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)", text).group(1)


passes, device = {}, None
for name in ("default", "eager", "force_ptx", "no_jit"):
    lines = (out / "raw" / f"{name}.jsonl").read_text().splitlines()
    device = json.loads(lines[0])
    passes[name] = {row["file"]: row for row in map(json.loads, lines[1:])}

broken = [f"{name}: {file}" for name, rows in passes.items() for file, row in rows.items()
          if row["init"] or row["context"]]
if broken:
    sys.exit("no context could be made for: " + ", ".join(broken))

rows, tally = [], {}
for image in json.loads(Path(manifest).read_text())["images"]:
    name, values = image["file"], image["values"]
    first = passes["default"][name]
    row = {"file": name, "sha256": image["sha256"], **outcome(first["module"], values),
           "module": first["module"]}
    for other, tried in [("library", first["library"]),
                         *((p, passes[p][name]["module"]) for p in ("eager", "force_ptx", "no_jit")
                           if name in passes[p])]:
        result = outcome(tried, values)
        if result != {k: row[k] for k in ("outcome", "step", "error", "value", "took") if k in row}:
            row[other] = {**result, "driver_log": tried.get("driver_log", "")}
    rows.append(row)
    tally[row["outcome"]] = tally.get(row["outcome"], 0) + 1

head = {
    "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
    "driver": driver_version(), **device, "seconds": seconds, "tally": tally,
    "zip_sha256": hashlib.sha256(images_zip.read_bytes()).hexdigest(),
}
label = re.sub(r"^nvidia-", "", device["gpu"].lower().replace(" ", "-"))
path = out / f"{label}.json"
text = json.dumps(head)[:-1] + ', "images": [\n' + ",\n".join(json.dumps(r) for r in rows) + "\n]}\n"
json.loads(text)
path.write_text(text)
print(json.dumps(head))
print(path)
PY
