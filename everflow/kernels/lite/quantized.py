"""Element-wise ops on 8-bit integers, each the real number (integer - zero point) * scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from everflow.formats.tflite import ACTIVATIONS
from everflow.framework.errors import UnimplementedError
from everflow.kernels.lite import fixed_point as fixed
from everflow.kernels.lite.registry import QUANTIZED, Call, Operand, lite
from everflow.kernels.tensors import AnyTensor, from_numpy


def limits(operand: Operand) -> tuple[int, int]:
    info = np.iinfo(operand.dtype)
    return info.min, info.max


def round_away(x: np.ndarray | np.float32) -> np.ndarray:
    """Rounded to the nearest integer, halves away from zero."""
    return np.trunc(x + np.copysign(0.5, x))


def quantize(x: AnyTensor, operand: Operand) -> np.ndarray:
    """The integers nearest to reals."""
    low, high = limits(operand)
    return np.clip(round_away(np.asarray(x, np.float32) / operand.step) + operand.zero, low, high).astype(operand.dtype)


def dequantize(x: AnyTensor, operand: Operand) -> np.ndarray:
    """The reals that integers stand for."""
    return ((np.asarray(x).astype(np.int32) - operand.zero) * operand.step).astype(np.float32)


def activation_range(code: int, operand: Operand) -> tuple[int, int]:
    """Where an output is cut for the activation that is fused into its op."""
    low, high = limits(operand)
    name = ACTIVATIONS[code]
    at = {"RELU": (0.0, None), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0), "NONE": (None, None)}
    if name not in at:
        raise UnimplementedError(None, None, f"{name} can't be fused into an op on quantized tensors")
    below, above = (
        None if v is None else operand.zero + int(round_away(np.float32(v) / operand.step)) for v in at[name]
    )
    return low if below is None else max(low, below), high if above is None else min(high, above)


def finish(values: np.ndarray, call: Call, code: int | None = None) -> torch.Tensor:
    """Cut to the output's range and give it its type."""
    output = call.outputs[0]
    low, high = activation_range(
        getattr(call.options, "fused_activation_function", 0) if code is None else code, output
    )
    return from_numpy(np.clip(values, low, high).astype(output.dtype))


def centered(x: torch.Tensor, operand: Operand) -> np.ndarray:
    """Integers less their zero point."""
    return np.asarray(x).astype(np.int64) - operand.zero


def _high_then_shift(x: np.ndarray, multiplier: int, shift: int) -> np.ndarray:
    return fixed.high_multiply(x, multiplier) >> -shift


@lite("ADD", "SUB", kind=QUANTIZED)
def add(call: Call, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    first, second = call.inputs[:2]
    output = call.outputs[0]
    headroom = 20
    common = 2.0 * max(float(first.step), float(second.step))
    a_multiplier, b_multiplier = (fixed.multiplier_of(float(o.step) / common) for o in (first, second))
    sign = 1 if call.name == "ADD" else -1
    # The vectorized sum of bytes in equal shapes doesn't round when it brings its operands to the common scale.
    scaled = (
        _high_then_shift if call.name == "ADD" and a.shape == b.shape and output.dtype == np.uint8 else fixed.multiply
    )
    total = scaled(centered(a, first) << headroom, *a_multiplier)
    total = total + scaled(centered(b, second) << headroom, sign * b_multiplier[0], b_multiplier[1])
    back = fixed.multiplier_of(common / ((1 << headroom) * float(output.step)))
    return finish(fixed.multiply(total, *back) + output.zero, call)


@lite("MUL", kind=QUANTIZED)
def mul(call: Call, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    first, second = call.inputs[:2]
    output = call.outputs[0]
    real = float(np.float32(first.step * second.step) / output.step)
    product = centered(a, first) * centered(b, second)
    return finish(fixed.multiply(product, *fixed.multiplier_of(real)) + output.zero, call)


@lite("RELU", "RELU6", "RELU_N1_TO_1", kind=QUANTIZED)
def relu(call: Call, x: torch.Tensor) -> torch.Tensor:
    source, output = call.inputs[0], call.outputs[0]
    values = np.asarray(x).astype(np.int64)
    if source.step != output.step or source.zero != output.zero:
        values = (
            fixed.multiply(centered(x, source), *fixed.multiplier_of(float(source.step) / float(output.step)))
            + output.zero
        )
    return finish(values, call, ACTIVATIONS.index(call.name))


def _by_table(function: Callable[..., np.ndarray]) -> Callable[..., torch.Tensor]:
    """A function of one number, computed for all 256 of them."""

    def compute(call: Call, x: torch.Tensor) -> torch.Tensor:
        source, output = call.inputs[0], call.outputs[0]
        low, high = limits(source)
        every = dequantize(np.arange(low, high + 1), source)
        table = quantize(function(every).astype(np.float32), output)
        return from_numpy(table[np.asarray(x).astype(np.int64) - low])

    return compute


_BY_TABLE: dict[str, Callable[..., Any]] = {
    "LOGISTIC": lambda x: np.float32(1) / (np.float32(1) + np.exp(-x)),
    "TANH": np.tanh,
    "ELU": lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x),
    "HARD_SWISH": lambda x: x * np.clip(x + 3, 0, 6) / 6,
}
for _name, _function in _BY_TABLE.items():
    lite(_name, kind=QUANTIZED)(_by_table(_function))


@lite("LEAKY_RELU", kind=QUANTIZED)
def leaky_relu(call: Call, x: torch.Tensor) -> torch.Tensor:
    """The slope is rounded to a multiple of the input's scale, and what isn't below zero is copied, whatever the
    output's scale is.
    """
    source, output = call.inputs[0], call.outputs[0]
    low, high = limits(source)
    slope = (
        int(np.clip(round_away(np.float32(call.options.alpha) / source.step) + source.zero, low, high)) - source.zero
    )
    multiplier = fixed.multiplier_of(float(np.float32(source.step * source.step) / output.step))
    value = centered(x, source)
    return finish(np.where(value >= 0, np.asarray(x), fixed.multiply(value * slope, *multiplier) + output.zero), call)


@lite("PRELU", kind=QUANTIZED)
def prelu(call: Call, x: torch.Tensor, alpha: torch.Tensor) -> torch.Tensor:
    source, slope = call.inputs[:2]
    output = call.outputs[0]
    straight = fixed.multiplier_of(float(source.step) / float(output.step))
    bent = fixed.multiplier_of(float(np.float32(source.step * slope.step) / output.step))
    value = centered(x, source)
    values = np.where(
        value >= 0, fixed.multiply(value, *straight), fixed.multiply(value * centered(alpha, slope), *bent)
    )
    return finish(values + output.zero, call)


# Integers that stand for reals at the scale 1/256 or less can be compared after a common shift.
_COMPARE = {
    "LESS": np.less, "LESS_EQUAL": np.less_equal, "GREATER": np.greater, "GREATER_EQUAL": np.greater_equal, "EQUAL": np.equal,
    "NOT_EQUAL": np.not_equal,
}  # fmt: skip


def _compared(call: Call, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    left, right = (
        fixed.multiply(centered(x, o) << 8, *fixed.multiplier_of(float(o.step)))
        for x, o in zip((a, b), call.inputs, strict=True)
    )
    return from_numpy(_COMPARE[call.name](left, right))


lite(*_COMPARE, kind=QUANTIZED)(_compared)


@lite("QUANTIZE", kind=QUANTIZED)
def to_quantized(call: Call, x: torch.Tensor) -> torch.Tensor:
    source, output = call.inputs[0], call.outputs[0]
    if not source.quantized:
        return from_numpy(quantize(x, output))
    values = fixed.multiply(centered(x, source), *fixed.multiplier_of(float(source.step) / float(output.step)))
    return finish(values + output.zero, call)


@lite("DEQUANTIZE", kind=QUANTIZED)
def from_quantized(call: Call, x: torch.Tensor) -> torch.Tensor:
    return from_numpy(np.asarray(dequantize(x, call.inputs[0])))


@lite("DEQUANTIZE")
def from_half(call: Call, x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.float32)


def _scaled_difference_multiplier(beta: float, scale: float, bits: int) -> tuple[int, int, int]:
    """The multiplier of differences in a softmax, and how far below the largest one a value still counts."""
    real = min(beta * scale * (1 << (31 - bits)), (1 << 31) - 1)
    multiplier, shift = fixed.multiplier_of(real)
    radius = math.floor(((1 << bits) - 1) * (1 << (31 - bits)) / (1 << shift))
    return multiplier, shift, -radius


@lite("SOFTMAX", kind=QUANTIZED)
def softmax(call: Call, x: torch.Tensor) -> torch.Tensor:
    bits, sum_bits = 5, 12
    source, output = call.inputs[0], call.outputs[0]
    multiplier, shift, least = _scaled_difference_multiplier(float(call.options.beta), float(source.step), bits)
    values = np.asarray(x).astype(np.int64)
    difference = values - values.max(-1, keepdims=True)
    counted = difference >= least
    exponential = fixed.exp_of_negative(fixed.multiply(np.where(counted, difference, 0), multiplier, shift), bits)
    total = np.where(counted, fixed.divide_by_power(exponential, sum_bits), 0).sum(-1, keepdims=True)
    headroom = fixed.leading_zeros(total)
    scale = fixed.reciprocal_of_one_plus((total << headroom) - (1 << 31))
    share = fixed.divide_by_power(fixed.high_multiply(scale, exponential), sum_bits - headroom + 31 - 8)
    low, high = limits(output)
    return from_numpy(np.where(counted, np.clip(share + low, low, high), low).astype(output.dtype))


@lite("LOG_SOFTMAX", kind=QUANTIZED)
def log_softmax(call: Call, x: torch.Tensor) -> torch.Tensor:
    source, output = call.inputs[0], call.outputs[0]
    real = torch.from_numpy(np.asarray(dequantize(x, source)))
    return from_numpy(quantize(torch.log_softmax(real, -1).numpy(), output))


@lite("L2_NORMALIZATION", kind=QUANTIZED)
def l2_normalization(call: Call, x: torch.Tensor) -> torch.Tensor:
    value = centered(x, call.inputs[0])
    rows = value.reshape(-1, value.shape[-1])
    roots = [fixed.inverse_root(int((row * row).sum())) for row in rows]
    if call.outputs[0].dtype == np.uint8:
        made = [fixed.multiply(128 * row, *root) for row, root in zip(rows, roots, strict=True)]
    else:
        made = [fixed.multiply(row, root[0], root[1] + 7) for row, root in zip(rows, roots, strict=True)]
    return finish(np.stack(made).reshape(value.shape) + call.outputs[0].zero, call, 0)


@lite("MAXIMUM", "MINIMUM", kind=QUANTIZED)
def extreme(call: Call, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (torch.maximum if call.name == "MAXIMUM" else torch.minimum)(a, b)
