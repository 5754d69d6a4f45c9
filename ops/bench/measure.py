"""How times are taken. One row compares contenders over the same bytes, in one run.

A contender is a list of calls over different buffers, rotated so that nothing is left in L2 of the
buffer's last use ("cold"); a warm row has one buffer. N calls are captured into a graph, N large
enough for TARGET_MS; events around its replay, less those around an empty graph's. Rounds alternate
A B B A, with the ceilings among them: a row whose read ceiling drifts is measured once more, and
then dropped.
"""

import argparse
import gc
import signal
import statistics
import time
import warnings

import torch

import clib
import machine
import specified

TARGET_MS = 5.0
MOST_CALLS = 4000
MOST_DRIFT = 0.02


class Contender:
    """role: ours, peer or ceiling. how: "graph", or "stream" for what cannot be captured or is slower
    so; at least `least` calls then. error: relative, of the result."""

    def __init__(self, name, role, calls, how="graph", note=None, least=1, error=None):
        self.name, self.role, self.how, self.note = name, role, how, note
        self.least, self.error = least, error
        self.calls = calls if isinstance(calls, list) else [calls]
        self.rounds = []
        self.graph, self.count, self.nodes = None, 0, None


class Bench:
    """Arguments, libraries and the result file of one bench program."""

    def __init__(self, name):
        parser = argparse.ArgumentParser()
        parser.add_argument("--lib", required=True, help="libcuproof_ops.so")
        parser.add_argument("--ceilings", required=True, help="libcuproof_ops_bench.so")
        parser.add_argument("--out", required=True, help="JSON file to write")
        parser.add_argument("--rounds", type=int, default=0)
        parser.add_argument("--quick", action="store_true", help="3 rounds, fewer rows")
        self.args = parser.parse_args()
        self.quick = self.args.quick
        self.rounds = self.args.rounds or (3 if self.quick else 9)
        torch.cuda.init()
        torch.manual_seed(20261130)
        self.library = clib.Library(self.args.lib)
        self.library.prepare()
        self.ceilings = clib.Ceilings(self.args.ceilings)
        self.nvml = machine.Nvml()
        self.result = machine.Result(
            name, self.args.out, machine.describe(self.nvml, self.library),
            {"rounds": self.rounds, "target_ms": TARGET_MS, "quick": self.quick,
             "most_drift": MOST_DRIFT})
        self.empty_ms = self._empty_graph_ms()
        self.shapes = specified.shapes_of(name)
        self.started = time.time()
        print(f"== {name}: {torch.cuda.get_device_name()}, empty graph "
              f"{self.empty_ms * 1e3:.1f} us", flush=True)

    def shape(self, name):
        """The row of that name in ops/specs. Callers give it as a literal: results_test.py looks."""
        if name not in self.shapes:
            raise KeyError(f"{name!r} is in no [[bench]] of ops/specs")
        return self.shapes[name]

    def section(self, what, function, *arguments):
        """A part of a bench whose failure is said and does not end the others."""
        try:
            function(self, *arguments)
        except Exception as error:
            self.result.fail(what, error)
        gc.collect()
        torch.cuda.empty_cache()

    def finish(self):
        seconds = time.time() - self.started
        self.result.data["seconds"] = seconds
        self.result.write()
        print(f"== {self.result.data['bench']}: {len(self.result.data['rows'])} rows, "
              f"{len(self.result.data['failures'])} failures, {seconds:.0f} s", flush=True)

    def _empty_graph_ms(self):
        graph = torch.cuda.CUDAGraph()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with torch.cuda.graph(graph):
                pass
        times = [elapsed_ms(graph.replay) for _ in range(30)]
        return statistics.median(times[10:])

    # Ceilings over buffers, as contenders.

    def read_ceiling(self, buffers):
        calls = [[self.ceilings.read(b, shape) for b in buffers]
                 for shape in range(len(self.ceilings.shapes))]
        shape = self._fastest(calls)
        return Contender("read", "ceiling", calls[shape], note=self.ceilings.shapes[shape])

    def copy_ceilings(self, targets, sources):
        calls = [[self.ceilings.copy(t, s, shape) for t, s in zip(targets, sources)]
                 for shape in range(len(self.ceilings.shapes))]
        shape = self._fastest(calls)
        return [Contender("copy", "ceiling", calls[shape], note=self.ceilings.shapes[shape]),
                Contender("memcpy", "ceiling",
                          [self.ceilings.memcpy(t, s) for t, s in zip(targets, sources)],
                          how="stream", note="cudaMemcpyAsync on a stream: in a graph it is slower")]

    def _fastest(self, calls_of_shapes):
        best = []
        for calls in calls_of_shapes:
            made = Contender("pilot", "ceiling", calls)
            prepare(made, 3.0)
            best.append(statistics.median(run(made, 0.0) for _ in range(3)))
        return best.index(min(best))

    # Rows.

    def row(self, shape, contenders, floor, ratio=None, correct=None, **more):
        """Measures and adds the row of a specified.Shape. `floor`: "read", "copy" or "read+copy", the
        ceilings that move its bytes. `ratio`: the (ours, peer) names that a gate is about."""
        row = self._measure(shape, contenders, floor)
        if row.get("dropped"):
            print(f"  {shape.name}: {row['dropped']}; once more", flush=True)
            for contender in contenders:
                contender.rounds = []
            row = self._measure(shape, contenders, floor)
        row["correct"] = correct
        row.update(more)
        if ratio:
            row["ratio_of"] = list(ratio)
        for contender in contenders:
            contender.graph = None
        self.result.add(row)
        show(row)
        return row

    def _measure(self, shape, contenders, floor):
        name, ready, failed = shape.name, [], {}
        for contender in contenders:
            try:
                if contender.graph is None or contender.how == "stream":
                    with deadline(75):
                        prepare(contender, TARGET_MS, self.ceilings.graph_nodes)
                ready.append(contender)
            except Exception as error:
                torch.cuda.synchronize()
                failed[contender.name] = f"{type(error).__name__}: {str(error)[:200]}"
                print(f"  FAILED {name}: {contender.name}: {failed[contender.name][:160]}",
                      flush=True)
        start = self._under_load(ready)
        for i in range(self.rounds):
            for contender in ready if i % 2 == 0 else reversed(ready):
                contender.rounds.append(run(contender, self.empty_ms))
        end = self._under_load(ready)
        row = {"name": name, "bytes": shape.bytes, "floor": floor, "start": start, "end": end,
               "contenders": {c.name: summary(c) for c in ready}, "failed": failed}
        ceiling_us(row)
        read = next((c for c in ready if c.role == "ceiling"), None)
        row["drift"] = drift(read.rounds) if read else None
        if row["drift"] is not None and row["drift"] > MOST_DRIFT:
            row["dropped"] = f"the {read.name} ceiling drifted by {row['drift']:.1%}"
        for contender in ready:
            entry = row["contenders"][contender.name]
            entry["tb_per_s"] = shape.bytes / entry["median_us"] / 1e6
            for key in ("read", "copy"):
                if row.get(f"{key}_us"):
                    entry[f"of_{key}"] = row[f"{key}_us"] / entry["median_us"]
            parts = [row.get(f"{part}_us") for part in floor.split("+")]
            if all(parts):
                entry["of_floor"] = sum(parts) / entry["median_us"]
        return row

    def _under_load(self, contenders):
        graphs = [c.graph for c in contenders if c.graph is not None]
        if not graphs:
            return self.nvml.sample()
        for _ in range(10):
            graphs[0].replay()
        time.sleep(0.03)
        sample = self.nvml.sample()
        torch.cuda.synchronize()
        return sample


class deadline:
    """Raises TimeoutError in the block after so many seconds (a compiler that takes too long)."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        def late(signum, frame):
            raise TimeoutError(f"took over {self.seconds} s")
        self.before = signal.signal(signal.SIGALRM, late)
        signal.alarm(self.seconds)

    def __exit__(self, *_):
        signal.alarm(0)
        signal.signal(signal.SIGALRM, self.before)


def elapsed_ms(function):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    function()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


def prepare(contender, target_ms, graph_nodes=None):
    """Warms up, chooses the number of calls and captures them."""
    calls = contender.calls

    def repeat():
        for i in range(contender.count):
            calls[i % len(calls)]()

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for call in calls:
            call()
        calls[0]()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    contender.count = len(calls)
    each = elapsed_ms(repeat) / contender.count
    if contender.how == "graph" and contender.nodes is None and graph_nodes is not None:
        contender.nodes = nodes_of_one_call(calls[0], graph_nodes)
    # Eager calls of many small kernels are slower than the graph's: measured again after capture.
    for _ in range(3):
        wanted = min(MOST_CALLS, max(contender.least, int(target_ms / each * 1.05 + 1)))
        contender.count = -(-wanted // len(calls)) * len(calls)
        if contender.how == "stream":
            contender.repeat = repeat
            return
        contender.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(contender.graph):
            repeat()
        contender.graph.replay()
        took = elapsed_ms(contender.graph.replay)
        if took >= target_ms or contender.count >= MOST_CALLS:
            return
        each = took / contender.count


def nodes_of_one_call(call, graph_nodes):
    """[kernels, other nodes] that one call puts into a graph; None where torch cannot tell."""
    try:
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(graph):
            call()
        return list(graph_nodes(graph))
    except Exception:
        torch.cuda.synchronize()
        return None


def run(contender, empty_ms):
    """Microseconds of one call."""
    work = contender.graph.replay if contender.how == "graph" else contender.repeat
    return (elapsed_ms(work) - empty_ms) * 1e3 / contender.count


def summary(contender):
    times = contender.rounds
    median = statistics.median(times)
    return {"role": contender.role, "how": contender.how, "note": contender.note,
            "relative_error": contender.error,
            "calls": contender.count, "kernels": contender.nodes[0] if contender.nodes else None,
            "other_nodes": contender.nodes[1] if contender.nodes else None,
            "median_us": median, "min_us": min(times), "spread": (max(times) - min(times)) / median,
            "rounds_us": times}


def ceiling_us(row):
    """Sets read_us and copy_us, the faster of our copy and memcpy, where they were measured."""
    medians = {name: c["median_us"] for name, c in row["contenders"].items()
               if c["role"] == "ceiling"}
    if "read" in medians:
        row["read_us"] = medians["read"]
    copies = [medians[name] for name in ("copy", "memcpy") if name in medians]
    if copies:
        row["copy_us"] = min(copies)


def drift(times):
    """Between the first and the last third of the rounds."""
    part = max(1, len(times) // 3)
    first, last = statistics.median(times[:part]), statistics.median(times[-part:])
    return abs(last / first - 1)


def host_us(call, times):
    """Median host time of one eager call and median time until the GPU is done, GPU idle before."""
    host, wall = [], []
    for _ in range(3):
        call()
    for _ in range(times):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        issued = time.perf_counter()
        torch.cuda.synchronize()
        wall.append((time.perf_counter() - start) * 1e6)
        host.append((issued - start) * 1e6)
    return {"host_us": statistics.median(host), "host_min_us": min(host),
            "wall_us": statistics.median(wall), "host_rounds_us": host, "wall_rounds_us": wall}


def show(row):
    print(f"  {row['name']}: {row['bytes'] / 1e9:.3f} GB" +
          (f"  DROPPED: {row['dropped']}" if row.get("dropped") else ""), flush=True)
    for name, c in row["contenders"].items():
        fraction = f"  {c['of_floor']:.3f} of {row['floor']}" if "of_floor" in c else ""
        print(f"    {name:<44} {c['median_us']:10.1f} us  {c['tb_per_s']:.2f} TB/s{fraction}"
              f"  spread {c['spread']:.1%}  kernels {c['kernels']}", flush=True)
