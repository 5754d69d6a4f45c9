"""Every wrong argument gives one line: the argument, what was expected, what came, what to do."""

import math
import weakref

import pytest
import torch

import cuproof_ops
from cuproof_ops import GradAccumulator, NonfiniteGuard, _fake, functional

ops = torch.ops.cuproof


def sentence(call, *arguments):
    with pytest.raises(RuntimeError) as error:
        call(*arguments)
    text = str(error.value)
    assert "\n" not in text, text
    assert "expected" in text and "got" in text, text
    return text


@pytest.mark.parametrize(
    "call, arguments, start",
    [
        (ops.grad_norm, ([torch.ones(3)], None), "tensors[0]: expected a strided tensor on a CUDA"),
        (
            ops.grad_norm,
            ([torch.ones(3).to_sparse()], None),
            "tensors[0]: expected a strided tensor",
        ),
        (ops.grad_clip_factor, ([torch.ones(3)], None, 1.0), "grads[0]: "),
        (ops.grad_clip_norm_, ([torch.ones(3)], 1.0), "grads[0]: "),
        (ops.grad_scale_, ([torch.ones(3)], torch.ones(())), "grads[0]: "),
        (ops.grad_scale_, ([], torch.ones(())), "factor: expected float32 on a CUDA device, got"),
        (ops.grad_norm_out, ([], None, 0.0, torch.ones(())), "total_norm: expected float32 on"),
        (ops.grad_accumulate_, ([torch.ones(3)], [torch.ones(3)], True), "accumulators[0]: "),
        (
            ops.loss_scale_update_,
            (torch.ones(()), torch.ones((), dtype=torch.int32), torch.ones(()), 2.0, 0.5, 10),
            "scale: expected float32 on a CUDA device, got float32 on cpu",
        ),
        (ops.nonfinite_guard, ([torch.ones(3)],), "tensors[0]: "),
        (ops.guard_ring_init_, (torch.ones(96, dtype=torch.uint8), 1), "ring: expected uint8 on"),
        (ops.guard_ring_bytes, (0,), "capacity: expected 1 to 1048576 records, got 0"),
        (ops.guard_ring_bytes, (1 << 21,), "capacity: expected 1 to 1048576 records, got 2097152"),
        (ops.grad_norm_workspace, ([-1],), "grads.elements[0]: expected 0 to 2^46, got -1"),
        (ops.prepare, (-1,), "device: expected an ordinal of a CUDA device, got -1"),
        (cuproof_ops.prepare, ("cpu",), "device: expected a CUDA device, got cpu"),
        (cuproof_ops.grad_norm, ([],), "tensors: expected at least one CUDA tensor, got none"),
    ],
)
def test_sentence(call, arguments, start):
    assert sentence(call, *arguments).startswith(start)


def test_ops_without_a_derivative_say_so():
    tensor = torch.ones(3, requires_grad=True)
    for call in (
        lambda: functional.grad_scale_([tensor], torch.ones(())),
        lambda: functional.grad_accumulate_([torch.ones(3)], [tensor]),
    ):
        assert "it has no derivative" in sentence(call)


def nested():
    # One of strided layout is a plain torch.Tensor to look at.
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.strided)


# Of two lists on the CPU the first is the one that is named.
ACCUMULATOR = "accumulators[0]"
WRONG_TENSORS = {
    "compressed": lambda: torch.ones(3, 3).to_sparse_csr(),
    "blocks": lambda: torch.ones(4, 4).to_sparse_bsr((2, 2)),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(3), 1.0, 0, torch.qint8),
    "nested": nested,
    "jagged": lambda: torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged),
    "number": lambda: 1.0,
    "none": lambda: None,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", WRONG_TENSORS)
def test_a_wrong_tensor_is_named(kind):
    tensor, good = WRONG_TENSORS[kind](), torch.ones(3)
    one = torch.ones(())
    for call in (
        lambda: cuproof_ops.grad_norm([tensor]),
        lambda: functional.grad_scale_([tensor], one),
        lambda: functional.grad_scale([tensor], one),
        lambda: functional.grad_accumulate_([good], [tensor]),
        lambda: functional.nonfinite_guard([tensor]),
        lambda: GradAccumulator([good]).add([tensor]),
    ):
        assert sentence(call).split(": expected ")[0] in ("tensors[0]", "grads[0]", ACCUMULATOR)
    if kind != "quantized":
        assert sentence(lambda: GradAccumulator([tensor])).startswith("parameters[0]: expected ")


@pytest.mark.parametrize("value, kind", [(torch.ones(2, 3), "one tensor"), (3, "int")])
def test_a_list_is_a_list(with_reference, value, kind):
    one, guard = torch.ones(()), NonfiniteGuard(device="cpu")
    for call in (
        lambda: cuproof_ops.grad_norm(value),
        lambda: functional.grad_scale_(value, one),
        lambda: functional.grad_scale(value, one),
        lambda: functional.grad_accumulate_(value, [one]),
        lambda: functional.grad_accumulate_([one], value),
        lambda: functional.nonfinite_guard(value),
        lambda: guard.check(value),
        lambda: GradAccumulator(value),
        lambda: GradAccumulator([one]).add(value),
        lambda: GradAccumulator([one]).finish(value),
    ):
        assert f": expected a list of tensors, got {kind}; pass " in sentence(call)


def test_a_number_is_no_scalar(with_reference):
    tensor, one = torch.ones(3), torch.ones(())
    tracker = torch.zeros((), dtype=torch.int32)
    for call, name in (
        (lambda: cuproof_ops.grad_norm([tensor], 8.0), "loss_scale"),
        (lambda: functional.grad_scale_([tensor], 0.5), "factor"),
        (lambda: functional.grad_scale_([tensor], one, found_inf=0.0), "found_inf"),
        (lambda: functional.loss_scale_update_(1.0, tracker, one), "scale"),
        (lambda: functional.loss_scale_update_(one, 0.0, one), "growth_tracker"),
        (lambda: functional.loss_scale_update_(one, tracker, 0.0), "found_inf"),
        (lambda: GradAccumulator([tensor]).finish([tensor], loss_scale=8.0), "loss_scale"),
    ):
        assert sentence(call) == f"{name}: expected a tensor, got float; pass a torch.Tensor"


def refused_on_the_cpu():
    """A call of each operator with every tensor that it has a place for; each is refused, since the
    first is on the CPU."""

    def some(*shape):
        return torch.ones(shape)

    def norm():
        return [some(), 1.0, *(some() for _ in range(7))]

    return {
        "grad_norm": [[some(3), some(3)], some()],
        "grad_clip_factor": [[some(3), some(3)], some(), 1.0],
        "grad_clip_norm_": [[some(3), some(3)], 1.0],
        "grad_norm_out": [[some(3), some(3)], *norm()],
        "grad_scale_": [[some(3), some(3)], some(), False, some()],
        "grad_accumulate_": [[some(3), some(3)], [some(3), some(3)], True, *norm()],
        "loss_scale_update_": [some(), some(), some(), 2.0, 0.5, 10],
        "nonfinite_guard": [[some(3), some(3)], some(), some(), some(), 0, False, some()],
        "guard_ring_init_": [some(), 1],
        "guard_ring_acknowledge_": [some(), 1],
    }


def refuses(name, arguments):
    try:
        getattr(ops, name)(*arguments)
    except RuntimeError:
        return True
    return False


def references(arguments):
    for argument in arguments:
        if isinstance(argument, list):
            yield from references(argument)
        elif isinstance(argument, torch.Tensor):
            yield weakref.ref(argument)


@pytest.mark.parametrize("name", _fake.KERNELS)
def test_a_refused_call_keeps_no_tensor(name):
    arguments = refused_on_the_cpu()[name]
    alive = list(references(arguments))
    assert refuses(name, arguments)
    assert all(reference() is not None for reference in alive)
    del arguments
    assert [i for i, reference in enumerate(alive) if reference() is not None] == []


def refused(device):
    f32 = torch.ones(4, device=device)
    one = torch.ones((), device=device)
    yield ops.grad_norm, (
        [f32.double()],
        None,
    ), "tensors[0]: expected float32, float16 or bfloat16, got"
    yield ops.grad_norm, (
        [f32, f32.int()],
        None,
    ), "tensors[1]: expected float32, float16 or bfloat16"
    yield ops.grad_norm, (
        [f32[::2]],
        None,
    ), "tensors[0]: expected dense memory, got strides with gaps"
    yield ops.grad_norm, ([f32[:1].expand(3)], None), "tensors[0]: expected dense memory"
    yield ops.grad_norm, ([f32, f32.cpu()], None), "tensors[1]: expected a strided tensor on a CUDA"
    yield ops.grad_norm, ([f32], one.double()), "loss_scale: expected float32 on a CUDA device"
    yield ops.grad_norm, ([f32], f32), "loss_scale: expected 1 elements, got 4"
    yield ops.grad_scale_, ([f32], one.cpu()), "factor: expected float32 on a CUDA device, got"
    yield ops.grad_scale_, ([f32], one, False, one.half()), "found_inf: expected float32"
    yield ops.grad_norm_out, (
        [f32],
        None,
        0.0,
        one,
        f32,
    ), "tensor_norms: expected 1 elements, got 4"
    yield ops.grad_norm_out, ([f32], None, float("nan"), one), "out.max_norm: expected a number"
    yield (
        ops.grad_norm_out,
        ([f32], None, 0.0, *[None] * 6, torch.empty(8, dtype=torch.uint8, device=device)),
        "workspace: expected at least ",
    )
    yield ops.grad_norm_out, ([f32], None, 0.0, *[None] * 7, -1), "max_ctas: expected 0 to"
    yield ops.grad_accumulate_, ([f32.half()], [f32], True), "accumulators[0]: expected float32"
    yield ops.grad_accumulate_, ([f32, f32], [f32], True), "accumulators: expected 1 tensors as"
    yield ops.grad_accumulate_, ([f32[:3]], [f32], True), "accumulators[0]: expected the shape and"
    square = torch.ones(3, 4, device=device)
    turned = torch.ones(4, 3, device=device).t()
    yield ops.grad_accumulate_, (
        [turned],
        [square],
        True,
    ), "accumulators[0]: expected the shape and"
    yield ops.nonfinite_guard, ([f32], one), "ring: expected uint8 on a CUDA device, got float32"
    yield ops.nonfinite_guard, ([f32], None, one, None, 1 << 16), "site: expected 0 to 65535, got"
    tracker = torch.zeros((), dtype=torch.int32, device=device)
    yield ops.loss_scale_update_, (one, tracker, one, 0.5, 0.5, 10), "growth_factor: expected"
    yield ops.loss_scale_update_, (one, tracker, one, 2.0, 0.0, 10), "backoff_factor: expected"
    yield ops.loss_scale_update_, (one, tracker, one, 2.0, 0.5, 0), "growth_interval: expected"


def test_sentences_on_a_gpu(cuda):
    for call, arguments, start in refused(cuda):
        assert sentence(call, *arguments).startswith(start)


def test_nothing_is_written_when_an_argument_is_refused(cuda):
    good = torch.ones(4, device=cuda)
    with pytest.raises(RuntimeError):
        ops.grad_scale_([good, good.double()], torch.full((), 2.0, device=cuda))
    with pytest.raises(RuntimeError):
        ops.grad_clip_norm_([good, torch.ones(8, device=cuda)[::2]], 0.1)
    assert good.tolist() == [1.0] * 4


def test_two_devices_are_refused(cuda):
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    pair = [torch.ones(3, device="cuda:0"), torch.ones(3, device="cuda:1")]
    assert sentence(ops.grad_norm, pair, None).startswith(
        "tensors[1]: expected device cuda:0 as tensors[0], got cuda:1"
    )
