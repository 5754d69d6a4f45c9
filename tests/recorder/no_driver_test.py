#!/usr/bin/env python3
"""Without a driver the program runs as if cuproof were not there."""

import unittest

from launch_lab import Lab


class NoDriver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab()
        # What a framework does to learn whether there is a GPU.
        cls.program = cls.lab.program("probe", """
            puts(dlopen("libcuda.so.1", RTLD_NOW) ? "found" : dlerror());
            fputs("err\\n", stderr);
            return 5;""")

    def expect_unrecorded(self, env, why):
        show = self.lab.script("show", f"#!/bin/sh\nenv | grep -v ^_=\necho $$\nexec {self.program}\n")
        plain = self.lab.plain(show, env=env)
        run = self.lab.run(show, env=env)

        def without_pid(text):
            return [line for line in text.splitlines() if not line.isdigit()]

        self.assertEqual(run.returncode, plain.returncode)
        self.assertEqual(without_pid(run.stdout), without_pid(plain.stdout))
        self.assertRegex(run.stderr, why)
        self.assertTrue(run.stderr.endswith("nothing is recorded\nerr\n"), run.stderr)
        self.assertFalse((self.lab.root / "run").exists())
        self.assertEqual(self.lab.run(show, env=env, options=("--quiet",)).stderr, "err\n")

    def empty(self, name):
        (self.lab.root / name).mkdir(exist_ok=True)
        return {"LD_LIBRARY_PATH": str(self.lab.root / name)}

    def test_no_library_of_that_name(self):
        self.expect_unrecorded(self.empty("nothing"), "no driver was found: the loader knows no")

    def test_a_library_that_calls_itself_otherwise(self):
        self.lab.library("other/libcuda.so.1", "int cuInit(unsigned f) { return 0; }")
        self.expect_unrecorded({"LD_LIBRARY_PATH": str(self.lab.root / "other")},
                               "does not call itself libcuda.so.1")

    def test_a_library_without_cuinit(self):
        self.lab.library("bare/libcuda.so.1", "int cuOther(void) { return 0; }",
                         "-Wl,-soname,libcuda.so.1")
        self.expect_unrecorded({"LD_LIBRARY_PATH": str(self.lab.root / "bare")},
                               "does not export cuInit")

    def test_a_file_that_is_no_library(self):
        self.lab.write("text/libcuda.so.1", "words\n")
        self.expect_unrecorded({"LD_LIBRARY_PATH": str(self.lab.root / "text")},
                               "is no library, and the loader stops there")


if __name__ == "__main__":
    unittest.main()
