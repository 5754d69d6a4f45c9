#!/usr/bin/env python3
"""Whatever the standard streams are, the program runs, with its streams as they were and its own exit code.

Usage: streams_test.py CUPROOF
"""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from launch_lab import Lab  # noqa: E402

# Leaves a file that says which of its streams are open, and ends with 7.
PROGRAM = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int cuInit(unsigned flags);
int main(void) {
  char open_ones[4] = "---";
  for (int i = 0; i < 3; ++i) if (fcntl(i, F_GETFD) >= 0) open_ones[i] = '0' + i;
  FILE* file = fopen("left", "w");
  fprintf(file, "%s %d", open_ones, cuInit(3));
  fclose(file);
  return 7;
}
"""


class Streams(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.program = self.lab._compile("program", PROGRAM, [str(self.lab.driver)])
        self.left = self.lab.root / "left"

    def check(self, expected, *options, environment=None, **streams):
        self.left.unlink(missing_ok=True)
        command = self.lab.command(self.program, output=None, options=("-o", f"run{len(os.listdir(self.lab.root))}",
                                                                       *options))
        run = subprocess.run(command, cwd=self.lab.root, env=environment or self.lab.environment, timeout=60,
                             **streams)
        self.assertEqual((run.returncode, self.left.read_text()), (7, expected), (options, streams.keys()))

    def test_every_set_of_closed_streams(self):
        for closed in range(8):
            names = "".join("-" if closed >> i & 1 else str(i) for i in range(3))

            def close(closed=closed):
                for i in range(3):
                    if closed >> i & 1:
                        os.close(i)

            # What a shell does with 2>&-: the stream is not there at all.
            self.check(f"{names} 3", preexec_fn=close, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def test_standard_error_on_a_full_disk_and_a_broken_pipe(self):
        with open("/dev/full", "w") as full:
            self.check("012 3", stderr=full)
            self.check("012 3", "--no-summary", stderr=full)
        reading, writing = os.pipe()
        os.close(reading)
        self.check("012 3", stderr=writing)
        os.close(writing)

    def test_a_notice_that_cannot_be_written(self):
        # Without a driver there is one, before the program starts.
        environment = {**self.lab.environment}
        program = self.lab.script("script", "#!/bin/sh\necho ran >left\nexit 7\n")
        environment.pop("LD_LIBRARY_PATH")
        with open("/dev/full", "w") as full:
            run = subprocess.run(self.lab.command(program, output=None), cwd=self.lab.root, env=environment,
                                 stderr=full, timeout=60)
        self.assertEqual((run.returncode, self.left.read_text()), (7, "ran\n"))


if __name__ == "__main__":
    unittest.main()
