"""Kernels of nodes that only plans have: several ops of a graph in one. Their names begin with an underscore; no file holds them."""

from __future__ import annotations

import functools
import math

import torch

from everflow.kernels.registry import kernel, lookup, specialize

_FAR_AWAY = torch.tensor(1e9)


@kernel("_MatMulBias")
def matmul_bias(a, b, bias, *, transpose_a, transpose_b):
    return torch.addmm(bias, a.t() if transpose_a else a, b.t() if transpose_b else b)


_BIASED = {
    (False, False): lambda a, b, bias: torch.addmm(bias, a, b),
    (False, True): lambda a, b, bias: torch.addmm(bias, a, b.t()),
    (True, False): lambda a, b, bias: torch.addmm(bias, a.t(), b),
    (True, True): lambda a, b, bias: torch.addmm(bias, a.t(), b.t()),
}


@specialize("_MatMulBias")
def _matmul_bias_of(node):
    return _BIASED[node.attribute("transpose_a"), node.attribute("transpose_b")]


@kernel("_MatMulColumns")
def matmul_columns(a, b, *, transpose_a, transpose_b, start, count):
    """Some columns of a product."""
    b = b.t() if transpose_b else b
    return torch.mm(a.t() if transpose_a else a, b.narrow(1, start, count))


@kernel("_SumOfMatMuls")
def sum_of_matmuls(a, b, *, transpose_a, transpose_b):
    """The sum of products a[i] b[i] is one product of all a side by side and all b one below the other."""
    left = torch.cat(a, 0).t() if transpose_a else torch.cat(a, 1)
    right = torch.cat(b, 1).t() if transpose_b else torch.cat(b, 0)
    return torch.mm(left, right)


@kernel("_SumOfRows")
def sum_of_rows(values):
    """The sum over all rows of several matrices, as BiasAddGrad and the sum of its results give."""
    return torch.cat(values, 0).sum(0)


@kernel("_SumOfSlices")
def sum_of_slices(shape, parts, *, keys):
    """The sum of tensors of zeros that each have one part at a place of its own."""
    total = torch.zeros(shape.tolist(), dtype=parts[0].dtype, device=parts[0].device)
    for key, part in zip(keys, parts, strict=True):
        total[key].add_(part)
    return total


kernel("_AddProduct")(torch.addcmul)

_SCALED = {"_AddScaled": torch.add, "_SubScaled": torch.sub}


@kernel(*_SCALED)
def with_scaled(x, y, *, alpha, node):
    return _SCALED[node.type](x, y, alpha=alpha)


@specialize(*_SCALED)
def _with_scaled_of(node):
    return functools.partial(_SCALED[node.type], alpha=node.attribute("alpha"))


# --- updates of many variables ----------------------------------------------------------------


def _buffers(variables, others):
    """The buffers of variables, or None where one has no value or another shape than its companion."""
    buffers = [v.value for v in variables]
    fits = all(b is not None and b.shape == o.shape for b, o in zip(buffers, others, strict=True))
    return buffers if fits else None


@kernel("_ApplyGradientDescents")
def apply_gradient_descents(variables, alpha, gradients):
    buffers = _buffers(variables, gradients)
    if buffers is None:
        for variable, gradient in zip(variables, gradients, strict=True):
            lookup("ApplyGradientDescent").function(variable, alpha, gradient)
    else:
        torch._foreach_sub_(buffers, gradients, alpha=alpha.item())


@kernel("_ApplyAdams")
def apply_adams(variables, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradients):
    held = [_buffers(slots, gradients) for slots in (variables, m, v)]
    if None in held:
        for slots in zip(variables, m, v, gradients, strict=True):
            rates = (beta1_power, beta2_power, lr, beta1, beta2, epsilon)
            lookup("ApplyAdam").function(*slots[:3], *rates, slots[3], use_nesterov=False)
        return
    alpha = lr.item() * math.sqrt(1 - beta2_power.item()) / (1 - beta1_power.item())
    torch._fused_adam_(
        held[0],
        [g.contiguous() for g in gradients],
        held[1],
        held[2],
        [],
        # TensorFlow keeps the powers of the betas itself: at a step far away ATen's own bias correction is 1.
        [_FAR_AWAY] * len(gradients),
        lr=alpha,
        beta1=beta1.item(),
        beta2=beta2.item(),
        weight_decay=0.0,
        eps=epsilon.item(),
        amsgrad=False,
        maximize=False,
    )


@kernel("_ScaleRef", "_ScaleResource")
def scale_variable(variable, rate):
    variable.read().mul_(rate)
    return variable


@kernel("_StepRef", "_StepResource")
def step_variable(variable, rate, moment, denominator):
    buffer = variable.read()
    if buffer.shape != moment.shape:
        return lookup("AssignSub").function(variable, rate * moment / denominator)  # which says what does not fit
    buffer.addcdiv_(moment, denominator, value=-rate.item())
    return variable


@kernel("_MoveTowards")
def move_towards(variable, value, rate):
    buffer = variable.value
    if buffer is None or buffer.shape != value.shape:
        old = variable.read()  # raises where there is no value
        return lookup("AssignSub").function(variable, (old - value) * rate)
    buffer.lerp_(value, rate)
    return None
