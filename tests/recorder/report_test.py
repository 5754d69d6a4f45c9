#!/usr/bin/env python3
"""`cuproof report` of runs on the modelled driver: what is not known is said, what failed is counted.

    report_test.py CUPROOF
"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import clients  # noqa: E402

CUPROOF = sys.argv.pop(1)


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.lab = clients.Lab(CUPROOF, cls.temporary.name)
        cls.image = cls.lab.write("k.ptx", clients.ptx("kernel"))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def record(self, *arguments, options=()):
        _, _, folder = self.lab.record(self.lab.client("launch_loop"), self.image, "kernel", *arguments,
                                       options=options)
        return folder

    def test_idle_records_nothing_and_says_so(self):
        folder = self.record(20, 1, options=["--mode", "idle"])
        text = self.lab.report(folder)
        self.assertIn("nothing was recorded", text)
        self.assertNotIn("0 launches", text)
        report = self.lab.json(folder)
        self.assertIs(report["recorded"], False)
        self.assertIsNone(report["kernel_launches"])
        self.assertEqual(report["run"]["mode"], "idle")

    def test_flight_has_no_times_and_timed_has(self):
        kernel = self.lab.json(self.record(20, 1))["kernels"][0]
        self.assertEqual(kernel, {"name": "kernel", "launches": 20})
        folder = self.record(20, 1, options=["--mode", "timed"])
        kernel = self.lab.json(folder)["kernels"][0]
        self.assertEqual(kernel["host_time"]["calls"], 20)
        self.assertLessEqual(kernel["host_time"]["median_ns"], kernel["host_time"]["longest_ns"])
        self.assertIn("median", self.lab.report(folder))

    def test_cuda_behind_a_fork_is_one_error(self):
        _, code, folder = self.lab.record(self.lab.client("fork_errors"), self.image, "kernel", 100)
        self.assertEqual(code, 0)
        report = self.lab.json(folder)
        [error] = [e for e in report["errors"] if e["severity"] != "note"]
        self.assertEqual((error["id"], error["result"]), ("CP508", 3))
        self.assertIn("100 launches, 100 of them failed", error["evidence"])
        self.assertEqual((report["kernel_launches"], report["failed_launches"]), (101, 100))
        self.assertEqual(report["jit"]["late"], 0)
        self.assertIn("101 launches by calls, exact, 100 of them failed", self.lab.report(folder))

    def test_a_file_of_the_folder_names_it(self):
        folder = self.record(1, 1)
        self.assertEqual(self.lab.report(folder / "run.json"), self.lab.report(folder))
        self.assertIn("Kernels: 1 launch by calls, exact", self.lab.report(folder))
        self.assertTrue(self.lab.json(folder)["counts_exact"])

    def test_events_that_are_gone_are_missed(self):
        folder = self.record(5, 1)
        for events in folder.glob("*.jsonl"):
            events.unlink()
        text = self.lab.report(folder)
        self.assertIn("not known (events were lost)", text)
        self.assertIn(".jsonl is missing or empty", text)


if __name__ == "__main__":
    unittest.main()
