#!/usr/bin/env python3
"""Write the seeds of the fuzz targets: make_corpus.py FOLDER

They are small files made by hand (tests/hostile/craft.py), and the images of
tests/fixtures/gpu_images.zip, which we compiled from our own sources.
"""

import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "hostile"))
import craft  # noqa: E402

SMALL = {
    "fatbin": [["good"], ["elf"], ["pe"], ["cubin"], ["ptx"], ["empty-containers", 3], ["lying-container", 9999],
               ["lying-entry", 9999], ["nested-containers", 3], ["container-in-image"],
               ["empty-entries", 2], ["damaged-entries", 2], ["zstd-bomb", 4096],
               ["lz4-bomb", 4096], ["claims-much", 1 << 40], ["many-archs", 3],
               ["endless-frames", 2, 3], ["frame-bombs", 2], ["section-names", 5, 99]],
    "cubin": [["cubin"], ["notes", 3], ["compat-sections", 64]],
    "ptx": [["ptx"]],
    "zip": [["zip"], ["zip-bomb", 4096], ["zip-lying-size", 9], ["zip-lying-stored", 9999],
            ["zip-bad-crc"], ["zip-encrypted"], ["zip-method", 12], ["zip-members", 3],
            ["zip-nested", 4], ["zip-overlap", 9], ["zip-comment-ends", 3], ["wheel"],
            ["wheel-without-metadata"], ["wheel-lying-record"]],
    "elf": [["section-names", 5, 99], ["string-sections", 4, 99], ["needed-names", 99],
            ["archive-names", 3, 99], ["archive-members", 3], ["pe"],
            ["elf"]],
}


def write(folder, name, data):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name.replace("/", "-")).write_bytes(data)


def main():
    out = Path(sys.argv[1])
    for target, seeds in SMALL.items():
        for name, *numbers in seeds:
            data = craft.FILES[name](*numbers)
            # Sections that only make a file large.
            if len(data) <= 256 << 10:
                write(out / target, "-".join(map(str, [name, *numbers])), data)
    images = zipfile.ZipFile(ROOT / "tests" / "fixtures" / "gpu_images.zip")
    for name in images.namelist():
        suffix = Path(name).suffix
        targets = {".cubin": ["cubin", "fatbin"], ".ptx": ["ptx", "fatbin"]}.get(suffix, ["fatbin"])
        for target in targets if suffix != ".json" else []:
            write(out / target, name, images.read(name))


if __name__ == "__main__":
    main()
