"""Small cubins made byte by byte, for tests that no compiler is needed for."""

import struct

INFO, NOBITS, PROGBITS, SYMTAB, STRTAB = 0x70000000, 8, 1, 2, 3
RESERVED_SHARED = 1024  # from sm_90 on the first kilobyte is the system's


def number(value, size):
    return value.to_bytes(size, "little")


class Kernel:
    def __init__(self, name, registers, shared=0, barriers=0, attributes=b""):
        self.name, self.registers, self.shared, self.barriers = name, registers, shared, barriers
        self.attributes = attributes


def own_attributes(kernel):
    barriers = bytes([2, 0x4C]) + number(kernel.barriers, 2) if kernel.barriers else b""
    toolkit = bytes([4, 0x37]) + number(4, 2) + number(130, 4)
    return toolkit + barriers + kernel.attributes


class Strings:
    def __init__(self):
        self.bytes = b"\0"

    def add(self, text):
        at = len(self.bytes)
        self.bytes += text.encode() + b"\0"
        return at


def cubin(sm, kernels):
    """A linked cubin of ABI 8."""
    names, symbols_names = Strings(), Strings()
    symbols, registers = bytes(24), b""
    sections = [(".text." + kernel.name, PROGBITS, bytes(128), None, 0) for kernel in kernels]
    for i, kernel in enumerate(kernels):
        symbols += struct.pack("<IBBHQQ", symbols_names.add(kernel.name), 0x12, 0x10, i + 1, 0, 128)
        registers += bytes([4, 0x2F]) + number(8, 2) + number(i + 1, 4) + number(kernel.registers, 4)
        sections.append((".nv.info." + kernel.name, INFO, own_attributes(kernel), None, 0))
        reserved = RESERVED_SHARED if sm >= 90 else 0
        if kernel.shared + reserved:
            sections.append((".nv.shared." + kernel.name, NOBITS, b"", kernel.shared + reserved, 0))
    sections.append((".nv.info", INFO, registers, None, 0))
    sections.append((".strtab", STRTAB, symbols_names.bytes, None, 0))
    sections.append((".symtab", SYMTAB, symbols, None, len(sections)))
    places = [names.add(name) for name, *_ in sections] + [names.add(".shstrtab")]
    sections.append((".shstrtab", STRTAB, names.bytes, None, 0))
    body, table = b"", bytes(64)
    for place, (_, kind, content, size, link) in zip(places, sections):
        flags = 6 if kind == PROGBITS else 0  # allocated, executable
        table += struct.pack("<IIQQQQIIQQ", place, kind, flags, 0, 64 + len(body),
                             len(content) if size is None else size, link, 0, 1, 0)
        body += content
    ident = b"\x7fELF\x02\x01\x01\x41\x08" + bytes(7)
    return ident + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(body),
                               0x06000004 | sm << 8, 64, 0, 0, 64, len(sections) + 1,
                               len(sections)) + body + table
