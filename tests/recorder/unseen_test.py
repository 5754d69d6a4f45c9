#!/usr/bin/env python3
"""What cannot be recorded is said in a sentence, and runs all the same."""

import os
import stat
import struct
import unittest

from launch_lab import Lab

LOADER = "/lib64/ld-linux-x86-64.so.2"


def tiny_32_bit_program(code):
    """The least ELF file of i386 that ends with `code`."""
    base = 0x08048000
    text = b"\xb8\x01\x00\x00\x00\xbb" + struct.pack("<I", code) + b"\xcd\x80"  # exit(code)
    start = 52 + 32
    header = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack(
        "<HHIIIIIHHHHHH", 2, 3, 1, base + start, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    size = start + len(text)
    return header + struct.pack("<IIIIIIII", 1, 0, base, base, size, size, 5, 4096) + text


class Unseen(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab()

    def test_a_static_program(self):
        self.lab.write("static.c", '#include <unistd.h>\nint main(int n, char** words) {'
                                   ' if (n > 1) execv(words[1], words + 1); return 8; }')
        static = self.lab.root / "static"
        self.lab.plain("cc", "-static", "-o", static, self.lab.root / "static.c", check=True)
        run = self.lab.run(static)
        self.assertEqual(run.returncode, 8)
        self.assertIn(f"cuproof: {static} is linked statically", run.stderr)
        self.assertIn("linked statically", self.lab.record()["notes"][0])
        # What it starts is seen.
        call = self.lab.program("call", "cuInit(1); return 0;")
        self.assertEqual(self.lab.run(static, call).returncode, 0)
        self.assertTrue(self.lab.recorded())

    def test_a_set_uid_program(self):
        if os.getuid() != 0:
            self.skipTest("only root makes a file of another user")
        call = self.lab.program("set-uid", "cuInit(1); return 7;",
                                f"-Wl,-rpath,{self.lab.root}/driver")
        self.assertEqual(self.lab.run(call).returncode, 7)
        self.assertTrue(self.lab.recorded())
        os.chown(call, 1, 1)
        call.chmod(0o755 | stat.S_ISUID)
        run = self.lab.run(call)
        self.assertEqual(run.returncode, 7)
        self.assertIn(f"{call} is set-uid: the loader drops LD_PRELOAD", run.stderr)
        self.assertFalse(self.lab.recorded())

    def test_a_program_with_capabilities(self):
        if os.getuid() != 0:
            self.skipTest("only root gives capabilities")
        call = self.lab.program("capable", "cuInit(1); return 7;", f"-Wl,-rpath,{self.lab.root}/driver")
        # vfs_cap_data, revision 2, effective: CAP_NET_BIND_SERVICE.
        os.setxattr(call, "security.capability", struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0))
        (self.lab.root / "open").mkdir()
        os.chown(self.lab.root / "open", 65534, 65534)
        run = self.lab.run(call, output="open/run", preexec_fn=lambda: os.setuid(65534))
        self.assertEqual(run.returncode, 7, run.stderr)
        self.assertIn(f"{call} is given capabilities: the loader drops LD_PRELOAD", run.stderr)
        self.assertFalse(self.lab.recorded("open/run"))

    def test_a_32_bit_program(self):
        path = self.lab.root / "small"
        path.write_bytes(tiny_32_bit_program(33))
        path.chmod(0o755)
        run = self.lab.run(path)
        self.assertIn(f"{path} is a program for 32-bit x86, and the recorder is for x86-64; nothing is "
                      "recorded\n", run.stderr)
        # A kernel may be built without 32-bit programs.
        self.assertEqual(run.returncode, self.lab.plain("env", path).returncode)
        self.assertFalse((self.lab.root / "run").exists())

    def test_a_program_for_musl(self):
        # Our loader under the name of musl's: the program runs, and can say what it was given.
        loader = self.lab.root / "ld-musl-x86_64.so.1"
        loader.symlink_to(os.path.realpath(LOADER))
        program = self.lab.program("musl", 'puts(getenv("LD_PRELOAD") ? "preloaded" : "as it was"); return 2;',
                                   f"-Wl,--dynamic-linker={loader}")
        run = self.lab.run(program)
        self.assertEqual((run.returncode, run.stdout), (2, "as it was\n"))
        self.assertIn("is a program for musl", run.stderr)

    def test_scripts_are_followed_to_their_interpreter(self):
        self.lab.write("static2.c", "int main(void) { return 0; }")
        static = self.lab.root / "static2"
        self.lab.plain("cc", "-static", "-o", static, self.lab.root / "static2.c", check=True)
        first = self.lab.script("first", f"#!{static} -x\n")
        second = self.lab.script("second", f"#! {first}\n")
        by_env = self.lab.script("by-env", f"#!/usr/bin/env -S A=1 {static}\n")
        for script in (first, second, by_env):
            run = self.lab.run(script)
            self.assertIn(f"{static} is linked statically", run.stderr, script)
        self.assertEqual(self.lab.run("sh", "-c", "true").returncode, 0)
        self.assertEqual(self.lab.record()["notes"], [])


if __name__ == "__main__":
    unittest.main()
