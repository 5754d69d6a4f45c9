#!/usr/bin/env python3
"""`cuproof report --format perfetto` is trace-event JSON: tracks of threads and streams, in order.

    perfetto_test.py CUPROOF
"""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import clients  # noqa: E402

CUPROOF = sys.argv.pop(1)


class Perfetto(unittest.TestCase):
    def trace(self, *arguments, options=()):
        _, code, folder = self.lab.record(*arguments, options=options)
        self.assertEqual(code, 0)
        return json.loads(self.lab.report(folder, "--format", "perfetto"))

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.lab = clients.Lab(CUPROOF, self.temporary.name)
        self.image = self.lab.write("k.ptx", clients.ptx("kernel", "registers 168"))

    def test_threads_and_streams_have_tracks(self):
        trace = self.trace(self.lab.client("launch_loop"), self.image, "kernel", 20, 3)
        events = trace["traceEvents"]
        launches = [e for e in events if e["ph"] == "X" and e["cat"] == "cuLaunchKernel"]
        self.assertEqual(len(launches), 2 * 3 * 20, "each launch on the track of its thread and of its stream")
        self.assertTrue(all(e["name"] == "kernel" and e["ts"] >= 0 and e["dur"] > 0 for e in launches))
        tracks = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        self.assertEqual(sum(name.startswith("stream") for name in tracks.values()), 3)
        # A thread that starts when another has ended takes over its ring, and so its track.
        self.assertGreaterEqual(sum("thread" in name for name in tracks.values()), 1)
        self.assertTrue({e["tid"] for e in launches} <= set(tracks))

    def test_errors_are_instants(self):
        trace = self.trace(self.lab.client("launch_errors"), "registers", self.image, "kernel")
        instants = [e["name"] for e in trace["traceEvents"] if e["ph"] == "i"]
        self.assertIn("cuLaunchKernel returned 701", instants)

    def test_what_is_left_out_is_said(self):
        trace = self.trace(self.lab.client("launch_loop"), self.image, "kernel", 1000, 1,
                           options=["--ring-records", "64"])
        self.assertRegex(trace["otherData"]["note"], r"\b9\d\d earlier ones")


if __name__ == "__main__":
    unittest.main()
