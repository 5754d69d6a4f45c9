#!/usr/bin/env python3
"""A full disk stops a run before the program starts, in one line, or not at all."""

import json
import unittest

import private_mount

private_mount.enter()
from launch_lab import Lab  # noqa: E402


class FullDisk(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.place = self.lab.root / "mount"

    def test_each_file_that_does_not_fit_is_named_and_nothing_is_left(self):
        named = set()
        for kilobytes in range(4, 400, 4):
            private_mount.mount(self.place, f"size={kilobytes}k")
            try:
                run = self.lab.run("sh", "-c", "exit 3", output="mount/run")
                if run.returncode == 3:
                    break
                self.assertEqual(run.returncode, 125)
                self.assertRegex(run.stderr, r"^cuproof: \S+: \d+ bytes could not be written: No space left on "
                                             r"device; free some, or name another folder with -o\n$")
                named.add(run.stderr.split(": ")[1].rsplit("/", 1)[1])
                self.assertEqual(list(self.place.iterdir()), [])
            finally:
                private_mount.unmount(self.place)
        self.assertEqual(run.returncode, 3)
        self.assertLessEqual({"libcuproof_inject.so", "libcuda.so.1"}, named)

    def test_a_disk_that_the_program_fills_does_not_change_its_exit_code(self):
        private_mount.mount(self.place, "size=1m")
        self.addCleanup(private_mount.unmount, self.place)
        run = self.lab.run("sh", "-c", "cat /dev/zero >mount/filler 2>/dev/null; exit 3",
                           output="mount/run", options=("--quiet",))
        self.assertEqual(run.returncode, 3)
        self.assertRegex(run.stderr, r"^cuproof: \S+/run.json.part: \d+ bytes could not be written: No space")
        self.assertNotIn("end", json.loads((self.place / "run/run.json").read_text()))


if __name__ == "__main__":
    unittest.main()
