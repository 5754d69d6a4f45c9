"""Derivative of the norms: d norm / d x = x / norm, and 0 where the norm is 0, as torch has it."""

import torch


def _setup_context(ctx, inputs, output):
    tensors, loss_scale = inputs
    total, per_tensor, found_inf, first_bad = output
    ctx.has_loss_scale = loss_scale is not None
    ctx.mark_non_differentiable(found_inf, first_bad)
    ctx.save_for_backward(
        total, per_tensor, *tensors, *([loss_scale] if ctx.has_loss_scale else [])
    )


def _over(gradient, norm):
    return torch.where(norm == 0, 0.0, gradient / norm)


def _backward(ctx, grad_total, grad_per_tensor, grad_found_inf, grad_first_bad):
    total, per_tensor, *tensors = ctx.saved_tensors
    # The outputs are norms over the loss scale, hence the square.
    square = 1.0
    if ctx.has_loss_scale:
        square = tensors.pop().reshape(()) ** 2
    over = torch.zeros_like(per_tensor)
    if grad_total is not None:
        over = over + _over(grad_total, total)
    if grad_per_tensor is not None:
        over = over + _over(grad_per_tensor, per_tensor)
    over = over / square
    gradients = [
        (tensor.float() * factor).to(tensor.dtype) for tensor, factor in zip(tensors, over.unbind())
    ]
    return gradients, None


def register() -> None:
    torch.library.register_autograd("cuproof::grad_norm", _backward, setup_context=_setup_context)
