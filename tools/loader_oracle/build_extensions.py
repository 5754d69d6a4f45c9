"""Small extensions, compiled against the headers of each torch release, in one or both string ABIs."""

import subprocess
import sysconfig
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "extensions"
LIBRARIES = {"api": ["torch", "torch_cpu", "c10"], "check": ["c10"], "cuda": ["c10_cuda", "c10"],
             "stable": ["torch_cpu"]}


def minor(version):
    return int(version.split(".")[1])


def wanted(version, official_abi):
    """(source, ABI) of what is built against a release."""
    other = "new" if official_abi == "old" else "old"
    rows = [("api", official_abi), ("check", official_abi), ("check", other), ("cuda", official_abi)]
    if minor(version) >= 10:
        rows.append(("stable", official_abi))
    if version in ("2.4.1", "2.6.0", "2.7.1"):
        rows.append(("api", other))
    return rows


def compile_one(torch, version, source, abi, cuda_include, folder):
    out = folder / f"{source}_torch{version}_{abi}abi.so"
    if out.exists():
        return out
    include = torch / "include"
    command = ["g++", "-shared", "-fPIC", "-O1", "-w", "-std=c++20" if minor(version) >= 11 else "-std=c++17",
               "-fvisibility=hidden", f"-D_GLIBCXX_USE_CXX11_ABI={int(abi == 'new')}",
               f"-I{include}", f"-I{include}/torch/csrc/api/include", f"-I{cuda_include}",
               f"-I{sysconfig.get_paths()['include']}"]
    if source == "stable":
        command.append(f"-DTORCH_TARGET_VERSION=0x02{minor(version):02x}000000000000")
    command += [str(SOURCES / f"{source}.cpp"), "-o", str(out), f"-L{torch}/lib", "-Wl,--no-as-needed",
                *(f"-l{name}" for name in LIBRARIES[source]), "-Wl,--allow-shlib-undefined"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{out.name}: not built\n{done.stderr[-1500:]}", flush=True)
        return None
    return out


def build_all(store, releases, cuda_include, folder):
    """releases: version -> string ABI of the build on the index."""
    folder.mkdir(parents=True, exist_ok=True)
    built = []
    for version, abi in releases.items():
        torch = store.folder("torch", version) / "torch"
        for source, wanted_abi in wanted(version, abi):
            out = compile_one(torch, version, source, wanted_abi, cuda_include, folder)
            if out:
                built.append(out)
    return built
