#!/usr/bin/env python3
"""The program's own end is ours; what we could not do is 125, 126 and 127, as env and nohup have it."""

import os
import signal
import unittest

from launch_lab import Lab


class ExitCode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab()

    def test_the_programs_code_is_passed_on(self):
        for code in (0, 1, 3, 125, 255):
            run = self.lab.run("sh", "-c", f"echo out; echo err >&2; exit {code}")
            self.assertEqual((run.returncode, run.stdout), (code, "out\n"))
            self.assertTrue(run.stderr.startswith("err\n"), run.stderr)
            record = self.lab.record()
            self.assertEqual(record["exit_code"], code)
            self.assertNotIn("signal", record)
            self.assertGreaterEqual(record["end"]["monotonic_ns"], record["start"]["monotonic_ns"])

    def test_death_by_a_signal_is_128_and_its_number(self):
        for name in (signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL):
            run = self.lab.run("sh", "-c", f"kill -{int(name)} $$")
            self.assertEqual(run.returncode, 128 + name)
            record = self.lab.record()
            self.assertEqual(record["signal"], name)
            self.assertNotIn("exit_code", record)

    def test_no_such_command(self):
        run = self.lab.run("no-such-command-anywhere")
        self.assertEqual((run.returncode, run.stderr),
                         (127, "cuproof: no-such-command-anywhere: cannot be executed: no such command\n"))
        self.assertFalse((self.lab.root / "run").exists())

    def test_a_file_that_cannot_be_executed(self):
        path = self.lab.write("data.txt", "words")
        for word in (path, self.lab.root):
            run = self.lab.run(word)
            self.assertEqual(run.returncode, 126)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            self.assertFalse((self.lab.root / "run").exists())

    def test_a_program_whose_interpreter_is_not_there_takes_the_folder_back(self):
        path = self.lab.script("lost", "#!/no/such/interpreter\n")
        for options in ((), ("--exec",)):
            run = self.lab.run(path, options=options)
            self.assertEqual((run.returncode, run.stderr),
                             (127, f"cuproof: {path}: cannot be executed: No such file or directory\n"))
            self.assertFalse((self.lab.root / "run").exists())

    def test_a_file_without_a_format_is_given_to_the_shell(self):
        path = self.lab.script("bare", "echo by sh\nexit 9\n")
        run = self.lab.run(path)
        self.assertEqual((run.returncode, run.stdout), (9, "by sh\n"))

    def test_wrong_arguments(self):
        for options in (("--ring-records", "1000"), ("--mode", "fast"), ("--max-events", "many"),
                        ("--no-such-option",)):
            run = self.lab.run("true", options=options)
            self.assertEqual(run.returncode, 125, options)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        run = self.lab.run()
        self.assertEqual(run.returncode, 125)
        self.assertIn("expected a command behind --", run.stderr)

    def test_words_reach_the_program_as_they_are(self):
        words = ["[a,b]", "", "--", "-o", "%%", "a b", "--help", "\n", "{}"]
        run = self.lab.run("printf", "<%s>", *words)
        self.assertEqual(run.stdout, "".join(f"<{word}>" for word in words))
        self.assertEqual(self.lab.record()["command"], ["printf", "<%s>", *words])

    def test_words_need_not_be_text(self):
        run = self.lab.run("printf", "%s", os.fsdecode(b"\xff\xfe"), encoding="latin-1")
        self.assertEqual(run.stdout, "\xff\xfe")
        self.assertEqual(self.lab.record()["command"][2], "\ufffd\ufffd")

    def test_quiet_prints_nothing_of_ours(self):
        run = self.lab.run("sh", "-c", "echo err >&2", options=("--quiet",))
        self.assertEqual((run.stdout, run.stderr), ("", "err\n"))

    def test_options_are_written_down(self):
        self.lab.run("true", options=("--mode", "timed", "--dump-images", "--ring-records", "1024",
                                      "--rings", "7", "--max-events", "2M", "--max-images", "3000"))
        self.assertEqual(self.lab.record()["options"],
                         {"mode": "timed", "dump_images": True, "ring_records": 1024, "rings": 7,
                          "max_events": 2 << 20, "max_images": 3000})


if __name__ == "__main__":
    unittest.main()
