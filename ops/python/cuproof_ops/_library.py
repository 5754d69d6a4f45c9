"""Finds torch and the compiled library, or says in one line what is missing."""

import os
from pathlib import Path

OLDEST_TORCH = (2, 10)
FILE_NAME = "_cuproof_ops_torch.so"
# For builds that are not installed: the tests and the build tree.
ENVIRONMENT = "CUPROOF_OPS_TORCH_LIBRARY"


def _numbers(version: str) -> tuple[int, int]:
    major, minor = version.split("+")[0].split(".")[:2]
    return int(major), int(minor)


def load() -> None:
    """Registers ``torch.ops.cuproof``. Raises ImportError."""
    oldest = ".".join(map(str, OLDEST_TORCH))
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"cuproof_ops: torch cannot be imported ({error}); install torch {oldest} or newer"
        ) from None
    if _numbers(torch.__version__) < OLDEST_TORCH:
        raise ImportError(
            f"cuproof_ops: expected torch {oldest} or newer, got {torch.__version__}; upgrade torch"
        )
    path = Path(os.environ.get(ENVIRONMENT) or Path(__file__).with_name(FILE_NAME))
    if not path.is_file():
        raise ImportError(
            f"cuproof_ops: {path} is missing; install the wheel, or let {ENVIRONMENT} name the file"
        )
    try:
        torch.ops.load_library(path)
    except OSError as error:
        raise ImportError(f"cuproof_ops: {path} cannot be loaded: {error}") from None
