#!/usr/bin/env python3
"""--exec: the program takes the place of cuproof, under the same process id."""

import os
import subprocess
import unittest

from launch_lab import Lab


class Exec(unittest.TestCase):
    def test_the_process_id_stays(self):
        lab = Lab()
        program = lab.program("call", 'printf("%d %d", getpid(), cuInit(1)); return 6;')
        process = subprocess.Popen(lab.command(program, options=["--exec", "--quiet"]),
                                   env=lab.environment, stdout=subprocess.PIPE, text=True)
        out, _ = process.communicate(timeout=60)
        self.assertEqual((out, process.returncode), (f"{process.pid} 1", 6))
        record = lab.record()
        self.assertEqual(record["pid"], process.pid)
        self.assertNotIn("end", record)
        self.assertNotIn("exit_code", record)
        self.assertEqual(lab.recorded(), {process.pid})

    def test_without_it_the_program_is_a_child(self):
        lab = Lab()
        run = lab.run("sh", "-c", "echo $$ $PPID")
        pid, parent = map(int, run.stdout.split())
        self.assertEqual(lab.record()["pid"], pid)
        self.assertNotEqual(parent, os.getpid())


if __name__ == "__main__":
    unittest.main()
