"""Makes the cubins of one toolkit and keeps what the tools said of each."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import words
from cases import CASES, SEPARATE, SEPARATE_OPTIONS
from toolkits import number

HERE = Path(__file__).resolve().parent


@dataclass
class Cubin:
    path: Path
    target: str
    case: str
    variant: str
    kernels: dict   # as the tool printed them
    functions: dict  # device functions, likewise
    module: dict
    linked: bool = False


def least(toolkit):
    """The least capability that its compiler makes PTX for."""
    return 75 if int(toolkit.release.split(".")[0]) >= 13 else 50


def write_ptx(toolkit, folder):
    """Each case compiled once for the toolkit. Returns the PTX by name of the case."""
    jobs, made = [], {}
    for case in [c for c in CASES if c.source.endswith(".cu")]:
        arch = f"{max(case.base, least(toolkit))}{case.suffix}"
        jobs.append((case.source, case.name, arch, case.nvrtc))
    jobs += [(source, source.split(".")[0], str(least(toolkit)), ["-rdc=true"]) for source in SEPARATE]
    lines = []
    for source, name, arch, options in jobs:
        made[name] = folder / f"{name}.ptx"
        lines.append(json.dumps({"source": str(HERE / "kernels" / source), "out": str(made[name]),
                                 "options": [f"--gpu-architecture=compute_{arch}", "-std=c++17", *options]}))
    done = subprocess.run([sys.executable, HERE / "nvrtc.py", toolkit.nvrtc], input="\n".join(lines),
                          capture_output=True, text=True)
    if done.stderr or done.returncode:
        raise RuntimeError(f"NVRTC {toolkit.release}: {done.stderr.strip()}")
    version = next(line.split()[1] for line in made["arrays"].read_text().splitlines()
                   if line.startswith(".version"))
    for case in [c for c in CASES if c.source.endswith(".ptx")]:
        text = (HERE / "kernels" / case.source).read_text()
        made[case.name] = folder / f"{case.name}.ptx"
        made[case.name].write_text(text.replace("@VERSION@", version)
                                   .replace("@TARGET@", f"sm_{max(case.base, least(toolkit))}"))
    return made


def fits(case, toolkit, target):
    """Whether PTX of that case runs on the target. An architecture's own PTX runs nowhere else."""
    if case.suffix:
        return target == f"sm_{max(case.base, least(toolkit))}{case.suffix}"
    return number(target) >= max(case.base, least(toolkit))


def ptxas(toolkit, source, target, options, out):
    command = [toolkit.ptxas, "-v", f"-arch={target}", *options, source, "-o", out]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return words.of_ptxas(done.stderr + done.stdout)


def assemble_one(toolkit, job):
    case, variant, target, source, options, out = job
    return Cubin(out, target, case, variant, *ptxas(toolkit, source, target, options, out))


def link(toolkit, target, variant, objects, out):
    command = [toolkit.nvlink, f"--arch={target}", "-v", *objects, "-o", out]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return Cubin(out, target, "linked", variant, words.of_nvlink(done.stderr + done.stdout), {},
                 {"gmem": 0, "constants": {}}, linked=True)


def assemble(toolkit, folder, targets, cases=None):
    folder.mkdir(parents=True, exist_ok=True)
    ptx = write_ptx(toolkit, folder)
    cubins = folder / "cubins"
    cubins.mkdir(exist_ok=True)
    jobs = []
    for case in CASES:
        if cases and case.name not in cases:
            continue
        for variant, options in case.variants.items():
            jobs += [(case.name, variant, target, ptx[case.name], options,
                      cubins / f"{case.name}.{variant}.{target}.cubin")
                     for target in targets if fits(case, toolkit, target)]
    halves = [source.split(".")[0] for source in SEPARATE]
    for variant, options in SEPARATE_OPTIONS.items() if not cases else ():
        jobs += [(half, variant, target, ptx[half], options, cubins / f"{half}.{variant}.{target}.cubin")
                 for half in halves for target in targets if number(target) >= least(toolkit)]
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda job: assemble_one(toolkit, job), jobs))
        if toolkit.nvlink and not cases:
            made += pool.map(lambda target: link(
                toolkit, target, "r64",
                [cubins / f"{half}.r64.{target}.cubin" for half in halves],
                cubins / f"linked.r64.{target}.cubin"),
                [target for target in targets if number(target) >= least(toolkit)])
    return made
