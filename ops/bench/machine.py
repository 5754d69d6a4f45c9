"""What a result was measured on, and with which sources."""

import datetime
import hashlib
import json
import os
import platform
from pathlib import Path

OPS = Path(__file__).resolve().parent.parent
# The plain operators and what they share; the step also measures the binding.
CORE = ("include", "src/grad", "src/runtime")
BINDING = ("src/torch", "python")
SOURCES = {".h", ".cuh", ".cu", ".cc", ".py"}


def source_hash(folders):
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted((OPS / folder).rglob("*")):
            if (path.is_file() and path.suffix in SOURCES and "_test" not in path.stem and
                    "reference" not in path.stem):
                digest.update(path.relative_to(OPS).as_posix().encode() + b"\0" +
                              path.read_bytes())
    return digest.hexdigest()


class Nvml:
    """Reads clocks and power; changes nothing. Answers None where the driver gives no answer."""

    def __init__(self):
        self.handle = None
        try:
            import pynvml
            import torch
            self.nvml = pynvml
            pynvml.nvmlInit()
            properties = torch.cuda.get_device_properties(torch.cuda.current_device())
            bus = getattr(properties, "pci_bus_id", None)
            count = pynvml.nvmlDeviceGetCount()
            handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(count)]
            self.handle = handles[0]
            for handle in handles:
                if bus is not None and pynvml.nvmlDeviceGetPciInfo(handle).bus == bus:
                    self.handle = handle
        except Exception as error:
            print(f"NVML: {error}", flush=True)

    def _ask(self, name, *arguments):
        if self.handle is None:
            return None
        try:
            return getattr(self.nvml, name)(self.handle, *arguments)
        except Exception:
            return None

    def sample(self):
        power = self._ask("nvmlDeviceGetPowerUsage")
        return {"sm_mhz": self._ask("nvmlDeviceGetClockInfo", 1),
                "memory_mhz": self._ask("nvmlDeviceGetClockInfo", 2),
                "power_w": power / 1000 if power is not None else None,
                "celsius": self._ask("nvmlDeviceGetTemperature", 0)}

    def driver(self):
        try:
            version = self.nvml.nvmlSystemGetDriverVersion()
            return version.decode() if isinstance(version, bytes) else version
        except Exception:
            return None


def describe(nvml, library):
    import torch
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    try:
        import triton
        triton_version = triton.__version__
    except ImportError:
        triton_version = None
    return {
        "gpu": properties.name, "multiprocessors": properties.multi_processor_count,
        "memory_bytes": properties.total_memory,
        "l2_bytes": getattr(properties, "L2_cache_size", None),
        "driver": nvml.driver(), "cuda_of_torch": torch.version.cuda, "torch": torch.__version__,
        "triton": triton_version, "python": platform.python_version(),
        "cuda_of_compiler": os.environ.get("CUPROOF_OPS_NVCC"),
        "processors": len(os.sched_getaffinity(0)), "cuproof_ops": library.version(),
    }


class Result:
    """One JSON file, written anew after every row: a crash loses one row at most."""

    def __init__(self, bench, out, machine, settings):
        self.out = Path(out)
        self.data = {
            "bench": bench, "date": datetime.date.today().isoformat(), "machine": machine,
            "source_sha256": {"core": source_hash(CORE), "binding": source_hash(BINDING)},
            "settings": settings, "rows": [], "failures": [],
        }
        self.write()

    def write(self):
        self.out.parent.mkdir(parents=True, exist_ok=True)
        self.out.write_text(json.dumps(rounded(self.data), indent=1) + "\n")

    def add(self, row):
        self.data["rows"].append(row)
        self.write()

    def fail(self, what, error):
        line = f"{what}: {type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
        self.data["failures"].append(line[:300])
        print("FAILED " + line[:300], flush=True)
        self.write()


def rounded(value):
    """Six digits are more than any of these is good for."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return value
