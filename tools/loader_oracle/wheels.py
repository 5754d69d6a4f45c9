"""Wheels, fetched one at a time by name and version, and the parts of them that a load needs.

A wheel lives only as long as it is read. What is kept stands in a store, one folder a package, with the
device code of each library cut out as a hole: the loader maps those pages and never reads them.
"""

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

# Sections that hold images for the GPU and nothing that a loader or a constructor reads.
DEVICE_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
KEEP_SIZE = 0x01
PUNCH_HOLE = 0x02


def resolve(requirement):
    """Names and versions that the index would install for a requirement, without fetching them."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        subprocess.run([*PIP, "install", "--quiet", "--dry-run", "--ignore-installed", "--only-binary",
                        ":all:", "--report", report.name, requirement], check=True)
        items = json.load(report)["install"]
    return sorted((i["metadata"]["name"].lower(), i["metadata"]["version"]) for i in items)


def download(name, version, folder):
    subprocess.run([*PIP, "download", "--quiet", "--no-deps", "--only-binary", ":all:", "-d", str(folder),
                    f"{name}=={version}"], check=True)
    return next(Path(folder).glob("*.whl"))


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while chunk := f.read(1 << 22):
            digest.update(chunk)
    return digest.hexdigest()


def sections(f):
    """(name, offset, size) of each section of an ELF64 file that has bytes in it."""
    f.seek(0)
    head = f.read(64)
    if len(head) < 64 or head[:5] != b"\x7fELF\x02":
        return []
    offset, = struct.unpack_from("<Q", head, 40)
    size, count, names = struct.unpack_from("<HHH", head, 58)
    if not count:
        return []
    f.seek(offset)
    table = f.read(size * count)
    rows = [struct.unpack_from("<IIQQQQ", table, i * size) for i in range(count)]
    f.seek(rows[names][4])
    text = f.read(rows[names][5])
    return [(text[r[0]:text.index(b"\0", r[0])].decode("latin-1"), r[4], r[5])
            for r in rows if r[1] != 8]


def cut_device_code(path):
    """Turns device code into a hole in the file; returns how many bytes it was."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    cut = 0
    with open(path, "r+b") as f:
        for name, offset, size in sections(f):
            if name in DEVICE_SECTIONS and size > 65536:
                done = libc.fallocate(f.fileno(), KEEP_SIZE | PUNCH_HOLE, ctypes.c_long(offset),
                                      ctypes.c_long(size))
                if done != 0:
                    raise OSError(ctypes.get_errno(), f"cannot cut a hole into {path}")
                cut += size
    return cut


def is_library(name):
    return bool(re.search(r"\.so(\.[\w.]+)?$", name))


def wanted(name):
    """Members of a wheel that a load, or a look at what is installed, needs."""
    return is_library(name) or ".dist-info/" in name or name in ("torch/version.py", "torch/__init__.py")


def unpack(wheel, folder, keep=wanted):
    """Unpacks what is kept, a library at a time; returns the stored paths."""
    paths = []
    with zipfile.ZipFile(wheel) as z:
        for member in z.infolist():
            if member.is_dir() or not keep(member.filename):
                continue
            path = Path(folder, member.filename)
            path.parent.mkdir(parents=True, exist_ok=True)
            with z.open(member) as source, open(path, "wb") as out:
                shutil.copyfileobj(source, out, 1 << 22)
            if is_library(member.filename):
                cut_device_code(path)
                path.chmod(0o755)
            paths.append(member.filename)
    return paths


class Store:
    """Packages by name and version, kept as parts; `log` holds what each cost to fetch."""

    def __init__(self, root):
        self.root = Path(root)
        self.root.mkdir(parents=True, exist_ok=True)

    def folder(self, name, version):
        return self.root / f"{name}-{version}"

    def facts(self, name, version):
        path = self.folder(name, version) / "facts.json"
        return json.loads(path.read_text()) if path.exists() else None

    def get(self, name, version, keep=wanted, see=None):
        """The folder of a package, fetched if it is not there; `see` is called with the open wheel."""
        folder = self.folder(name, version)
        if (folder / "facts.json").exists():
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=self.root) as temporary:
            wheel = download(name, version, temporary)
            facts = {"name": name, "version": version, "wheel": wheel.name,
                     "bytes": wheel.stat().st_size, "sha256": sha256(wheel)}
            if see:
                see(wheel, facts)
            part = Path(temporary, "parts")
            facts["members"] = len(unpack(wheel, part, keep))
            part.mkdir(exist_ok=True)
            (part / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")
            os.rename(part, folder)
        return folder

    def fetched(self):
        return sum(json.loads(p.read_text())["bytes"] for p in self.root.glob("*/facts.json"))


def hard_link_tree(source, target):
    """The files of a package, in an environment, without a second copy of them."""
    for folder, _, files in os.walk(source):
        for name in files:
            path = Path(folder, name)
            relative = path.relative_to(source)
            if str(relative) == "facts.json" or relative.parts[0] == "include":
                continue
            out = target / relative
            out.parent.mkdir(parents=True, exist_ok=True)
            if out.exists():
                out.unlink()
            os.link(path, out)
