"""Writes (and, for tests, reads) data/torch_symbols.bin; docs/formats.md describes the bytes."""

import struct
from collections import Counter

MAGIC = b"CPTS"
FORMAT = 1
KEY_BITS = 40  # 8 choose the block, 32 stand in it
BLOCKS = 256
MASK = (1 << 64) - 1
ABI = {"old": 1, "new": 2}


def fingerprint(name):
    """FNV-1a over the bytes, then the finaliser of MurmurHash3: its top 40 of 64 bits."""
    value = 0xCBF29CE484222325
    for byte in name.encode("latin-1"):
        value = (value ^ byte) * 0x100000001B3 & MASK
    value ^= value >> 33
    value = value * 0xFF51AFD7ED558CCD & MASK
    value ^= value >> 33
    value = value * 0xC4CEB9FE1A85EC53 & MASK
    value ^= value >> 33
    return value >> (64 - KEY_BITS)


def write(releases, table):
    keys, clashes = {}, 0
    for name, (abi, libraries, bits) in table.items():
        key = fingerprint(name)
        clashes += key in keys
        keys.setdefault(key, (abi, libraries, bits))
    if clashes:
        raise ValueError(f"{clashes} names share a fingerprint: take more bits")
    common = [row for row, _ in Counter(keys.values()).most_common()]
    if len(common) > 0xFFFF:
        raise ValueError("too many kinds of rows")
    index_of = {row: i for i, row in enumerate(common)}
    head = MAGIC + struct.pack("<HHIHH", FORMAT, len(releases), len(keys), len(common), 0)
    for version, release in releases.items():
        cuda = [int(x) for x in release["cuda"].split(".")[:2]]
        head += struct.pack("<8B", *(int(x) for x in version.split(".")), ABI[release["string_abi"]],
                            *cuda, 0, 0)
    rows = b"".join(struct.pack("<BBHI", abi, libraries, 0, bits) for abi, libraries, bits in common)
    ordered = sorted(keys)
    starts, blocks, at = [], [], 0
    for block in range(BLOCKS):
        starts.append(at)
        while at < len(ordered) and ordered[at] >> 32 == block:
            at += 1
    starts.append(at)
    index = struct.pack(f"<{BLOCKS + 1}I", *starts)
    for first, last in zip(starts, starts[1:]):
        block = ordered[first:last]
        blocks.append(struct.pack(f"<{len(block)}I", *(k & 0xFFFFFFFF for k in block)))
        blocks.append(struct.pack(f"<{len(block)}H", *(index_of[keys[k]] for k in block)))
    data = head + rows + index + b"".join(blocks)
    return data, {"symbols": len(keys), "kinds of rows": len(common),
                  "chance that a foreign name is taken for one of torch's": f"{len(keys) / 2**KEY_BITS:.1e}"}


class History:
    """A reader of the file: which releases export a name."""

    def __init__(self, data):
        _, releases, self.symbols, kinds, _ = struct.unpack_from("<HHIHH", data, 4)
        self.releases = [struct.unpack_from("<8B", data, 16 + 8 * i) for i in range(releases)]
        self.versions = [".".join(map(str, row[:3])) for row in self.releases]
        at = 16 + 8 * releases
        self.kinds = [struct.unpack_from("<BBHI", data, at + 8 * i) for i in range(kinds)]
        at += 8 * kinds
        starts = struct.unpack_from(f"<{BLOCKS + 1}I", data, at)
        at += 4 * (BLOCKS + 1)
        self.found = {}
        for block in range(BLOCKS):
            count = starts[block + 1] - starts[block]
            keys = struct.unpack_from(f"<{count}I", data, at)
            rows = struct.unpack_from(f"<{count}H", data, at + 4 * count)
            at += 6 * count
            self.found.update(((block << 32) + key, self.kinds[row]) for key, row in zip(keys, rows))
        self.end = at

    def kind_of(self, name):
        return self.found.get(fingerprint(name))

    def releases_of(self, name):
        kind = self.kind_of(name)
        return [i for i in range(len(self.releases)) if kind and kind[3] >> i & 1]

    def exported(self, name, release):
        """Whether the build of that release on the index exports it."""
        kind = self.kind_of(name)
        return bool(kind and kind[3] >> release & 1 and kind[0] in (0, self.releases[release][3]))
