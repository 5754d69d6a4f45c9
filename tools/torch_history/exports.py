"""What a torch release exports: the dynamic symbols of the libraries that extensions link against."""

import gzip
import json
import re
import struct
import zipfile

LIBRARIES = ("libc10.so", "libc10_cuda.so", "libtorch_cpu.so", "libtorch_cuda.so", "libtorch_python.so")
SHT_DYNSYM = 11
LOCAL, WEAK = 0, 2
TYPES = (0, 1, 2, 6, 10)  # none, object, function, TLS, indirect function
DEFAULT, PROTECTED = 0, 3


def dynamic_symbols(data):
    """(name, info, other, section) of each entry of the dynamic symbol table."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    offset, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    rows = [struct.unpack_from("<IIQQQQI", data, offset + i * size) for i in range(count)]
    for row in rows:
        if row[1] != SHT_DYNSYM:
            continue
        strings = rows[row[6]]
        text = bytes(data[strings[4]:strings[4] + strings[5]])
        table = data[row[4]:row[4] + row[5]]
        for name, info, other, section, _, _ in struct.iter_unpack("<IBBHQQ", table):
            yield text[name:text.index(b"\0", name)].decode("latin-1"), info, other, section


def exported(data):
    """(name, weak) of every defined symbol that another object can bind to."""
    return sorted({(name, info >> 4 == WEAK) for name, info, other, section in dynamic_symbols(data)
                   if section != 0 and info >> 4 != LOCAL and info & 15 in TYPES
                   and other & 3 in (DEFAULT, PROTECTED)})


def undefined(data):
    """Names that an object wants of others, without those that it can do without."""
    return sorted({name for name, info, _, section in dynamic_symbols(data)
                   if section == 0 and info >> 4 not in (LOCAL, WEAK) and name})


def cuda_tag(version_text):
    found = re.search(r"^cuda[^=]*= *'([^']+)'", version_text, re.M)
    return found.group(1) if found else "none"


def string_abi(exports):
    """old or new, by the names themselves: TORCH_CHECK's failure takes a std::string."""
    names = {name for name, _ in exports["libc10.so"]}
    old = any(n.startswith("_ZN3c106detail14torchCheckFail") and n.endswith("RKSs") for n in names)
    new = any(n.startswith("_ZN3c106detail14torchCheckFail") and "__cxx11" in n for n in names)
    if old == new:
        raise ValueError("cannot tell the string ABI of this build")
    return "old" if old else "new"


def read_wheel(path):
    """Reads a wheel's libraries where they are; nothing is unpacked to disk."""
    with zipfile.ZipFile(path) as z:
        libraries = {name: exported(z.read("torch/lib/" + name)) for name in LIBRARIES}
        return {"cuda": cuda_tag(z.read("torch/version.py").decode()), "exports": libraries,
                "string_abi": string_abi(libraries)}


def save(path, release):
    with gzip.open(path, "wt", compresslevel=5) as f:
        json.dump(release, f)


def load(path):
    with gzip.open(path, "rt") as f:
        return json.load(f)
