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
        self.assertEqual(len(launches), 3 * 20, "a launch is one slice, and an instant of its stream")
        self.assertTrue(all(e["name"] == "kernel" and e["ts"] >= 0 and e["dur"] > 0 for e in launches))
        untimed = [e for e in launches if "duration" in e["args"]]
        self.assertGreaterEqual(len(untimed), 3 * 19, "only the first launch of a thread is timed")
        self.assertTrue(all(e["args"]["duration"] == "not recorded" and e["dur"] <= 1 for e in untimed))
        marks = [e for e in events if e["ph"] == "i" and e.get("cat") == "stream" and e["name"] == "kernel"]
        self.assertEqual(len(marks), 3 * 20)
        for event in events:
            if event.get("cat") not in ("cuLaunchKernel", "stream") and event["ph"] == "X":
                self.assertNotIn("grid", event["args"])
                self.assertEqual(event["name"], event["cat"])
        self.assert_nested(events)
        tracks = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        self.assertEqual(sum(name.startswith("stream") for name in tracks.values()), 3)
        # A thread that starts when another has ended takes over its ring, and so its track.
        self.assertGreaterEqual(sum("thread" in name for name in tracks.values()), 1)
        self.assertTrue({e["tid"] for e in launches + marks} <= set(tracks))

    def assert_nested(self, events):
        ends = {}
        slices = [(e["pid"], e["tid"], round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in events if e["ph"] == "X"]
        for pid, tid, at, length in sorted(slices, key=lambda s: (s[0], s[1], s[2], -s[3])):
            open_ends = ends.setdefault((pid, tid), [])
            while open_ends and open_ends[-1] <= at:
                open_ends.pop()
            if open_ends:
                self.assertLessEqual(at + length, open_ends[-1])
            open_ends.append(at + length)

    def test_timed_slices_are_as_long_as_they_took(self):
        trace = self.trace(self.lab.client("launch_loop"), self.image, "kernel", 20, 3, options=["--mode", "timed"])
        launches = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] == "cuLaunchKernel"]
        self.assertTrue(launches)
        self.assertFalse(any("duration" in e["args"] for e in launches))
        self.assert_nested(trace["traceEvents"])

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
