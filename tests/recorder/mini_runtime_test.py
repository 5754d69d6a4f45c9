#!/usr/bin/env python3
"""A program that finds the driver as NVIDIA's runtime does gets the same answers under the recorder.

    mini_runtime_test.py CUPROOF
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import clients  # noqa: E402

CUPROOF = sys.argv.pop(1)


class MiniRuntime(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.lab = clients.Lab(CUPROOF, self.temporary.name)
        self.image = self.lab.write("k.ptx", clients.ptx("kernel"))

    def test_answers_are_those_of_the_driver_and_every_launch_is_seen(self):
        program = self.lab.client("mini_runtime")
        plain = self.lab.plain(program, self.image, "kernel", 500)
        self.assertIn("the empty name: 500", plain.stdout)
        self.assertIn("private table: 500", plain.stdout)
        out, code, folder = self.lab.record(program, self.image, "kernel", 500)
        self.assertEqual((out, code), (plain.stdout, 0))
        report = self.lab.json(folder)
        self.assertEqual(report["kernels"], [{"name": "kernel", "launches": 1000}])
        calls = report["processes"][0]["calls"]
        self.assertEqual((calls["cuLaunchKernel"], calls["cuLaunchKernelEx"]), (500, 500))

    def test_counts_stay_exact_when_rings_wrap(self):
        out, _, folder = self.lab.record(self.lab.client("launch_loop"), self.image, "kernel", 5000, 8,
                                         options=["--ring-records", "64", "--rings", "4"])
        self.assertEqual(out, "40000 launches\n")
        self.assertEqual(self.lab.json(folder)["kernel_launches"], 40000)

    def test_a_run_can_be_read_while_it_goes_on(self):
        program = self.lab.client("launch_loop")
        folder = self.lab.folder / "live"
        process = subprocess.Popen(
            [str(self.lab.cuproof), "run", "--quiet", "--ring-records", "64", "-o", str(folder), "--", str(program),
             str(self.image), "kernel", "400000", "2"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.lab.environment())
        seen = []
        while process.poll() is None:
            if any(folder.glob("*.ring")) and (folder / "run.json").exists():
                report = self.lab.json(folder)
                seen.append((report["kernel_launches"], report["run"]["end"]))
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.lab.json(folder)["kernel_launches"], 800000)
        launches = [count for count, _ in seen]
        self.assertEqual(launches, sorted(launches), "a count went back")
        self.assertTrue(any(0 < count < 800000 and end is None for count, end in seen), seen[:20])


if __name__ == "__main__":
    unittest.main()
