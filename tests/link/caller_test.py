#!/usr/bin/env python3
"""Whose RPATH helps a file that is opened: the program's in any case, that of the library whose code
calls dlopen (libpython) only for a name without a slash."""

from lab import Lab

OPENER = r"""
#include <dlfcn.h>
#include <stdio.h>
int open_all(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (!dlopen(argv[i], RTLD_NOW | RTLD_LOCAL)) { printf("%s\n", dlerror()); return 1; }
  }
  return 0;
}
"""
MAIN = "int open_all(int, char**); int main(int argc, char** argv) { return open_all(argc, argv); }"

lab = Lab()
lab.library("hidden/libdep.so", "int dep(void) { return 1; }")
plugin = lab.library("plugin.so", "int dep(void); int use(void) { return dep(); }",
                     f"-L{lab.path('hidden')}", "-ldep")
for style in ("--disable-new-dtags", "--enable-new-dtags"):
    for caller, program in ((["-Wl,-rpath,$ORIGIN/hidden", f"-Wl,{style}"], []),
                            ([], ["-Wl,-rpath,$ORIGIN/../../hidden", f"-Wl,{style}"])):
        lab.library("libpython3.11.so.1.0", OPENER, "-ldl", *caller)
        lab.program("env/bin/python3", MAIN, f"-L{lab.root}", "-l:libpython3.11.so.1.0", *program,
                    f"-Wl,-rpath,{lab.root}")
        what = f"{style}, caller {caller}, program {program}"
        lab.open(plugin, what)
        lab.open("libdep.so", f"{what}, a name without a slash")
lab.end()
