"""Kernels of nodes that only plans have: several ops of a graph in one. Their names begin with an underscore; no file
holds them.

Each says whether its results have the very bits of the ops it stands for; `tests/kernels/test_fused_bits.py` has the
table.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from everflow.kernels.facts import SHARE, Effect
from everflow.kernels.math.matrix import product
from everflow.kernels.math.products import multiply, multiply_and_add
from everflow.kernels.math.scaled import ONE, add_scaled, add_scaled_
from everflow.kernels.registry import fresh, function_of, kernel, library, safe, specialize, updating
from everflow.kernels.tensors import torch_dtype
from everflow.kernels.training import corrected_rate
from everflow.native.lowering import lowers
from everflow.native.values import join

if TYPE_CHECKING:
    from everflow.kernels.context import Node
    from everflow.kernels.state import Ref, ResourceVariable
    from everflow.native.values import Value

_FAR_AWAY = torch.tensor(1e9)


@library("_MatMulBias")
def matmul_bias(
    a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor, *, transpose_a: bool, transpose_b: bool
) -> torch.Tensor:
    """Keeps bits: the bias comes last, as an op of its own adds it."""
    return multiply_and_add(a.t() if transpose_a else a, b.t() if transpose_b else b, bias)


_BIASED = {
    (False, False): multiply_and_add,
    (False, True): lambda a, b, bias: multiply_and_add(a, b.t(), bias),
    (True, False): lambda a, b, bias: multiply_and_add(a.t(), b, bias),
    (True, True): lambda a, b, bias: multiply_and_add(a.t(), b.t(), bias),
}


@specialize("_MatMulBias")
def _matmul_bias_of(node: Node) -> Callable | None:
    return _BIASED[node.attribute("transpose_a"), node.attribute("transpose_b")]


@lowers("_MatMulBias")
def _lower_matmul_bias(a: Value, b: Value, bias: Value, *, transpose_a: bool, transpose_b: bool) -> Value | None:
    made = product(a, b, transpose_a, transpose_b)
    return None if made is None else made + bias


@library("_MatMulColumns")
def matmul_columns(
    a: torch.Tensor, b: torch.Tensor, *, transpose_a: bool, transpose_b: bool, start: int, count: int
) -> torch.Tensor:
    """Some columns of a product. Changes bits: the library sums in another order for products of another shape."""
    b = b.t() if transpose_b else b
    return multiply(a.t() if transpose_a else a, b.narrow(1, start, count))


@lowers("_MatMulColumns")
def _lower_matmul_columns(
    a: Value, b: Value, *, transpose_a: bool, transpose_b: bool, start: int, count: int
) -> Value | None:
    axis = 0 if transpose_b else 1
    starts = [start if i == axis else 0 for i in range(2)]
    columns = b.slice(starts, [count if i == axis else n for i, n in enumerate(b.shape)])
    return product(a, columns, transpose_a, transpose_b)


@library("_SumOfMatMuls")
def sum_of_matmuls(
    a: list[torch.Tensor], b: list[torch.Tensor], *, transpose_a: bool, transpose_b: bool
) -> torch.Tensor:
    """The sum of products a[i] b[i] is one product of all a side by side and all b one below the other. Changes bits:
    one long sum.
    """
    left = torch.cat(a, 0).t() if transpose_a else torch.cat(a, 1)
    right = torch.cat(b, 1).t() if transpose_b else torch.cat(b, 0)
    return multiply(left, right)


@lowers("_SumOfMatMuls")
def _lower_sum_of_matmuls(*factors: Value, transpose_a: bool, transpose_b: bool) -> Value | None:
    count = len(factors) // 2
    left, right = join(factors[:count], 0 if transpose_a else 1), join(factors[count:], 1 if transpose_b else 0)
    return product(left, right, transpose_a, transpose_b)


@fresh("_SumOfRows", threads_matter_from=SHARE)
def sum_of_rows(values: list[torch.Tensor]) -> torch.Tensor:
    """The sum over all rows of several matrices, as BiasAddGrad and the sum of its results give. Changes bits: one long
    sum.
    """
    return torch.cat(values, 0).sum(0)


@fresh("_SumOfSlices")
def sum_of_slices(
    shape: torch.Tensor, parts: list[torch.Tensor], *, keys: list[tuple[slice | int, ...]]
) -> torch.Tensor:
    """The sum of tensors of zeros that each have one part at a place of its own.

    Keeps bits, for parts are added in their order; only that a sum of nothing but negative zeros is a positive one.
    """
    total = torch.zeros(shape.tolist(), dtype=parts[0].dtype, device=parts[0].device)
    for key, part in zip(keys, parts, strict=True):
        total[key].add_(part)
    return total


safe("_AddProduct")(torch.addcmul)  # x + y * z. Changes bits: rounded once

_SIGNS = {"_AddScaled": 1.0, "_SubScaled": -1.0}


@safe(*_SIGNS)
def with_scaled(x: torch.Tensor, y: torch.Tensor, *, alpha: float, node: Node) -> torch.Tensor:
    """x + alpha * y and x - alpha * y. Keep bits: rounded twice."""
    return add_scaled(x, y, _SIGNS[node.type] * alpha)


@lowers(*_SIGNS)
def _lower_with_scaled(x: Value, y: Value, *, alpha: float, node: Node) -> Value:
    return x + y * (_SIGNS[node.type] * alpha)


@specialize(*_SIGNS)
def _with_scaled_of(node: Node) -> Callable | None:
    one = ONE.get(torch_dtype(node.output_dtypes[0]))
    return (
        None
        if one is None
        else functools.partial(torch.addcdiv, tensor2=one, value=_SIGNS[node.type] * node.attribute("alpha"))
    )


# --- updates of many variables ----------------------------------------------------------------


def _buffers(variables: list[Ref], others: list[torch.Tensor]) -> list[torch.Tensor] | None:
    """The buffers of variables, or None where one has no value or another shape than its companion."""
    buffers: list[Any] = [v.value for v in variables]
    fits = all(b is not None and b.shape == o.shape for b, o in zip(buffers, others, strict=True))
    return buffers if fits else None


@kernel("_ApplyGradientDescents", effect=Effect.ACTS, writes=(0,))
def apply_gradient_descents(variables: list[Ref], alpha: torch.Tensor, gradients: list[torch.Tensor]) -> None:
    """Keeps bits, those of ApplyGradientDescent and of TensorFlow's: v - alpha * g, rounded twice."""
    buffers, one = _buffers(variables, gradients), ONE.get(alpha.dtype)
    if buffers is None or one is None:
        for variable, gradient in zip(variables, gradients, strict=True):
            function_of("ApplyGradientDescent")(variable, alpha, gradient)
    else:
        torch._foreach_addcdiv_(buffers, gradients, [one] * len(buffers), value=-alpha.item())


@kernel("_ApplyAdams", effect=Effect.ACTS, writes=(0, 1, 2))
def apply_adams(
    variables: list[Ref],
    m: list[Ref],
    v: list[Ref],
    beta1_power: torch.Tensor,
    beta2_power: torch.Tensor,
    lr: torch.Tensor,
    beta1: torch.Tensor,
    beta2: torch.Tensor,
    epsilon: torch.Tensor,
    gradients: list[torch.Tensor],
) -> None:
    """Keeps bits, those of ApplyAdam. (Both round less often than TensorFlow: eight passes that round as it does take
    eight times as long.)
    """
    values, means, squares = (_buffers(slots, gradients) for slots in (variables, m, v))
    if values is None or means is None or squares is None:
        for slots in zip(variables, m, v, gradients, strict=True):
            rates = (beta1_power, beta2_power, lr, beta1, beta2, epsilon)
            function_of("ApplyAdam")(*slots[:3], *rates, slots[3], use_nesterov=False)
        return
    alpha = corrected_rate(lr.item(), beta1_power.item(), beta2_power.item())
    torch._fused_adam_(
        values,
        [g.contiguous() for g in gradients],
        means,
        squares,
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


@updating("_ScaleRef", "_ScaleResource", locks=True)
def scale_variable(variable: Ref | ResourceVariable, rate: torch.Tensor) -> Ref | ResourceVariable:
    """v = v * rate. Keeps bits."""
    variable.read().mul_(rate)
    return variable


@updating("_StepRef", "_StepResource", locks=True)
def step_variable(
    variable: Ref | ResourceVariable, rate: torch.Tensor, moment: torch.Tensor, denominator: torch.Tensor
) -> Ref | ResourceVariable:
    """v -= rate * moment / denominator. Keeps bits: each of the three is rounded."""
    buffer = variable.read()
    if buffer.shape != moment.shape:
        return function_of("AssignSub")(variable, rate * moment / denominator)  # which says what does not fit
    buffer.addcdiv_(moment, denominator, value=-rate.item())
    return variable


@updating("_MoveTowards", locks=True)
def move_towards(variable: Ref | ResourceVariable, value: torch.Tensor, rate: torch.Tensor) -> None:
    """v -= (v - value) * rate. Keeps bits: each of the three is rounded (`lerp` rounds twice)."""
    buffer = variable.value
    if buffer is None or buffer.shape != value.shape:
        old = variable.read()  # raises where there is no value
        return function_of("AssignSub")(variable, (old - value) * rate)
    add_scaled_(buffer, buffer - value, -rate.item())
    return None
