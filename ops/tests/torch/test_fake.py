"""Fake kernels: shapes and dtypes without memory, on meta tensors and FakeTensors of a GPU."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import cuproof_ops
from cuproof_ops import functional

ops = torch.ops.cuproof


@pytest.fixture(params=["meta", "cuda"])
def fake(request):
    if request.param == "meta":
        yield lambda *shape, dtype=torch.float32: torch.empty(shape, device="meta", dtype=dtype)
    else:
        with FakeTensorMode():
            # Made on the CPU and relabelled by the mode: no GPU is asked.
            yield lambda *shape, dtype=torch.float32: torch.empty(shape, device="cuda", dtype=dtype)


def test_norm_of_a_list(fake):
    norm = cuproof_ops.grad_norm([fake(3, 4), fake(0), fake(7, dtype=torch.bfloat16)])
    assert [tuple(t.shape) for t in norm] == [(), (3,), (), (3,)]
    assert [t.dtype for t in norm] == [torch.float32] * 3 + [torch.int64]


def test_clip_factor_and_clip(fake):
    results = ops.grad_clip_factor([fake(3)], fake(), 1.0)
    assert len(results) == 4 and all(t.shape == () and t.dtype == torch.float32 for t in results)
    assert ops.grad_clip_norm_([fake(3, dtype=torch.float16)], 1.0).dtype == torch.float32


def test_operators_that_write_return_nothing(fake):
    scalar = fake()
    assert ops.grad_norm_out([fake(3)], None, 1.0, scalar, fake(1)) is None
    assert ops.grad_scale_([fake(3)], scalar, True, scalar) is None
    assert ops.grad_accumulate_([fake(3)], [fake(3, dtype=torch.bfloat16)], True) is None
    assert ops.loss_scale_update_(scalar, fake(dtype=torch.int32), scalar, 2.0, 0.5, 10) is None
    assert ops.nonfinite_guard([fake(3)], fake(96, dtype=torch.uint8)) is None


def test_functional_forms(fake):
    copies = functional.grad_scale([fake(3), fake(2, 2, dtype=torch.float16)], fake())
    assert [(tuple(t.shape), t.dtype) for t in copies] == [
        ((3,), torch.float32),
        ((2, 2), torch.float16),
    ]
    found, bad = functional.nonfinite_guard([fake(3)])
    assert found.shape == () and bad.shape == (3,)


def test_norm_of_nothing_is_refused():
    with pytest.raises(RuntimeError, match="expected at least one"):
        cuproof_ops.grad_norm([])
