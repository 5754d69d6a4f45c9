#!/usr/bin/env python3
"""The modelled driver takes and refuses the images that a real one did (tests/fixtures/gpu_h200.json).

    images_test.py CUPROOF
"""

import ctypes
import json
import os
import runpy
import sys
import zipfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
# A driver reads as far as the headers of an image say, and a damaged one may say more than there is.
PADDING = 2 << 20
# What the headers do not tell, as for `cuproof check`; and what that reports without an error number.
EXCEPTIONS = set(runpy.run_path(str(TESTS / "gpu" / "replay_test.py"))["EXCEPTIONS"])
EXCEPTIONS |= {
    "damaged/fatbin-second-cut.fatbin",  # ends behind the image taken: the model reads the padding
    "damaged/fatbin-size-huge.fatbin",  # the same
    "damaged/fatbin-zstd-called-lz4.fatbin",  # the verdict is "damaged", without a number
}
NO_NUMBER = 200  # the model's answer where the verdict is "damaged"
LEAST = 200


def main():
    model = Path(sys.argv[1]).resolve().parent / "driver_model" / "libcuda.so.1"
    if not model.exists():
        print("SKIP: the modelled driver was not built")
        return 77
    os.environ["CUPROOF_MODEL_DEVICES"] = "9.0"
    driver = ctypes.CDLL(str(model))
    context, module = ctypes.c_void_p(), ctypes.c_void_p()
    for result in (driver.cuInit(0), driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
                   driver.cuCtxSetCurrent(context)):
        assert result == 0
    record = json.loads((TESTS / "fixtures" / "gpu_h200.json").read_text())
    compared, wrong = 0, []
    with zipfile.ZipFile(TESTS / "fixtures" / "gpu_images.zip") as images:
        for row in record["images"]:
            if row["file"] in EXCEPTIONS or row["outcome"] not in ("sass", "jit", "error"):
                continue
            refused = row["outcome"] == "error" and row["step"] == "load"
            if row["outcome"] == "error" and not refused:
                continue  # at a later step, which the model has no kernel code for
            expected = row["error"] if refused else 0
            content = images.read(row["file"])
            answer = driver.cuModuleLoadData(ctypes.byref(module), ctypes.create_string_buffer(
                content, len(content) + PADDING))
            compared += 1
            # 999 and 300 are answers to damage, which the verdict gives no number to.
            if answer != expected and not (expected in (218, 300, 999) and answer == NO_NUMBER):
                wrong.append(f"{row['file']}: {answer}, the GPU's driver said {expected}")
    for line in wrong:
        print(line)
    print(f"{compared} images compared, {len(wrong)} differ")
    return 1 if wrong or compared < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
