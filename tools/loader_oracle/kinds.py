"""What kind of failure a message of the loader is, finer than the message where the environment tells more."""

import functools
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "torch_history"))
import abi_twin  # noqa: E402
import exports  # noqa: E402


@functools.lru_cache(maxsize=2)
def torch_exports(site):
    names = set()
    for library in exports.LIBRARIES:
        path = Path(site, "torch/lib", library)
        if path.exists():
            names |= {name for name, _ in exports.exported(path.read_bytes())}
    return names


@functools.lru_cache(maxsize=2)
def base_names(site):
    return set(demangle_bases(sorted(n for n in torch_exports(site) if n.startswith("_Z"))))


def demangle_bases(names):
    """Qualified names without parameters."""
    done = subprocess.run(["c++filt", "-p"], input="\n".join(names), capture_output=True, text=True)
    return [re.sub(r"\[abi:\w+\]", "", line) for line in done.stdout.splitlines()]


def symbol_kind(name, site):
    if not name.startswith("_Z"):
        shim = re.match(r"aoti_torch_|torch_", name)
        return "symbol: shim of a newer torch" if shim else "symbol: C name"
    have = torch_exports(site)
    if not have:
        return "symbol: C++ name, no torch"
    for abi in ("old", "new"):
        twin = abi_twin.twin(name, abi)
        if twin and twin != name and twin in have:
            return "symbol: other string ABI"
    if demangle_bases([name])[0] in base_names(site):
        return "symbol: changed parameter"
    return "symbol: not in this torch"


def kind_of(outcome, site):
    """(kind, what it names) of a child's outcome that is no load."""
    said = outcome["said"]
    if outcome.get("died"):
        return "process died", outcome["died"]
    if m := re.match(r"(\S+): cannot open shared object file", said):
        library = m.group(1)
        if "/" in library:
            return "file: other machine", ""
        stem = library.split(".so")[0]
        others = [p.name for p in Path(site).glob(f"nvidia/**/{stem}.so.*")]
        return ("library: other number is there" if others else "library: missing"), library
    if m := re.search(r"version `([^']+)' not found", said):
        version = m.group(1)
        for prefix in ("GLIBCXX", "GLIBC", "CXXABI"):
            if version.startswith(prefix + "_"):
                return f"version: {prefix}", version
        return "version: other library", version
    if m := re.search(r"undefined symbol: ([^\s,]+), version (\S+)", said):
        return "symbol: of a version", f"{m.group(1)}@{m.group(2)}"
    if m := re.search(r"undefined symbol: (\S+)", said):
        return symbol_kind(m.group(1), site), m.group(1)
    for text in ("wrong ELF class", "invalid ELF header", "file too short", "OS ABI invalid",
                 "data encoding not little-endian", "only ET_DYN and ET_EXEC", "cannot be dlopen()ed",
                 "cannot dynamically load position-independent executable",
                 "cannot allocate memory in static TLS block", "ELF load command"):
        if text in said:
            return f"file: {text}", ""
    return "other", re.sub(r"\S*/", "", said)[:120]
