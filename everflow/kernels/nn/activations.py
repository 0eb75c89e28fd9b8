"""Activations and their gradients, biases, and the largest entries of rows."""

from __future__ import annotations

import functools
import heapq
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.math.reductions import float_sum
from everflow.kernels.registry import by_shares, fresh, safe, specialize
from everflow.native.lowering import lower_maps, lowers
from everflow.native.values import Value, apply, select

if TYPE_CHECKING:
    from everflow.kernels.context import Node

SELU_SCALE = 1.0507009873554804934193349852946
SELU_SCALE_ALPHA = 1.7580993408473768599402175208123
# Unsorted top entries have the order of TensorFlow's heap, which programs should not but do rely on; for many rows that
# takes too long.
_HEAP_ROWS = 256
_HEAP_STEP = 1024
# ATen has few functions for the unsigned types; these hold the same values (of uint64, the lower half).
_SIGNED = {torch.uint16: torch.int32, torch.uint32: torch.int64, torch.uint64: torch.int64}


def with_unsigned(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A kernel whose first input may be of any unsigned type: it is computed in a wider signed one."""

    @functools.wraps(function)
    def widened(*inputs: torch.Tensor, **attributes: list[int] | str) -> torch.Tensor:
        dtype = inputs[0].dtype
        if dtype not in _SIGNED:
            return function(*inputs, **attributes)
        wide = [t.to(_SIGNED[dtype]) if t.dtype is dtype else t for t in inputs]
        return function(*wide, **attributes).to(dtype)

    return widened


@safe("Relu")
def relu(x: torch.Tensor) -> torch.Tensor:
    return x.clone() if x.dtype in _SIGNED or x.dtype is torch.uint8 else torch.relu(x)


@specialize("Relu")
def _relu_of(node: Node) -> Callable | None:
    return torch.relu if node.input_dtypes[0].is_floating else None


@safe("Relu6")
@with_unsigned
def relu6(x: torch.Tensor) -> torch.Tensor:
    return x.clamp(0, 6)


@safe("ReluGrad")
@with_unsigned
def relu_grad(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    if grad.is_floating_point():
        # Zero where x is NaN, as in TensorFlow; threshold_backward passes the gradient on there.
        return torch.ops.aten.leaky_relu_backward(grad, x, 0.0, False)
    return grad * (x > 0).to(grad.dtype)


@safe("Relu6Grad")
@with_unsigned
def relu6_grad(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return grad * ((x > 0) & (x < 6)).to(grad.dtype)


@safe("LeakyRelu")
def leaky_relu(x: torch.Tensor, *, alpha: float) -> torch.Tensor:
    return F.leaky_relu(x, alpha)


@safe("LeakyReluGrad")
def leaky_relu_grad(grad: torch.Tensor, x: torch.Tensor, *, alpha: float) -> torch.Tensor:
    return torch.ops.aten.leaky_relu_backward(grad, x, alpha, False)


@by_shares("EluGrad")
def elu_grad(grad: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.ops.aten.elu_backward(grad, 1.0, 1.0, 1.0, True, y)


@by_shares("SeluGrad")
def selu_grad(grad: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    # ATen takes 0 for negative, TensorFlow for positive.
    return grad * torch.where(y < 0, y + SELU_SCALE_ALPHA, SELU_SCALE)


@by_shares("Softplus")
def softplus(x: torch.Tensor) -> torch.Tensor:
    # Over this bound log(1 + exp(x)) is x in the type's precision.
    return F.softplus(x, threshold=-math.log(torch.finfo(x.dtype).eps) - 2)


@by_shares("SoftplusGrad")
def softplus_grad(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return grad * torch.sigmoid(x)


@safe("Softsign")
def softsign(x: torch.Tensor) -> torch.Tensor:
    return x / (x.abs() + 1)


@safe("SoftsignGrad")
def softsign_grad(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return grad / (x.abs() + 1).square()


for _name, _function in {"Elu": F.elu, "Selu": torch.selu}.items():
    by_shares(_name)(_function)


def _rows_softmax(function: Callable) -> Callable[..., torch.Tensor]:
    def softmax(logits: torch.Tensor) -> torch.Tensor:
        if logits.dim() < 1:
            raise InvalidArgumentError(None, None, f"logits must have >= 1 dimension, got {list(logits.shape)}")
        return function(logits, -1)

    return softmax


by_shares("Softmax")(_rows_softmax(torch.softmax))
by_shares("LogSoftmax")(_rows_softmax(torch.log_softmax))


def _check_bias(value: torch.Tensor, bias: torch.Tensor, axis: int) -> None:
    if value.dim() < 2:
        raise InvalidArgumentError(None, None, f"Input tensor must be at least 2D: {list(value.shape)}")
    if bias.dim() != 1:
        raise InvalidArgumentError(None, None, f"Biases must be 1D: {list(bias.shape)}")
    if bias.shape[0] != value.shape[axis]:
        raise InvalidArgumentError(
            None,
            None,
            f"Must provide as many biases as the channels of the input tensor: {list(bias.shape)} vs. {list(value.shape)}",
        )


@safe("BiasAddV1")
@with_unsigned
def bias_add_last(value: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    _check_bias(value, bias, -1)
    return value + bias


@safe("BiasAdd")
@with_unsigned
def bias_add(value: torch.Tensor, bias: torch.Tensor, *, data_format: str) -> torch.Tensor:
    if data_format != "NCHW":
        return bias_add_last(value, bias)
    _check_bias(value, bias, 1)
    return value + bias.view(-1, *[1] * (value.dim() - 2))


@specialize("BiasAdd")
def _bias_add_of(node: Node) -> Callable | None:
    """Plain addition where the shapes are known to fit: plans can do it in place."""
    if node.attribute("data_format") == "NCHW" or not node.input_dtypes[0].is_floating:
        return None
    value, bias = (source.output_shapes[output] for source, output in node.inputs)
    if value is None or bias is None or value.ndims is None or value.ndims < 2 or bias.ndims != 1:
        return None
    channels = bias.as_list()[0]
    return torch.add if channels is not None and channels == value.as_list()[-1] else None


@safe("BiasAddGrad")
@with_unsigned
def bias_add_grad(grad: torch.Tensor, *, data_format: str) -> torch.Tensor:
    if grad.dim() < 2:
        raise InvalidArgumentError(None, None, f"Input tensor must be at least 2D: {list(grad.shape)}")
    if data_format == "NCHW":
        return grad.sum([d for d in range(grad.dim()) if d != 1], dtype=grad.dtype)
    if grad.is_floating_point():
        return float_sum(grad.reshape(-1, grad.shape[-1]), [0], False)
    return grad.reshape(-1, grad.shape[-1]).sum(0, dtype=grad.dtype)


def _heap_order(row: np.ndarray, k: int) -> list[int]:
    """The places of the k largest entries in the order in which they lie in a heap that has seen the whole row."""
    heap = [(value, -place) for place, value in enumerate(row[: k + 1].tolist())]
    heapq.heapify(heap)
    heapq.heappop(heap)
    for start in range(k + 1, len(row), _HEAP_STEP):
        step = row[start : start + _HEAP_STEP]
        for place in np.flatnonzero(step > heap[0][0]).tolist():  # an equal one that comes later never enters
            entry = (float(step[place]), -(start + place))
            if entry > heap[0]:
                heapq.heapreplace(heap, entry)
    return [-place for _, place in heap]


def _sorted_by_keys(x: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows sorted downwards as integers that hold a value's rank and, below it, its index: numpy sorts those in
    vectors.
    """
    bits = (x + 0.0).view(torch.int32) if x.is_floating_point() else x
    upwards = bits ^ ((bits >> 31) & 0x7FFFFFFF) if x.is_floating_point() else bits
    keys = (~upwards).to(torch.int64) << 32 | torch.arange(x.shape[-1])
    keys.numpy().sort(axis=-1)
    indices = keys[..., :k] & 0xFFFFFFFF
    return x.gather(-1, indices), indices


_LONG_ROW = 4096
_BLOCK = 32


def _top_of_blocks(x: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The k largest of long rows. They lie in the k blocks with the largest maxima, of equal ones the first, and in
    what is left at the end.
    """
    count = x.shape[-1] // _BLOCK
    whole = count * _BLOCK
    blocks = x[..., :whole].unflatten(-1, (count, _BLOCK))
    best = _sorted_top(blocks.amax(-1), k)[1].sort(-1).values.unsqueeze(-1)
    values = blocks.gather(-2, best.expand(*best.shape[:-1], _BLOCK)).flatten(-2)
    places = (best * _BLOCK + torch.arange(_BLOCK)).flatten(-2)
    if whole < x.shape[-1]:
        rest = torch.arange(whole, x.shape[-1]).expand(*x.shape[:-1], -1)
        values, places = torch.cat([values, x[..., whole:]], -1), torch.cat([places, rest], -1)
    top, indices = _sorted_top(values, k)
    return top, places.gather(-1, indices)


def _sorted_top(x: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The k largest of each row, equal ones in the order of their indices."""
    if k == 0:
        return x[..., :0], x.new_zeros((*x.shape[:-1], 0), dtype=torch.int64)
    if k == 1:
        values, indices = x.max(-1, keepdim=True)
        return values, indices
    if 4 * k > x.shape[-1] > 32 and x.dtype in (torch.float32, torch.int32) and not math.isnan(x.sum()):
        return _sorted_by_keys(x, k)
    if x.shape[-1] >= _LONG_ROW and 2 * k * _BLOCK <= x.shape[-1]:
        return _top_of_blocks(x, k)
    if x.shape[-1] > 64:
        # A partial sort doesn't keep the order of equal values: take it where the k + 1 largest differ.
        values, indices = x.topk(min(k + 1, x.shape[-1]), dim=-1)
        if not (values[..., 1:] == values[..., :-1]).any():
            return values[..., :k].contiguous(), indices[..., :k].contiguous()
    values, indices = x.sort(dim=-1, descending=True, stable=True)
    return values[..., :k].contiguous(), indices[..., :k].contiguous()


def _top_k(x: torch.Tensor, k: int, ordered: bool) -> tuple[torch.Tensor, torch.Tensor]:
    if x.dim() < 1:
        raise InvalidArgumentError(None, None, f"input must be >= 1-D, got shape {list(x.shape)}")
    if k < 0:
        raise InvalidArgumentError(None, None, f"Need k >= 0, got {k}")
    if x.shape[-1] < k:
        raise InvalidArgumentError(None, None, f"input must have at least k columns. Had {x.shape[-1]}, needed {k}")
    wide = x.to(_SIGNED.get(x.dtype, x.dtype))
    rows = wide.reshape(x.shape[:-1].numel(), x.shape[-1])
    if not ordered and 1 < k < x.shape[-1] and 0 < rows.shape[0] <= _HEAP_ROWS:
        indices = torch.tensor([_heap_order(row, k) for row in rows.double().numpy()]).view(*x.shape[:-1], k)
        return x.gather(-1, indices), indices.to(torch.int32)
    values, indices = _sorted_top(wide, k)
    return values.to(x.dtype), indices.to(torch.int32)


@fresh("TopK")
def top_k(x: torch.Tensor, *, k: int, sorted: bool) -> tuple[torch.Tensor, torch.Tensor]:
    return _top_k(x, k, sorted)


@fresh("TopKV2")
def top_k_v2(x: torch.Tensor, k: torch.Tensor, *, sorted: bool) -> tuple[torch.Tensor, torch.Tensor]:
    if k.dim():
        raise InvalidArgumentError(None, None, f"k must be scalar, got shape {list(k.shape)}")
    return _top_k(x, int(k), sorted)


@fresh("NthElement")
@with_unsigned
def nth_element(x: torch.Tensor, n: torch.Tensor, *, reverse: bool) -> torch.Tensor:
    if n.dim():
        raise InvalidArgumentError(None, None, f"N must be scalar but has rank {n.dim()}")
    before = int(n)
    if before < 0:
        raise InvalidArgumentError(None, None, f"n must be non-negative but is {before}")
    if x.dim() < 1 or x.shape[-1] <= before:
        raise InvalidArgumentError(None, None, "Input must have at least n+1 columns")
    place = x.shape[-1] - before if reverse else before + 1
    return x.kthvalue(place, dim=-1).values


def _in_top_k(predictions: torch.Tensor, targets: torch.Tensor, k: int) -> torch.Tensor:
    if predictions.dim() != 2:
        raise InvalidArgumentError(None, None, "predictions must be 2-dimensional")
    if targets.dim() != 1:
        raise InvalidArgumentError(None, None, "targets must be 1-dimensional")
    if predictions.shape[0] != targets.shape[0]:
        raise InvalidArgumentError(
            None,
            None,
            f"First dimension of predictions {predictions.shape[0]} must match length of targets {targets.shape[0]}",
        )
    classes = predictions.shape[1]
    inside = (targets >= 0) & (targets < classes)
    own = predictions.gather(1, torch.where(inside, targets, 0).long().unsqueeze(1))
    # A row can't be judged where its target isn't finite, or another prediction that isn't comes before k larger ones.
    finite = predictions.sum(1).isfinite()
    if not finite.all():  # or their sum is too large
        finite = predictions.isfinite().all(1)
    larger = torch.gt(predictions, own, out=torch.empty_like(predictions)).sum(1)
    return inside & finite & (larger < k)


@fresh("InTopK")
def in_top_k(predictions: torch.Tensor, targets: torch.Tensor, *, k: int) -> torch.Tensor:
    return _in_top_k(predictions, targets, k)


@fresh("InTopKV2")
def in_top_k_v2(predictions: torch.Tensor, targets: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    if k.ndim:
        raise InvalidArgumentError(None, None, f"k must be a scalar, but has shape {list(k.shape)}")
    return _in_top_k(predictions, targets, int(k))


# --- as expressions -------------------------------------------------------------------------------

lower_maps({"Softplus": "softplus"})


@lowers("Relu")
def _lower_relu(x: Value) -> Value:
    return select(x < 0, 0, x)


@lowers("Relu6")
def _lower_relu6(x: Value) -> Value:
    return select(x < 0, 0, select(x > 6, 6, x))


@lowers("ReluGrad")
def _lower_relu_grad(grad: Value, x: Value) -> Value:
    return select(x > 0, grad, grad * 0)


@lowers("Relu6Grad")
def _lower_relu6_grad(grad: Value, x: Value) -> Value:
    return grad * ((x > 0) & (x < 6)).cast(grad.dtype)


@lowers("LeakyRelu")
def _lower_leaky_relu(x: Value, *, alpha: float) -> Value:
    return select(x > 0, x, x * alpha)


@lowers("LeakyReluGrad")
def _lower_leaky_relu_grad(grad: Value, x: Value, *, alpha: float) -> Value:
    return select(x > 0, grad, grad * alpha)


@lowers("Elu")
def _lower_elu(x: Value) -> Value:
    return select(x > 0, x, apply("expm1", x))


@lowers("EluGrad")
def _lower_elu_grad(grad: Value, y: Value) -> Value:
    return select(y <= 0, grad * (y + 1.0), grad)


@lowers("Selu")
def _lower_selu(x: Value) -> Value:
    return select(x > 0, x * SELU_SCALE, apply("expm1", x) * SELU_SCALE_ALPHA)


@lowers("SeluGrad")
def _lower_selu_grad(grad: Value, y: Value) -> Value:
    return select(y < 0, grad * (y + SELU_SCALE_ALPHA), grad * SELU_SCALE)


@lowers("SoftplusGrad")
def _lower_softplus_grad(grad: Value, x: Value) -> Value:
    return grad * apply("sigmoid", x)


@lowers("Softsign")
def _lower_softsign(x: Value) -> Value:
    return x / (apply("abs", x) + 1.0)


@lowers("SoftsignGrad")
def _lower_softsign_grad(grad: Value, x: Value) -> Value:
    below = apply("abs", x) + 1.0
    return grad / (below * below)


@lowers("Softmax")
def _lower_softmax(logits: Value) -> Value:
    power = apply("exp", logits - logits.reduce("peak", [-1], keep=True))
    return power / power.reduce("sum", [-1], keep=True)


@lowers("LogSoftmax")
def _lower_log_softmax(logits: Value) -> Value:
    shifted = logits - logits.reduce("peak", [-1], keep=True)
    return shifted - apply("log", apply("exp", shifted).reduce("sum", [-1], keep=True))


@lowers("BiasAddV1")
def _lower_bias_add_last(value: Value, bias: Value) -> Value:
    return value + bias


@lowers("BiasAdd")
def _lower_bias_add(value: Value, bias: Value, *, data_format: str) -> Value:
    return value + (bias.reshape([bias.size, *[1] * (len(value.shape) - 2)]) if data_format == "NCHW" else bias)


@lowers("BiasAddGrad")
def _lower_bias_add_grad(grad: Value, *, data_format: str) -> Value:
    channels = 1 if data_format == "NCHW" else len(grad.shape) - 1
    return grad.reduce("sum", [a for a in range(len(grad.shape)) if a != channels])
