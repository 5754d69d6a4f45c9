#!/usr/bin/env python3
"""A library that is in the process already serves by its SONAME, its name and its file."""

import os

from lab import Lab

lab = Lab()
lab.library("real/libx.so.1", "int x(void) { return 1; }")
os.rename(lab.path("real/libx.so.1"), lab.path("real/stored-name.so"))
lab.library("stub/libx.so.1", "int x(void) { return 2; }")
user = lab.library("user.so", "int x(void); int f(void) { return x(); }",
                   "-Wl,-l:libx.so.1", f"-L{lab.path('stub')}")
lab.open(user, "no libx.so.1 anywhere", loads=False)
# A module that brings stored-name.so by its path in DT_NEEDED: its SONAME counts from then on.
lab.library("both.so", "int x(void); int f(void) { return x(); }", lab.path("real/stored-name.so"),
            f"-L{lab.path('.')}", "-Wl,-rpath,$ORIGIN:$ORIGIN/real", "-l:user.so")
os.rename(lab.path("real/stored-name.so"), lab.path("real/libx.so.1"))
lab.ldd(lab.path("both.so"), "needed directly before it is needed again")
lab.open(lab.path("both.so"), loads=True)

# Two names of one file are one object; two copies of it are two.
os.link(lab.path("real/libx.so.1"), lab.path("real/liby.so"))
twice = lab.library("twice.so", "int x(void); int f(void) { return x(); }",
                    f"-L{lab.path('real')}", "-l:libx.so.1", "-Wl,-rpath,$ORIGIN/real")
model = lab.ldd(twice)
lab.expect("one libx", sum("libx" in entry["path"] for entry in model["objects"]) == 1, model["objects"])
lab.end()
