#!/usr/bin/env python3
"""Hold the JSON that the command prints to docs/schema/.

The schemas let members be added, so that old readers go on working. Here they
are closed first: a member that the command prints and the schema does not name
is one that nobody documented.

Usage: schema_test.py CUPROOF
"""

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

try:
    import jsonschema
except ImportError:
    print("SKIP: this Python has no jsonschema (Debian: python3-jsonschema)")
    sys.exit(77)

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "tests" / "fixtures"


def closed(schema):
    """The schema with every object that lists members limited to those."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        result.setdefault("additionalProperties", False)
    return result


def schema_named(name):
    schema = json.loads((ROOT / "docs" / "schema" / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


def validator(schema, part=None):
    if part:
        schema = {"$schema": schema["$schema"], "$defs": schema["$defs"], "$ref": f"#/$defs/{part}"}
    return jsonschema.Draft202012Validator(schema)


class Lines:
    """Judges a line of --format jsonl: one of the parts, and a member that says which."""

    def __init__(self, schema):
        self.any_line = validator(schema, "line")
        self.parts = {part: validator(closed(schema), part)
                      for part in ("run", "file", "finding", "problem", "summary")}

    def iter_errors(self, line):
        yield from self.any_line.iter_errors(line)
        part = self.parts.get(line.pop("type", None))
        if part:
            yield from part.iter_errors(line)


def faults(check, document):
    for error in check.iter_errors(document):
        # An anyOf reports only that nothing matched: the innermost error says what it was.
        best = jsonschema.exceptions.best_match([error])
        where = "/".join(str(step) for step in best.absolute_path)
        yield f"at /{where}: {best.message[:300]}"


def make_inputs(folder):
    """A few inputs of every sort: the images as files, their zip, what is no CUDA, what is damaged."""
    images = folder / "images"
    with zipfile.ZipFile(FIXTURES / "gpu_images.zip") as z:
        z.extractall(images)
    (folder / "empty").mkdir()
    (folder / "notes.txt").write_text("no device code here\n")
    whole = next(images.glob("fatbin/*.fatbin")).read_bytes()
    (folder / "cut.fatbin").write_bytes(whole[: len(whole) * 2 // 3])
    (folder / "odd \u202e\x1b[31m\"name.cubin").write_bytes(next(images.glob("cubin/*.cubin")).read_bytes())
    (folder / "cut.zip").write_bytes((FIXTURES / "gpu_images.zip").read_bytes()[:5000])
    return {
        "the zip": [FIXTURES / "gpu_images.zip"],
        "the images": [images],
        "no CUDA": [folder / "notes.txt"],
        "an empty folder": [folder / "empty"],
        "a container cut short": [folder / "cut.fatbin"],
        "a zip cut short": [folder / "cut.zip"],
        "an odd name": [folder / "odd \u202e\x1b[31m\"name.cubin"],
        "a missing file beside a good one": [folder / "missing", FIXTURES / "gpu_images.zip"],
    }


def make_run(folder):
    """A run folder of one process that made errors; its ring is cut short, its last line too."""
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({
        "cuproof": "0.1.0", "command": ["python", "train.py"], "folder": "/x", "pid": 7, "exit_code": 1,
        "driver": {"path": "/d/libcuda.so.1", "build_id": "00"}, "notes": ["a note"],
        "start": {"clock": 1, "monotonic_ns": 2, "realtime_ns": 3}}))
    lines = [
        {"event": "process", "pid": 7, "ppid": 1, "exe": "/usr/bin/python", "command": ["python"]},
        {"event": "driver", "version": 13000},
        {"event": "device", "device": 0, "name": "H200", "attributes": {"75": 9, "76": 0}},
        {"event": "image", "id": 1, "kind": "ptx", "size": 9, "result": 218, "ns": 20_000_000},
        {"event": "function", "id": 1, "name": "_Z5scalePf", "image": 1},
        {"event": "attribute", "function": 1, "attribute": 4, "value": 168},
        {"event": "capture", "id": 1, "stream": 1, "mode": 0},
        {"event": "graph", "id": 1, "origin": "capture", "nodes": {"kernel": 2}, "result": 0, "ns": 5},
        {"event": "log", "tid": 7, "ts": 1, "level": 0, "text": "words"},
        *({"event": "error", "tid": 7, "ts": 2, "api": "cuLaunchKernel", "result": result, "function": 1,
           "image": 1, "grid": [1, 1, 1], "block": [1024, 1, 1], "shared": 0}
          for result in (1, 2, 98, 200, 209, 218, 221, 222, 223, 500, 700, 701, 719, 720, 900, 912, 913)),
        {"event": "lost", "what": "image", "errno": 28},
    ]
    text = "\n".join(json.dumps({"ts": 1, "tid": 7, **line}) for line in lines)
    (folder / "7.jsonl").write_text(text + '\n{"event":"str')
    (folder / "7.ring").write_bytes(b"CUPRING1")
    (folder / "8.jsonl").write_text("")
    return folder


TARGETS = [
    [],
    ["--gpu", "H100,RTX5090,B300", "--driver", "12.8"],
    ["--gpu", "all", "--deep"],
    ["--gpu", "sm_999"],
    ["--gpu", "7.5", "--driver", "470.82.01", "--cuda", "11.4", "--fail-on", "never", "-v"],
    ["--driver", "999.1", "--fail-on", "warning"],
]


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    cuproof = sys.argv[1]
    check = validator(closed(schema_named("check")))
    line = Lines(schema_named("check"))
    inspect = validator(closed(schema_named("inspect")))
    report = validator(closed(schema_named("report")))
    resources = validator(closed(schema_named("resources")))
    diff = validator(closed(schema_named("diff")))
    passed, wrong = 0, []

    def run(*arguments):
        done = subprocess.run([cuproof, *map(str, arguments)], capture_output=True, text=True,
                              timeout=120)
        if done.returncode not in (0, 1, 2) or not done.stdout:
            raise ValueError(f"exit {done.returncode}: {done.stderr.strip()[:300]}")
        return done.stdout

    def hold(name, judge, texts):
        nonlocal passed
        try:
            found = [fault for text in texts() for fault in faults(judge, json.loads(text))]
        except ValueError as error:  # also: not JSON
            found = [str(error)]
        if found:
            wrong.append(f"{name}: {found[0]}" + (f" (and {len(found) - 1} more)" if found[1:] else ""))
        else:
            passed += 1

    with tempfile.TemporaryDirectory() as folder:
        for what, paths in make_inputs(Path(folder)).items():
            # Every target for one input and two targets for every input: the rest says the same.
            for target in TARGETS if what == "the zip" else TARGETS[:2]:
                name = f"check {' '.join(target)} of {what}"
                hold(name, check, lambda: [run("check", *paths, *target, "--format", "json")])
                hold(f"{name}, as lines", line,
                     lambda: run("check", *paths, *target, "--format", "jsonl").splitlines())
            for options in ([], ["--deep"]):
                hold(f"inspect {' '.join(options)} of {what}", inspect,
                     lambda: [run("inspect", *paths, *options, "--format", "json")])
            hold(f"resources of {what}", resources,
                 lambda: [run("resources", *paths, "--format", "json")])
            old_and_new = [FIXTURES / "gpu_images.zip", paths[0]]
            hold(f"diff with {what}", diff, lambda: [run("diff", *old_and_new, "--format", "json")])
        bank = validator(closed(schema_named("bank")))
        hold("resources --bank", bank, lambda: [
            run("resources", "--bank", index, "--block", "32x4", "--format", "json")
            for index in ("4: tx*32 + ty", "16: tx/2", "1: lane")])
        run_folder = make_run(Path(folder) / "run")
        hold("report of a run", report, lambda: [run("report", run_folder, "--format", "json")])
    for fault in wrong[:20]:
        print(fault)
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
