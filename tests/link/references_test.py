#!/usr/bin/env python3
"""Which undefined symbols count: strong ones that a relocation names, lazily bound calls too."""

from lab import Lab

lab = Lab()
CASES = {
    "call": ("int gone(void); int use(void) { return gone(); }", True),
    "address": ("int gone(void); int (*use)(void) = gone;", True),
    "data": ("extern int gone; int use(void) { return gone; }", True),
    "weak call": ("int gone(void) __attribute__((weak)); int use(void) { return gone(); }", False),
    "weak data": ("extern int gone __attribute__((weak)); int use(void) { return gone; }", False),
    "declared": ("int gone(void); int use(void) { return 0; }", False),
    "thread local": ("extern __thread int gone; int use(void) { return gone; }", True),
    "hidden": ('int here(void) __attribute__((visibility("hidden"))); int here(void) { return 1; }'
               "int use(void) { return here(); }", False),
    "ifunc": ("static int real(void) { return 1; } static void* pick(void) { return real; }"
              'int gone(void) __attribute__((ifunc("pick"))); int use(void) { return gone(); }', False),
}
for binding in ("-Wl,-z,lazy", "-Wl,-z,now"):
    for hashes in ("gnu", "sysv", "both"):
        for number, (name, (code, missing)) in enumerate(CASES.items()):
            file = lab.library(f"{number}{binding[-3:]}{hashes}.so", code, binding,
                               f"-Wl,--hash-style={hashes}")
            what = f"{name}, {binding}, {hashes}"
            lab.ldd(file, what)
            lab.open(file, what, loads=not missing)

# An undefined symbol that no relocation names is looked up by nobody.
unused = lab.library("unused.so", "int use(void) { return 0; }", "-Wl,-u,gone")
lab.ldd(unused)
lab.open(unused, loads=True)

# Many exports, found by either table.
many = "".join(f"int s{i}(void) {{ return {i}; }}" for i in range(3000))
some = "".join(f"int s{i}(void);" for i in range(0, 3100, 7))
uses = "+".join(f"s{i}()" for i in range(0, 3100, 7))
for hashes in ("gnu", "sysv", "both"):
    lab.library(f"{hashes}/libmany.so", many, f"-Wl,--hash-style={hashes}")
    user = lab.library(f"many_{hashes}.so", f"{some} int use(void) {{ return {uses}; }}",
                       f"-L{lab.path(hashes)}", "-lmany", f"-Wl,-rpath,$ORIGIN/{hashes}")
    lab.ldd(user)
    lab.open(user, loads=False)

# What a library defines and hides serves nobody else.
lab.library("libhides.so", 'int f(void) __attribute__((visibility("hidden"))); int f(void) { return 1; }'
            'int p(void) __attribute__((visibility("protected"))); int p(void) { return 1; }'
            "int here(void) { return f(); }")
for name in ("f", "p"):
    user = lab.library(f"wants_{name}.so", f"int {name}(void); int use(void) {{ return {name}(); }}",
                       f"-L{lab.root}", "-lhides", "-Wl,-rpath,$ORIGIN")
    lab.ldd(user)
    lab.open(user, loads=name == "p")
lab.end()
