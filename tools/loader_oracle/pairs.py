"""Which file is tried in which environment."""

import csv
import fnmatch
from pathlib import Path

HERE = Path(__file__).resolve().parent
# All releases are tried with the compiled extensions; the others with these.
CHOSEN = ["2.1.2", "2.4.1", "2.6.0", "2.7.1", "2.9.1", "2.11.0", "2.15.0"]
# Libraries of the environment itself: they must load.
OWN = ["torch/lib/libtorch_cuda.so", "torch/lib/libtorch_python.so", "torch/lib/libc10_cuda.so",
       "nvidia/*/lib/libcusparse.so.*", "nvidia/*/lib/libcusolver.so.*", "nvidia/*/lib/libcudnn_cnn*.so.*",
       "nvidia/*/lib/libcublas.so.*", "nvidia/*/lib/libcufft.so.*", "nvidia/*/lib/libnccl.so.*",
       "nvidia/*/lib/libcusparseLt.so.*", "nvidia/*/lib/libcudart.so.*", "nvidia/*/lib/libcupti.so.*"]
MOST = 4  # files of one wheel


def wheel_rows():
    with open(HERE / "wheels.tsv") as f:
        return list(csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t"))


def tried_in(row, version):
    """A wheel made for one release is tried in it and in the next chosen one on each side; others in all."""
    if not row["torch"] or row["torch"] == version:
        return True
    number = [int(x) for x in row["torch"].split(".")]
    below = [v for v in CHOSEN if [int(x) for x in v.split(".")] < number][-1:]
    above = [v for v in CHOSEN if [int(x) for x in v.split(".")] > number][:1]
    return version in below + above


def rounds(rows):
    """Rows such that no package occurs twice at once."""
    left, found = list(rows), []
    while left:
        names, now = set(), []
        for row in left:
            # The two cupy wheels put their files in one place.
            name = row["name"].split("-cuda")[0]
            if name not in names:
                names.add(name)
                now.append(row)
        found.append(now)
        left = [row for row in left if row not in now]
    return found


def files_of(folder, patterns):
    found = []
    for pattern in patterns.split(";") if patterns else ["*"]:
        for path in sorted(Path(folder).rglob("*.so*")):
            relative = str(path.relative_to(folder))
            if fnmatch.fnmatch(relative, pattern) and relative not in found:
                found.append(relative)
    # Spread over the list: bitsandbytes alone has a file for each CUDA release.
    step = max(1, len(found) // MOST)
    return found[::step][:MOST]
