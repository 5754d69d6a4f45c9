"""Sums of gradients over micro-batches, in float32."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch

from . import _support

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

        sums = GradAccumulator(parameters)
        for batch in micro_batches[:-1]:
            loss(batch).backward()
            sums.add()
        loss(micro_batches[-1]).backward()
        norm = sums.finish(max_norm=1.0)   # the norm of sums.tensors, in the same pass
        ...                                # step on sums.tensors, times norm.factor

    ``tensors``: one float32 sum for each parameter, with its shape and strides. The first ``add``
    of a step overwrites, so nothing has to be zeroed. Both calls read ``parameter.grad`` unless
    they are given gradients, and set ``parameter.grad`` to None after that, so that the next
    backward pass does not add to it. Nothing waits for the GPU; both may be captured in a CUDA
    graph.
    """

    def __init__(self, parameters: Iterable[torch.Tensor]) -> None:
        self._parameters = list(parameters)
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
        """Adds the last micro-batch and returns the norms of the sums.

        ``loss_scale`` (float32, one element, on the device): the sums hold that many times the
        gradient. ``max_norm``: ``factor`` clips to it; 0: no clipping. The next ``add`` starts a
        new step.
        """
        like = self.tensors[0]
        out = ClippedNorm(
            total=like.new_empty(()),
            per_tensor=like.new_empty((len(self.tensors),)),
            found_inf=like.new_empty(()),
            first_bad=like.new_empty((3,), dtype=torch.int64),
            factor=like.new_empty(()),
            grad_scale=like.new_empty(()),
        )
        self._run(grads, (loss_scale, float(max_norm), *out))
        self.reset()
        return out

    def reset(self) -> None:
        """Forgets the step under way: the next ``add`` overwrites."""
        self.micro_batches = 0

    @torch.no_grad()
    def _run(self, grads, norm) -> None:
        given = grads is not None
        grads = list(grads) if given else [parameter.grad for parameter in self._parameters]
        for i, grad in enumerate(grads):
            if grad is None:
                raise RuntimeError(
                    f"grads[{i}]: expected a gradient, got None; give the accumulator only "
                    f"parameters that every backward pass reaches"
                )
        _ops.grad_accumulate_(self.tensors, grads, self.micro_batches == 0, *norm)
        _support.written(self.tensors)
        if not given:
            for parameter in self._parameters:
                parameter.grad = None
