#!/usr/bin/env python3
"""Write one hostile file to standard output.

Usage: craft.py NAME [NUMBER...]

Every file is made by hand from the layouts of docs/formats.md, so that no
compressor, zip tool or toolkit is needed and each lie is exactly the one that
a test asks for. `craft.py --list` names them all.
"""

import struct
import sys
import zipfile
import zlib
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
LZ4, ZSTD = 0x2000, 0x8000
PTX, CUBIN = 1, 2
RAW, RLE, COMPRESSED = 0, 1, 2
MiB = 1 << 20


# Parts.

def container(body=b"", size=None):
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body) if size is None else size) + body


def entry(payload=b"", kind=CUBIN, arch=90, flags=0x11, version=(1, 8), stored=0, raw=0, size=None):
    padded = payload + bytes(-len(payload) % 8)
    head = struct.pack("<HHIQIIHHIIIQIIQ", kind, 0x0101, 64, len(padded) if size is None else size,
                       stored, 0, version[1], version[0], arch, 0, 0, flags, 0, 0, raw)
    return head + padded


def compressed(payload, flag, raw, kind=CUBIN, arch=90):
    return entry(payload, kind, arch, 0x11 | flag, stored=len(payload), raw=raw)


def ptx(isa="8.0", target="sm_90"):
    return (f".version {isa}\n.target {target}\n.address_size 64\n"
            ".visible .entry k() { ret; }\n\0").encode()


def cubin_header(sm, section_table=0, sections=0):
    ident = b"\x7fELF\x02\x01\x01\x41\x08" + bytes(7)
    return ident + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, section_table,
                               0x06000004 | sm << 8, 64, 0, 0, 64, sections, 0)


def section(kind=0, offset=0, size=0, name=0, flags=0):
    return struct.pack("<IIQQQQIIQQ", name, kind, flags, 0, offset, size, 0, 0, 1, 0)


def cubin(sm=90, body=b""):
    """ELF header, body, and a section table that calls the body code."""
    body = body or bytes(8)
    body += bytes(-len(body) % 8)
    return cubin_header(sm, 64 + len(body), 2) + body + section() + section(1, 64, len(body), flags=6)


def note(body, size=None, kind=2000):
    vendor = b"NVIDIA Corp\0"
    return struct.pack("<III", len(vendor), len(body) if size is None else size, kind) + vendor + body


def elf(kind, sections, tail):
    """A host ELF: header, section table, then `tail` bytes."""
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    head = struct.pack("<HHIQQQIHHHHHH", kind, 62, 1, 0, 0, 64, 0, 64, 56, 0, 64,
                       len(sections) if len(sections) < 0xFF00 else 0, 1)
    return ident + head + b"".join(sections) + tail


def endless_frames(count, blocks):
    """Frames that each start with a cubin header, leap over the frames behind them, and go on
    through the same empty blocks to the end of the file."""
    head = frame([block(RAW, 64, cubin_header(90))], MiB)
    size = len(head) + 3
    leaps = [head + block(RAW, (count - 1 - i) * size) for i in range(count)]
    return b"\0" + b"".join(leaps) + block(RAW, 0) * blocks


def elf_with(data):
    """A shared library with `data` in .nv_fatbin and its section table at the end."""
    names = b"\0.shstrtab\0.nv_fatbin\0"
    table = 64 + len(names) + len(data)
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    head = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, table, 0, 64, 56, 0, 64, 3, 1)
    return (ident + head + names + data + section() + section(3, 64, len(names), 1) +
            section(1, 64 + len(names), len(data), 11))


def block(kind, size, content=b"", last=False):
    return struct.pack("<I", int(last) | kind << 1 | size << 3)[:3] + content


def frame(blocks, raw):
    """A zstd frame in one segment that claims `raw` bytes."""
    return b"\x28\xB5\x2F\xFD\xE0" + struct.pack("<Q", raw) + b"".join(blocks)


def zeros(raw):
    """A zstd frame of `raw` zeros: 32,768 to 1."""
    full, rest = divmod(raw, 128 << 10)
    return frame([block(RLE, 128 << 10, b"\0")] * full + [block(RLE, rest, b"\0", True)], raw)


def filled(raw):
    """A frame that expands to a cubin header and zeros, just below 1,000 to 1."""
    plain = raw // 990
    blocks, left = [block(RAW, plain, cubin_header(90) + bytes(plain - 64))], raw - plain
    while left > 128 << 10:
        blocks.append(block(RLE, 128 << 10, b"\0"))
        left -= 128 << 10
    return frame(blocks + [block(RLE, left, b"\0", True)], raw)


def sparse_cubin(size):
    """A sound cubin with `size` zeros in it, and the zstd frame that it takes."""
    raw = cubin(90, bytes(size))
    blocks = [block(RAW, 64, raw[:64])]
    for at in range(0, size, 128 << 10):
        blocks.append(block(RLE, min(128 << 10, size - at), b"\0"))
    tail = raw[64 + size:]
    return frame(blocks + [block(RAW, len(tail), tail, True)], len(raw)), len(raw)


def lz4_zeros(raw):
    """An LZ4 block of `raw` zeros: 255 to 1."""
    run, last = divmod(raw - 1 - 5 - 4 - 15, 255)
    return b"\x1f\0\x01\0" + b"\xff" * run + bytes([last]) + b"\x50" + bytes(5)


def member(name, data, method=0, size=None, stored=None, crc=None, flags=0):
    """(local header and data, directory entry without its offset)"""
    packed = data
    if method == 8:
        deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = deflater.compress(data) + deflater.flush()
    sizes = struct.pack("<HIII", 0x21, zlib.crc32(data) if crc is None else crc,
                        len(packed) if stored is None else stored,
                        len(data) if size is None else size)
    common = struct.pack("<HHHH", 20, flags, method, 0) + sizes + struct.pack("<H", len(name))
    local = b"PK\x03\x04" + common + struct.pack("<H", 0) + name + packed
    return local, b"PK\x01\x02" + struct.pack("<H", 20) + common, name


def zip_of(members):
    data, directory = [], []
    at = 0
    for local, head, name in members:
        directory.append(head + struct.pack("<HHHHII", 0, 0, 0, 0, 0, at) + name)
        data.append(local)
        at += len(local)
    listed = b"".join(directory)
    count = len(members)
    wide = b""
    if count > 0xFFFE:
        wide = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, len(listed), at)
        wide += struct.pack("<IIQI", 0x07064B50, 0, at + len(listed), 1)
        count = 0xFFFF
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(listed), at, 0)
    return b"".join(data) + listed + wide + end


def good():
    return container(entry(cubin(90)) + entry(ptx("7.0", "sm_80"), PTX, 80, version=(7, 0)))


# Whole files, by name.

def fixture(name):
    """A file out of tests/fixtures/gpu_images.zip."""
    return zipfile.ZipFile(FIXTURES / "gpu_images.zip").read(name)


FILES = {
    "good": good,
    "cubin": lambda sm="90": cubin(int(sm)),
    "ptx": ptx,
    "fixture": fixture,

    # Containers.
    "empty-containers": lambda count: container() * int(count),
    "lying-container": lambda size: container(entry(cubin()), int(size)),
    "lying-entry": lambda size: container(entry(cubin(), size=int(size))),
    "lying-containers": lambda count: container(b"", 1 << 60) * int(count),
    "nested-containers": lambda count: b"".join(
        container(b"", 16 * (int(count) - i)) for i in range(int(count))),
    "container-in-image": lambda: container(entry(container(entry(cubin())))),
    "empty-entries": lambda count: container(entry(b"") * int(count)),
    "damaged-entries": lambda count: container(
        compressed(b"x", ZSTD, 8, kind=PTX) * int(count)),
    "zstd-bomb": lambda raw: container(compressed(zeros(int(raw)), ZSTD, int(raw))),
    "sparse-images": lambda count, size: (lambda packed, raw: container(
        compressed(packed, ZSTD, raw) * int(count)))(*sparse_cubin(int(size))),
    "sparse-image": lambda size: (lambda packed, raw: container(compressed(packed, ZSTD, raw)))(
        *sparse_cubin(int(size))),
    "lz4-bomb": lambda raw: container(compressed(lz4_zeros(int(raw)), LZ4, int(raw))),
    "claims-much": lambda raw: container(compressed(zeros(1000), ZSTD, int(raw))),
    "endless-lz4": lambda size: container(compressed(b"\x1f\0\x01\0" + b"\xff" * int(size), LZ4, 4096)),
    "claims-much-then-good": lambda: container(
        compressed(zeros(1000), ZSTD, (1 << 64) - 1) + entry(cubin(75), arch=75) + entry(cubin(80), arch=80)),
    "many-bombs": lambda count: container(
        compressed(filled(MiB), ZSTD, MiB) * int(count)),
    "many-archs": lambda count: container(b"".join(
        compressed(zeros(256 << 10), ZSTD, 256 << 10, arch=i + 1) for i in range(int(count)))),

    # zstd frames outside of containers.
    "zstd-magics": lambda count: b"\0" + b"\x28\xB5\x2F\xFD" * int(count),
    "endless-frames": lambda count, blocks: endless_frames(int(count), int(blocks)),
    "empty-block-frames": lambda count, blocks: b"\0" + (
        frame([block(RAW, 0)] * int(blocks), 1 << 20) * int(count)),
    "frame-bombs": lambda count: b"\0" + filled(MiB) * int(count),

    # Cubins and host objects whose tables make a naive reader go over the same bytes again.
    "notes": lambda count: container(entry(cubin(90, note(b"", 1 << 30) * int(count)))),
    "compat-sections": lambda size: (
        cubin_header(90, 64, 0xFFFF) + section(0x70000086, 64 + 0xFFFF * 64, int(size)) * 0xFFFF +
        b"\x04\x05\0\0" * (int(size) // 4)),
    "section-names": lambda count, size: elf(
        3, [section(size=int(count))] + [section(3, 64 + 64 * int(count), int(size))] +
        [section(1, 64, 64, i) for i in range(int(count) - 2)], b"n" * int(size)),
    "string-sections": lambda count, size: elf(
        1, [section(size=int(count))] + [section(3, 64 + 64 * int(count), int(size))] * (int(count) - 1),
        b"n" * int(size)),
    "needed-names": lambda size: needed_names(int(size)),
    "archive-names": lambda count, size: archive_names(int(count), int(size)),
    "pe": lambda: pe(good()),
    "elf": lambda: elf_with(good()),
    "archive-members": lambda count: b"!<arch>\n" + archive_member("x/", b"") * int(count),

    # zips.
    "zip": lambda name="a.cubin": zip_of([member(name.encode(), cubin())]),
    "zip-bomb": lambda raw: zip_of([member(b"a.cubin", cubin_header(90) + bytes(int(raw)), 8)]),
    "zip-lying-size": lambda size: zip_of([member(b"a.cubin", cubin(), 8, size=int(size))]),
    "zip-lying-stored": lambda size: zip_of([member(b"a.cubin", cubin(), size=int(size),
                                                    stored=int(size))]),
    "zip-bad-crc": lambda: zip_of([member(b"a.cubin", cubin(), 8, crc=1)]),
    "zip-encrypted": lambda: zip_of([member(b"a.cubin", bytes(12) + cubin(), flags=1)]),
    "zip-method": lambda method: zip_of([member(b"a.cubin", cubin(), int(method))]),
    "zip-members": lambda count: zip_of(
        [member(b"m%d" % i, b"\0") for i in range(int(count))] + [member(b"a.cubin", cubin())]),
    "zip-libraries": lambda count: zip_of(
        [member(b"p/_C%s.so" % letters(i), elf_with(good())) for i in range(int(count))] +
        [member(b"p/runs.so", elf_with(container(entry(cubin(75), arch=75))))]),
    "zip-lists": lambda count, entries: zip_of([member(
        b"f", container(entry(b"") * int(entries)), 8)] * int(count)),
    "zip-nested": lambda depth: nested(int(depth)),
    "zip-overlap": lambda count: overlap(int(count)),
    "zip-comment-ends": lambda count: zip_of([member(b"a.cubin", cubin())])[:-2] + struct.pack(
        "<H", 22 * int(count)) + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0, 0, 0, 0, 0) * int(count),
    "wheel": lambda: wheel(),
    "wheel-without-metadata": lambda: wheel(metadata=False),
    "wheel-lying-record": lambda: wheel(record="op.so,sha256=AAAA,1\nnot-there.so,sha256=BBBB,2\n"),
}


def letters(number):
    """A number without digits, for names that differ in more than numbers."""
    return str(number).translate(str.maketrans("0123456789", "abcdefghij")).encode()


def nested(depth):
    data = cubin()
    for _ in range(depth):
        data = zip_of([member(b"z", data)])
    return data


def overlap(count):
    """`count` directory entries that all lead to the same bytes."""
    local, head, name = member(b"a.cubin", cubin(90, bytes(10000)))
    listed = (head + struct.pack("<HHHHII", 0, 0, 0, 0, 0, 0) + name) * count
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(listed), len(local), 0)
    return local + listed + end


def wheel(metadata=True, record="op.so,,\n"):
    members = [member(b"op.so", elf_with(good()))]
    if metadata:
        members.append(member(b"op-1.0.dist-info/METADATA", b"Name: op\nVersion: 1.0\n"))
    members.append(member(b"op-1.0.dist-info/RECORD", record.encode()))
    return zip_of(members)


def pe(data):
    """A Windows DLL of one section, .nv_fatb."""
    head = b"MZ" + bytes(58) + struct.pack("<I", 64)
    head += struct.pack("<IHHIIIHH", 0x4550, 0x8664, 1, 0, 0, 0, 0, 0x2022)
    at = len(head) + 40
    return head + struct.pack("<8sIIIIIIHHI", b".nv_fatb", len(data), 0, len(data), at, 0, 0, 0, 0, 0) + data


def needed_names(size):
    """4,096 DT_NEEDED entries that all name one text of `size` bytes."""
    count = 4096
    dynamic_at, names_at = 64 + 2 * 56, 64 + 2 * 56 + 16 * (count + 3)
    head = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, names_at + size, names_at + size, 8)
    dynamic = struct.pack("<IIQQQQQQ", 2, 4, dynamic_at, dynamic_at, dynamic_at, 16 * (count + 3), 0, 8)
    entries = struct.pack("<QQQQ", 5, names_at, 10, size) + b"".join(
        struct.pack("<QQ", 1, i) for i in range(count)) + bytes(16)
    return b"\x7fELF\x02\x01\x01" + bytes(9) + head + load + dynamic + entries + b"n" * size


def archive_member(name, data):
    return f"{name:<16}{0:<12}{0:<6}{0:<6}{0:<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)


def archive_names(count, size):
    return b"!<arch>\n" + archive_member("//", b"n" * size) + b"".join(
        archive_member(f"/{i}", b"") for i in range(count))


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in FILES:
        names = " ".join(FILES)
        sys.exit(f"usage: craft.py NAME [NUMBER...]\n{names}")
    sys.stdout.buffer.write(FILES[sys.argv[1]](*sys.argv[2:]))


if __name__ == "__main__":
    main()
