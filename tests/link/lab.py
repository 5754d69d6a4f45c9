"""Small objects built by gcc, loaded by the real loader and by `cuproof link`: both must say the same.

Each test beside this file is one behaviour. The program that loads is a host of our own; an
environment whose bin/python3 it is makes the model load into the same program.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HOST = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
/* host [global:]PATH...: opens one after another, says what became of the last. */
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    int global = strncmp(argv[i], "global:", 7) == 0;
    if (!dlopen(argv[i] + (global ? 7 : 0), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL))) {
      printf("%s\n", dlerror());
      return 1;
    }
  }
  return 0;
}
"""


class Lab:
    def __init__(self):
        for tool in ("gcc", "ldd"):
            if not shutil.which(tool):
                print(f"SKIP: no {tool}")
                sys.exit(77)
        self.cuproof = Path(sys.argv[1]).resolve()
        self._folder = tempfile.TemporaryDirectory()
        self.root = Path(self._folder.name).resolve()
        self.env = self.root / "env"
        (self.env / "lib/python3.11/site-packages").mkdir(parents=True)
        (self.env / "pyvenv.cfg").write_text("home = /nowhere/bin\n")
        self.library_path = ""
        self.failures = 0
        self.host()

    def host(self, *flags):
        """The program that loads, linked with further flags."""
        self._gcc("env/bin/python3", HOST, "-ldl", *flags, shared=False)

    def _gcc(self, name, source, *flags, shared=True):
        out = self.root / name
        out.parent.mkdir(parents=True, exist_ok=True)
        code = self.root / "code.c"
        code.write_text(source)
        kind = ["-shared", "-fPIC"] if shared else ["-pie", "-fPIE"]
        # Own choices where a distribution has others: no --as-needed, and no RUNPATH of its own.
        subprocess.run(["gcc", "-w", "-O1", *kind, "-o", out, code, "-Wl,--no-as-needed",
                        "-Wl,--disable-new-dtags", *map(str, flags)], check=True)
        return out

    def library(self, name, source, *flags):
        return self._gcc(name, source, f"-Wl,-soname,{Path(name).name}", *flags)

    def program(self, name, source, *flags):
        return self._gcc(name, source, *flags, shared=False)

    def path(self, name):
        return self.root / name

    def write(self, name, content):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def _environment(self):
        variables = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}
        if self.library_path:
            variables["LD_LIBRARY_PATH"] = str(self.library_path)
        return variables | {"LC_ALL": "C"}

    def model(self, *arguments):
        command = [self.cuproof, "link", "--format", "json", "--library-path", str(self.library_path),
                   *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, cwd=self.root)
        if result.returncode not in (0, 1):
            raise SystemExit(f"{command}: {result.returncode}\n{result.stderr}")
        said = json.loads(result.stdout)
        entry = said["files"][-1]
        # A host that was told to open torch first stops where that fails.
        entry["first"] = [step for step in said["environment"]["loaded_first"] if not step["loads"]]
        return entry

    def fail(self, what, *details):
        self.failures += 1
        print(f"FAILED: {what}")
        for detail in details:
            print(f"    {detail}")

    def expect(self, what, condition, *details):
        if not condition:
            self.fail(what, *details)

    def ldd(self, file, what=None):
        """The same missing libraries, symbols and versions as `ldd -r`, and the same files found."""
        result = subprocess.run(["ldd", "-r", str(file)], capture_output=True, text=True,
                                env=self._environment(), cwd=self.root)
        text = result.stdout + result.stderr
        real = {
            "libraries": set(re.findall(r"^\s*(\S+) => not found", text, re.M)),
            "symbols": set(re.findall(r"undefined symbol: ([^\s,]+)", text)) |
            set(re.findall(r"symbol ([^\s,]+), version \S+ not defined", text)),
            "versions": set(re.findall(r"(?<!weak )version `([^']+)' not found", text)),
            "found": {name: os.path.realpath(path)
                      for name, path in re.findall(r"^\s*(\S+) => (/\S+)", text, re.M)},
        }
        model = self.model("--ldd", file)
        said = self._sets(model)
        objects = {entry["name"]: os.path.realpath(entry["path"]) for entry in model["objects"]}
        said["found"] = {name: objects.get(name) for name in real["found"]}
        for key, value in real.items():
            self.expect(f"{what or file}: {key} of ldd -r", value == said[key],
                        f"ldd -r: {value}", f"cuproof: {said[key]}", text.strip())
        return model

    @staticmethod
    def _sets(model):
        return {
            "libraries": {entry["name"] for entry in model["missing_libraries"]},
            "symbols": {entry["name"] for entry in model["missing_symbols"]},
            "versions": {entry["version"] for entry in model["version_errors"] if entry["fatal"]},
        }

    def open(self, file, what=None, loads=None, words=True, before=()):
        """The same outcome of dlopen(RTLD_NOW | RTLD_LOCAL) in the host, and a word for the failure.

        `before` is what the host opens first, where the model knows by itself that torch would.
        """
        result = subprocess.run([self.env / "bin/python3", *map(str, before), str(file)],
                                capture_output=True, text=True, env=self._environment(), cwd=self.root)
        model = self.model("--env", self.env, file)
        for step in model["first"] if before else []:
            model = step
        real = result.returncode == 0
        message = result.stdout.strip()
        self.expect(f"{what or file}: dlopen", real == model["loads"],
                    f"real: {message or 'loads'}", f"cuproof: {self._sets(model)} {model['error']}")
        if loads is not None:
            self.expect(f"{what or file}: expected {loads}", real == loads, message)
        if words and not real and not model["loads"]:
            ours = set().union(*self._sets(model).values())
            ours |= {entry["unreadable"] for entry in model["missing_libraries"] if entry["unreadable"]}
            if model["error"]:
                ours.add(model["error"]["phrase"].split(":")[0])
            self.expect(f"{what or file}: the loader's word is among ours",
                        any(word in message for word in ours), message, ours)
        return model

    def end(self):
        self._folder.cleanup()
        sys.exit(1 if self.failures else 0)
