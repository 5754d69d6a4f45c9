"""The environments: a torch release and what it requires, hard links to the store, one folder each."""

import os
import shutil
from pathlib import Path

import wheels

SITE = "lib/python3.11/site-packages"


class Environment:
    def __init__(self, name, root, packages):
        self.name, self.packages = name, packages
        self.folder = Path(root, name)
        self.site = self.folder / SITE

    def make(self, store):
        """A virtual environment as far as a load goes: a Python, and files where pip puts them."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.site.mkdir(parents=True)
        (self.folder / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
        (self.folder / "bin").mkdir()
        os.symlink("/usr/bin/python3", self.folder / "bin/python3")
        os.symlink("python3", self.folder / "bin/python")
        for name, version in self.packages:
            wheels.hard_link_tree(store.folder(name, version), self.site)

    def library_folders(self):
        """Where its libraries are: what LD_LIBRARY_PATH is for ldd, which knows no `import torch`."""
        found = {p.parent for p in self.site.glob("nvidia/**/*.so*")}
        found |= {p for p in [self.site / "torch/lib"] if p.is_dir()}
        return [str(p) for p in sorted(found)]


def add(store, environment, name, version):
    """Puts a package into an environment; returns how to take it out again."""
    before = {p.name for p in environment.site.iterdir()}
    wheels.hard_link_tree(store.folder(name, version), environment.site)

    def remove():
        for path in environment.site.iterdir():
            if path.name not in before:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    return remove
