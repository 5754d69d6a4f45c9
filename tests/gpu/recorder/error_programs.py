"""Small programs that make each error on the GPU; `cuproof report` must say which call, kernel and number.

The programs are those of tests/recorder/clients/, which also run against the modelled driver."""

import pathlib
import subprocess

import ring_file

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = HERE.parent.parent / "recorder/clients"

# Too many registers for 1,024 threads of a block on every GPU with 64 Ki registers. The kernels take no
# parameters, because the programs pass none: the driver would complain of that first.
KERNELS = """
__device__ float data[120 * 1024];
__device__ int rounds;
extern "C" __global__ void many_registers() {
  float values[120];
#pragma unroll
  for (int i = 0; i < 120; ++i) values[i] = data[i * 1024 + threadIdx.x];
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < 120; ++i) values[i] = values[i] * values[(i * 7 + 1) % 120] + values[(i + 13) % 120];
  }
#pragma unroll
  for (int i = 0; i < 120; ++i) data[i * 1024 + threadIdx.x] = values[i];
}
extern "C" __global__ void few_registers() { data[threadIdx.x] = 1; }
extern "C" __global__ void __launch_bounds__(128) bounded() { data[threadIdx.x] = 1; }
extern "C" __global__ void wants_parameter(float* out) { out[threadIdx.x] = 1; }
"""


def build(bench):
    """The programs, and images: {name: path}."""
    work = bench.work
    source = work / "kernels.cu"
    source.write_text(KERNELS)
    images = {}
    for name, arguments in {
        "cubin90": ["-cubin", "-arch=sm_90"], "cubin100": ["-cubin", "-arch=sm_100"],
        "fatbin100": ["-fatbin", "-gencode", "arch=compute_100,code=sm_100"],
        "ptx90": ["-ptx", "-arch=compute_90"],
    }.items():
        images[name] = work / f"{name}.bin"
        subprocess.run(["nvcc", *arguments, "-o", images[name], source], check=True)
    text = images["ptx90"].read_text()
    images["ptx_new"] = work / "ptx_new.bin"
    images["ptx_new"].write_text(text.replace(".version 9.0", ".version 9.9"))
    images["ptx_bad"] = work / "ptx_bad.bin"
    images["ptx_bad"].write_text(text.replace("ret;", "this is no instruction;", 1))
    images["garbage"] = work / "garbage.bin"
    images["garbage"].write_bytes(b"\x7fELF" + bytes(range(200)))
    programs = {}
    for name in ("launch_errors", "image_errors"):
        programs[name] = work / name
        subprocess.run(["cc", "-O1", "-o", programs[name], CLIENTS / f"{name}.c", "-I", CLIENTS,
                        "-l:libcuda.so.1", *library_folder()], check=True)
    # The runtime's way: the image is inside the program.
    programs["launches_100"] = work / "launches_100"
    subprocess.run(["nvcc", "-O2", "-arch=sm_100", "-o", programs["launches_100"], HERE / "launches.cu"],
                   check=True)
    return images, programs


def library_folder():
    out = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout
    for line in out.splitlines():
        if "libcuda.so.1 " in line and "x86-64" in line:
            return [f"-L{pathlib.Path(line.split()[-1]).parent}"]
    return ["-L/usr/local/nvidia/lib64"]


# name, program, arguments (an image's name in braces), what must be among the errors of the report:
# (call, number, kernel)
CASES = [
    ("701 direct", "launch_errors", ["registers", "{cubin90}", "many_registers"],
     ("cuLaunchKernel", 701, "many_registers")),
    ("701 through cuLaunchKernelEx", "launch_errors", ["registers-ex", "{cubin90}", "many_registers"],
     ("cuLaunchKernelEx", 701, "many_registers")),
    ("701 of PTX", "launch_errors", ["registers", "{ptx90}", "many_registers"],
     ("cuLaunchKernel", 701, "many_registers")),
    ("701 in a graph", "launch_errors", ["graph", "{cubin90}", "many_registers"],
     ("cuGraph", 701, "many_registers")),
    ("1: grid", "launch_errors", ["grid", "{cubin90}", "few_registers"],
     ("cuLaunchKernel", 1, "few_registers")),
    ("1: block", "launch_errors", ["block", "{cubin90}", "few_registers"],
     ("cuLaunchKernel", 1, "few_registers")),
    ("1: launch bounds", "launch_errors", ["registers", "{cubin90}", "bounded"],
     ("cuLaunchKernel", 1, "bounded")),
    ("1: shared memory", "launch_errors", ["shared", "{cubin90}", "few_registers"],
     ("cuLaunchKernel", 1, "few_registers")),
    ("1: no parameters given", "launch_errors", ["works", "{cubin90}", "wants_parameter"],
     ("cuLaunchKernel", 1, "wants_parameter")),
    ("1: shared memory past the opt-in limit", "launch_errors", ["shared-opt-in", "{cubin90}", "few_registers"],
     ("cuLaunchKernel", 1, "few_registers")),
    ("209: no image", "image_errors", ["{fatbin100}"], ("cuModuleLoadData", 209, None)),
    ("209: cubin of another GPU", "image_errors", ["{cubin100}"], ("cuModuleLoadData", 209, None)),
    ("222: PTX too new", "image_errors", ["{ptx_new}"], ("cuModuleLoadData", 222, None)),
    ("218: PTX not valid", "image_errors", ["{ptx_bad}"], ("cuModuleLoadData", 218, None)),
    ("200: no image at all", "image_errors", ["{garbage}"], ("cuModuleLoadData", 200, None)),
    ("209: a program of the runtime without code for this GPU", "launches_100", ["3"],
     ("cuLibrary", 209, None)),
    ("no error", "launch_errors", ["works", "{cubin90}", "few_registers"], None),
]


def run_all(bench, say):
    images, programs = build(bench)
    rows = []
    for number, (name, program, words, expected) in enumerate(CASES):
        command = [programs[program], *[word.format(**images) for word in words]]
        plain = subprocess.run([str(word) for word in command], capture_output=True, env=bench.environment())
        folder = bench.work / f"error_{number}"
        under = subprocess.run([str(word) for word in bench.recorder(folder, command)],
                               capture_output=True, env=bench.environment())
        report = subprocess.run([str(bench.cuproof), "report", str(folder), "--format", "json"],
                                capture_output=True)
        text = subprocess.run([str(bench.cuproof), "report", str(folder)], capture_output=True)
        recorded = ring_file.events(folder)
        failures = [line for line in recorded if line["event"] == "error"]
        names = {line["id"]: line.get("name") for line in recorded if line["event"] == "function"}
        kernels = {kernel["function"] for line in failures for kernel in line.get("kernels", [])}
        got = [(line["api"], line["result"], names.get(line.get("function"))) for line in failures]
        if expected is None:
            ok = not got
        else:
            call, code, kernel = expected
            ok = any(api.startswith(call) and result == code and
                     (kernel is None or found == kernel or kernel in {names.get(id) for id in kernels})
                     for api, result, found in got)
        ok = ok and plain.stdout == under.stdout and report.returncode in (0, 1)
        if expected is not None:
            shown = text.stdout.decode(errors="replace")
            ok = ok and str(expected[1]) in shown and (expected[2] is None or expected[2] in shown)
        rows.append({"name": name, "expected": expected, "got": got, "ok": ok,
                     "output_same": plain.stdout == under.stdout,
                     "driver_says": [line["text"] for line in recorded if line["event"] == "log"],
                     "report": text.stdout.decode(errors="replace")})
        say(f"{name}: {'ok' if ok else 'WRONG'} {got}")
    return rows
