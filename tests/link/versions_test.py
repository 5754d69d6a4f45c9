#!/usr/bin/env python3
"""Symbol versions: wanted ones that are not there, default and hidden ones, libraries without any."""

import shutil
import struct

from lab import Lab

lab = Lab()


def script(name, *nodes):
    return f"-Wl,--version-script={lab.write(name, ' '.join(nodes))}"


V1 = "V1 { global: f; g; local: *; };"
V2 = "V2 { global: f; h; } V1;"
OLD = "int f(void) { return 1; } int g(void) { return 1; }"
NEW = ('int f1(void) { return 1; } int f2(void) { return 2; } int g(void) { return 1; }'
       'int h(void) { return 1; }'
       '__asm__(".symver f1,f@V1"); __asm__(".symver f2,f@@V2");')
lab.library("new/libv.so", NEW, script("new.map", V1, V2))
lab.library("old/libv.so", OLD, script("old.map", V1))
lab.library("plain/libv.so", OLD + " int h(void) { return 1; }")
lab.library("other/libv.so", OLD + " int h(void) { return 1; }",
            script("other.map", "W1 { global: *; };"))
lab.library("alone/libv.so", "int f2(void) { return 2; } int g(void) { return 1; }"
            'int h(void) { return 1; } __asm__(".symver f2,f@V2");', script("alone.map", V1, V2))
lab.library("base/libv.so", OLD + " int h(void) { return 1; }",
            script("base.map", "V1 { local: none; }; V2 { local: none2; } V1;"))
lab.library("third/libv.so", "int f1(void) { return 1; } int f2(void) { return 2; }"
            "int g(void) { return 1; } int h(void) { return 1; }"
            '__asm__(".symver f1,f@V2"); __asm__(".symver f2,f@@V3");',
            script("third.map", V1, V2, "V3 { global: f; } V2;"))

USES = {
    "f": "int f(void); int use(void) { return f(); }",
    "g": "int g(void); int use(void) { return g(); }",
    "h": "int h(void); int use(void) { return h(); }",
    "weak": "int h(void) __attribute__((weak)); int use(void) { return h ? h() : 0; }",
    "fh": "int f(void), h(void); int use(void) { return f() + h(); }",
    "f1": 'int f(void); __asm__(".symver f,f@V1"); int use(void) { return f(); }',
    "data": "int f(void); int (*use)(void) = f;",
}
FOLDERS = ("new", "old", "plain", "other", "alone", "base", "third")
for built in ("new", "plain", "old"):
    for name, code in USES.items():
        if (built == "old" and name in ("h", "fh")) or (built == "plain" and name == "f1"):
            continue  # does not link
        for run in FOLDERS:
            file = lab.library(f"user_{built}_{name}_{run}.so", code, f"-L{lab.path(built)}", "-lv",
                               f"-Wl,-rpath,$ORIGIN/{run}")
            what = f"{name} linked with {built}, run with {run}"
            lab.ldd(file, what)
            lab.open(file, what)

# A version need that is weak: absent, it is a warning. No linker option makes one; a bit does.
file = lab.library("weak_need.so", USES["g"], f"-L{lab.path('old')}", "-lv", "-Wl,-rpath,$ORIGIN/other")
data = bytearray(file.read_bytes())
hash_of_v1 = 0
for c in b"V1":
    hash_of_v1 = (hash_of_v1 << 4) + c
at = data.find(struct.pack("<IHH", hash_of_v1, 0, 2))
lab.expect("the need was found", at > 0)
data[at + 4:at + 6] = struct.pack("<H", 2)
file.write_bytes(data)
lab.ldd(file, "a weak version need")
lab.open(file, "a weak version need")

# A symbol that moved to another library of the scope, under the same version.
lab.library("moved/libv.so", "int g(void) { return 1; }", script("moved.map", V1))
lab.library("moved/libw.so", "int f(void) { return 1; }", script("moved2.map", V1))
shutil.copy(lab.path("old/libv.so"), lab.path("libv.so"))
moved = lab.library("user_moved.so", "int f(void), g(void); int use(void) { return f() + g(); }",
                    f"-L{lab.path('old')}", "-lv", f"-L{lab.path('moved')}", "-lw",
                    "-Wl,-rpath,$ORIGIN/moved")
lab.ldd(moved)
lab.open(moved, loads=True)
lab.end()
