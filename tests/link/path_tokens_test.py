#!/usr/bin/env python3
"""$ORIGIN, $LIB and links on the way to a library."""

from lab import Lab

lab = Lab()
lab.library("deep/er/liba.so", "int a(void) { return 1; }")
link = ["-L" + str(lab.path("deep/er")), "-la"]
code = "int a(void); int f(void) { return a(); }"
for number, path in enumerate(("$ORIGIN/er", "${ORIGIN}/er", "$ORIGIN/../deep//er/", "$ORIGIN/$LIB",
                               "er", "", ":$ORIGIN/er", "$ORIGINAL/er", "/$NOTHING:$ORIGIN/er")):
    file = lab.library(f"deep/lib{number}.so", code, *link, f"-Wl,-rpath,{path}")
    lab.ldd(file, f"RPATH {path}")
    lab.open(file, f"RPATH {path}")

# $ORIGIN is the folder of the path by which an object was opened, not of the file behind a link.
other = lab.path("other")
other.mkdir()
(other / "link.so").symlink_to("../deep/lib0.so")
lab.ldd(other / "link.so", "through a link to the file")
lab.open(other / "link.so", "through a link to the file", loads=False)
(lab.root / "folder").symlink_to("deep")
lab.open(lab.root / "folder/lib0.so", "through a link to the folder", loads=True)

# Of a program it is the folder of the file, whatever link was run.
lab.host("-Wl,-rpath,$ORIGIN/../../deep/er")
plain = lab.library("plain.so", code, *link)
lab.open(plain, "the RPATH of the program serves what it opens", loads=True)
lab.end()
