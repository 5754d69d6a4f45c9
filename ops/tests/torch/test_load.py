"""Import: what it registers, and the one line it gives when something is missing."""

import os
import subprocess
import sys
import textwrap

import pytest
import torch

import cuproof_ops
from cuproof_ops import _fake, _library

PURE = ["guard_ring_bytes", "grad_norm_workspace", "grad_accumulate_workspace"]


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def last_line(result):
    assert result.returncode != 0
    return result.stderr.strip().splitlines()[-1]


def test_every_name_of_all_is_there():
    for name in cuproof_ops.__all__:
        assert getattr(cuproof_ops, name) is not None


@pytest.mark.parametrize("name", [*_fake.KERNELS, *PURE, "prepare", "version"])
def test_operator_is_registered(name):
    assert getattr(torch.ops.cuproof, name).default is not None


def test_version_names_the_machine_code():
    version, *architectures = cuproof_ops.version().split()
    assert version.count(".") == 2
    assert architectures and all(word.startswith("sm_") for word in architectures)
    assert cuproof_ops.__version__ == version


def test_torch_missing_is_one_line():
    line = last_line(run("import sys; sys.modules['torch'] = None\nimport cuproof_ops"))
    assert line.startswith("ImportError: cuproof_ops: torch cannot be imported (")
    assert line.endswith("install torch 2.10 or newer")


def test_old_torch_is_one_line():
    line = last_line(run("import torch; torch.__version__ = '2.9.1+cu128'\nimport cuproof_ops"))
    assert line == (
        "ImportError: cuproof_ops: expected torch 2.10 or newer, got 2.9.1+cu128; upgrade torch"
    )


def test_missing_library_is_one_line():
    line = last_line(run("import cuproof_ops", **{_library.ENVIRONMENT: "/nowhere/ops.so"}))
    assert line.startswith(
        "ImportError: cuproof_ops: /nowhere/ops.so is missing; install the wheel"
    )


def test_damaged_library_is_one_line(tmp_path):
    path = tmp_path / "ops.so"
    path.write_bytes(b"not a library")
    line = last_line(run("import cuproof_ops", **{_library.ENVIRONMENT: str(path)}))
    assert line.startswith(f"ImportError: cuproof_ops: {path} cannot be loaded: ")


@pytest.mark.parametrize("version", ["2.10.0", "2.15.0+cu132", "3.0.0a0+git1234", "2.11.0.dev2"])
def test_versions_are_read(version):
    assert _library._numbers(version) >= (2, 10)


def test_import_starts_no_cuda():
    result = run("import torch, cuproof_ops; assert not torch.cuda.is_initialized()")
    assert result.returncode == 0, result.stderr


def test_workspace_queries_answer_without_a_gpu():
    ops = torch.ops.cuproof
    assert ops.grad_norm_workspace([]) >= 0
    assert ops.grad_norm_workspace([10**9]) > ops.grad_norm_workspace([1, 2, 3]) > 0
    assert ops.grad_accumulate_workspace([1] * 3000) > 0
    assert ops.nonfinite_guard_workspace([7]) == ops.grad_norm_workspace([7])
    assert ops.guard_ring_bytes(4) == 64 + 4 * 32
