"""Compilers of several CUDA releases, from packages of the Python index: ptxas and, where it is packed
with it, nvlink; NVRTC for the PTX. Nothing of them is kept in the tree."""

import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

# Release and the packages that hold its ptxas and NVRTC.
PACKAGES = {
    **{f"12.{minor}": [f"nvidia-cuda-nvcc-cu12==12.{minor}.*", f"nvidia-cuda-nvrtc-cu12==12.{minor}.*"]
       for minor in (4, 5, 6, 8, 9)},
    **{f"13.{minor}": [f"nvidia-cuda-nvcc==13.{minor}.*", f"nvidia-cuda-nvrtc==13.{minor}.*"]
       for minor in (0, 1, 2, 3, 4, 5)},
}


@dataclass
class Toolkit:
    release: str
    ptxas: Path
    nvrtc: Path
    nvlink: Path | None

    def build(self):
        words = subprocess.run([self.ptxas, "--version"], capture_output=True, text=True, check=True)
        return re.search(r"V(\d+\.\d+\.\d+)", words.stdout)[1]

    def targets(self):
        """What it assembles for, such as sm_90a; those below sm_50 are only there for older PTX."""
        words = subprocess.run([self.ptxas, "--help"], capture_output=True, text=True, check=True).stdout
        part = re.search(r"--gpu-name.*?Default value", words, re.S)[0]
        found = set(re.findall(r"'(sm_\d+[af]?)'", part))
        return sorted(found, key=lambda name: (number(name), name))


def number(target):
    return int(re.search(r"\d+", target)[0])


def only(folder, pattern):
    found = sorted(Path(folder).rglob(pattern))
    return found[0] if found else None


def unpack(release, folder):
    """Downloads and unpacks the packages of a release into `folder`, once."""
    if only(folder, "ptxas") and only(folder, "libnvrtc.so.1?"):
        return
    wheels = folder / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                    "-d", wheels, *PACKAGES[release]], check=True)
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(folder)
        wheel.unlink()
    for name in ("ptxas", "nvlink"):
        for program in folder.rglob(name):
            program.chmod(0o755)


def toolkit(release, folder):
    folder = Path(folder) / release
    unpack(release, folder)
    return Toolkit(release, only(folder, "ptxas"), only(folder, "libnvrtc.so.1?"), only(folder, "nvlink"))


def installed(nvcc):
    """The toolkit around an nvcc; None when it lacks NVRTC."""
    bin_folder = Path(nvcc).resolve().parent
    nvrtc = only(bin_folder.parent / "lib64", "libnvrtc.so.1?") or only(bin_folder.parent / "lib", "libnvrtc.so.1?")
    if not nvrtc or not (bin_folder / "ptxas").exists():
        return None
    nvlink = bin_folder / "nvlink"
    made = Toolkit("", bin_folder / "ptxas", nvrtc, nvlink if nvlink.exists() else None)
    made.release = ".".join(made.build().split(".")[:2])
    return made
