#!/usr/bin/env python3
"""What `cuproof run` sees and costs on a real GPU, against CUPTI.

usage: run_on_gpu.py CUPROOF OUT [--only counts,errors,cost]

CUPROOF: the command. Needs one GPU with its driver, nvcc, cc, CUPTI's header and library (the
nvidia-cuda-cupti package will do), torch, Triton, JAX, CuPy and cuda-bindings; what is missing is noted.

counts  each workload runs alone, under the recorder (its output must not change by a byte), and under
        the recorder with a CUPTI client in the same process: both count the launches of each process.
errors  a small program for each error; `cuproof report` must name the call, the kernel and the number.
cost    processes that stay alive take turns: plain, recorder, CUPTI callbacks, CUPTI activity.

Writes OUT/recorder_<gpu>.json. Exit code 0: all as it must be.
"""

import argparse
import concurrent.futures
import datetime
import hashlib
import json
import math
import os
import pathlib
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/recorder"))
from ring_file import events, rings  # noqa: E402

OPS = {1: "kernel", 2: "kernel_ex", 3: "cooperative", 4: "multi_device", 5: "legacy", 6: "host_func",
       7: "graph"}
# In the order of cupti_side.c.
CUPTI = ("kernel", "kernel_ex", "cooperative", "multi_device", "legacy", "host_func", "graph")
MEASURED = ("inject", "src/trace/record.h", "src/launch", "src/elfwrite", "tests/gpu/recorder",
            "tests/recorder/ring_file.py")


def say(text):
    print(f"[{time.monotonic() - START:4.0f} s] {text}", file=sys.stderr, flush=True)


def run(*command, **named):
    return subprocess.run([str(word) for word in command], capture_output=True, **named)


def sources_hash():
    digest = hashlib.sha256()
    for place in MEASURED:
        path = ROOT / place
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and file.suffix in (".h", ".cc", ".c", ".cu", ".py"):
                digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def find_cupti():
    """(folder of cupti.h, libcupti.so.N): of a Python package, else of a toolkit."""
    import importlib.util

    spec = importlib.util.find_spec("nvidia")
    places = [pathlib.Path(place) for place in (spec.submodule_search_locations if spec else [])]
    places += [pathlib.Path("/usr/local/cuda/extras"), pathlib.Path("/usr/local/cuda")]
    for place in places:
        for header in sorted(place.rglob("cupti.h")):
            for library in sorted(header.parent.parent.rglob("libcupti.so.1*")):
                if re.fullmatch(r"libcupti\.so\.\d+", library.name):
                    return header.parent, library
    return None


class Bench:
    def __init__(self, cuproof, work):
        self.cuproof, self.work = cuproof, work
        self.side = work / "cupti_side.so"
        self.programs = {}

    def build(self):
        found = find_cupti()
        if not found:
            sys.exit("run_on_gpu.py: no cupti.h: install nvidia-cuda-cupti")
        header, library = found
        cuda = pathlib.Path(run("which", "nvcc").stdout.decode().strip()).resolve().parent.parent
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", f"-I{header}", f"-I{cuda}/include",
                        HERE / "cupti_side.c", "-o", self.side, library,
                        f"-Wl,-rpath,{library.parent}"], check=True)
        for kind in ("static", "shared"):
            path = self.work / f"launches_{kind}"
            subprocess.run(["nvcc", "-O2", "-arch=sm_90", "-cudart", kind, "-o", path,
                            HERE / "launches.cu"], check=True)
            self.programs[kind] = path

    def environment(self, side=None, folder=None):
        environment = dict(os.environ)
        environment.pop("LD_PRELOAD", None)
        if side:
            environment["CUDA_INJECTION64_PATH"] = str(self.side)
            environment["CUPTI_SIDE"] = side
            environment["CUPTI_SIDE_FOLDER"] = str(folder)
        return environment

    def recorder(self, folder, command, *options):
        return [self.cuproof, "run", "--quiet", *options, "-o", folder, "--", *command]


# ---- counts

def recorded(folder):
    """Launches of each process."""
    processes = {}
    for ring in rings(folder):
        counts = processes.setdefault(ring.pid, {})
        for op, name in OPS.items():
            if op in ring.counts:
                counts[name] = counts.get(name, 0) + ring.counts[op]
    return {pid: counts for pid, counts in processes.items() if counts}


def counted_by_cupti(folder):
    processes = {}
    for path in folder.glob("*.cupti"):
        values = struct.unpack_from(f"<{len(CUPTI)}Q", path.read_bytes(), 0)
        counts = {name: value for name, value in zip(CUPTI, values) if value}
        if counts:
            processes[int(path.stem)] = counts
    return processes


def total(processes):
    sums = {}
    for counts in processes.values():
        for name, count in counts.items():
            sums[name] = sums.get(name, 0) + count
    return sums


NODE_WORDS = {"memcpy": "memcpy", "memset": "memset", "kernel": "kernel", "host": "host", "graph": "child",
              "empty": "empty", "alloc": "mem_alloc", "free": "mem_free"}


def count_workload(bench, name, command):
    row = {"name": name}
    started = time.monotonic()
    plain = run(*command, env=bench.environment())
    row["plain_seconds"] = round(time.monotonic() - started, 2)
    if plain.returncode != 0:
        return row | {"skipped": (plain.stderr.decode(errors="replace").strip().splitlines() or [""])[-1][:200]}
    again = run(*command, env=bench.environment())
    folder = bench.work / f"{name}_recorder"
    started = time.monotonic()
    alone = run(*bench.recorder(folder, command), env=bench.environment())
    row["recorder_seconds"] = round(time.monotonic() - started, 2)
    row["exit_code"] = alone.returncode
    if alone.returncode != 0:
        row["said"] = alone.stderr.decode(errors="replace")[-400:]
    row["output_same"] = alone.stdout == plain.stdout
    # Standard error may hold what differs from run to run by itself.
    row["errors_same"] = alone.stderr == plain.stderr or again.stderr != plain.stderr
    folder = bench.work / f"{name}_both"
    sides = bench.work / f"{name}_cupti"
    sides.mkdir()
    environment = bench.environment("count", sides)
    nodes = bench.work / f"{name}_nodes.json"
    environment["WORKLOAD_NODES"] = str(nodes)
    both = run(*bench.recorder(folder, command), env=environment)
    ours, theirs = recorded(folder), counted_by_cupti(sides)
    row["output_same_beside_cupti"] = both.stdout == plain.stdout
    row["processes"] = len(theirs)
    row["recorder"], row["cupti"] = total(ours), total(theirs)
    row["equal"] = ours == theirs and bool(theirs)
    if not row["equal"]:
        row["by_process"] = {"recorder": ours, "cupti": theirs}
    row["images"] = len(events(folder, "image"))
    row["contexts"] = [{key: event.get(key) for key in ("device", "primary")}
                       for event in events(folder, "context")]
    row["functions"] = len(events(folder, "function"))
    row["unnamed_functions"] = sum("name" not in event for event in events(folder, "function"))
    row["errors_recorded"] = [f"{event['api']} {event['result']}" for event in events(folder, "error")]
    if nodes.exists():
        driver = {NODE_WORDS.get(kind, kind): n for kind, n in json.loads(nodes.read_text()).items()}
        row["nodes_by_driver"] = driver
        row["nodes_by_recorder"] = [event["nodes"] for event in events(folder, "graph")]
        row["nodes_equal"] = driver in row["nodes_by_recorder"]
    return row


def counts(bench):
    python = [sys.executable, HERE / "workloads.py"]
    workloads = {f"cudart_{kind}": [path, "3000"] for kind, path in bench.programs.items()}
    for name in ("eager", "triton", "graphs", "cupy", "threads", "loaders", "jax", "compiled"):
        workloads[name] = [*python, name]

    def one(name):
        row = count_workload(bench, name, workloads[name])
        say(f"{name}: " + (f"skipped: {row['skipped']}" if "skipped" in row else
                           f"equal {row['equal']}, output same {row['output_same']}, {row['recorder']} {row.get('said', '')}"))
        return row

    # Beside each other: counting does not mind, and most of a workload is its start.
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        return list(pool.map(one, workloads))


# ---- cost

class Server:
    """A process that stays alive and times so many launches when it is told to."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env=environment)

    def wait(self, processor):
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError(f"{self.process.args}: did not start")
        # The thread that launches, always on the same processor: they take turns.
        os.sched_setaffinity(self.process.pid, {processor})

    def ns(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def interval(ratios):
    """Geometric mean and 95 % interval of paired ratios, by Student's t (2.05 for 30 pairs)."""
    logs = [math.log(ratio) for ratio in ratios]
    mean = statistics.fmean(logs)
    half = 2.05 * statistics.stdev(logs) / len(logs) ** 0.5
    return {"mean": math.exp(mean), "low": math.exp(mean - half), "high": math.exp(mean + half),
            "pairs": len(logs)}


BATCHES, PAIRS, ROUNDS = 6, 5, 5


def compare(bench, name, command, block):
    """Pairs of processes, because what one process measures again and again still has that process's
    luck (addresses, pages) in it: two plain ones differ by a few per cent. --exec keeps the process id."""
    flight = lambda label: bench.recorder(bench.work / f"cost_{name}_{label}", command, "--exec")
    idle = lambda label: bench.recorder(bench.work / f"cost_{name}_{label}", command, "--exec", "--mode",
                                        "idle")
    times = {variant: [] for variant in ("plain", "recorder", "recorder_idle", "cupti_callback",
                                         "cupti_activity")}
    ratios = {variant: [] for variant in times if variant != "plain"}
    processor = sorted(os.sched_getaffinity(0))[-1]
    for batch in range(BATCHES):
        servers = []
        try:
            for pair in range(PAIRS):
                servers.append(("plain", Server(command, bench.environment())))
                servers.append(("recorder", Server(flight(f"{batch}_{pair}"), bench.environment())))
            servers.append(("recorder_idle", Server(idle(f"{batch}_idle"), bench.environment())))
            for side in ("callback", "activity"):
                servers.append((f"cupti_{side}", Server(command, bench.environment(side, bench.work))))
            for _, server in servers:
                server.wait(processor)
                server.ns(block)
            blocks = [[] for _ in servers]
            for turn in range(ROUNDS):
                # There and back again, so that a drift falls on all alike.
                for index in range(len(servers)) if turn % 2 == 0 else reversed(range(len(servers))):
                    blocks[index].append(servers[index][1].ns(block))
        finally:
            for _, server in servers:
                server.close()
        medians = [statistics.median(values) for values in blocks]
        for index, (variant, _) in enumerate(servers):
            times[variant].append(medians[index])
        ratios["recorder"] += [medians[2 * pair + 1] / medians[2 * pair] for pair in range(PAIRS)]
        plain = statistics.fmean(medians[0:2 * PAIRS:2])
        for index in range(2 * PAIRS, len(servers)):
            ratios[servers[index][0]].append(medians[index] / plain)
    # Two plain processes beside each other: what the method itself is worth.
    plains = times["plain"]
    nothing = [b / a for a, b in zip(plains[0::2], plains[1::2])]
    row = {"name": name, "launches_in_a_block": block, "blocks_of_a_process": ROUNDS,
           "ns": {variant: {"median": statistics.median(values), "least": min(values)}
                  for variant, values in times.items()},
           "over_plain": {variant: interval(values) for variant, values in ratios.items()},
           "plain_over_plain": interval(nothing)}
    say(f"{name}: " + ", ".join(
        f"{variant} {row['ns'][variant]['median']:.0f} ns" + (
            "" if variant == "plain" else
            " ({:+.2f} %, {:+.2f} to {:+.2f})".format(
                *[(row["over_plain"][variant][key] - 1) * 100 for key in ("mean", "low", "high")]))
        for variant in times))
    return row


def start_up(bench):
    """Milliseconds that the recorder adds to a program that does nothing, and to one that starts CUDA."""
    rows = {}
    for name, command, rounds in (("true", ["true"], 20), ("cudart", [bench.programs["static"], "1"], 8)):
        plain, under = [], []
        for turn in range(rounds):
            for kind in ("plain", "under") if turn % 2 == 0 else ("under", "plain"):
                words = command if kind == "plain" else bench.recorder(
                    bench.work / f"start_{name}_{turn}", command)
                started = time.perf_counter()
                run(*words, env=bench.environment())
                (plain if kind == "plain" else under).append((time.perf_counter() - started) * 1e3)
        rows[name] = {"plain_ms": statistics.median(plain), "recorder_ms": statistics.median(under),
                      "added_ms": statistics.median(under) - statistics.median(plain)}
    say(f"start-up: {json.dumps(rows)}")
    return rows


def instant(bench):
    """The cost of a hook against a driver that returns at once: bench/recorder_cost.py, here."""
    script = ROOT / "bench/recorder_cost.py"
    if not script.exists():
        return None
    done = run(sys.executable, script, bench.cuproof, "--json", env=bench.environment())
    if done.returncode != 0:
        say(f"recorder_cost.py: {done.stderr.decode(errors='replace')[-400:]}")
        return None
    return json.loads(done.stdout)


def cost(bench):
    python = [sys.executable, HERE / "workloads.py", "serve"]
    return {"start_up": start_up(bench), "instant_driver": instant(bench),
            "loops": [compare(bench, "empty_kernel_static", [bench.programs["static"], "serve"], 10000),
                      compare(bench, "empty_kernel_shared", [bench.programs["shared"], "serve"], 10000),
                      compare(bench, "torch_small_ops", python, 200)]}


# ---- errors

def errors(bench):
    import error_programs

    return error_programs.run_all(bench, say)


def faults(record):
    """What is not as it must be."""
    wrong = []
    for row in record.get("counts", []):
        if "skipped" in row:
            wrong.append(f"{row['name']}: not run: {row['skipped']}")
            continue
        for key in ("equal", "output_same", "errors_same", "output_same_beside_cupti", "nodes_equal"):
            if not row.get(key, True):
                wrong.append(f"{row['name']}: {key} is false")
    for row in record.get("errors", []):
        if not row["ok"]:
            wrong.append(f"error {row['name']}: expected {row['expected']}, got {row['got']}")
    for row in record.get("cost", {}).get("loops", []):
        if row["over_plain"]["recorder"]["low"] > 1.01:
            wrong.append(f"{row['name']}: the recorder costs {row['over_plain']['recorder']}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cuproof", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="counts,errors,cost")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",")
    arguments.out.mkdir(parents=True, exist_ok=True)
    name, driver = run("nvidia-smi", "--query-gpu=name,driver_version",
                       "--format=csv,noheader").stdout.decode().splitlines()[0].split(", ")
    label = re.sub(r"^nvidia-", "", name.lower().replace(" ", "-"))
    record = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "gpu": name,
              "driver": driver, "sources_sha256": sources_hash()}
    # Not /tmp: programs may be forbidden there.
    with tempfile.TemporaryDirectory(dir=arguments.out, prefix="work-") as work:
        bench = Bench(arguments.cuproof.resolve(), pathlib.Path(work).resolve())
        bench.build()
        for part, function in (("counts", counts), ("errors", errors), ("cost", cost)):
            if part in wanted:
                record[part] = function(bench)
    path = arguments.out / f"recorder_{label}.json"
    path.write_text(json.dumps(record, indent=1) + "\n")
    wrong = faults(record)
    print("\n".join(wrong) or "all as it must be")
    return 1 if wrong else 0


START = time.monotonic()
if __name__ == "__main__":
    sys.exit(main())
