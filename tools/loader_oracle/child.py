"""The process that is asked: torch's libraries as `import torch` loads them, then one file in each copy of it.

    child.py SITE_PACKAGES TORCH < files > outcomes        (a path a line; JSON a line)

Runs as a user without rights and without network: the files are other people's. TORCH is "torch", "no-torch".
Torch's own code decides what is loaded before its module: the functions of torch/__init__.py that load its
dependencies are run as they stand; the rest of that file is not.
"""

import ast
import ctypes
import glob
import importlib
import importlib.metadata
import json
import os
import platform
import select
import signal
import sys
import textwrap

FUNCTIONS = {"_load_global_deps", "_preload_cuda_deps", "_preload_cuda_lib", "_get_cuda_dep_paths"}
SECONDS = 60


def load_torch(site):
    path = os.path.join(site, "torch", "__init__.py")
    with open(path) as f:
        tree = ast.parse(f.read())
    wanted = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name in FUNCTIONS]
    names = {"__file__": path, "os": os, "importlib": importlib, "sys": sys, "ctypes": ctypes, "glob": glob, "platform": platform,
             "textwrap": textwrap, "_running_with_deploy": lambda: False, "cuda_version": None}
    with open(os.path.join(site, "torch", "version.py")) as f:
        version = {}
        exec(f.read(), version)
    names["cuda_version"] = version.get("cuda")
    # Some releases read torch.version inside.
    fake = type(sys)("torch")
    fake.version = type(sys)("torch.version")
    fake.version.__dict__.update(version)
    sys.modules["torch"], sys.modules["torch.version"] = fake, fake.version
    code = ast.Module(body=[ast.ImportFrom("__future__", [ast.alias("annotations")], 0), *wanted],
                      type_ignores=[])
    exec(compile(ast.fix_missing_locations(code), path, "exec"), names)
    names["_load_global_deps"]()
    module = glob.glob(os.path.join(site, "torch", "_C.cpython-*.so"))
    ctypes.CDLL(module[0], mode=os.RTLD_NOW | os.RTLD_LOCAL)


def ask(path):
    """What dlopen says in a copy of this process."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        try:
            ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
            said = ""
        except OSError as error:
            said = str(error)
        os.write(writer, said.encode() + b"\0")
        os._exit(0)
    os.close(writer)
    text = b""
    while not text.endswith(b"\0"):
        if not select.select([reader], [], [], SECONDS)[0]:
            os.kill(pid, signal.SIGKILL)
            break
        part = os.read(reader, 65536)
        if not part:
            break
        text += part
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    if not text.endswith(b"\0"):
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {status >> 8}"
        return {"loads": False, "said": "", "died": how}
    said = text[:-1].decode(errors="replace")
    return {"loads": not said, "said": said}


def main():
    site, torch = sys.argv[1:3]
    files = [line.rstrip("\n") for line in sys.stdin]
    sys.path.insert(0, site)
    state = {"torch": "not asked for"}
    if torch == "torch":
        try:
            load_torch(site)
            state = {"torch": "loaded"}
        except OSError as error:
            state = {"torch": f"{type(error).__name__}: {error}"}
    print(json.dumps(state), flush=True)
    for path in files:
        print(json.dumps({"file": path, **ask(path)}), flush=True)


if __name__ == "__main__":
    main()
