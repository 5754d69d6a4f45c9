#!/usr/bin/env python3
"""Whatever the program starts is recorded, too: one file for each process that calls the driver."""

import unittest

from launch_lab import Lab


class Children(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab()
        cls.call = cls.lab.program("call", 'cuInit(1); printf("%d\\n", getpid()); return 0;')

    def expect_recorded(self, *words, count):
        run = self.lab.run(*words)
        self.assertEqual(run.returncode, 0, run.stderr)
        pids = {int(line) for line in run.stdout.split()}
        self.assertEqual(len(pids), count, run.stdout)
        self.assertEqual(self.lab.recorded(), pids)

    def test_commands_of_a_shell_script(self):
        script = self.lab.script("both", f"#!/bin/sh\n{self.call}\n({self.call}) &\nwait\nexec {self.call}\n")
        self.expect_recorded(script, count=3)

    def test_a_child_without_exec(self):
        program = self.lab.program("forks", """
            if (fork() == 0) { cuInit(1); printf("%d\\n", getpid()); fflush(stdout); _exit(0); }
            wait(0);
            cuInit(1);
            printf("%d\\n", getpid());
            return 0;""")
        self.expect_recorded(program, count=2)

    def test_a_child_of_a_process_that_has_called(self):
        program = self.lab.program("late", """
            cuInit(1);
            if (fork() == 0) { cuInit(1); printf("%d\\n", getpid()); fflush(stdout); _exit(0); }
            wait(0);
            printf("%d\\n", getpid());
            return 0;""")
        self.expect_recorded(program, count=2)

    def test_an_empty_environment_hides_a_child(self):
        run = self.lab.run("env", "-i", f"LD_LIBRARY_PATH={self.lab.root}/driver", self.call)
        self.assertEqual(run.returncode, 0)
        self.assertEqual(self.lab.recorded(), set())


if __name__ == "__main__":
    unittest.main()
