"""Sums of gradients over micro-batches, in float32."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch

from . import _support
from .grad_clip import SMALLEST

_ops = torch.ops.cuproof


class ClippedNorm(NamedTuple):
    """What :meth:`GradAccumulator.finish` returns; the first four as in ``GradNorm``."""

    total: torch.Tensor
    per_tensor: torch.Tensor
    found_inf: torch.Tensor
    first_bad: torch.Tensor
    factor: torch.Tensor
    """float32, ``()``: what unscales and clips the sums when they are multiplied by it."""
    grad_scale: torch.Tensor
    """float32, ``()``: 1 / factor, for the ``grad_scale`` of a fused optimizer."""


class GradAccumulator:
    """float32 sums of bfloat16, float16 or float32 gradients over the micro-batches of a step.

        parameters = list(model.parameters())
        sums = GradAccumulator(parameters)
        for micro_batches in steps:
            for batch in micro_batches[:-1]:
                loss(batch).backward()
                sums.add()
            loss(micro_batches[-1]).backward()
            norm = sums.finish(max_norm=1.0)  # the last one, and the norm in the same pass
            for parameter, total in zip(parameters, sums.tensors):
                parameter.grad = total
            optimizer.grad_scale, optimizer.found_inf = norm.grad_scale, norm.found_inf
            optimizer.step()  # fused: divides, or skips where there is an Inf or NaN
            del optimizer.grad_scale, optimizer.found_inf
            optimizer.zero_grad()  # set_to_none, or the next backward pass adds to the sums

    That is for float32 parameters and ``torch.optim.AdamW(parameters, fused=True)`` or another
    optimizer that takes ``grad_scale``. With any other, ``torch._foreach_mul_(sums.tensors,
    norm.factor)`` divides, and ``if not norm.found_inf`` before the step waits for the GPU. A
    bfloat16 parameter takes no float32 gradient: give the sums to its float32 master copy, or
    ``parameter.grad = (total * norm.factor).to(parameter.dtype)``. With a loss scale pass
    ``loss_scale``: both numbers divide by it. For the mean over the micro-batches divide the loss.

    ``tensors``: one float32 sum for each parameter, with its shape and strides. The first ``add``
    of a step overwrites, so nothing has to be zeroed. Both calls read ``parameter.grad`` unless
    they are given gradients, and set ``parameter.grad`` to None after that, so that the next
    backward pass does not add to it. Nothing waits for the GPU; both may be captured in a CUDA
    graph. Parameters on the CPU, of float64 or of a subclass such as DTensor are refused, not
    handed to torch.
    """

    def __init__(self, parameters: Iterable[torch.Tensor]) -> None:
        self._parameters = _support.tensor_list("parameters", parameters)
        if not self._parameters:
            raise RuntimeError(
                "parameters: expected at least one tensor, got none; a generator is empty once it "
                "was used"
            )
        for i, parameter in enumerate(self._parameters):
            if parameter.layout is not torch.strided:
                raise RuntimeError(
                    f"parameters[{i}]: expected a strided tensor, got {parameter.layout}; give the "
                    f"accumulator only dense parameters"
                )
        self.tensors = [
            torch.empty_like(parameter, dtype=torch.float32, requires_grad=False)
            for parameter in self._parameters
        ]
        self.micro_batches = 0
        """How many are in the sums of the step under way."""

    def add(self, grads: Sequence[torch.Tensor] | None = None) -> None:
        """Adds the gradients of one micro-batch that is not the step's last."""
        self._run(grads, ())
        self.micro_batches += 1

    def finish(
        self,
        grads: Sequence[torch.Tensor] | None = None,
        *,
        loss_scale: torch.Tensor | None = None,
        max_norm: float = 0.0,
    ) -> ClippedNorm:
        """Adds the last micro-batch, which gets no ``add``, and returns the norms of the sums.

        ``loss_scale`` (float32, one element, on the device): the sums hold that many times the
        gradient. ``max_norm``: ``factor`` clips to it; 0: no clipping. The next ``add`` starts a
        new step.
        """
        max_norm = float(max_norm)
        if not (max_norm == 0 or max_norm >= SMALLEST):
            raise ValueError(
                f"max_norm: expected 0 for no clipping or a number from {SMALLEST:.2g} on, got "
                f"{max_norm}; pass a norm to clip to"
            )
        if grads is None and self.micro_batches and all(p.grad is None for p in self._parameters):
            raise RuntimeError(
                f"finish(): expected the gradients of the last micro-batch, got none after "
                f"{self.micro_batches} add(); call add() for all micro-batches but the last"
            )
        _support.scalar("loss_scale", loss_scale)
        like = self.tensors[0]
        out = ClippedNorm(
            total=like.new_empty(()),
            per_tensor=like.new_empty((len(self.tensors),)),
            found_inf=like.new_empty(()),
            first_bad=like.new_empty((3,), dtype=torch.int64),
            factor=like.new_empty(()),
            grad_scale=like.new_empty(()),
        )
        self._run(grads, (loss_scale, max_norm, *out))
        self.reset()
        return out

    def reset(self) -> None:
        """Forgets the step under way: the next ``add`` overwrites."""
        self.micro_batches = 0

    @torch.no_grad()
    def _run(self, grads, norm) -> None:
        given = grads is not None
        if not given:
            grads = [parameter.grad for parameter in self._parameters]
            for i, grad in enumerate(grads):
                if grad is None:
                    raise RuntimeError(
                        f"grads[{i}]: expected a gradient, got None; give the accumulator only "
                        f"parameters that every backward pass reaches"
                    )
        grads = _support.tensor_list("grads", grads)
        _ops.grad_accumulate_(self.tensors, grads, self.micro_batches == 0, *norm)
        _support.written(self.tensors)
        if not given:
            for parameter in self._parameters:
                parameter.grad = None
