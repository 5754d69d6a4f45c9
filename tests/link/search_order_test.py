#!/usr/bin/env python3
"""RPATH, LD_LIBRARY_PATH, RUNPATH: which folder wins, and for whom."""

from lab import Lab

lab = Lab()
NEW = "-Wl,--enable-new-dtags"
for folder in ("rpath", "variable", "runpath"):
    lab.library(f"{folder}/liba.so", f"int a(void) {{ return 1; }} int in_{folder};")
lab.library("rpath/libdeep.so", "int deep(void) { return 1; }")
lab.library("runpath/libdeep.so", "int deep(void) { return 1; }")

by_rpath = lab.library("by_rpath.so", "int a(void); int f(void) { return a(); }", "-Lrpath",
                       f"-L{lab.path('rpath')}", "-la", "-Wl,-rpath,$ORIGIN/rpath")
by_runpath = lab.library("by_runpath.so", "int a(void); int f(void) { return a(); }",
                         f"-L{lab.path('rpath')}", "-la", "-Wl,-rpath,$ORIGIN/runpath", NEW)
nothing = lab.library("nothing.so", "int a(void); int f(void) { return a(); }",
                      f"-L{lab.path('rpath')}", "-la")
for variable in ("", lab.path("variable"), f"/nowhere:{lab.path('variable')}"):
    lab.library_path = variable
    for file in (by_rpath, by_runpath, nothing):
        lab.ldd(file, f"{file.name} with LD_LIBRARY_PATH={variable}")
        lab.open(file, f"{file.name} with LD_LIBRARY_PATH={variable}")
lab.library_path = ""

# A library without RPATH that needs another: the RPATH of its loader serves, a RUNPATH does not.
for style, flags in (("rpath", []), ("runpath", [NEW])):
    lab.library(f"{style}/libmiddle.so", "int deep(void); int middle(void) { return deep(); }",
                f"-L{lab.path('rpath')}", "-ldeep")
    top = lab.library(f"top_{style}.so", "int middle(void); int f(void) { return middle(); }",
                      f"-L{lab.path(style)}", "-lmiddle", f"-Wl,-rpath,$ORIGIN/{style}", *flags,
                      f"-Wl,-rpath-link,{lab.path('rpath')}")
    model = lab.ldd(top)
    lab.open(top)
    lab.expect(f"{style} for a need of a need", model["loads"] == (style == "rpath"), model)

# One in the middle with a RUNPATH of its own does not ask the RPATH of its loader.
lab.library("rpath/libown.so", "int deep(void); int own(void) { return deep(); }",
            f"-L{lab.path('rpath')}", "-ldeep", "-Wl,-rpath,/nowhere", NEW)
own = lab.library("top_own.so", "int own(void); int f(void) { return own(); }",
                  f"-L{lab.path('rpath')}", "-lown", "-Wl,-rpath,$ORIGIN/rpath",
                  f"-Wl,-rpath-link,{lab.path('rpath')}")
lab.ldd(own)
lab.open(own, loads=False)
lab.end()
