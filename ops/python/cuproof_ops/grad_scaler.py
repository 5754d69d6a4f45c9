"""Loss scaling, in place of torch.amp.GradScaler."""

import inspect
from collections import defaultdict

import torch
from torch.amp.grad_scaler import OptState

from . import _support
from .grad_clip import SMALLEST, clip_grad_norm_

_ops = torch.ops.cuproof


def _takes_grad_scale(optimizer) -> bool:
    """Whether the optimizer divides by ``optimizer.grad_scale`` and skips by ``found_inf`` itself:
    fused ones. The older contract, a ``grad_scaler`` argument of step(), does not count."""
    return (
        getattr(optimizer, "_step_supports_amp_scaling", False)
        and "grad_scaler" not in inspect.signature(optimizer.step).parameters
    )


class GradScaler(torch.amp.GradScaler):
    """``torch.amp.GradScaler`` with a faster unscale, bfloat16 gradients, and
    :meth:`unscale_and_clip_`.

    Protocol, arguments, state_dict and results are torch's: unscaled float32 gradients have the
    same bits, and the scale takes the same values. With a fused optimizer
    (``torch.optim.AdamW(..., fused=True)``) nothing waits for the GPU; with another one
    :meth:`step` must read on the host whether to skip, as torch's does.

        scaler.scale(loss).backward()
        norm = scaler.unscale_and_clip_(optimizer, max_norm=1.0)  # optional
        scaler.step(optimizer)
        scaler.update()
    """

    def unscale_and_clip_(self, optimizer: torch.optim.Optimizer, max_norm: float) -> torch.Tensor:
        """In place of ``unscale_(optimizer)`` and ``clip_grad_norm_(parameters, max_norm)``.

        Reads the gradients once. A fused optimizer is told what to divide by (loss scale over clip
        factor) in ``optimizer.grad_scale``, and writes the unscaled, clipped gradients back as it
        steps; until then, and after a step that was skipped for an Inf or NaN, ``.grad`` holds the
        scaled ones. For any other optimizer they are multiplied in place.

        Returns the norm of the unscaled gradients before clipping, float32, ``()``: of all that
        this optimizer has. With two optimizers each is clipped by its own norm; for one norm over
        several, or over some parameters, call :meth:`unscale_` and :func:`clip_grad_norm_`.
        ``max_norm``: over 0; ``math.inf`` only unscales. Call it once per step, instead of
        :meth:`unscale_`. Gradients that the kernels do not take (see :func:`clip_grad_norm_`,
        whose word on FSDP1 holds here too, for the check as well) go through those two calls.
        """
        max_norm = float(max_norm)
        if not max_norm > 0:
            raise ValueError(
                f"max_norm: expected a number over 0, got {max_norm}; pass math.inf "
                "for no clipping"
            )
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        if not self._enabled:
            return clip_grad_norm_(parameters, max_norm)
        self._check_scale_growth_tracker("unscale_and_clip_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_and_clip_() is being called after unscale_() since the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_and_clip_() is being called after step().")
        grads = [p.grad for p in parameters if p.grad is not None]
        hand_over = _takes_grad_scale(optimizer)
        if not hand_over and any(grad.dtype == torch.float16 for grad in grads):
            raise ValueError("Attempting to unscale FP16 gradients.")
        on_our_device = _support.takes(grads) and grads[0].device == self._scale.device
        if on_our_device and max_norm >= SMALLEST:
            with torch.no_grad():
                return self._read_once(optimizer, state, grads, max_norm, hand_over)
        self.unscale_(optimizer)
        return clip_grad_norm_(parameters, max_norm)

    def _read_once(self, optimizer, state, grads, max_norm, hand_over) -> torch.Tensor:
        # As torch: a grad_scale that the user has set is part of what the gradients hold.
        users = getattr(optimizer, "grad_scale", None) if hand_over else None
        scale = self._scale if users is None else self._scale * users
        total, found_inf, factor, grad_scale = _ops.grad_clip_factor(grads, scale, max_norm)
        if hand_over:
            # torch's step() passes it on in the stage UNSCALED, and deletes it after.
            optimizer.grad_scale = grad_scale
            state["handed_over"] = (optimizer, grad_scale)
        else:
            _ops.grad_scale_(grads, factor)
            _support.written(grads)
        state["found_inf_per_device"] = {grads[0].device: found_inf}
        state["stage"] = OptState.UNSCALED
        return total

    def update(self, new_scale=None) -> None:
        if self._enabled:
            for state in self._per_optimizer_states.values():
                if state["stage"] is OptState.UNSCALED and "handed_over" in state:
                    # Never stepped: the next step must not find this step's divisor. It may be
                    # the user's by now, or gone.
                    optimizer, grad_scale = state["handed_over"]
                    if getattr(optimizer, "grad_scale", None) is grad_scale:
                        del optimizer.grad_scale
        super().update(new_scale)

    update.__doc__ = torch.amp.GradScaler.update.__doc__

    @torch.no_grad()
    def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
        # torch's unscale_() and its check before a fused step end here: with a factor of 1 in the
        # second case, for which the kernel only reads.
        by_device = defaultdict(list)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                if not allow_fp16 and parameter.grad.dtype == torch.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                if parameter.grad.is_sparse:
                    # Coalescing may overflow float16, so the sums are what is checked.
                    if parameter.grad.dtype is torch.float16:
                        parameter.grad = parameter.grad.coalesce()
                    grad = parameter.grad._values()
                else:
                    grad = parameter.grad
                by_device[grad.device].append(grad)
        found = {}
        for device, grads in by_device.items():
            found[device] = found_inf.to(device, non_blocking=True, copy=True)
            self._unscale_on_device(grads, inv_scale.to(device, non_blocking=True), found[device])
        return found

    @staticmethod
    def _unscale_on_device(grads, inv_scale, found_inf) -> None:
        ours, torchs = grads, defaultdict(list)
        if not _support.takes(grads):
            ours = []
            for grad in grads:
                if _support.takes([grad]):
                    ours.append(grad)
                else:
                    torchs[type(grad), grad.dtype].append(grad)
        if ours:
            _ops.grad_scale_(ours, inv_scale, False, found_inf)
            _support.written(ours)
        for same in torchs.values():
            torch._amp_foreach_non_finite_check_and_unscale_(same, found_inf, inv_scale)
