#!/usr/bin/env python3
"""Resources of kernels in large libraries: cuproof beside cuobjdump, in one run on one machine.

    bench/resources.py --cuproof build/release/cuproof --cuobjdump CUOBJDUMP [--rounds 5] \
        --gpu sm_90 --out bench/results/resources.json FILE...

What is timed, each as a whole process with its output thrown away, warm page cache, alternated:
  cuproof resources FILE            against   cuobjdump -res-usage FILE
  cuproof resources FILE --gpu GPU  against   cuobjdump -res-usage -arch GPU FILE, and the whole of it
Peak memory is the kernel's maximum resident set of the process, mapped pages of the file among it.
cuobjdump comes from the PyPI package nvidia-cuda-cuobjdump. It prints registers, stack, shared memory
and constants; cuproof's answer has spills, barriers, bounds and occupancy besides.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

from listing import source_hash, spread


def timed(command):
    """Seconds on the clock and of processors, and the peak of resident memory in bytes, of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit {process.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def measure(commands, rounds):
    """Of each command all times and the highest peak; forth and back, so that none is always first."""
    times = {name: [] for name in commands}
    busy = {name: [] for name in commands}
    peaks = {name: 0 for name in commands}
    for command in commands.values():
        timed(command)
    for i in range(rounds):
        for name in list(commands) if i % 2 == 0 else reversed(list(commands)):
            seconds, processor, peak = timed(commands[name])
            times[name].append(seconds)
            busy[name].append(processor)
            peaks[name] = max(peaks[name], peak)
    return {name: {"seconds": spread(times[name]), "processor_seconds": spread(busy[name]),
                   "peak_bytes": peaks[name]} for name in commands}


def kernels(cuproof, file):
    # Line by line: a child's peak begins with what its parent has.
    with subprocess.Popen([cuproof, "resources", file, "--format", "csv"], stdout=subprocess.PIPE) as process:
        return sum(1 for _ in process.stdout) - 1


def compare(file, args):
    rows = measure({
        "cuproof": [args.cuproof, "resources", file],
        "cuobjdump": [args.cuobjdump, "-res-usage", file],
        "cuproof_one_gpu": [args.cuproof, "resources", file, "--gpu", args.gpu],
        "cuobjdump_one_gpu": [args.cuobjdump, "-res-usage", "-arch", args.gpu, file],
    }, args.rounds)
    median = {name: row["seconds"]["median"] for name, row in rows.items()}
    row = {"file": Path(file).name, "bytes": Path(file).stat().st_size,
           "kernels": kernels(args.cuproof, file), **rows,
           "times_faster": median["cuobjdump"] / median["cuproof"],
           "times_faster_one_gpu": median["cuobjdump"] / median["cuproof_one_gpu"],
           "times_faster_both_one_gpu": median["cuobjdump_one_gpu"] / median["cuproof_one_gpu"],
           "share_of_memory": rows["cuproof"]["peak_bytes"] / rows["cuobjdump"]["peak_bytes"]}
    print(f"{row['file']:<20} {row['kernels']:>7} kernels  cuproof {median['cuproof']:.2f} s "
          f"{rows['cuproof']['peak_bytes'] / 1e6:.0f} MB  cuobjdump {median['cuobjdump']:.2f} s "
          f"{rows['cuobjdump']['peak_bytes'] / 1e6:.0f} MB  {row['times_faster']:.1f}x; {args.gpu} "
          f"{median['cuproof_one_gpu']:.2f} s, {median['cuobjdump_one_gpu']:.2f} s", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--cuproof", "--cuobjdump", "--out"):
        parser.add_argument(name, required=True)
    parser.add_argument("--gpu", default="sm_90")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("files", nargs="+", metavar="FILE")
    args = parser.parse_args()
    version = subprocess.run([args.cuobjdump, "--version"], capture_output=True, text=True).stdout
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": {"cpu": next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                                 if line.startswith("model name")), "unknown"),
                    "processors": len(os.sched_getaffinity(0)), "kernel": platform.release(),
                    "load_before": os.getloadavg()[0]},
        "cuproof": subprocess.run([args.cuproof, "--version"], capture_output=True, text=True)
        .stdout.strip(),
        "cuobjdump": next((line for line in version.splitlines() if "release" in line), "unknown"),
        "source_sha256": source_hash(),
        "gpu": args.gpu,
        "rounds": args.rounds,
        "resources": [compare(file, args) for file in args.files],
    }
    Path(args.out).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
