#!/usr/bin/env python3
"""Other preloaded libraries stay; another stand-in for the driver is refused."""

import unittest

from launch_lab import Lab


class Preload(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab()
        cls.program = cls.lab.program("call", 'printf("%d\\n", cuInit(1)); return 0;')

    def test_what_was_preloaded_stays_behind_the_shim(self):
        for name in ("first", "second"):
            self.lab.library(f"{name}.so", f'#include <stdio.h>\n__attribute__((constructor)) '
                                           f'static void start(void) {{ puts("{name}"); fflush(stdout); }}')
        before = f"{self.lab.root}/first.so {self.lab.root}/second.so"
        script = self.lab.script("show", f'#!/bin/sh\necho "$LD_PRELOAD"\n{self.program}\n')
        run = self.lab.run(script, env={"LD_PRELOAD": before})
        shim = self.lab.root / "run/lib/libcuda.so.1"
        self.assertIn(f"{shim}:{before}\n", run.stdout)
        self.assertEqual(run.stdout.count("first"), 4)  # cuproof, the shell, the program; in the variable
        self.assertTrue(run.stdout.endswith("1\n"))
        self.assertTrue(self.lab.recorded())

    def test_without_one_the_variable_names_the_shim_alone(self):
        run = self.lab.run("sh", "-c", 'echo "$LD_PRELOAD"')
        self.assertEqual(run.stdout, f"{self.lab.root}/run/lib/libcuda.so.1\n")

    def test_another_shim_is_refused(self):
        shim = self.lab.library("vgpu/libvgpu.so", "int cuInit(unsigned f) { return 0; }",
                                "-Wl,-soname,libcuda.so.1")
        names = ({"LD_PRELOAD": f"libc.so.6 {shim}"},
                 {"LD_PRELOAD": "libvgpu.so",
                  "LD_LIBRARY_PATH": f"{shim.parent}:{self.lab.environment['LD_LIBRARY_PATH']}"})
        for env in names:
            run = self.lab.run("true", env=env)
            self.assertEqual(run.returncode, 125)
            self.assertIn("puts it in place of the driver", run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1)

    def test_a_run_in_a_run_is_refused(self):
        inner = self.lab.command(self.program, output="inner")
        run = self.lab.run(*inner)
        self.assertEqual(run.returncode, 125)
        self.assertIn("this already runs under cuproof run", run.stderr)
        self.assertFalse((self.lab.root / "inner").exists())

    def test_the_shim_of_another_run_is_no_driver(self):
        self.lab.run("true", output="other")
        run = self.lab.run("true", env={"LD_LIBRARY_PATH": str(self.lab.root / "other/lib")})
        self.assertEqual(run.returncode, 125)
        self.assertIn("LD_LIBRARY_PATH leads to the library of another cuproof run", run.stderr)

    def test_an_injection_library_is_left_and_told(self):
        env = {"CUDA_INJECTION64_PATH": "/opt/libother.so"}
        run = self.lab.run("sh", "-c", 'echo "$CUDA_INJECTION64_PATH"', env=env)
        self.assertEqual(run.stdout, "/opt/libother.so\n")
        notes = ["CUDA_INJECTION64_PATH is set: the driver loads /opt/libother.so, too"]
        self.assertEqual(self.lab.record()["notes"], notes)


if __name__ == "__main__":
    unittest.main()
