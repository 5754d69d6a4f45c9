#!/usr/bin/env python3
"""This machine's own programs and libraries: found where its loader finds them, nothing missing."""

import glob
import os
import shutil

from lab import Lab

lab = Lab()
files = [shutil.which(name) for name in ("python3", "git", "gcc", "cmake", "ld", "bash")]
files += sorted(glob.glob("/usr/lib/x86_64-linux-gnu/lib*.so.?") + glob.glob("/lib64/lib*.so.?"))[::9][:60]
checked = 0
for file in files:
    if file and os.path.exists(file):
        with open(file, "rb") as stream:
            if stream.read(4) != b"\x7fELF":
                continue
        lab.ldd(file)
        checked += 1
lab.expect("some files", checked >= 5, files)

# -z nodefaultlib: the default folders and what the cache has of them are left out.
lab.ldd(lab.library("nodefault.so", "int use(void) { return 1; }", "-lm", "-Wl,-z,nodefaultlib"))
# A folder for better processors.
lab.library("plain/libh.so", "int h(void) { return 1; }")
for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v9"):
    lab.library(f"plain/glibc-hwcaps/{level}/libh.so", "int h(void) { return 1; }")
for folder in (["-Wl,-rpath,$ORIGIN/plain"], []):
    lab.library_path = "" if folder else lab.path("plain")
    lab.ldd(lab.library("hwcaps.so", "int h(void); int use(void) { return h(); }",
                        f"-L{lab.path('plain')}", "-lh", *folder))
lab.end()
