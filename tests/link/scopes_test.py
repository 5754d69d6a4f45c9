#!/usr/bin/env python3
"""Which objects serve a symbol: the program, what was opened globally, the opened file's own needs."""

from lab import Lab

lab = Lab()
lab.library("libprovider.so", "int f(void) { return 1; }")
lone = lab.library("lone.so", "int f(void); int use(void) { return f(); }")
lab.ldd(lone)
lab.open(lone, "nobody has f", loads=False)

# The program serves what it exports.
lab.host("-Wl,--export-dynamic", "-Wl,-u,main")
main_user = lab.library("main_user.so", "int main(int, char**); void* use(void) { return main; }")
lab.open(main_user, "main of a program that exports it")
lab.host()
lab.open(main_user, "main of a program that does not")

# Needs of the program are global; those of another opened file are not.
lab.host(f"-L{lab.root}", "-lprovider", "-Wl,-rpath,$ORIGIN/../..")
lab.open(lone, "f is in a need of the program", loads=True)
lab.host()

# A need's needs serve, breadth first, also for one that is below.
lab.library("libleaf.so", "int f(void); int leaf(void) { return f(); }")
lab.library("libside.so", "int f(void) { return 1; }")
top = lab.library("top.so", "int leaf(void); int use(void) { return leaf(); }", f"-L{lab.root}",
                  "-lleaf", "-lside", "-Wl,-rpath,$ORIGIN")
lab.ldd(top)
lab.open(top, "a leaf is served by its loader's other need", loads=True)
lab.ldd(lab.path("libleaf.so"))
lab.open(lab.path("libleaf.so"), "the leaf by itself", loads=False)

# -Bsymbolic changes who is asked first, not whether.
symbolic = lab.library("symbolic.so", "int f(void); int g(void) { return 1; } int use(void) "
                       "{ return f() + g(); }", "-Wl,-Bsymbolic")
lab.ldd(symbolic)
lab.open(symbolic, loads=False)
lab.end()
