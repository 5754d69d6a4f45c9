"""Every [[samples]] row of ops/specs, through the binding, against fp64 on the CPU."""

import math
import sys
from pathlib import Path

import pytest
import torch

import cuproof_ops
from cuproof_ops import GradAccumulator, NonfiniteGuard, functional

import reference
import samples

pytest.importorskip("tomllib", reason="Python 3.11 reads ops/specs; the package takes 3.10")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import specs  # noqa: E402

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
BAD = {"inf": math.inf, "minus_inf": -math.inf, "nan": math.nan}


def normal(elements, dtype):
    return torch.randn(elements).to(dtype)


def zeros(elements, dtype):
    return torch.zeros(elements, dtype=dtype)


def huge(elements, dtype):
    """Squares outside of fp32; fp16: its own largest."""
    limit = 60000.0 if dtype == torch.float16 else 3e38
    sign = torch.randint(0, 2, (elements,)) * 2 - 1
    return ((0.5 + 0.5 * torch.rand(elements)) * limit * sign).to(dtype)


VALUES = {"normal": normal, "zeros": zeros, "huge": huge}


def put_bad(tensors, kind):
    """As tests/inputs.cc places them."""
    filled = [tensor for tensor in tensors if tensor.numel()]
    middle, last = filled[len(filled) // 2], filled[-1]
    if kind == "several_bad":
        middle[middle.numel() // 2] = math.nan
        middle[-1] = math.inf
        last[-1] = -math.inf
        return
    value, place = kind.rsplit("_", 1)
    tensor, index = {
        "first": (filled[0], 0),
        "middle": (middle, middle.numel() // 2),
        "last": (last, -1),
    }[place]
    tensor[index] = BAD[value]


def make(row):
    """The tensors of a row, on the CPU. A kind that is not known here fails."""
    kind = row["input"]
    value = VALUES.get(kind, normal)
    tensors = [value(n, DTYPES[word]) for n, word in zip(row["elements"], row["dtypes"])]
    if kind not in VALUES:
        put_bad(tensors, kind)
    return tensors


def on(device, tensors):
    return [tensor.to(device, copy=True) for tensor in tensors]


def norms_are_right(norm, tensors):
    """Two units of fp32 beside the rounding of the exact norm; Inf and NaN where fp64 says so."""
    exact = torch.stack([tensor.double().norm() for tensor in tensors])
    for ours, theirs in ((norm.per_tensor, exact), (norm.total, samples.norm64(tensors))):
        torch.testing.assert_close(
            ours.cpu().double(), theirs.float().double(), rtol=3 * 2.0**-24, atol=0, equal_nan=True
        )
    bad = reference.first_bad(tensors)
    assert norm.found_inf.item() == float(bad[0] >= 0)
    assert norm.first_bad.tolist()[:2] == bad.tolist()[:2]
    if bad[0] >= 0:
        assert norm.first_bad.tolist() == bad.tolist()


def same_values(ours, theirs):
    """The same bits, but for those of a NaN."""
    for a, b in zip(ours, theirs, strict=True):
        a, b = (t.cpu().nan_to_num(nan=7.0, posinf=math.inf, neginf=-math.inf) for t in (a, b))
        assert samples.same_bits(a, b)
    assert all(torch.equal(a.cpu().isnan(), b.isnan()) for a, b in zip(ours, theirs))


def grad_norm(device, tensors):
    if not tensors:
        with pytest.raises(RuntimeError, match="expected at least one"):
            cuproof_ops.grad_norm([])
        return
    norms_are_right(cuproof_ops.grad_norm(on(device, tensors)), tensors)


def grad_scale(device, tensors):
    given, factor = on(device, tensors), torch.full((), 0.37)
    flag = torch.zeros((), device=device)
    functional.grad_scale_(given, factor.to(device), found_inf=flag)
    # A product of two fp32 numbers is exact in fp64.
    scaled = [(t.double() * factor.double()).float().to(t.dtype) for t in tensors]
    same_values(given, scaled)
    assert flag.item() == float(reference.first_bad(tensors)[0] >= 0)


def grad_accumulate(device, tensors):
    if not tensors:
        functional.grad_accumulate_([], [])
        return
    before = [normal(t.numel(), t.dtype) for t in tensors]
    sums = GradAccumulator(on(device, tensors))
    sums.add(on(device, before))
    norm = sums.finish(on(device, tensors))
    # fp64 has more than twice the bits of fp32, so rounding twice is rounding once.
    same_values(sums.tensors, [(a.double() + b.double()).float() for a, b in zip(before, tensors)])
    norms_are_right(norm, [total.cpu() for total in sums.tensors])


def nonfinite_guard(device, tensors):
    guard = NonfiniteGuard(4, device)
    guard.check(on(device, tensors), site="here", end_of_step=True)
    bad = reference.first_bad(tensors).tolist()
    records = [(record.step, record.tensor, record.index) for record in guard.read()]
    assert records == ([(0, *bad[:2])] if bad[0] >= 0 else [])
    if not tensors:
        with pytest.raises(RuntimeError, match="expected at least one"):
            functional.nonfinite_guard([])
        return
    found, first = functional.nonfinite_guard(on(device, tensors))
    assert found.item() == float(bad[0] >= 0)
    assert first.tolist()[:2] == bad[:2]


OPERATORS = {f.__name__: f for f in (grad_norm, grad_scale, grad_accumulate, nonfinite_guard)}


def rows():
    sizes = specs.named_sizes()
    for operator in specs.operators():
        spec = specs.load(operator)
        specs.check(spec, sizes)
        for row in specs.samples(spec, sizes)["samples"]:
            yield pytest.param(operator, row, id=f"{operator}-{row['name']}")


@pytest.mark.parametrize(("operator", "row"), list(rows()))
def test_row(device, operator, row):
    OPERATORS[operator](device, make(row))


def test_every_operator_here_has_rows():
    assert {parameter.values[0] for parameter in rows()} == OPERATORS.keys()


def test_log_uniform_sizes_are_drawn_as_torch_draws():
    generator = torch.Generator().manual_seed(7)
    drawn = torch.rand(1000, generator=generator, dtype=torch.float64)
    assert list(specs.uniform_draws(7, 1000)) == drawn.tolist()
