#!/usr/bin/env python3
"""Make the GPU images that the differential test loads into a real driver.

Why: what `cuproof check` says about an image must be what a CUDA driver does
with it. This script makes images (cubin, PTX text, fatbin, damaged ones) from
one tiny kernel of our own, each in a form where the answer is worth knowing.
`oracle.c` loads each on a GPU and records the answer; `replay_test.py` then
holds `cuproof check` to the record on machines without a GPU.

Every kernel is called `probe` and writes one number that tells which code the
driver took. The number is

    arch number * 10 + digit (+ 10000 for each further copy of the same arch)

with digit 1, 2, 3 for SASS of sm_N, sm_Na, sm_Nf and 5, 6, 7 for PTX of the
same three. A fatbin that writes 905 was therefore JIT-compiled from its
compute_90 PTX, one that writes 902 ran its sm_90a SASS.

Output is one zip with the images and a manifest.json. The images are
reproducible byte for byte with the pinned tools, except those that the
manifest marks `"reproducible": false` (compressed LTO-IR is masked with a
random seed).

Tools: the CUDA 13.0 toolkit (ptxas, fatbinary, nvcc) and, for cubins of other
releases, the ptxas of the PyPI packages named in PINNED. `--fetch` downloads
and unpacks them into the folder given with `--tools`.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

BASE = "13.0.88"

PINNED = {
    "11.8.89": "nvidia-cuda-nvcc-cu11==11.8.89",
    "12.0.140": "nvidia-cuda-nvcc-cu12==12.0.140",
    "12.2.140": "nvidia-cuda-nvcc-cu12==12.2.140",
    "12.4.131": "nvidia-cuda-nvcc-cu12==12.4.131",
    "12.6.85": "nvidia-cuda-nvcc-cu12==12.6.85",
    "12.8.93": "nvidia-cuda-nvcc-cu12==12.8.93",
    "12.9.86": "nvidia-cuda-nvcc-cu12==12.9.86",
    "13.1.115": "nvidia-cuda-nvcc==13.1.115",
    "13.2.86": "nvidia-cuda-nvcc==13.2.86",
    "13.3.73": "nvidia-cuda-nvcc==13.3.73",
    "13.4.92": "nvidia-cuda-nvcc==13.4.92",
    "13.5.37": "nvidia-cuda-nvcc==13.5.37",
}

# First PTX ISA that accepts the target; sources of cubins are written in it so
# that the oldest ptxas that knows the arch can read them.
FLOOR = {
    "50": "6.0", "52": "6.0", "60": "6.0", "70": "6.0", "72": "6.1", "75": "6.3",
    "80": "7.0", "86": "7.1", "88": "7.3", "87": "7.4", "89": "7.8", "90": "7.8",
    "90a": "8.0", "100": "8.6", "100a": "8.6", "120": "8.7", "120a": "8.7",
    "100f": "8.8", "103": "8.8", "103a": "8.8", "103f": "8.8", "120f": "8.8",
    "121": "8.8", "121a": "8.8", "121f": "8.8",
    "110": "9.0", "110a": "9.0", "110f": "9.0",
    "107": "9.4", "107a": "9.4", "107f": "9.4",
}

KIND_PTX, KIND_CUBIN = 1, 2
FLAG_64BIT, FLAG_LINUX, FLAG_WINDOWS = 0x1, 0x10, 0x40
FLAG_LZ4 = 0x2000
FLAG_ARCH_A, FLAG_ARCH_F = 0x100000, 0x200000
PLAIN = FLAG_64BIT | FLAG_LINUX


def short(version):
    """Release of a tool version: 12.9.86 is 12.9."""
    return ".".join(version.split(".")[:2])


def arch_number(arch):
    return int(arch.rstrip("af"))


def value_of(code, arch, copy=0):
    """The number that this code writes; see the module's docstring."""
    digit = {"": 1, "a": 2, "f": 3}[arch[-1] if arch[-1] in "af" else ""]
    return arch_number(arch) * 10 + digit + (4 if code == "PTX" else 0) + 10000 * copy


def meaning(code, arch, copy=0):
    """One row of a manifest's `values`: number -> which code writes it."""
    row = {"code": code, "target": ("sm_" if code == "SASS" else "compute_") + arch}
    if copy:
        row["copy"] = copy
    return {str(value_of(code, arch, copy)): row}


def merged(*rows):
    out = {}
    for row in rows:
        out.update(row)
    return out


def probe_ptx(isa, target, value, *, entry="probe", body="", before="", head=None,
              address_size=64):
    """PTX text of the kernel. `body` goes before the store, `before` in front
    of the entry; `head` replaces the three leading directives."""
    if head is None:
        head = f".version {isa}\n.target {target}\n.address_size {address_size}\n"
    return (
        f"{head}{before}.visible .entry {entry}(.param .u64 out)\n{{\n"
        "    .reg .pred %p<2>;\n    .reg .u32 %r<4>;\n    .reg .u64 %rd<3>;\n"
        "    ld.param.u64 %rd1, [out];\n    cvta.to.global.u64 %rd2, %rd1;\n"
        f"    mov.u32 %r1, {value};\n{body}"
        "    st.global.u32 [%rd2], %r1;\n    ret;\n}\n"
    ).encode()


def entry(kind, version, arch, payload, *, flags=PLAIN, compressed=0, raw=0, options=None,
          header_size=None, payload_size=None, entry_version=0x0101, option_offset=None):
    """One fatbin entry, written by hand where fatbinary would refuse to."""
    major, minor = (int(x) for x in version.split("."))
    record = b""
    if options is not None:
        text = options.encode()
        record = struct.pack("<II", 72, len(text)) + text + b"\0" * (-len(text) % 8 or 8)
    size = 64 + len(record) if header_size is None else header_size
    if option_offset is None:
        option_offset = 64 if record else 0
    body = payload + b"\0" * (-len(payload) % 8)
    suffix = {"a": FLAG_ARCH_A, "f": FLAG_ARCH_F}.get(arch[-1], 0)
    header = struct.pack(
        "<HHIQIIHHIIIQIIQ", kind, entry_version, size,
        len(body) if payload_size is None else payload_size, compressed, option_offset,
        minor, major, arch_number(arch), 0, 0, flags | suffix, 0, 0, raw)
    return header + record + body


def container(*entries, version=1, header_size=16, size=None):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, version, header_size,
                       len(body) if size is None else size) + body


def entries_of(fatbin):
    """Offsets (header, payload, end) of each entry of a well-formed fatbin."""
    out, at = [], 16
    while at < len(fatbin):
        header, payload = struct.unpack_from("<IQ", fatbin, at + 4)
        out.append((at, at + header, at + header + payload))
        at += header + payload
    return out


def patched(data, offset, new):
    return data[:offset] + new + data[offset + len(new):]


def flipped(data, offset, mask=0xFF):
    return patched(data, offset, bytes([data[offset] ^ mask]))


class Tools:
    """Runs the compilers in a scratch folder with relative names only, so that
    no recorded command holds a path of this machine. The folder always has the
    same name, because LTO-IR depends on the path of its source."""

    def __init__(self, cuda, folder, scratch):
        self.cuda, self.folder, self.scratch = Path(cuda).absolute(), Path(folder).absolute(), scratch
        self.cache = {}

    def find(self, version, tool):
        roots = [self.cuda] if version == BASE else [self.folder / version]
        for root in roots:
            for path in sorted(root.glob(f"**/bin/{tool}")):
                return path
        raise SystemExit(f"no {tool} {version} under {roots[0]} (try --fetch)")

    def run(self, version, tool, args, inputs, output):
        """Run a tool on named inputs; return (output bytes, command text)."""
        box = self.scratch / "box"
        box.mkdir()
        for name, data in inputs.items():
            (box / name).write_bytes(data)
        path = self.find(version, tool)
        # nvcc finds cicc and the headers relative to its own folder.
        done = subprocess.run([str(path), *args], cwd=box, capture_output=True, text=True)
        command = f"{tool} {' '.join(args)}"
        if done.returncode:
            raise SystemExit(f"{tool} {version}: {command}\n{done.stdout}{done.stderr}")
        data = (box / output).read_bytes()
        shutil.rmtree(box)
        return data, command

    def cubin(self, arch, version=BASE, *, copy=0, source=None, flags=(), entry_name="probe"):
        """Assemble the kernel for sm_<arch>; returns the cubin."""
        if source is None:
            source = probe_ptx(FLOOR[arch], f"sm_{arch}", value_of("SASS", arch, copy),
                               entry=entry_name)
        key = (arch, version, source, tuple(flags))
        if key not in self.cache:
            args = [*flags, f"-arch=sm_{arch}", "probe.ptx", "-o", "probe.cubin"]
            self.cache[key] = self.run(version, "ptxas", args, {"probe.ptx": source},
                                       "probe.cubin")[0]
        return self.cache[key]

    def fatbin(self, images, *, version=BASE, mode="none", extra=()):
        """Pack (kind, arch, data) images with fatbinary; returns (bytes, command)."""
        inputs, args = {}, ["-64", "--create=probe.fatbin", f"--compress-mode={mode}", *extra]
        for number, (kind, arch, data) in enumerate(images):
            name = f"{number}.{'cubin' if kind == 'elf' else kind}"
            inputs[name] = data
            args.append(f"--image3=kind={kind},sm={arch},file={name}")
        return self.run(version, "fatbinary", args, inputs, "probe.fatbin")

    def nvcc(self, source, args):
        return self.run(BASE, "nvcc", [*args, "probe.cu", "-o", "probe.out"],
                        {"probe.cu": source.encode()}, "probe.out")


class Set:
    """The images with their manifest rows, in the order they are added."""

    def __init__(self):
        self.rows, self.data = [], {}

    def add(self, name, data, what, made, command, values, reproducible=True):
        if name in self.data:
            raise SystemExit(f"two images called {name}")
        row = {
            "file": name, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data),
            "group": name.split("/")[0], "what": what, "made_by": made, "command": command,
            "values": values,
        }
        if not reproducible:
            row["reproducible"] = False
        self.rows.append(row)
        self.data[name] = data


def add_cubins(images, tools):
    """Bare cubins: each arch by ptxas 13.0, then other releases."""

    def cubin(arch, version=BASE):
        data = tools.cubin(arch, version)
        abi = f"ELF ABI {data[8]}"
        images.add(f"cubin/sm_{arch}-cuda{short(version)}.cubin", data,
                   f"cubin for sm_{arch}, {abi}, from PTX {FLOOR[arch]}",
                   f"ptxas {version}", f"ptxas -arch=sm_{arch} probe.ptx -o probe.cubin",
                   meaning("SASS", arch))

    for arch in ("75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f "
                 "120 120a 120f 121 121a").split():
        cubin(arch)
    for version, archs in {
        "11.8.89": "50 60 70 80 90", "12.0.140": "90 90a", "12.2.140": "90",
        "12.4.131": "90a", "12.6.85": "90", "12.8.93": "90 90a 100a",
        "12.9.86": "89 90 90a 100f 120a", "13.1.115": "90 90a", "13.2.86": "90",
        "13.3.73": "90", "13.4.92": "90 90a 107a", "13.5.37": "80 90 90a 100",
    }.items():
        for arch in archs.split():
            cubin(arch, version)

    def special(name, data, what, made, command, values):
        images.add(f"cubin/{name}.cubin", data, what, made, command, values)

    special("other-kernel-name", tools.cubin("90", entry_name="other"),
            "sm_90 cubin whose only kernel is not called probe", f"ptxas {BASE}",
            "ptxas -arch=sm_90 probe.ptx -o probe.cubin", {})
    special("relocatable", tools.cubin("90", flags=["-c"]),
            "relocatable sm_90 cubin (ELF type 1), nothing left to resolve",
            f"ptxas {BASE}", "ptxas -c -arch=sm_90 probe.ptx -o probe.cubin",
            meaning("SASS", "90"))
    source = probe_ptx("7.8", "sm_90", 1, before=".extern .func (.param .u32 r) helper();\n",
                       body="    { .param .u32 r; call.uni (r), helper; "
                            "ld.param.u32 %r1, [r]; }\n")
    special("relocatable-unresolved", tools.cubin("90", source=source, flags=["-c"]),
            "relocatable sm_90 cubin that calls a function it does not hold",
            f"ptxas {BASE}", "ptxas -c -arch=sm_90 probe.ptx -o probe.cubin", {})


def add_ptx(images):
    """PTX text: ISA and target pairs, then forms of the text itself."""

    def pair(isa, arch, note="", name=None):
        images.add(f"ptx/{name or f'isa{isa}-sm_{arch}'}.ptx",
                   probe_ptx(isa, f"sm_{arch}", value_of("PTX", arch)),
                   f"PTX {isa} for sm_{arch}{note}", "written by hand", "",
                   meaning("PTX", arch))

    for isa, arch in [
        ("3.1", "35"), ("4.0", "30"), ("5.0", "52"), ("6.0", "50"), ("6.0", "70"),
        ("6.3", "50"), ("6.3", "75"), ("6.4", "70"), ("6.5", "75"), ("7.0", "80"),
        ("7.1", "86"), ("7.2", "80"), ("7.3", "80"), ("7.4", "87"), ("7.5", "80"),
        ("7.6", "80"), ("7.7", "86"), ("7.8", "89"), ("7.8", "90"), ("8.0", "90"),
        ("8.0", "90a"), ("8.1", "90"), ("8.2", "90"), ("8.3", "90"), ("8.4", "90a"),
        ("8.5", "90"), ("8.6", "80"), ("8.7", "90"), ("8.8", "90"), ("9.0", "50"),
        ("9.0", "75"), ("9.0", "90"), ("9.0", "90a"),
    ]:
        pair(isa, arch)
    for isa, arch in [("9.1", "50"), ("9.1", "80"), ("9.1", "90"), ("9.1", "90a"), ("9.2", "90"),
                      ("9.3", "90"), ("9.4", "90"), ("9.5", "75"), ("10.0", "90"), ("9.10", "90")]:
        pair(isa, arch, ", an ISA newer than CUDA 13.0 has")
    for isa, arch in [("8.6", "100"), ("8.6", "100a"), ("8.8", "100f"), ("8.8", "103"),
                      ("8.7", "120"), ("8.7", "120a"), ("8.8", "120f"), ("9.0", "110"),
                      ("9.0", "121a")]:
        pair(isa, arch, ", a target above sm_90")
    for isa, arch in [("9.1", "100"), ("9.4", "107a")]:
        pair(isa, arch, ", both the ISA too new for CUDA 13.0 and the target above sm_90")
    for isa, arch in [("6.2", "75"), ("6.5", "80"), ("7.0", "86"), ("7.5", "89"), ("7.5", "90"),
                      ("7.8", "90a"), ("8.5", "100"), ("8.6", "90f"), ("8.7", "100f"),
                      ("8.5", "99")]:
        pair(isa, arch, ", a pair that does not exist: the ISA does not know the target")

    def text(name, data, what, values=None):
        images.add(f"ptx/{name}.ptx", data if isinstance(data, bytes) else data.encode(), what,
                   "written by hand", "", meaning("PTX", "80") if values is None else values)

    v80 = value_of("PTX", "80")
    good = probe_ptx("8.0", "sm_80", v80)
    text("leading-comments", b"\n\n// a comment with .version 9.9\n/* .target sm_100 */\n" + good,
         "blank lines and comments that name other versions before the directives")
    text("crlf", good.replace(b"\n", b"\r\n"), "lines end in CR LF")
    text("one-line", good.replace(b".address", b" .address").replace(b"\n", b" "),
         "the whole text on one line")
    text("nul-padded", good + b"\0" * 64, "followed by 64 NUL bytes")
    text("bom", b"\xef\xbb\xbf" + good, "starts with a UTF-8 byte order mark")
    text("target-options", good.replace(b"sm_80\n", b"sm_80, texmode_independent\n"),
         "target line with an option: sm_80, texmode_independent")
    text("target-debug", good.replace(b"sm_80\n", b"sm_80, debug\n"),
         "target line with an option: sm_80, debug")
    text("target-compute", good.replace(b"sm_80", b"compute_80"), "target written compute_80")
    text("target-sm_90b", good.replace(b"sm_80", b"sm_90b"), "target sm_90b, a suffix nobody has")
    text("no-version", good.replace(b".version 8.0\n", b""), "no .version directive")
    text("no-target", good.replace(b".target sm_80\n", b""), "no .target directive")
    text("target-first", probe_ptx("", "", v80,
         head=".target sm_80\n.version 8.0\n.address_size 64\n"), ".target before .version")
    text("no-address-size", good.replace(b".address_size 64\n", b""), "no .address_size directive")
    text("address-size-32", good.replace(b"size 64", b"size 32"), "32-bit addresses")
    text("header-only", b".version 8.0\n.target sm_80\n.address_size 64\n",
         "the three directives and no kernel")
    text("other-kernel-name", probe_ptx("8.0", "sm_80", v80, entry="other"),
         "the only kernel is not called probe", {})
    text("extern-func", probe_ptx("8.0", "sm_80", v80,
         before=".extern .func (.param .u32 r) helper();\n",
         body="    { .param .u32 r; call.uni (r), helper; ld.param.u32 %r1, [r]; }\n"),
         "calls a function that the text does not define", {})
    text("wgmma-sm_90", probe_ptx("8.0", "sm_90", value_of("PTX", "90"),
         body="    wgmma.fence.sync.aligned;\n"),
         "a wgmma instruction under target sm_90, which needs sm_90a", meaning("PTX", "90"))
    text("wgmma-sm_90a", probe_ptx("8.0", "sm_90a", value_of("PTX", "90a"),
         body="    wgmma.fence.sync.aligned;\n"),
         "a wgmma instruction under target sm_90a", meaning("PTX", "90a"))
    text("cp-async-sm_75", probe_ptx("7.0", "sm_75", value_of("PTX", "75"),
         body="    cp.async.commit_group;\n"),
         "a cp.async instruction under target sm_75, which needs sm_80", meaning("PTX", "75"))
    text("cp-async-isa6.5", probe_ptx("6.5", "sm_75", value_of("PTX", "75"),
         body="    cp.async.commit_group;\n"),
         "a cp.async instruction under ISA 6.5, which needs ISA 7.0", meaning("PTX", "75"))
    text("shfl-sm_60", probe_ptx("6.0", "sm_60", value_of("PTX", "60"),
         body="    shfl.idx.b32 %r2, %r1, 0, 31;\n"),
         "shfl without .sync under target sm_60, valid there", meaning("PTX", "60"))
    text("shfl-sm_70", probe_ptx("6.4", "sm_70", value_of("PTX", "70"),
         body="    shfl.idx.b32 %r2, %r1, 0, 31;\n"),
         "shfl without .sync under target sm_70 and ISA 6.4, gone there", meaning("PTX", "70"))
    text("shared-60k", probe_ptx("8.0", "sm_80", v80,
         before=".shared .align 4 .b8 big[60000];\n",
         body="    mov.u32 %r2, big;\n    st.shared.u32 [%r2], %r1;\n"),
         "60,000 bytes of static shared memory; 49,152 are allowed")
    text("maxntid", good.replace(b"out)\n", b"out)\n.maxntid 64, 1, 1\n.minnctapersm 2\n"),
         "launch bounds after the entry")


def add_fatbins(images, tools):
    """Fatbins: compression, which image is taken, relocatable code, LTO-IR."""

    def sass(arch, version=BASE, copy=0, **more):
        return ("elf", arch, tools.cubin(arch, version, copy=copy, **more))

    def ptx(arch, isa=None, copy=0, **more):
        isa = isa or max(FLOOR.get(arch, "7.0"), "7.0", key=lambda x: tuple(map(int, x.split("."))))
        return ("ptx", arch, probe_ptx(isa, f"sm_{arch}", value_of("PTX", arch, copy), **more))

    def values_of(parts):
        """Read the numbers back from what each part is: (kind, arch, data)."""
        rows = {}
        for kind, arch, data in parts:
            if kind == "tileir":
                continue
            code = "PTX" if kind == "ptx" else "SASS"
            for copy in range(3):
                number = value_of(code, arch, copy)
                if code == "PTX" and f"mov.u32 %r1, {number};".encode() not in data:
                    continue
                if code == "SASS" and struct.pack("<I", number) not in data:
                    continue
                rows.update(meaning(code, arch, copy))
        return rows

    def pack(name, what, *parts, version=BASE, mode="none", extra=(), values=None):
        data, command = tools.fatbin(parts, version=version, mode=mode, extra=extra)
        images.add(f"fatbin/{name}.fatbin", data, what, f"fatbinary {version}", command,
                   values_of(parts) if values is None else values)

    def by_hand(name, what, data, values):
        images.add(f"fatbin/{name}.fatbin", data, what, "written by hand", "", values)

    def part(kind_arch_data, **more):
        """The same part as an entry written by hand."""
        kind, arch, data = kind_arch_data
        if kind == "ptx":
            isa = re.search(rb"\.version (\d+\.\d+)", data).group(1).decode()
            return entry(KIND_PTX, isa, arch, data, options="", **more)
        return entry(KIND_CUBIN, f"1.{data[8]}", arch, data, **more)

    for mode in ("none", "speed", "balance", "size"):
        pack(f"sass90-ptx75-{mode}", f"sm_90 and compute_75, compress mode {mode}",
             sass("90"), ptx("75"), mode=mode)
    for mode in ("speed", "size"):
        pack(f"sass90-{mode}-all", f"sm_90 alone, every entry compressed, mode {mode}",
             sass("90"), mode=mode, extra=["--compress-all"])
        pack(f"ptx80-{mode}", f"compute_80 alone, compress mode {mode}", ptx("80"), mode=mode)
    pack("sass90-size-cuda13.5", "sm_90 of CUDA 13.5, zstd", sass("90", "13.5.37"),
         version="13.5.37", mode="size")
    pack("sass90-cuda11.8", "sm_90 of CUDA 11.8 (ABI 7) stored plain", sass("90", "11.8.89"))

    # Which image is taken.
    pack("sass80-ptx90", "sm_80 and compute_90", sass("80"), ptx("90"))
    pack("sass90a-sass80", "sm_90a and sm_80", sass("90a"), sass("80"))
    pack("sass80", "sm_80 alone", sass("80"))
    pack("sass100", "sm_100 alone", sass("100"))
    pack("sass90a", "sm_90a alone", sass("90a"))
    pack("sass89-ptx75", "sm_89 and compute_75", sass("89"), ptx("75"))
    pack("sass87-ptx87", "sm_87 (Tegra) and compute_87", sass("87"), ptx("87"))
    pack("sass100-ptx100", "sm_100 and compute_100", sass("100"), ptx("100"))
    pack("ptx90", "compute_90 alone", ptx("90"))
    pack("ptx90a", "compute_90a alone", ptx("90a"))
    pack("ptx100a", "compute_100a alone", ptx("100a"))
    pack("ptx50", "compute_50 alone", ptx("50"))
    everything = [sass(a) for a in ("75", "80", "86", "89", "90", "100", "120")] + [ptx("120")]
    pack("seven-sass-ptx120", "sm_75, 80, 86, 89, 90, 100, 120 and compute_120, zstd",
         *everything, mode="size")
    pack("six-sass-ptx120", "the same without sm_90",
         *[p for p in everything if p[:2] != ("elf", "90")], mode="size")

    for first, second in (("90", "90a"), ("90a", "90")):
        by_hand(f"sass{first}-then-sass{second}", f"sm_{first} followed by sm_{second}",
                container(part(sass(first)), part(sass(second))),
                merged(meaning("SASS", first), meaning("SASS", second)))
        by_hand(f"ptx{first}-then-ptx{second}", f"compute_{first} followed by compute_{second}",
                container(part(ptx(first)), part(ptx(second))),
                merged(meaning("PTX", first), meaning("PTX", second)))
    for first, second in (("80", "90"), ("90", "80"), ("100", "80"), ("80", "100")):
        by_hand(f"ptx{first}-then-ptx{second}", f"compute_{first} followed by compute_{second}",
                container(part(ptx(first)), part(ptx(second))),
                merged(meaning("PTX", first), meaning("PTX", second)))
    old, new = sass("90", "12.9.86"), sass("90", BASE, copy=1)
    by_hand("two-sass90-12.9-first", "two sm_90 cubins, CUDA 12.9 then 13.0 (copy 1)",
            container(part(old), part(new)), values_of([old, new]))
    by_hand("two-sass90-13.0-first", "two sm_90 cubins, CUDA 13.0 (copy 1) then 12.9",
            container(part(new), part(old)), values_of([old, new]))
    old, new = ptx("90", "7.8"), ptx("90", "8.5", copy=1)
    by_hand("two-ptx90-7.8-first", "two compute_90 texts, ISA 7.8 then 8.5 (copy 1)",
            container(part(old), part(new)), values_of([old, new]))
    by_hand("two-ptx90-8.5-first", "two compute_90 texts, ISA 8.5 (copy 1) then 7.8",
            container(part(new), part(old)), values_of([old, new]))

    # PTX that is too new for the driver, beside something that is not.
    new90, new80 = ptx("90", "9.1", copy=1), ptx("80", "9.1", copy=1)
    pack("ptx90-isa9.1", "compute_90 of ISA 9.1 alone", new90)
    pack("sass80-ptx80-isa9.1", "sm_80 and compute_80 of ISA 9.1", sass("80"), new80)
    pack("sass90-ptx90-isa9.1", "sm_90 and compute_90 of ISA 9.1", sass("90"), new90)
    pack("sass90-ptx90-isa9.5", "sm_90 of CUDA 13.5 and compute_90 of ISA 9.5, packed by 13.5",
         sass("90", "13.5.37"), ptx("90", "9.5", copy=1), version="13.5.37", mode="size")
    for name, first, second in (
        ("ptx90-isa9.1-then-ptx80", new90, ptx("80")),
        ("ptx80-then-ptx90-isa9.1", ptx("80"), new90),
        ("ptx80-isa9.1-then-ptx90", new80, ptx("90")),
        ("two-ptx90-isa9.1-first", new90, ptx("90", "8.0")),
        ("two-ptx90-isa9.1-last", ptx("90", "8.0"), new90),
        ("ptx100-isa9.1-then-ptx80", ptx("100", "9.1"), ptx("80")),
    ):
        by_hand(name, name.replace("-", " ") + ": one usable text, one that is not",
                container(part(first), part(second)), values_of([first, second]))

    # The kernel is missing in the image that fits best.
    bare = sass("90", entry_name="other")
    pack("sass90-without-probe-ptx80", "sm_90 without the kernel, compute_80 with it",
         bare, ptx("80"), values=meaning("PTX", "80"))
    by_hand("sass90-without-probe-sass90a", "sm_90 without the kernel, sm_90a with it",
            container(part(bare), part(sass("90a"))), meaning("SASS", "90a"))

    # JIT options that travel with the PTX.
    pack("ptx80-maxrregcount", "compute_80 with the option -maxrregcount=32", ptx("80"),
         extra=["--cmdline=-maxrregcount=32"])
    by_hand("ptx80-unknown-option", "compute_80 with an option no ptxas has",
            container(entry(KIND_PTX, "7.0", "80", ptx("80")[2], options="--no-such-option ")),
            meaning("PTX", "80"))

    # Relocatable code and LTO-IR.
    kernel = ('extern "C" __global__ void probe(unsigned* out) '
              "{ *out = __CUDA_ARCH__ / 10 * 10 + 8; }\n")

    def compiled(name, what, args, values, reproducible=True):
        data, command = tools.nvcc(kernel, args)
        images.add(f"fatbin/{name}.fatbin", data, what, f"nvcc {BASE}", command, values,
                   reproducible)

    def nvcc_value(arch, code, target):
        return {str(int(arch) * 10 + 8): {"code": code, "target": target}}

    compiled("nvcc-sass90-ptx75", "by nvcc, default compression: compute_80 compiled for sm_90, "
             "and compute_75", ["-fatbin", "-gencode=arch=compute_80,code=sm_90",
                                "-gencode=arch=compute_75,code=compute_75"],
             merged(nvcc_value("80", "SASS", "sm_90"), nvcc_value("75", "PTX", "compute_75")))
    compiled("nvcc-ptx90", "by nvcc: compute_90 alone, ISA 9.0",
             ["-fatbin", "-gencode=arch=compute_90,code=compute_90"],
             nvcc_value("90", "PTX", "compute_90"))
    compiled("nvcc-rdc-sass90", "by nvcc -rdc: relocatable sm_90",
             ["-fatbin", "-rdc=true", "-gencode=arch=compute_90,code=sm_90"],
             nvcc_value("90", "SASS", "sm_90"))
    compiled("nvcc-rdc-ptx90", "by nvcc -rdc: compute_90 with --compile-only among its options",
             ["-fatbin", "-rdc=true", "-gencode=arch=compute_90,code=compute_90"],
             nvcc_value("90", "PTX", "compute_90"))
    plain = "--fatbin-options=--compress-mode=none"
    compiled("nvcc-lto90", "LTO-IR for lto_90 alone, stored plain",
             ["-fatbin", "-gencode=arch=compute_90,code=lto_90", plain],
             nvcc_value("90", "LTO-IR", "lto_90"))
    compiled("nvcc-lto90-masked", "LTO-IR for lto_90 alone, compressed and masked",
             ["-fatbin", "-gencode=arch=compute_90,code=lto_90"],
             nvcc_value("90", "LTO-IR", "lto_90"), reproducible=False)
    compiled("nvcc-sass80-lto90", "sm_80 and LTO-IR for lto_90",
             ["-fatbin", "-gencode=arch=compute_80,code=sm_80",
              "-gencode=arch=compute_90,code=lto_90", plain],
             merged(nvcc_value("80", "SASS", "sm_80"), nvcc_value("90", "LTO-IR", "lto_90")))
    compiled("nvcc-ptx80-lto90", "compute_80 and LTO-IR for lto_90",
             ["-fatbin", "-gencode=arch=compute_80,code=compute_80",
              "-gencode=arch=compute_90,code=lto_90", plain],
             merged(nvcc_value("80", "PTX", "compute_80"), nvcc_value("90", "LTO-IR", "lto_90")))

    # Entry kinds that newer toolkits write.
    concat = [sass("80"), sass("86"), sass("90"), sass("90a")]
    pack("concat-four-sass", "sm_80, 86, 90, 90a in one concatenated entry (kind 0x100)",
         *concat, version="13.5.37", mode="size", extra=["--concat"])
    pack("concat-four-sass-ptx80", "the same and compute_80 as an entry of its own",
         *concat, ptx("80"), version="13.5.37", mode="size", extra=["--concat"])
    pack("concat-sass80-86-ptx90", "sm_80 and 86 concatenated, and compute_90",
         sass("80"), sass("86"), ptx("90"), version="13.5.37", mode="size", extra=["--concat"])
    tile = ("tileir", "90", b"\x7fTileIR\0\x0d\x01\0\0\0\0\0\0")
    pack("tile-only", "one Tile IR entry (kind 0x80) whose payload is only a magic", tile,
         version="13.5.37")
    pack("tile-sass90", "a Tile IR entry (kind 0x80), only a magic, and sm_90", tile, sass("90"),
         version="13.5.37")
    pack("tile-ptx80", "a Tile IR entry (kind 0x80), only a magic, and compute_80", tile,
         ptx("80"), version="13.5.37")
    by_hand("unknown-kind-then-sass90", "an entry of kind 0x40, then sm_90",
            container(entry(0x40, "1.0", "90", b"\0" * 16), part(sass("90"))),
            meaning("SASS", "90"))
    by_hand("kind4-sass90", "an sm_90 cubin under entry kind 4",
            container(entry(4, "1.8", "90", sass("90")[2])), meaning("SASS", "90"))

    # More than one container, and a container that does not start the file.
    first, second = container(part(sass("80"))), container(part(sass("90")))
    by_hand("containers-80-then-90", "two containers in a row: sm_80, then sm_90",
            first + second, merged(meaning("SASS", "80"), meaning("SASS", "90")))
    by_hand("containers-90-then-80", "two containers in a row: sm_90, then sm_80",
            second + first, merged(meaning("SASS", "80"), meaning("SASS", "90")))
    by_hand("container-at-8", "eight zero bytes before the container", b"\0" * 8 + second,
            meaning("SASS", "90"))
    by_hand("no-entries", "a container without entries", container(), {})
    return sass, ptx, part


def add_damaged(images, tools, sass, ptx, part):
    """Images whose bytes are wrong, or whose headers say what is not so."""

    def add(name, data, what, values):
        images.add(f"damaged/{name}", data, what, "patched by this script", "", values)

    v90, v80, p80 = meaning("SASS", "90"), meaning("SASS", "80"), meaning("PTX", "80")
    cubin = tools.cubin("90")
    add("empty", b"", "no bytes at all", {})
    add("four-bytes", b"\x7fELF", "the four bytes of the ELF magic", {})
    add("words.txt", b"this is not a GPU image\n", "English text", {})
    add("zeros.bin", b"\0" * 256, "256 zero bytes", {})
    host = (b"\x7fELF\x02\x01\x01" + b"\0" * 9 +
            struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 0, 0, 64, 0, 0, 64, 0, 0))
    add("host.elf", host, "ELF header of an x86-64 shared object", {})
    add("cubin-half.cubin", cubin[:len(cubin) // 2], "first half of an sm_90 cubin", v90)
    add("cubin-header.cubin", cubin[:64], "only the ELF header of an sm_90 cubin", v90)
    add("cubin-less-one.cubin", cubin[:-1], "an sm_90 cubin less its last byte", v90)
    add("cubin-machine.cubin", patched(cubin, 18, struct.pack("<H", 62)),
        "an sm_90 cubin with e_machine 62 (x86-64)", v90)
    add("cubin-abi9.cubin", patched(cubin, 8, b"\x09"), "an sm_90 cubin with ELF ABI 9", v90)
    add("cubin-osabi33.cubin", patched(cubin, 7, b"\x33\x07"),
        "an ABI 8 sm_90 cubin relabelled ABI 7", v90)
    add("cubin-shoff.cubin", patched(cubin, 40, struct.pack("<Q", len(cubin) + 4096)),
        "an sm_90 cubin whose section table lies beyond the end", v90)
    flags = struct.unpack_from("<I", cubin, 48)[0]
    add("cubin-flags-says-80.cubin", patched(cubin, 48, struct.pack("<I", flags & ~0xFF00 | 80 << 8)),
        "an sm_90 cubin whose e_flags say 80", v90)
    add("cubin-flags-says-90.cubin",
        patched(tools.cubin("80"), 48, struct.pack("<I", flags & ~0xFF00 | 90 << 8)),
        "an sm_80 cubin whose e_flags say 90", v80)
    text = probe_ptx("8.0", "sm_80", value_of("PTX", "80"))
    add("ptx-half.ptx", text[:len(text) // 2], "first half of a PTX text", p80)
    add("ptx-no-brace.ptx", text[:-2], "a PTX text without its closing brace", p80)
    add("ptx-misspelt.ptx", text.replace(b"st.global", b"st.globul"), "one letter wrong", p80)
    add("ptx-nul-inside.ptx", text.replace(b"    ret;", b"\0   ret;"),
        "a NUL in the middle of a PTX text", p80)
    add("ptx-version-word.ptx", text.replace(b".version 8.0", b".version eight"),
        "the version is a word", p80)

    def lie(name, what, data, values):
        add(f"fatbin-{name}.fatbin", data, what, values)

    good = container(part(sass("90")))
    lie("magic-only", "the 16-byte container header, size 0 and nothing behind", good[:16], v90)
    lie("eight-bytes", "first eight bytes of a container header", good[:8], v90)
    lie("half", "first half of a fatbin with one sm_90 entry", good[:len(good) // 2], v90)
    two = container(part(sass("80")), part(sass("90")))
    lie("second-cut", "sm_80 whole, sm_90 cut in the middle of its payload",
        two[:len(two) - 1500], merged(v80, v90))
    two = container(part(sass("90")), part(sass("80")))
    lie("second-cut-90-first", "sm_90 whole, sm_80 cut in the middle of its payload",
        two[:len(two) - 1500], merged(v80, v90))
    lie("size-zero", "container size 0 before an sm_90 entry",
        container(part(sass("90")), size=0), v90)
    lie("size-short", "container size 64 less than the one sm_90 entry takes",
        container(part(sass("90")), size=len(good) - 16 - 64), v90)
    lie("size-huge", "container size of 1 TiB", container(part(sass("90")), size=1 << 40), v90)
    lie("version-2", "container version 2", container(part(sass("90")), version=2), v90)
    lie("header-24", "container header size 24 with 8 bytes more",
        struct.pack("<IHHQQ", 0xBA55ED50, 1, 24, len(good) - 16, 0) + good[16:], v90)
    lie("entry-version", "entry version 0x0102",
        container(part(sass("90"), entry_version=0x0102)), v90)
    lie("payload-huge", "payload size of 1 TiB", container(part(sass("90"), payload_size=1 << 40)),
        v90)
    lie("payload-zero", "payload size 0 before a cubin", container(part(sass("90"), payload_size=0)),
        v90)
    lie("header-huge", "entry header size of 1 GiB",
        container(part(sass("90"), header_size=1 << 30)), v90)
    lie("header-zero", "entry header size 0", container(part(sass("90"), header_size=0)), v90)
    c80, c90, c90a = tools.cubin("80"), tools.cubin("90"), tools.cubin("90a")
    lie("says-90-is-80", "entry says 90, the cubin is sm_80",
        container(entry(KIND_CUBIN, "1.8", "90", c80)), v80)
    lie("says-80-is-90", "entry says 80, the cubin is sm_90",
        container(entry(KIND_CUBIN, "1.8", "80", c90)), v90)
    lie("says-80-is-90-ptx80", "entry says 80, the cubin is sm_90; and compute_80",
        container(entry(KIND_CUBIN, "1.8", "80", c90), part(ptx("80"))), merged(v90, p80))
    lie("says-90a-is-90", "entry says 90a, the cubin is sm_90",
        container(entry(KIND_CUBIN, "1.8", "90a", c90)), v90)
    lie("says-90-is-90a", "entry says 90, the cubin is sm_90a",
        container(entry(KIND_CUBIN, "1.8", "90", c90a)), meaning("SASS", "90a"))
    lie("says-90f-is-90", "entry says 90f, the cubin is sm_90",
        container(entry(KIND_CUBIN, "1.8", "90f", c90)), v90)
    lie("says-80a-is-80-ptx80", "entry says 80a, the cubin is sm_80; and compute_80",
        container(entry(KIND_CUBIN, "1.8", "80a", c80), part(ptx("80"))), merged(v80, p80))
    lie("says-abi7-is-abi8", "entry says cubin version 1.7, the cubin is ABI 8",
        container(entry(KIND_CUBIN, "1.7", "90", c90)), v90)
    lie("says-abi9-is-abi8", "entry says cubin version 1.9, the cubin is ABI 8",
        container(entry(KIND_CUBIN, "1.9", "90", c90)), v90)
    new = probe_ptx("9.1", "sm_80", value_of("PTX", "80"))
    lie("says-9.0-is-9.1", "entry says ISA 9.0, the text is 9.1",
        container(entry(KIND_PTX, "9.0", "80", new, options="")), p80)
    lie("says-9.1-is-8.0", "entry says ISA 9.1, the text is 8.0",
        container(entry(KIND_PTX, "9.1", "80", text, options="")), p80)
    lie("says-100-is-ptx80", "entry says arch 100, the text is for sm_80",
        container(entry(KIND_PTX, "8.0", "100", text, options="")), p80)
    above = probe_ptx("8.6", "sm_100", value_of("PTX", "100"))
    lie("says-80-is-ptx100", "entry says arch 80, the text is for sm_100",
        container(entry(KIND_PTX, "8.6", "80", above, options="")), meaning("PTX", "100"))
    lie("says-ptx-is-cubin", "entry kind PTX, the payload is an sm_90 cubin",
        container(entry(KIND_PTX, "8.0", "90", c90, options="")), v90)
    lie("says-cubin-is-ptx", "entry kind cubin, the payload is PTX text",
        container(entry(KIND_CUBIN, "1.8", "90", text)), p80)
    lie("windows-flag", "entry with the Windows host flag",
        container(part(sass("90"), flags=FLAG_64BIT | FLAG_WINDOWS)), v90)
    lie("no-host-flag", "entry without a host flag", container(part(sass("90"), flags=FLAG_64BIT)),
        v90)
    lie("not-64bit", "entry without the 64-bit flag", container(part(sass("90"), flags=FLAG_LINUX)),
        v90)
    lie("option-offset", "PTX entry whose option record lies beyond its header",
        container(entry(KIND_PTX, "8.0", "80", text, options="", option_offset=4096)), p80)

    zstd, _ = tools.fatbin([sass("90")], mode="size")
    (head, payload, end), = entries_of(zstd)
    compressed, raw = struct.unpack_from("<I", zstd, head + 16)[0], struct.unpack_from(
        "<Q", zstd, head + 56)[0]
    lie("zstd-magic", "zstd sm_90, first byte of the frame flipped", flipped(zstd, payload), v90)
    lie("zstd-block", "zstd sm_90, block header of the frame flipped",
        flipped(zstd, payload + 7), v90)
    lie("zstd-middle", "zstd sm_90, a byte in the middle of the frame flipped",
        flipped(zstd, payload + compressed // 2), v90)
    lie("zstd-cut", "zstd sm_90, second half of the frame zeroed",
        patched(zstd, payload + compressed // 2, b"\0" * (compressed - compressed // 2)), v90)
    lie("zstd-raw-small", "zstd sm_90, header says the cubin expands to 64 bytes",
        patched(zstd, head + 56, struct.pack("<Q", 64)), v90)
    lie("zstd-raw-big", "zstd sm_90, header says the cubin expands to twice its size",
        patched(zstd, head + 56, struct.pack("<Q", raw * 2)), v90)
    lie("zstd-raw-1TiB", "zstd sm_90, header says the cubin expands to 1 TiB",
        patched(zstd, head + 56, struct.pack("<Q", 1 << 40)), v90)
    lie("zstd-size-short", "zstd sm_90, header says the frame is 100 bytes shorter",
        patched(zstd, head + 16, struct.pack("<I", compressed - 100)), v90)
    lie("zstd-unflagged", "zstd sm_90 without the zstd flag",
        patched(zstd, head + 40, struct.pack("<Q", PLAIN)), v90)
    lie("zstd-called-lz4", "zstd sm_90 flagged as LZ4",
        patched(zstd, head + 40, struct.pack("<Q", PLAIN | FLAG_LZ4)), v90)
    both, _ = tools.fatbin([sass("90"), ptx("80")], mode="size")
    for at, start, _ in entries_of(both):
        if struct.unpack_from("<H", both, at)[0] == KIND_CUBIN:
            lie("zstd-magic-ptx80", "zstd sm_90 with its frame's first byte flipped; and compute_80",
                flipped(both, start), merged(v90, p80))
    lz4, _ = tools.fatbin([ptx("80")], mode="speed")
    (head, payload, end), = entries_of(lz4)
    lie("lz4-token", "LZ4 compute_80, first token zeroed so that a match points before the text",
        patched(lz4, payload, b"\0"), p80)


def fetch(folder):
    """Download the pinned packages and unpack each into folder/<version>."""
    for version, spec in PINNED.items():
        target = Path(folder) / version
        if target.is_dir():
            continue
        with tempfile.TemporaryDirectory() as box:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps",
                            "-d", box, spec], check=True)
            for wheel in Path(box).glob("*.whl"):
                with zipfile.ZipFile(wheel) as z:
                    z.extractall(target)
        for path in target.glob("**/bin/*"):
            if path.is_file():
                path.chmod(0o755)


def write_zip(path, images, manifest):
    """Sorted members and a fixed date, so that equal images give an equal zip."""
    members = dict(images.data)
    members["manifest.json"] = manifest
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, members[name])


def difference(path, images):
    """Reproducible images whose bytes are not those of an earlier zip."""
    with zipfile.ZipFile(path) as z:
        rows = {r["file"]: r for r in json.loads(z.read("manifest.json"))["images"]}
    out = [f"{r['file']}: not in {path}" for r in images.rows if r["file"] not in rows]
    out += [f"{name}: only in {path}" for name in rows if name not in images.data]
    for r in images.rows:
        was = rows.get(r["file"])
        if was and was["sha256"] != r["sha256"] and r.get("reproducible", True):
            out.append(f"{r['file']}: other bytes")
    return out


def main():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cuda", default=os.environ.get("CUDA_HOME", "/usr/local/cuda"),
                        help=f"CUDA {BASE} toolkit")
    parser.add_argument("--tools", default="cuda-tools",
                        help="folder with the unpacked packages of other releases")
    parser.add_argument("--fetch", action="store_true", help="download those packages first")
    parser.add_argument("--out", default=here.parent / "fixtures" / "gpu_images.zip")
    parser.add_argument("--folder", help="write the images there too")
    parser.add_argument("--check", action="store_true",
                        help="compare with the zip in --out instead of writing it")
    args = parser.parse_args()
    if args.fetch:
        fetch(args.tools)

    images = Set()
    scratch = Path(tempfile.gettempdir()) / "cuproof-make-images"
    scratch.mkdir()
    try:
        tools = Tools(args.cuda, args.tools, scratch)
        add_cubins(images, tools)
        add_ptx(images)
        sass, ptx, part = add_fatbins(images, tools)
        add_damaged(images, tools, sass, ptx, part)
    finally:
        shutil.rmtree(scratch)

    if args.check:
        wrong = difference(args.out, images)
        print("\n".join(wrong) or f"{len(images.rows)} images as in {args.out}")
        return 1 if wrong else 0
    manifest = json.dumps({"kernel": "probe", "tools": {BASE: "CUDA toolkit", **PINNED},
                           "images": images.rows}, indent=1).encode() + b"\n"
    write_zip(args.out, images, manifest)
    if args.folder:
        for name, data in {**images.data, "manifest.json": manifest}.items():
            path = Path(args.folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    print(f"{len(images.rows)} images, {sum(map(len, images.data.values()))} bytes, "
          f"zip {Path(args.out).stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
