#!/usr/bin/env python3
"""What is wrong with arguments is said in one line, with exit code 2.

    usage_test.py CUPROOF
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CUPROOF = sys.argv.pop(1)


class Usage(unittest.TestCase):
    def run_check(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "words")
            path.write_text("no CUDA here")
            run = subprocess.run([CUPROOF, "check", str(path), *arguments], capture_output=True,
                                 text=True, timeout=60)
        return run.returncode, run.stderr.strip(), run.stdout

    def test_a_gpu_that_does_not_exist(self):
        code, err, _ = self.run_check("--gpu", "sm_91")
        self.assertEqual((code, err), (2, "cuproof: --gpu: no GPU sm_91 is known; "
                                          "did you mean sm_90?"))

    def test_a_cuda_that_never_was(self):
        self.assertEqual(self.run_check("--driver", "12.10")[:2],
                         (2, "cuproof: --driver: there is no CUDA 12.10"))

    def test_a_major_alone(self):
        for option in ("--cuda", "--driver"):
            self.assertEqual(self.run_check("--gpu", "H100", option, "13")[:2], (0, ""))

    def test_stray_arguments_come_in_their_order(self):
        code, err, _ = self.run_check("--first", "--second")
        self.assertEqual(code, 2)
        self.assertIn("the following arguments were not expected: --first --second; see", err)

    def test_an_output_that_would_replace_an_input(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "words")
            path.write_text("no CUDA here")
            (pathlib.Path(folder) / "link").symlink_to(path)
            for command in ("check", "inspect"):
                for name in ("words", "link"):
                    run = subprocess.run([CUPROOF, command, path, "-o", pathlib.Path(folder, name)],
                                         capture_output=True, text=True, timeout=60)
                    self.assertEqual(run.returncode, 2)
                    self.assertIn("is one of the files to read: name another file for -o", run.stderr)
            self.assertEqual(path.read_text(), "no CUDA here")
            other = pathlib.Path(folder, "other")
            run = subprocess.run([CUPROOF, "check", path, "-o", other], timeout=60)
            self.assertTrue(run.returncode == 0 and other.exists())

    def test_the_environment_that_is_taken_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "pyvenv.cfg").write_text("home = /usr/bin\n")
            run = subprocess.run([CUPROOF, "check", "--gpu", "H100"], capture_output=True, text=True, timeout=60,
                                 env={"VIRTUAL_ENV": folder, "PATH": "/usr/bin:/bin"})
            self.assertIn(f"no PATH given: checking the active environment {folder}\n", run.stderr)

    def test_an_input_without_device_code_is_named(self):
        code, _, out = self.run_check("--gpu", "H100")
        self.assertEqual(code, 0)
        self.assertIn("words: no device code found in it\n", out)


if __name__ == "__main__":
    unittest.main()
