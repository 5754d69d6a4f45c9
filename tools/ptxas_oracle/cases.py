"""What is assembled: sources, the PTX each needs, and the options of each assembly."""

from dataclasses import dataclass, field


@dataclass
class Case:
    source: str
    base: int = 0  # the least capability of its PTX; 0: the least of the toolkit
    suffix: str = ""  # of an architecture that has no other: "a"
    variants: dict = field(default_factory=lambda: {"plain": []})  # name: options of ptxas
    nvrtc: list = field(default_factory=list)
    name: str = ""  # when one source is compiled in two ways

    def __post_init__(self):
        self.name = self.name or self.source.split(".")[0]


FEW = {f"r{n}": [f"--maxrregcount={n}"] for n in (24, 32, 64)}
ONE = {"plain": []}

CASES = [
    Case("arrays.cu", variants={**ONE, "r24": FEW["r24"]}),
    Case("calls.cu", variants={**ONE, "r32": FEW["r32"], "O1": ["-O1"]}),
    Case("bounds.cu"),
    Case("spills.cu", variants={**ONE, **FEW, "r32O1": [*FEW["r32"], "-O1"]}),
    Case("quads.cu", base=80, variants={"r40": ["--maxrregcount=40"], "r64": FEW["r64"]}),
    Case("shared.cu"),
    Case("constants.cu"),
    Case("parameters.cu"),
    Case("large_parameters.cu", base=70),
    Case("clusters.cu", base=90),
    Case("hopper.cu", base=90, suffix="a"),
    Case("textures.cu"),
    Case("library_calls.cu", variants={**ONE, "r24": FEW["r24"]}),
    Case("debugged.cu", variants={**ONE, "O0": ["-O0"]}),
    Case("debugged.cu", name="debugged_G", nvrtc=["-G"], variants={"G": ["-g"]}),
    Case("spills.cu", name="spills_lines", nvrtc=["-lineinfo"], variants={"r32": ["-lineinfo", *FEW["r32"]]}),
    Case("directives.ptx"),
]

# Assembled with -c, and linked where the toolkit has nvlink.
SEPARATE = ["separate_kernels.cu", "separate_functions.cu"]
SEPARATE_OPTIONS = {"r64": ["-c", "--maxrregcount=64"]}
