#!/usr/bin/env python3
"""Signals reach the program once, however they come; a launcher that dies takes nothing with it."""

import os
import pty
import select
import signal
import subprocess
import time
import unittest

from launch_lab import Lab

# Says which signals come, one a line; USR2 ends it.
LISTENER = """
import os, signal, sys
def name_of(number):
    return signal.Signals(number).name if number < 32 else str(number)
def tell(number, frame):
    os.write(1, f"{name_of(number)}\\n".encode())
    if number == signal.SIGUSR2:
        sys.exit(4)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
               signal.SIGALRM, signal.SIGRTMIN + 2):
    signal.signal(number, tell)
os.write(1, f"{os.getpid()}\\n".encode())
while True:
    signal.pause()
"""


class Signals(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.listener = self.lab.write("listener.py", LISTENER)

    def start(self, *words, **more):
        return subprocess.Popen(self.lab.command(*words, options=["--quiet"]), cwd=self.lab.root,
                                env=self.lab.environment, **more)

    def start_listener(self, **more):
        process = self.start("/usr/bin/env", "python3", self.listener, stdout=subprocess.PIPE, text=True,
                             **more)
        return process, int(process.stdout.readline())

    def test_a_signal_to_the_launcher_goes_on_to_the_program(self):
        process, _ = self.start_listener()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
                       signal.SIGALRM, signal.SIGRTMIN + 2):
            process.send_signal(number)
            self.assertEqual(process.stdout.readline().strip(), getattr(number, "name", str(number)))
        process.send_signal(signal.SIGUSR2)
        rest, _ = process.communicate(timeout=30)
        self.assertEqual((rest, process.returncode), ("SIGUSR2\n", 4))

    def test_control_c_reaches_the_program_once(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.lab.root)
            words = self.lab.command("/usr/bin/env", "python3", self.listener, options=["--quiet"])
            os.execve(words[0], words, self.lab.environment)
        self.assertRegex(self.read_until(terminal, b"\n"), rb"^\d+\r\n$")
        os.write(terminal, b"\x03")
        self.read_until(terminal, b"SIGINT\r\n")
        time.sleep(0.2)  # a second one would come now
        os.kill(pid, signal.SIGUSR2)
        self.assertEqual(self.read_until(terminal, b"SIGUSR2\r\n"), b"SIGUSR2\r\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 4)
        os.close(terminal)

    def read_until(self, terminal, end):
        text = b""
        while not text.endswith(end):
            self.assertTrue(select.select([terminal], [], [], 30)[0], text)
            text += os.read(terminal, 1)
        return text

    def state(self, pid):
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0]

    def wait_for_state(self, pid, states):
        for _ in range(300):
            if self.state(pid) in states:
                return
            time.sleep(0.02)
        self.fail(f"{pid} is {self.state(pid)}, expected {states}")

    def test_a_stopped_launcher_stops_the_program_and_wakes_it(self):
        process, program = self.start_listener(preexec_fn=os.setpgrp)
        process.send_signal(signal.SIGTSTP)
        self.wait_for_state(process.pid, "T")
        self.wait_for_state(program, "T")
        process.send_signal(signal.SIGCONT)
        self.wait_for_state(program, "S")
        process.send_signal(signal.SIGUSR2)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 4)

    def test_the_program_outlives_a_killed_launcher(self):
        process, program = self.start_listener()
        process.kill()
        process.wait()
        os.kill(program, signal.SIGUSR1)
        self.assertEqual(process.stdout.readline(), "SIGUSR1\n")
        os.kill(program, signal.SIGUSR2)
        self.assertEqual(process.stdout.read(), "SIGUSR2\n")
        process.stdout.close()
        record = self.lab.record()
        self.assertEqual(record["pid"], program)
        self.assertNotIn("end", record)

    def test_the_program_inherits_what_signals_did_before(self):
        # The masks of blocked and of ignored signals.
        show = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]

        def run(change):
            plain = subprocess.run(show, capture_output=True, text=True, preexec_fn=change,
                                   restore_signals=False)
            recorded = self.lab.run(*show, preexec_fn=change, restore_signals=False)
            self.assertEqual(recorded.stdout, plain.stdout)
            return plain.stdout

        seen = {
            run(lambda: None),
            run(lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)),
            run(lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)),
            run(lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL)),
            run(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])),
        }
        self.assertEqual(len(seen), 5, seen)


if __name__ == "__main__":
    unittest.main()
