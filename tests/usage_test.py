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

    def test_an_input_without_device_code_is_named(self):
        code, _, out = self.run_check("--gpu", "H100")
        self.assertEqual(code, 0)
        self.assertIn("words: no device code found in it\n", out)


if __name__ == "__main__":
    unittest.main()
