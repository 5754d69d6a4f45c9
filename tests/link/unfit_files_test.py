#!/usr/bin/env python3
"""Files of a name that are for another machine are passed over; one that is no ELF file ends it."""

from lab import Lab

lab = Lab()
good = lab.library("good/liba.so", "int a(void) { return 1; }").read_bytes()
code = "int a(void); int f(void) { return a(); }"
link = [f"-L{lab.path('good')}", "-la"]
unfit = {
    "class": good[:4] + b"\x01" + good[5:],
    "machine": good[:18] + b"\xb7\x00" + good[20:],
    "order": good[:5] + b"\x02" + good[6:],
    "text": b"/* GNU ld script */ INPUT(liba.so.1)\n" * 4,
    "short": b"\x7fELF",
    "empty": b"",
}
for kind, content in unfit.items():
    lab.write(f"{kind}/liba.so", content)
    before = lab.library(f"{kind}_first.so", code, *link, f"-Wl,-rpath,$ORIGIN/{kind}:$ORIGIN/good")
    alone = lab.library(f"{kind}_only.so", code, *link, f"-Wl,-rpath,$ORIGIN/{kind}")
    lab.open(before, f"{kind} before a good one")
    lab.open(alone, f"{kind} alone", loads=False)
    # The loader says "No such file" of one for another machine; we say what it is.
    lab.open(lab.path(f"{kind}/liba.so"), f"{kind} itself", loads=False, words=kind != "machine")
lab.path("folder/liba.so").mkdir(parents=True)
lab.open(lab.library("folder_first.so", code, *link, "-Wl,-rpath,$ORIGIN/folder:$ORIGIN/good"),
         "a folder of that name")

program = lab.program("program", "int main(void) { return 0; }")
lab.open(program, "a program", loads=False)
lab.open(lab.path("nowhere.so"), "no such file", loads=False)
lab.end()
