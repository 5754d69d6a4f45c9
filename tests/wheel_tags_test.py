#!/usr/bin/env python3
"""Modules that the wheel's name is not for (CP314), held against what this Python and loader do with them.

Usage: wheel_tags_test.py CUPROOF
"""

import subprocess
import sys
import zipfile

from small_environment import MODULE, expect, run

THIS = f"cp{sys.version_info[0]}{sys.version_info[1]}"


def wheel(env, tags, *files):
    path = env.root.parent / f"x-1.0-{tags}.whl"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("x-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: x\nVersion: 1.0\n")
        for file in files:
            out.write(file, f"pkg/{file.name}")
    return path


def imports(env, name):
    """Whether this Python finds and loads pkg.<name>; what is missing in the module itself is no matter here."""
    (env.package / "__init__.py").touch()
    code = f"import sys; sys.path.insert(0, {str(env.site)!r})\nimport pkg.{name}\n"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    words = result.stderr.strip().splitlines()[-1] if result.stderr.strip() else ""
    return not words.startswith("ModuleNotFoundError") and "cannot open shared object file" not in words


def told(env, tags, *files):
    return [f for f in env.found(paths=[wheel(env, tags, *files)]) if f["id"] == "CP314"]


def a_module_of_another_python(env):
    for python in ("cp36", THIS):
        module = env.build(f"m{python}.cpython-{python[2:]}-x86_64-linux-gnu.so", MODULE)
        assert imports(env, f"m{python}") == (python == THIS), python
        found = told(env, f"{THIS}-{THIS}-manylinux_2_28_x86_64", module)
        expect(found, [] if python == THIS else [("warning", "CP314", "cp36")])
    module = env.build("n.cpython-36m-x86_64-linux-gnu.so", MODULE)  # an ABI tag of its own
    expect(told(env, f"{THIS}-{THIS}-linux_x86_64", module), [])


def a_module_of_another_machine(env):
    module = env.build("m.abi3.so", MODULE)
    assert imports(env, "m")
    expect(told(env, "cp39-abi3-manylinux_2_28_x86_64", module), [])
    data = bytearray(module.read_bytes())
    data[18:20] = (183).to_bytes(2, "little")  # EM_AARCH64
    module.write_bytes(data)
    assert not imports(env, "m")
    expect(told(env, "cp39-abi3-manylinux_2_28_x86_64", module), [("warning", "CP314", "aarch64")])
    expect(told(env, "cp39-abi3-manylinux_2_28_aarch64", module), [])
    # A library for another machine may be there as data.
    plain = module.rename(env.package / "libdata.so")
    expect(told(env, "cp39-abi3-manylinux_2_28_x86_64", plain), [])


def a_module_of_another_libc(env):
    module = env.build("m.abi3.so", MODULE + "int puts(const char*); int f(void) { return puts(\"\"); }\n")
    expect(told(env, "cp39-abi3-musllinux_1_2_x86_64", module), [("warning", "CP314", "libc.so.6")])
    expect(told(env, "cp39-abi3-manylinux2014_x86_64", module), [])
    module.write_bytes(module.read_bytes().replace(b"libc.so.6\0", b"libc.so.7\0"))
    assert not imports(env, "m")  # as a system without glibc has no libc.so.6


if __name__ == "__main__":
    run([a_module_of_another_python, a_module_of_another_machine, a_module_of_another_libc])
