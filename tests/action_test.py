#!/usr/bin/env python3
"""Run the steps of action.yml and the entries of .pre-commit-hooks.yaml as their services would.

Usage: action_test.py CUPROOF
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

try:
    import yaml
except ImportError:
    print("SKIP: this Python has no yaml (Debian: python3-yaml)")
    sys.exit(77)

CUPROOF = os.path.abspath(sys.argv[1])
ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "tests" / "fixtures" / "gpu_images.zip"


class Job:
    """What a runner gives to the steps of a composite action."""

    def __init__(self, folder, inputs):
        self.action = yaml.safe_load((ROOT / "action.yml").read_text())
        self.folder = Path(folder)
        self.values = {f"inputs.{name}": str(one.get("default", "")) for name, one in self.action["inputs"].items()}
        assert all(name in self.action["inputs"] for name in inputs)
        self.values.update({f"inputs.{name}": value for name, value in inputs.items()})
        self.summary = self.folder / "summary.md"
        self.summary.touch()
        self.printed = ""

    def expand(self, text):
        def value(match):
            return self.values.get(match.group(1), "")
        return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", value, text)

    def run_step(self, step, path):
        assert "${{" not in step["run"], "an expression in a script is an injection"
        output = self.folder / f"output-{step['id']}"
        output.touch()
        env = {name: self.expand(text) for name, text in step.get("env", {}).items()}
        run = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], capture_output=True, text=True,
            check=False, cwd=self.folder,
            env={"PATH": path, "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self.summary),
                 "RUNNER_TEMP": str(self.folder), **env})
        self.printed += run.stdout + run.stderr
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{name}"] = value
        return run.returncode

    def run(self, path=os.environ["PATH"]):
        code = 0
        for step in self.action["runs"]["steps"]:
            assert step["shell"] == "bash"
            code = self.run_step(step, path)
            if code:
                break
        outputs = {name: self.expand(one["value"]) for name, one in self.action["outputs"].items()}
        return code, outputs


def with_job(inputs, path=None):
    """Exit code, outputs, summary, SARIF and what was printed."""
    with tempfile.TemporaryDirectory() as folder:
        job = Job(folder, inputs)
        code, outputs = job.run(path) if path else job.run()
        sarif = json.loads(Path(outputs["sarif"]).read_text()) if outputs["sarif"] else None
        return code, outputs, job.summary.read_text(), sarif, job.printed


def findings_fail_the_job():
    code, outputs, summary, sarif, printed = with_job(
        {"cuproof": CUPROOF, "paths": str(IMAGES), "arguments": "--gpu H100 --driver 535"})
    assert code == 1, printed
    assert outputs["exit-code"] == "1"
    assert summary.startswith("### cuproof check: ") and "| error CP" in summary
    assert sarif["runs"][0]["results"][0]["level"] == "error"


def nothing_found_passes():
    code, outputs, summary, sarif, printed = with_job(
        {"cuproof": CUPROOF, "paths": str(IMAGES), "arguments": "--gpu H100 --driver 535", "fail-on": "never"})
    assert code == 0 and outputs["exit-code"] == "0", printed
    assert summary and sarif


def what_cannot_be_read_is_told():
    code, outputs, _, sarif, printed = with_job({"cuproof": CUPROOF, "paths": "absent.whl"})
    assert code == 2 and outputs["exit-code"] == "2", printed
    assert "absent.whl" in printed
    assert not sarif["runs"][0]["invocations"][0]["executionSuccessful"]


def inputs_are_words_not_commands():
    code, _, _, _, printed = with_job(
        {"cuproof": CUPROOF, "paths": "$(touch ran) `touch ran` ; touch ran\n*", "command": "check"})
    assert code == 2, printed
    assert "cuproof: $(touch: No such file" in printed, printed


def two_releases_are_compared():
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(IMAGES) as images:
        release = images.extract("cubin/sm_100-cuda13.0.cubin", folder)
        code, outputs, summary, sarif, printed = with_job(
            {"cuproof": CUPROOF, "command": "diff", "paths": f"{release}\n{release}",
             "arguments": "--no-kernels"})
    assert code == 0, printed
    assert "Nothing that a user would see has changed" in summary
    assert sarif is None and outputs["markdown"]


def the_version_is_installed():
    """With a pip of ours, that puts the command where pip would."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "python3")
        python.write_text(f'#!/bin/sh\necho "$*" >{folder}/asked\nln -s {CUPROOF} {folder}/cuproof\n')
        python.chmod(0o755)
        code, _, _, _, printed = with_job(
            {"paths": str(IMAGES), "version": "9.9", "fail-on": "never"}, f"{folder}:{os.environ['PATH']}")
        assert code == 0, printed
        assert Path(folder, "asked").read_text().strip() == "-m pip install --quiet cuproof==9.9"


def hooks_run_as_pre_commit_runs_them():
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}

    def run(hook, folder, files, *arguments):
        chosen = [name for name in files if re.search(hook["files"], name)]
        command = [CUPROOF, *shlex.split(hook["entry"])[1:], *arguments, *chosen]
        return chosen, subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    for hook in hooks.values():
        assert hook["language"] == "system" and shlex.split(hook["entry"])[0] == "cuproof"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "setup.py").write_text("flags = ['-gencode', 'arch=compute_70,code=sm_70']\n")
        chosen, done = run(hooks["cuproof-build-files"], folder, ["setup.py", "README.md", "a/k.cu"], "--cuda", "13.0")
        assert chosen == ["setup.py", "a/k.cu"]
        _, done = run(hooks["cuproof-build-files"], folder, ["setup.py"], "--cuda", "13.0")
        assert done.returncode == 1 and "CP701" in done.stdout, done
        _, done = run(hooks["cuproof-build-files"], folder, ["setup.py"], "--cuda", "12.9")
        assert done.returncode == 0, done
        lines = ("ptxas info    : Compiling entry function '_Z1kv' for 'sm_90'\n"
                 "ptxas info    : Function properties for _Z1kv\n"
                 "    0 bytes stack frame, {0} bytes spill stores, {0} bytes spill loads\n"
                 "ptxas info    : Used 32 registers\n")
        Path(folder, "ptxas.log").write_text(lines.format(0))
        subprocess.run([CUPROOF, "resources", "ptxas.log", "--write-baseline", "cuproof-baseline.json"], cwd=folder,
                       check=True, capture_output=True)
        _, done = run(hooks["cuproof-baseline"], folder, ["ptxas.log"])
        assert done.returncode == 0, done
        Path(folder, "ptxas.log").write_text(lines.format(4))
        _, done = run(hooks["cuproof-baseline"], folder, ["ptxas.log"])
        assert done.returncode == 1 and "CP403" in done.stdout, done


def main():
    findings_fail_the_job()
    nothing_found_passes()
    what_cannot_be_read_is_told()
    inputs_are_words_not_commands()
    two_releases_are_compared()
    the_version_is_installed()
    hooks_run_as_pre_commit_runs_them()


if __name__ == "__main__":
    main()
