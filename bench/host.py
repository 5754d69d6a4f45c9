#!/usr/bin/env python3
"""What a loader would say of a library: cuproof beside `ldd -r` and `auditwheel show`, in one run on one machine.

    bench/host.py --cuproof build/release/cuproof --torch-env VENV --auditwheel AUDITWHEEL [--rounds 7] \
        --out bench/results/host.json

What is timed, each as a whole process with its output thrown away, warm page cache, the peers alternated:
  cuproof link --ldd FILE      against  ldd -r FILE               a library made here that wants 24,000 symbols, and
                                                                  libtorch_cuda.so of VENV
  cuproof check WHEEL --env VENV  against  auditwheel show WHEEL  a wheel with the first of them
  cuproof check VENV           against  the same with --no-host   both halves of an environment, and one
Both sides must give the same answer first: that the library loads. auditwheel comes from its own package
(`pip install auditwheel`, in a virtual environment of its own); it runs on the Python it is installed in.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from listing import source_hash, spread, timed

SYMBOLS = 24_000


def make_library(folder):
    """libwants.so, which wants 24,000 functions with long C++ names of libgives.so."""
    folder = Path(folder)
    names = [f"_ZN5bench6detail4deep9functionILi{n}EEEvRKSsiPKc" for n in range(SYMBOLS)]
    gives = "".join(f'void f{i}(void) __asm__("{name}"); void f{i}(void) {{}}\n' for i, name in enumerate(names))
    wants = "".join(f'void f{i}(void) __asm__("{name}");\n' for i, name in enumerate(names))
    wants += "void (*const all[])(void) = {" + ", ".join(f"f{i}" for i in range(SYMBOLS)) + "};\n"
    for name, source, more in (("libgives.so", gives, []),
                               ("libwants.so", wants, [str(folder / "libgives.so"), "-Wl,-rpath,$ORIGIN"])):
        subprocess.run(["gcc", "-shared", "-fPIC", "-O0", "-x", "c", "-", "-x", "none", "-o", str(folder / name),
                        f"-Wl,-soname,{name}", *more], input=source, text=True, check=True)
    return folder / "libwants.so"


def make_wheel(folder, library):
    wheel = Path(folder) / "bench-1.0-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for file in (library, library.with_name("libgives.so")):
            out.write(file, f"bench/{file.name}")
        info = "bench-1.0.dist-info/"
        out.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: bench\nVersion: 1.0\n")
        out.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: false\n"
                                     "Tag: cp311-cp311-linux_x86_64\n")
        out.writestr(info + "RECORD", "")
    return wheel


def alternated(commands, rounds):
    """Seconds of each command, by name; one run of each first, which does not count."""
    times = {name: [] for name in commands}
    for command in commands.values():
        timed(command)
    for i in range(rounds):
        order = list(commands)
        for name in order if i % 2 == 0 else reversed(order):
            times[name].append(timed(commands[name]))
    return {name: spread(values) for name, values in times.items()}


def loads(command, bad):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if bad in done.stdout + done.stderr:
        sys.exit(f"{command[0]} says that {command[-1]} does not load:\n{done.stdout[:500]}{done.stderr[:500]}")


def library(name, file, args):
    ours = [args.cuproof, "link", "--ldd", str(file)]
    peer = ["ldd", "-r", str(file)]
    loads(ours, "undefined")
    loads(peer, "undefined symbol")
    times = alternated({"cuproof_s": ours, "ldd_s": peer}, args.rounds)
    row = {"file": name, "bytes": file.stat().st_size, **times}
    print(f"{name:<22} cuproof {times['cuproof_s']['median'] * 1e3:.1f} ms  "
          f"ldd -r {times['ldd_s']['median'] * 1e3:.1f} ms", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--cuproof", "--torch-env", "--auditwheel", "--out"):
        parser.add_argument(name, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    torch_cuda = next(Path(args.torch_env).rglob("torch/lib/libtorch_cuda.so"))
    with tempfile.TemporaryDirectory() as folder:
        made = make_library(folder)
        rows = [library("24,000 symbols", made, args), library("libtorch_cuda.so", torch_cuda, args)]
        wheel = make_wheel(folder, made)
        wheel_times = alternated({
            "cuproof_s": [args.cuproof, "check", str(wheel), "--env", args.torch_env],
            "auditwheel_s": [args.auditwheel, "show", str(wheel)]}, args.rounds)
        print(f"wheel                  cuproof {wheel_times['cuproof_s']['median']:.3f} s  "
              f"auditwheel {wheel_times['auditwheel_s']['median']:.2f} s", flush=True)
    environment = alternated({"both_halves_s": [args.cuproof, "check", args.torch_env],
                              "device_half_s": [args.cuproof, "check", args.torch_env, "--no-host"]}, args.rounds)
    environment["bytes"] = sum(path.stat().st_size for path in Path(args.torch_env).rglob("*")
                               if path.is_file() and not path.is_symlink())
    print(f"environment            both halves {environment['both_halves_s']['median']:.2f} s, "
          f"device code only {environment['device_half_s']['median']:.2f} s", flush=True)
    auditwheel = subprocess.run([args.auditwheel, "--version"], capture_output=True, text=True, check=False).stdout
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": {"cpu": next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                                 if line.startswith("model name")), "unknown"),
                    "processors": len(os.sched_getaffinity(0)), "kernel": platform.release()},
        "cuproof": subprocess.run([args.cuproof, "--version"], capture_output=True, text=True,
                                  check=False).stdout.strip(),
        "auditwheel": " ".join(auditwheel.split()[:2]),
        "ldd": subprocess.run(["ldd", "--version"], capture_output=True, text=True,
                              check=False).stdout.splitlines()[0],
        "source_sha256": source_hash(),
        "rounds": args.rounds,
        "symbols": SYMBOLS,
        "libraries": rows,
        "wheel": wheel_times,
        "environment": environment,
    }
    Path(args.out).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
