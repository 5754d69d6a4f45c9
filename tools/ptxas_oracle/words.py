"""What `ptxas -v` and `nvlink -v` print about kernels, as numbers."""

import re

ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(\w+)'")
PROPERTIES = re.compile(r"Function properties for '?([^\s']+)'?:?")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"[Uu]sed (\d+) registers(.*)")
LINKED = re.compile(r"used (\d+) registers,(?: used (\d+) barriers,)? (\d+) stack, (\d+) bytes smem(.*)")
BANK = re.compile(r"(\d+) bytes cmem\[(\d+)\]")
GLOBAL = re.compile(r"(\d+) bytes gmem")


def amount(text, what):
    found = re.search(rf"(\d+) bytes {what}", text)
    return int(found[1]) if found else 0


def used(kernel, registers, rest):
    kernel["registers"] = int(registers)
    barriers = re.search(r"used (\d+) barriers", rest)
    kernel["barriers"] = int(barriers[1]) if barriers else None
    kernel["cumulative_stack"] = amount(rest, "cumulative stack size")
    kernel["static_shared"] = amount(rest, "smem")
    kernel["constants"] = {bank: int(size) for size, bank in BANK.findall(rest)}


def of_ptxas(text):
    """(kernels by name, functions by name, of the module: gmem and constant banks)"""
    kernels, functions, module = {}, {}, {"gmem": 0, "constants": {}}
    current = entry = None
    for line in text.splitlines():
        if found := ENTRY.search(line):
            entry = kernels[found[1]] = {}
            current = entry
        elif found := PROPERTIES.search(line):
            current = kernels.get(found[1])
            if current is None:
                current = functions.setdefault(found[1], {})
        elif found := FRAME.search(line):
            if current is not None:
                current.update(zip(("stack_frame", "spill_stores", "spill_loads"), map(int, found.groups())))
        elif found := USED.search(line):
            if entry is not None:
                used(entry, *found.groups())
        elif found := GLOBAL.search(line):
            module["gmem"] += int(found[1])
            module["constants"].update({bank: int(size) for size, bank in BANK.findall(line)})
    return kernels, functions, module


def of_nvlink(text):
    """Kernels by name. It prints the stack of the whole program behind a kernel."""
    kernels = {}
    name = None
    for line in text.splitlines():
        if found := PROPERTIES.search(line):
            name = found[1]
        elif name and (found := LINKED.search(line)):
            registers, barriers, stack, shared, rest = found.groups()
            kernels[name] = {"registers": int(registers), "cumulative_stack": int(stack),
                             "barriers": None if barriers is None else int(barriers),
                             "static_shared": int(shared),
                             "constants": {bank: int(size) for size, bank in BANK.findall(rest)}}
            name = None
    return kernels
