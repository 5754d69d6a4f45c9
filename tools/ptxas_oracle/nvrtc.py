#!/usr/bin/env python3
"""PTX by NVRTC of one release. A process of its own: two releases of the library do not share one.

Usage: nvrtc.py LIBNVRTC < JOBS: one job a line, {"source":, "out":, "options": [...]}
"""

import ctypes
import json
import sys
from pathlib import Path


class Compiler:
    def __init__(self, library):
        self.nvrtc = ctypes.CDLL(library)

    def call(self, name, *arguments):
        status = getattr(self.nvrtc, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: {status}")

    def text(self, program, name):
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{name}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{name}", program, text)
        return text.value.decode()

    def ptx(self, source, options):
        program = ctypes.c_void_p()
        self.call("nvrtcCreateProgram", ctypes.byref(program), Path(source).read_bytes(),
                  Path(source).name.encode(), 0, None, None)
        try:
            words = [option.encode() for option in options]
            status = self.nvrtc.nvrtcCompileProgram(program, len(words),
                                                    (ctypes.c_char_p * len(words))(*words))
            if status:
                raise RuntimeError(self.text(program, "ProgramLog").strip())
            return self.text(program, "PTX")
        finally:
            self.nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def main():
    compiler = Compiler(sys.argv[1])
    for line in sys.stdin:
        job = json.loads(line)
        try:
            Path(job["out"]).write_text(compiler.ptx(job["source"], job["options"]))
        except RuntimeError as error:
            print(f"{Path(job['source']).name} {' '.join(job['options'])}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
