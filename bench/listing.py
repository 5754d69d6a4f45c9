#!/usr/bin/env python3
"""Listing the images of large libraries: cuproof beside cuobjdump, in one run on one machine.

    bench/listing.py --cuproof build/release/cuproof --touch build/release/bench/touch_pages \
        --cuobjdump CUOBJDUMP --torch-env VENV [--rounds 7] --out bench/results/listing.json

What is timed, each as a whole process with its output thrown away, warm page cache, the two
alternated A B B A:
  cuproof inspect FILE            against   cuobjdump -lelf FILE  plus  cuobjdump -lptx FILE
  cuproof check VENV              against   reading one byte of every page of its ELF files (the floor)
The libraries come out of VENV: libtorch_cuda.so and libcublasLt.so. cuobjdump comes from the PyPI
package nvidia-cuda-cuobjdump. Anonymous memory of cuproof is sampled from /proc every half millisecond
while it runs (RssAnon; pages of the file itself are apart).
"""

import argparse
import datetime
import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def timed(command):
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1):
        sys.exit(f"{command[0]}: exit {done.returncode}: {done.stderr.decode()[:300]}")
    return seconds


def peak_anonymous(command):
    """The highest RssAnon in bytes that a run of command reached, by sampling."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    status = f"/proc/{process.pid}/status"
    while process.poll() is None:
        try:
            for line in open(status):
                if line.startswith("RssAnon:"):
                    peak = max(peak, int(line.split()[1]) * 1024)
        except OSError:
            break
        time.sleep(0.0005)
    process.wait()
    return peak


def spread(values):
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def compare(name, file, args):
    """Both tools over one file, alternated."""
    ours, peer = [], []

    def run_ours():
        ours.append(timed([args.cuproof, "inspect", str(file)]))

    def run_peer():
        peer.append(timed([args.cuobjdump, "-lelf", str(file)]) +
                    timed([args.cuobjdump, "-lptx", str(file)]))

    run_ours(), run_peer()
    ours.clear(), peer.clear()
    for i in range(args.rounds):
        for step in (run_ours, run_peer) if i % 2 == 0 else (run_peer, run_ours):
            step()
    touch = [json.loads(subprocess.run([args.touch, str(file)], capture_output=True).stdout)["seconds"]
             for _ in range(args.rounds)]
    anonymous = max(peak_anonymous([args.cuproof, "inspect", str(file)]) for _ in range(5))
    row = {
        "file": name, "bytes": file.stat().st_size,
        "cuproof_s": spread(ours), "cuobjdump_s": spread(peer), "touch_pages_s": spread(touch),
        "times_faster": statistics.median(peer) / statistics.median(ours),
        "times_touch_pages": statistics.median(ours) / statistics.median(touch),
        "cuproof_gb_per_s": file.stat().st_size / statistics.median(ours) / 1e9,
        "cuproof_anonymous_bytes": anonymous,
    }
    print(f"{name:<22} {row['bytes'] / 1e6:6.0f} MB  cuproof {row['cuproof_s']['median']:.3f} s  "
          f"cuobjdump {row['cuobjdump_s']['median']:.2f} s  {row['times_faster']:.0f}x  "
          f"every page {row['touch_pages_s']['median']:.3f} s  anonymous {anonymous / 1e6:.1f} MB",
          flush=True)
    return row


def environment(args):
    env = Path(args.torch_env)
    files, total = [], 0
    for folder, _, names in os.walk(env):
        for name in names:
            path = Path(folder) / name
            if path.is_symlink() or not path.is_file():
                continue
            total += path.stat().st_size
            with open(path, "rb") as f:
                if f.read(4) == b"\x7fELF":
                    files.append(str(path))
    command = [args.cuproof, "check", str(env)]
    timed(command)
    ours = [timed(command) for _ in range(args.rounds)]
    touch = []
    for _ in range(args.rounds):
        out = [None, None]

        def half(i):
            done = subprocess.run([args.touch, *sorted(files, key=os.path.getsize)[i::2]],
                                  capture_output=True)
            out[i] = json.loads(done.stdout)["seconds"]

        threads = [threading.Thread(target=half, args=(i,)) for i in (0, 1)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        touch.append(max(out))
    row = {"bytes": total, "elf_files": len(files), "cuproof_check_s": spread(ours),
           "touch_elf_pages_two_processes_s": spread(touch),
           "times_touch_pages": statistics.median(ours) / statistics.median(touch)}
    print(f"environment            {total / 1e9:6.2f} GB  cuproof check "
          f"{row['cuproof_check_s']['median']:.2f} s  every page of its ELF files, two processes "
          f"{row['touch_elf_pages_two_processes_s']['median']:.2f} s")
    return row


def source_hash():
    """A hash of what was measured: src/ and data/."""
    digest = hashlib.sha256()
    for path in sorted([*ROOT.glob("src/**/*"), *ROOT.glob("data/*.tsv")]):
        if path.is_file() and not path.name.endswith("_test.cc"):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--cuproof", "--touch", "--cuobjdump", "--torch-env", "--out"):
        parser.add_argument(name, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    found = {}
    for path in Path(args.torch_env).rglob("lib*.so*"):
        if path.name == "libtorch_cuda.so" or path.name.startswith("libcublasLt.so"):
            found[path.name] = path
    version = subprocess.run([args.cuobjdump, "--version"], capture_output=True, text=True).stdout
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": {"cpu": next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                                 if line.startswith("model name")), "unknown"),
                    "processors": len(os.sched_getaffinity(0)), "kernel": platform.release()},
        "cuproof": subprocess.run([args.cuproof, "--version"], capture_output=True, text=True)
        .stdout.strip(),
        "cuobjdump": next((line for line in version.splitlines() if "release" in line), "unknown"),
        "source_sha256": source_hash(),
        "rounds": args.rounds,
        "listing": [compare(name, path, args) for name, path in sorted(found.items())],
        "environment": environment(args),
    }
    Path(args.out).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
