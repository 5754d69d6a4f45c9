#!/usr/bin/env python3
"""What a launch costs more under `cuproof run`: against a driver that returns at once, so nothing hides it.

usage: recorder_cost.py CUPROOF [--out FILE] [--launches N]

Programs that launch through the driver plainly, through the recorder (flight), through the recorder with
nothing recorded (idle), and with the clock read on return too (timed) take turns of 250,000 launches until
each has made N (10,000,000). Shown are the median and the 99th percentile of single launches, the mean of
launches in a row, all as the difference to the plain program's, and what one reading of the clock takes.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = 250_000
KEYS = ("median_ns", "p99_ns", "mean_ns", "clock_pair_ns")


class Server:
    def __init__(self, command, environment):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=environment)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit(f"recorder_cost.py: {command[0]} did not start")

    def block(self):
        self.process.stdin.write(f"{BLOCK}\n")
        self.process.stdin.flush()
        return dict(zip(KEYS, map(float, self.process.stdout.readline().split())))

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def processor():
    with open("/proc/cpuinfo") as file:
        return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")),
                    platform.machine())


def measure(cuproof, launches, work):
    driver = work / "driver"
    driver.mkdir()
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o",
                    driver / "libcuda.so.1", ROOT / "tests/driver_model/instant_driver.c"], check=True)
    program = work / "recorder_cost"
    subprocess.run(["cc", "-O2", "-o", program, ROOT / "bench/recorder_cost.c", "-ldl"], check=True)
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    environment["LD_LIBRARY_PATH"] = str(driver)
    commands = {"plain": [program]}
    for mode in ("idle", "flight", "timed"):
        commands[mode] = [cuproof, "run", "--quiet", "--mode", mode, "-o", work / mode, "--", program]
    servers = {name: Server(command, environment) for name, command in commands.items()}
    rows = {name: [] for name in servers}
    turns = -(-launches // BLOCK)
    order = list(servers)
    for server in servers.values():
        server.block()
    for turn in range(turns):
        if sys.stderr.isatty():
            print(f"\rround {turn + 1} of {turns} ", end="", file=sys.stderr, flush=True)
        for name in order if turn % 2 == 0 else reversed(order):
            rows[name].append(servers[name].block())
    for server in servers.values():
        server.close()
    result = {"date": datetime.date.today().isoformat(), "processor": processor(),
              "launches": turns * BLOCK, "clock_pair_ns": statistics.median(
                  row["clock_pair_ns"] for row in rows["plain"])}
    for name in order:
        result[name] = {key: statistics.median(row[key] for row in rows[name]) for key in KEYS[:3]}
        if name != "plain":
            # Pairs of the same turn, so that a slow moment counts on both sides.
            result[name]["added"] = {
                key: statistics.median(b[key] - a[key] for a, b in zip(rows["plain"], rows[name]))
                for key in KEYS[:3]}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cuproof", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--json", action="store_true", help="the result as JSON on standard output")
    parser.add_argument("--launches", type=int, default=10_000_000)
    arguments = parser.parse_args()
    # Beside the result, not in /tmp: programs may be forbidden there.
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR") or os.getcwd()) as work:
        result = measure(arguments.cuproof.resolve(), arguments.launches, pathlib.Path(work).resolve())
    if arguments.json:
        print(json.dumps(result))
        return
    print(f"{result['processor']}, {result['launches']:,} launches each, ns; "
          f"two clock readings alone: {result['clock_pair_ns']:.1f}")
    print(f"{'':8}{'median':>9}{'p99':>9}{'in a row':>10}{'added: median':>16}{'p99':>9}{'in a row':>10}")
    for name in ("plain", "idle", "flight", "timed"):
        row = result[name]
        added = row.get("added")
        print(f"{name:8}{row['median_ns']:9.1f}{row['p99_ns']:9.1f}{row['mean_ns']:10.1f}" + (
            f"{added['median_ns']:16.1f}{added['p99_ns']:9.1f}{added['mean_ns']:10.1f}" if added else ""))
    if arguments.out:
        arguments.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
