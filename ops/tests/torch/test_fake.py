"""Fake kernels: shapes and dtypes without memory, on meta tensors and FakeTensors of a GPU."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import cuproof_ops
from cuproof_ops import functional

import samples

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


def wrong(fake):
    """A wrong dtype, device or layout in each place of each operator."""
    f32, f64, i64 = fake(3), fake(3, dtype=torch.float64), fake(3, dtype=torch.int64)
    one, wide = fake(), fake(dtype=torch.float64)
    ring = fake(96, dtype=torch.uint8)
    tracker = fake(dtype=torch.int32)
    yield ops.grad_norm, ([f64], None), "tensors[0]: expected float32, float16 or bfloat16, got fl"
    yield ops.grad_norm, ([f32, i64], None), "tensors[1]: expected float32, float16 or bfloat16, "
    yield ops.grad_norm, ([f32], wide), "loss_scale: expected float32 on a CUDA device, got float64"
    yield ops.grad_clip_factor, ([f64], None, 1.0), "grads[0]: "
    yield ops.grad_clip_factor, ([f32], wide, 1.0), "loss_scale: "
    yield ops.grad_clip_norm_, ([f64], 1.0), "grads[0]: "
    yield ops.grad_norm_out, ([f64],), "tensors[0]: "
    names = ["total_norm", "tensor_norms", "found_inf", "first_bad", "factor", "grad_scale"]
    for i, name in enumerate([*names, "workspace"]):
        yield ops.grad_norm_out, ([f32], None, 1.0, *[None] * i, wide), f"{name}: expected "
        outs = ([f32], [f32], True, None, 1.0, *[None] * i, wide)
        yield ops.grad_accumulate_, outs, f"{name}: expected "
    yield ops.grad_scale_, ([f64], one), "grads[0]: "
    yield ops.grad_scale_, ([f32], wide), "factor: "
    yield ops.grad_scale_, ([f32], one, False, wide), "found_inf: "
    half = fake(3, dtype=torch.float16)
    yield ops.grad_accumulate_, ([half], [f32], True), "accumulators[0]: expected float32, got"
    yield ops.grad_accumulate_, ([f32], [f64], True), "grads[0]: "
    yield ops.grad_accumulate_, ([f32, f32], [f32], True), "accumulators: expected 1 tensors as "
    yield ops.loss_scale_update_, (wide, tracker, one, 2.0, 0.5, 10), "scale: "
    yield ops.loss_scale_update_, (one, one, one, 2.0, 0.5, 10), "growth_tracker: expected int32"
    yield ops.loss_scale_update_, (one, tracker, wide, 2.0, 0.5, 10), "found_inf: "
    yield ops.nonfinite_guard, ([f64], ring), "tensors[0]: "
    yield ops.nonfinite_guard, ([f32], f32), "ring: expected uint8 on a CUDA device, got float32"
    yield ops.nonfinite_guard, ([f32], ring, wide), "found_inf: "
    yield ops.nonfinite_guard, ([f32], ring, one, f32), "first_bad: expected int64"
    yield ops.guard_ring_init_, (f32, 1), "ring: "
    yield ops.guard_ring_acknowledge_, (f32, 1), "ring: "


def test_a_wrong_dtype_is_refused_as_the_kernels_do(fake):
    for call, arguments, start in wrong(fake):
        with pytest.raises(RuntimeError) as error:
            call(*arguments)
        assert str(error.value).startswith(start), (call, start)


def test_a_wrong_device_is_refused():
    with FakeTensorMode():
        cpu, gpu = (torch.empty(3, device=device) for device in ("cpu", "cuda:0"))
        on_cpu = "expected a strided tensor on a CUDA device, got float32 on cpu"
        for tensors, text in (
            ([cpu], rf"tensors\[0\]: {on_cpu}"),
            ([gpu, cpu], rf"tensors\[1\]: {on_cpu}"),
        ):
            with pytest.raises(RuntimeError, match=text):
                cuproof_ops.grad_norm(tensors)
        with pytest.raises(RuntimeError, match="factor: expected float32 on a CUDA device, got"):
            functional.grad_scale_([gpu], cpu[0])


@pytest.mark.skipif(torch.cuda.device_count() == 1, reason="torch asks for the second GPU")
def test_a_second_fake_device_is_refused():
    with FakeTensorMode():
        first, second = (torch.empty(3, device=device) for device in ("cuda:0", "cuda:1"))
        with pytest.raises(RuntimeError, match=r"tensors\[1\]: expected device cuda:0 as tensors"):
            cuproof_ops.grad_norm([first, second])
        with pytest.raises(RuntimeError, match="loss_scale: expected device cuda:0 as the other"):
            cuproof_ops.grad_norm([first], second[0])


@pytest.mark.parametrize("dtype", [*samples.DTYPES, torch.float64])
def test_a_fake_clip_has_the_dtype_of_the_real_one(with_reference, dtype):
    def norm(device):
        return cuproof_ops.clip_grad_norm_(
            samples.parameters([torch.ones(3, device=device, dtype=dtype)]), 1.0
        )

    with FakeTensorMode():
        fake = norm("cuda")
    assert fake.device.type == "cuda" and fake.dtype == norm("cpu").dtype


def test_a_guard_has_a_real_device():
    for device in ("meta", "cpu"):
        with pytest.raises(RuntimeError, match=f"device: expected a CUDA device, got {device}; "):
            cuproof_ops.NonfiniteGuard(device=device)


def test_norm_of_nothing_is_refused():
    with pytest.raises(RuntimeError, match="expected at least one"):
        cuproof_ops.grad_norm([])
