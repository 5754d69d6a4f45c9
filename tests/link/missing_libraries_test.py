#!/usr/bin/env python3
"""All libraries that are missing, and who needs each, through what."""

from lab import Lab

lab = Lab()
for name in ("gone1", "gone2", "gone3"):
    lab.library(f"away/lib{name}.so", f"int {name}(void) {{ return 1; }}")
away = f"-L{lab.path('away')}"
lab.library("libmiddle.so", "int gone1(void), gone2(void); int middle(void) { return gone1() + gone2(); }",
            away, "-lgone1", "-lgone2")
top = lab.library("top.so", "int middle(void), gone2(void), gone3(void); int use(void) "
                  "{ return middle() + gone2() + gone3(); }", f"-L{lab.root}", "-lmiddle", away, "-lgone3",
                  "-lgone2", "-Wl,-rpath,$ORIGIN", f"-Wl,-rpath-link,{lab.path('away')}")
model = lab.ldd(top)
lab.open(top, loads=False)
by_name = {entry["name"]: entry for entry in model["missing_libraries"]}
lab.expect("the first asker, breadth first", by_name["libgone2.so"]["needed_by"] == str(top), by_name)
lab.expect("and the other", by_name["libgone2.so"]["also_needed_by"] == [str(lab.path("libmiddle.so"))],
           by_name)
lab.expect("through what", by_name["libgone1.so"]["chain"] == [str(top), str(lab.path("libmiddle.so"))],
           by_name)
lab.end()
