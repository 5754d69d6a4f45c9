"""The device of a test: the GPU, or the CPU with the kernels of reference.py behind the operators.

The second lets all Python code be tested without a GPU; it says nothing about the real kernels.
"""

import pytest
import torch

import reference

GPU = torch.cuda.is_available()
NO_GPU = "no GPU: torch.cuda.is_available() is false"


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "ignore:Warning only once for all operators")


@pytest.fixture(params=["reference", "cuda"])
def device(request):
    if request.param == "cuda":
        if not GPU:
            pytest.skip(NO_GPU)
        yield torch.device("cuda", torch.cuda.current_device())
    else:
        with reference.installed():
            yield torch.device("cpu")


@pytest.fixture
def cuda():
    if not GPU:
        pytest.skip(NO_GPU)
    return torch.device("cuda", torch.cuda.current_device())


@pytest.fixture
def with_reference():
    with reference.installed():
        yield


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def fresh_compiler():
    yield
    torch._dynamo.reset()
