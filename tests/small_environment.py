"""Environments of a few files that gcc makes in a moment, for tests of the host half of `check`."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CUPROOF = os.path.abspath(sys.argv[1])
MODULE = "int PyInit_m(void) { return 0; }\n"


class Environment:
    """A virtual environment with nothing in it but what a test puts there."""

    def __init__(self, folder):
        self.root = Path(folder) / "env"
        self.site = self.root / "lib/python3.11/site-packages"
        self.package = self.site / "pkg"
        self.package.mkdir(parents=True)
        (self.root / "bin").mkdir()
        (self.root / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).parent}\n")
        (self.root / "bin/python").symlink_to(os.path.realpath(sys.executable))

    def build(self, name, source, *flags, folder=None):
        out = (folder or self.package) / name
        out.parent.mkdir(parents=True, exist_ok=True)
        language = "c++" if "namespace" in source else "c"
        subprocess.run(["g++", "-shared", "-fPIC", "-nostartfiles", "-x", language, "-", "-x", "none",
                        "-o", out, "-Wl,--no-as-needed", *map(str, flags)], input=source, text=True, check=True)
        return out

    def library(self, name, source, *flags, folder=None):
        """One whose SONAME is its file name."""
        return self.build(name, source, f"-Wl,-soname,{name}", *flags, folder=folder)

    def versioned(self, name, node, functions, folder=None):
        """A library whose functions all have one version, as CUDA's have."""
        script = self.root / f"{name}.map"
        script.write_text(f"{node} {{ global: *; }};\n")
        return self.library(name, "".join(f"int {f}(void) {{ return 0; }}\n" for f in functions),
                            f"-Wl,--version-script={script}", folder=folder)

    def torch(self, version, names, cuda="", folder=None):
        """A torch whose libc10.so exports these names."""
        folder = folder or self.site / "torch"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "version.py").write_text(f"__version__ = '{version}'\ncuda = '{cuda}'\n" if cuda else
                                           f"__version__ = '{version}'\ncuda: Optional[str] = None\n")
        source = "".join(f'int f{i}(void) __asm__("{name}"); int f{i}(void) {{ return 0; }}\n'
                         for i, name in enumerate(names)) or "int nothing;\n"
        return self.library("libc10.so", source, folder=folder / "lib")

    def extension(self, name, wanted, *flags, folder=None, more=""):
        """A Python module that wants these names."""
        source = MODULE + more + "".join(f'int w{i}(void) __asm__("{symbol}");\n'
                                         for i, symbol in enumerate(wanted))
        calls = "".join(f"  n += w{i}();\n" for i in range(len(wanted)))
        return self.build(name, source + f"int f(void) {{\n  int n = 0;\n{calls}  return n;\n}}\n", *flags,
                          folder=folder)

    def dist_info(self, name, version, files=(), metadata=""):
        """What pip leaves of a package: its METADATA and the RECORD of `files` (path, bytes)."""
        folder = self.site / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}\n")
        (folder / "RECORD").write_text("".join(
            f"{path},sha256={hashlib.sha256(data).hexdigest()},{len(data)}\n" for path, data in files))
        return folder

    def check(self, *options, library_path=None, paths=None, cwd=None):
        environ = {**os.environ, "LD_LIBRARY_PATH": library_path or ""}
        run = subprocess.run([CUPROOF, "check", *(paths or [self.root]), "--format", "json", "--gpu", "H100",
                              "--driver", "580", *map(str, options)], capture_output=True, text=True,
                             env=environ, cwd=cwd, check=False)
        if run.returncode not in (0, 1):
            raise AssertionError(run.stderr)
        return run.returncode, json.loads(run.stdout)["findings"]

    def found(self, *options, **more):
        return self.check(*options, **more)[1]

    def host(self, *options, **more):
        """What is not about device code."""
        return [f for f in self.found(*options, **more) if not f["id"].startswith("CP1")]


def expect(found, wanted):
    got = sorted((f["severity"], f["id"], f["subject"]) for f in found)
    assert got == sorted(wanted), f"expected {wanted}, got {json.dumps(found, indent=1)}"


def says(finding, *texts):
    """Each text stands somewhere in the finding."""
    everything = json.dumps(finding, ensure_ascii=False)
    for text in texts:
        assert text in everything, f"no {text!r} in {json.dumps(finding, indent=1)}"


def run(tests, untested=None):
    """Each test in an environment of its own. `untested`: rows of a table, with the reason."""
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(Environment(folder))
        print(f"ok: {test.__name__}")
    for row, reason in (untested or {}).items():
        print(f"not tested: {row}: {reason}")
