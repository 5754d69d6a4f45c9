"""What the real loader says: a child process that opens the file, and ldd -r, both without rights or network."""

import json
import re
import subprocess
import sys
from pathlib import Path

PYTHON = "/usr/bin/python3"
CHILD = Path(__file__).resolve().parent / "child.py"
NOBODY = ["unshare", "--net", "--ipc", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
          "--no-new-privs", "--inh-caps=-all", "env", "-i", "PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/nonexistent"]


def sandboxed(command, library_path, **more):
    extra = [f"LD_LIBRARY_PATH={':'.join(library_path)}"] if library_path else []
    return subprocess.run([*NOBODY, *extra, *command], capture_output=True, text=True, errors="replace", **more)


def ask_child(site, files, torch, library_path):
    """(what became of torch, {file: outcome}): one process, a copy of it for each file."""
    done = sandboxed([PYTHON, str(CHILD), str(site), "torch" if torch else "no-torch"], library_path,
                     input="".join(f"{f}\n" for f in files), timeout=1800)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if not lines or len(lines) != len(files) + 1:
        raise RuntimeError(f"the child said {len(lines)} lines: {done.stderr[-500:]}")
    return lines[0]["torch"], {line["file"]: line for line in lines[1:]}


def ldd(path, library_path):
    """The complete sets of ldd -r, or the reason why it gives none."""
    done = sandboxed(["ldd", "-r", str(path)], library_path, timeout=300)
    text = done.stdout + done.stderr
    if "not a dynamic executable" in text or "exited with" in text:
        return {"refused": text.strip().splitlines()[-1].split(": ", 1)[-1].strip()}
    found = {"missing_libraries": set(), "missing_symbols": set(), "version_errors": set()}
    for line in text.splitlines():
        if m := re.match(r"\s+(\S+) => not found", line):
            found["missing_libraries"].add(m.group(1))
        elif m := re.match(r"undefined symbol: ([^\s,]+)(?:, version (\S+))?\s+\((.*)\)$", line):
            found["missing_symbols"].add(m.group(1) + (f"@{m.group(2)}" if m.group(2) else ""))
        elif m := re.match(r"symbol (\S+), version (\S+) not defined in file (\S+)", line):
            found["missing_symbols"].add(f"{m.group(1)}@{m.group(2)}")
        elif m := re.search(r": version `([^']+)' not found \(required by", line):
            found["version_errors"].add(m.group(1))
        elif not re.match(r"\s+(\S+ => )?/?\S+ \(0x|\s+statically linked|ldd: warning|\s+linux-vdso", line):
            found.setdefault("other_lines", set()).add(re.sub(r"0x[0-9a-f]+", "0x", line.strip()))
    return {key: sorted(value) for key, value in found.items()}


if __name__ == "__main__":
    print(json.dumps(ldd(sys.argv[1], sys.argv[2:]), indent=1))
