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
    for fault in wrong[:20]:
        print(fault)
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
