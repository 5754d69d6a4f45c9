"""How wide the annotated spills of a cubin are: read apart from cuproof, from the attribute ANNOTATIONS
and the instructions that it points at (docs/formats.md)."""

import struct
from collections import Counter
from pathlib import Path

ANNOTATIONS, SPILL = 0x55, 1
# Instructions of 16 bytes, from sm_70 on: low 12 bits. 0x987 is a store of sm_107.
WIDE = {0x387: "store", 0x987: "store", 0x983: "load"}
# Of 8 bytes before: high 13 bits.
NARROW = {0xEF50 >> 3: "store", 0xEF40 >> 3: "load"}
BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16}
HEADER = struct.Struct("<IIQQQQIIQQ")


def sections(data):
    """(name, offset, size) of each."""
    table, = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    rows = [HEADER.unpack_from(data, table + i * HEADER.size) for i in range(count)]
    start = rows[names][4]
    for name, _, _, _, offset, size, *_ in rows:
        yield data[start + name:data.index(b"\0", start + name)].decode(), offset, size


def attributes(data, offset, size):
    """(id, payload) of each item of one .nv.info section."""
    end = offset + size
    while offset < end:
        form, number = data[offset], data[offset + 1]
        length = struct.unpack_from("<H", data, offset + 2)[0] if form == 4 else 0
        yield number, data[offset + 4:offset + 4 + length]
        offset += 4 + length


def access(data, offset, sm):
    """("store" or "load", bytes) of the instruction there; None for every other."""
    if sm >= 70:
        low, high = struct.unpack_from("<QQ", data, offset)
        way, code = WIDE.get(low & 0xFFF), high >> 9 & 7
    else:
        word, = struct.unpack_from("<Q", data, offset)
        way, code = NARROW.get(word >> 51), word >> 48 & 7
    return (way, BYTES[code]) if way else None


def spill_widths(path, sm):
    """Counter of ("store" or "load", bytes)."""
    data = Path(path).read_bytes()
    found = {name: (offset, size) for name, offset, size in sections(data)}
    widths = Counter()
    for name, place in found.items():
        if not name.startswith(".nv.info."):
            continue
        code = found[".text." + name[len(".nv.info."):]][0]
        for number, payload in attributes(data, *place):
            if number != ANNOTATIONS:
                continue
            for kind, offset in struct.iter_unpack("<II", payload):
                if kind == SPILL and (found_access := access(data, code + offset, sm)):
                    widths[found_access] += 1
    return widths


def spill_bytes(widths):
    return tuple(sum(width * count for (way, width), count in widths.items() if way == want)
                 for want in ("store", "load"))
