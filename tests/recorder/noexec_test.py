#!/usr/bin/env python3
"""On a file system whose files cannot be run, the libraries go elsewhere and the record stays."""

import pathlib
import re
import unittest

import private_mount

private_mount.enter()
from launch_lab import CUPROOF, Lab  # noqa: E402


class NoExec(unittest.TestCase):
    def setUp(self):
        self.lab = Lab()
        self.call = self.lab.program("call", "cuInit(1); return 4;")
        self.place = self.lab.root / "mount"
        private_mount.mount(self.place, "noexec,size=64m")
        self.addCleanup(private_mount.unmount, self.place)

    def test_the_libraries_go_elsewhere(self):
        runtime = self.lab.root / "runtime"
        runtime.mkdir()
        run = self.lab.run(self.call, output="mount/run", env={"XDG_RUNTIME_DIR": str(runtime)})
        self.assertEqual(run.returncode, 4, run.stderr)
        [note] = self.lab.record("mount/run")["notes"]
        self.assertIn("whose files cannot be run (noexec)", note)
        place = pathlib.Path(re.search(r"(/\S*/cuproof-lib-\w{6})", note)[1])
        self.assertEqual(place.parent, runtime)
        self.assertFalse((self.place / "run/lib").exists())
        self.assertTrue(self.lab.recorded("mount/run"))

    def test_nowhere_at_all(self):
        places = ("/tmp", "/dev/shm", "/var/tmp")
        if CUPROOF.startswith(tuple(f"{place}/" for place in places)):
            self.skipTest("the command to test lies where no program may be run")
        for place in places:
            private_mount.forbid_programs(place)
            self.addCleanup(private_mount.unmount, place)
        run = self.lab.run("/bin/true", output="mount/run")
        self.assertEqual(run.returncode, 125)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertIn("neither XDG_RUNTIME_DIR, /tmp, /dev/shm nor /var/tmp can hold", run.stderr)
        self.assertFalse((self.place / "run").exists())


if __name__ == "__main__":
    unittest.main()
