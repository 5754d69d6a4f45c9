#!/usr/bin/env python3
"""The folder of a run: made by us, for us alone, never over what is there."""

import os
import pathlib
import re
import shutil
import stat
import unittest

from launch_lab import CUPROOF, Lab


class RunFolder(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.call = self.lab.program("call", "cuInit(1); return 0;")

    def mode(self, path):
        return stat.S_IMODE(os.stat(path).st_mode)

    def test_it_is_named_after_the_time_and_closed_to_others(self):
        run = self.lab.run(self.call, output=None)
        self.assertEqual(run.returncode, 0, run.stderr)
        folders = list(self.lab.root.glob("cuproof-run-*"))
        self.assertEqual(len(folders), 1)
        self.assertRegex(folders[0].name, r"^cuproof-run-\d{8}-\d{6}-\d+$")
        self.assertEqual((self.mode(folders[0]), self.mode(folders[0] / "lib")), (0o700, 0o700))
        self.assertTrue(list(folders[0].glob("*.ring")))

    def test_an_empty_folder_is_taken_and_closed(self):
        (self.lab.root / "empty").mkdir(mode=0o755)
        words = self.lab.command(self.call, output="empty")
        self.assertEqual(self.lab.plain(*words).returncode, 0)
        self.assertEqual(self.mode(self.lab.root / "empty"), 0o700)
        self.assertTrue(self.lab.recorded("empty"))

    def refusal(self, path):
        run = self.lab.plain(CUPROOF, "run", "-o", path, "--", self.call)
        self.assertEqual(run.returncode, 125)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        return run.stderr

    def test_what_is_there_is_never_written_over(self):
        self.lab.write("used/file", "mine")
        self.assertIn("is not empty", self.refusal(self.lab.root / "used"))
        self.assertEqual(os.listdir(self.lab.root / "used"), ["file"])
        self.assertIn("expected a new or an empty folder", self.refusal(self.lab.root / "used/file"))

    def test_a_link_is_not_followed(self):
        (self.lab.root / "target").mkdir()
        (self.lab.root / "link").symlink_to("target")
        for path in ("link", "link/"):
            self.assertIn("no link", self.refusal(f"{self.lab.root}/{path}"))
        self.assertEqual(os.listdir(self.lab.root / "target"), [])

    def test_a_folder_whose_parent_is_not_there(self):
        path = self.lab.root / "no/such"
        self.assertEqual(self.refusal(path), f"cuproof: {path}: could not be made: No such file or "
                                             "directory; name a folder with -o whose parent is there and "
                                             "can be written to\n")

    def test_a_path_that_ld_preload_cannot_name(self):
        for name in ("a b", "a:b", "$LIB"):
            run = self.lab.run(self.call, output=name)
            self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)
            self.assertTrue(self.lab.recorded(name), name)
            [note] = self.lab.record(name)["notes"]
            self.assertIn("LD_PRELOAD cannot name a path with a blank", note)
            place = pathlib.Path(re.search(r"(/\S*/cuproof-lib-\w{6})", note)[1])
            self.assertEqual(self.mode(place), 0o700)
            self.assertEqual(sorted(os.listdir(place)), ["libcuda.so.1", "libcuproof_inject.so"])
            shutil.rmtree(place)

    def as_other_user(self):
        if os.getuid() != 0:
            return None

        def change():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        return change

    def test_a_current_folder_that_cannot_be_written_to(self):
        closed = self.lab.root / "closed"
        closed.mkdir(mode=0o555)
        temporary = self.lab.root / "tmp"
        temporary.mkdir()
        temporary.chmod(0o777)
        run = self.lab.run(self.call, output=None, cwd=closed, preexec_fn=self.as_other_user(),
                           env={"TMPDIR": str(temporary)})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("the current folder cannot be written to", run.stderr)
        [folder] = temporary.glob("cuproof-run-*")
        self.assertTrue(list(folder.glob("*.ring")))
        self.assertEqual(list(closed.iterdir()), [])

    def test_the_folder_of_another_user(self):
        if os.getuid() != 0:
            self.skipTest("only root makes a folder of another user")
        (self.lab.root / "theirs").mkdir()
        os.chown(self.lab.root / "theirs", 1, 1)
        self.assertIn("belongs to another user", self.refusal(self.lab.root / "theirs"))


if __name__ == "__main__":
    unittest.main()
