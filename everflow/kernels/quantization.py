"""Numbers in few bits: quantize and dequantize, their imitation in floats, and arithmetic on quantised tensors.

A quantised tensor is a tensor of small integers with the float range that its lowest and highest integers stand for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import same, view
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.tensors import AnyTensor, torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


def _round_away(x: torch.Tensor) -> torch.Tensor:
    """Halves go away from zero."""
    return torch.trunc(x + torch.copysign(torch.full((), 0.5, dtype=x.dtype), x))


def _limits(dtype: torch.dtype) -> tuple[float, float]:
    info = torch.iinfo(dtype)
    return float(info.min), float(info.max)


def _to_int(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return values.to(torch.int32 if dtype.itemsize < 4 else dtype).to(dtype)


def _scalar32(value: float) -> torch.Tensor:
    return torch.tensor(float(value), dtype=torch.float32)


# MIN_FIRST: the range holds one step more than the integers do, and the minimum falls on a step.
def _steps_per_unit(low: torch.Tensor, high: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.dtype]:
    steps = 2.0 ** (dtype.itemsize * 8)
    if dtype.itemsize < 4:
        return (steps - 1) / (high - low), torch.float32
    return steps / ((high - low).to(torch.float64) * (steps / (steps - 1))), torch.float64


def float_to_quantized(values: torch.Tensor, low: torch.Tensor, high: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Floats as integers of `dtype` in the range [low, high], by the MIN_FIRST rule."""
    scale, kind = _steps_per_unit(low, high, dtype)
    least, most = _limits(dtype)
    shifted = _round_away(values.to(kind) * scale) - (_round_away(low.to(kind) * scale) - least)
    highest = most if kind is torch.float32 else 2147483520.0  # the highest float below 2**31
    return _to_int(shifted.clamp(least, highest), dtype)


def quantized_to_float(values: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    """Integers as the floats they stand for in the range [low, high], by the MIN_FIRST rule."""
    kind = torch.float64 if values.dtype.itemsize == 4 else torch.float32
    step = (high.to(kind) - low.to(kind)) / (2.0 ** (values.dtype.itemsize * 8) - 1)
    first = low.to(kind)
    if kind is torch.float32:  # 32-bit integers have steps so small that TensorFlow leaves the minimum where it is
        first = _round_away(first / step) * step
    return ((values.to(kind) - _limits(values.dtype)[0]) * step + first).to(torch.float32)


@fresh("QuantizeV2")
def quantize(
    input: torch.Tensor, min_range: torch.Tensor, max_range: torch.Tensor, *, T: DType, mode: str, round_mode: str
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    dtype = torch_dtype(T)
    if float(min_range) > float(max_range):
        raise _invalid("input_max_range must be larger than input_min_range.")
    if round_mode == "HALF_TO_EVEN" and mode != "SCALED":
        raise _invalid(f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'.")
    lowest = min(0.0, float(min_range))
    narrowest = max(1.0, abs(float(min_range)), abs(float(max_range))) / 100
    low, high = _scalar32(lowest), _scalar32(max(0.0, float(max_range), lowest + narrowest))
    least, most = _limits(dtype)
    if mode == "MIN_FIRST":
        return float_to_quantized(input, low, high, dtype), low, high
    if mode == "MIN_COMBINED":
        scale = (most - least) / (high - low)
        values = (torch.minimum(torch.maximum(input, low), high) - low) * scale
        if least < 0:
            values = values - (most - least + 1) / 2
        return _to_int(_round_away(values), dtype), low, high
    scale, low, high = _symmetric_scale(low, high, least, most)
    values = torch.minimum(torch.maximum(input, low), high) * scale
    return _to_int(torch.round(values) if round_mode == "HALF_TO_EVEN" else _round_away(values), dtype), low, high


def _symmetric_scale(
    low: torch.Tensor, high: torch.Tensor, lowest: float, highest: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Steps per unit such that zero falls on zero and both ends fit, and the range that then results."""
    least, most = _scalar32(lowest), _scalar32(highest)
    unlimited = torch.full((), torch.finfo(torch.float32).max)
    from_low = least / low if least * low > 0 else unlimited
    from_high = most / high if most * high > 0 else unlimited
    scale = torch.minimum(from_low, from_high)
    return scale, least / scale, most / scale


@fresh("Dequantize")
def dequantize(input: torch.Tensor, min_range: torch.Tensor, max_range: torch.Tensor, *, mode: str) -> torch.Tensor:
    least, most = _limits(input.dtype)
    low, high = min_range.reshape(()), max_range.reshape(())
    if mode == "MIN_FIRST":
        return quantized_to_float(input, low, high)
    values = input.to(torch.float32)
    if mode == "MIN_COMBINED":
        scale = (high - low) / (most - least)
        return (values + ((most - least + 1) / 2 if least < 0 else 0.0)) * scale + low
    scale = high / most
    return values * (torch.maximum(low / least, scale) if least < 0 else scale)


@fresh("QuantizeAndDequantizeV2")
def quantize_and_dequantize(
    input: torch.Tensor,
    input_min: torch.Tensor,
    input_max: torch.Tensor,
    *,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    round_mode: str,
    narrow_range: bool,
) -> torch.Tensor:
    return _through_bits(input, input_min, input_max, num_bits, signed_input, range_given, round_mode, narrow_range)


@fresh("QuantizeAndDequantize")
def quantize_and_dequantize_v1(
    input: torch.Tensor, *, signed_input: bool, num_bits: int, range_given: bool, input_min: float, input_max: float
) -> torch.Tensor:
    low, high = (torch.tensor(limit, dtype=input.dtype) for limit in (input_min, input_max))
    return _through_bits(input, low, high, num_bits, signed_input, range_given, "HALF_TO_EVEN", narrow=False)


@fresh("QuantizeAndDequantizeV3")
def quantize_and_dequantize_v3(
    input: torch.Tensor,
    input_min: torch.Tensor,
    input_max: torch.Tensor,
    num_bits: torch.Tensor,
    *,
    signed_input: bool,
    range_given: bool,
    narrow_range: bool,
) -> torch.Tensor:
    return _through_bits(
        input, input_min, input_max, int(num_bits), signed_input, range_given, "HALF_TO_EVEN", narrow_range
    )


def _through_bits(
    x: torch.Tensor,
    low: torch.Tensor,
    high: torch.Tensor,
    bits: int,
    signed: bool,
    range_given: bool,
    round_mode: str,
    narrow: bool,
) -> torch.Tensor:
    if not 0 < bits < (62 if signed else 63):
        raise _invalid(f"num_bits is out of range: {bits} with signed_input_ {int(signed)}")
    if range_given:
        if low > high:
            raise _invalid(f"Invalid range: input_min {float(low)} > input_max {float(high)}")
    else:
        low, high = (x.amin(), x.amax()) if x.numel() else (torch.zeros((), dtype=x.dtype),) * 2
    least = float(-(1 << (bits - 1)) + narrow) if signed else 0.0
    most = float((1 << (bits - 1)) - 1 if signed else (1 << bits) - 1)
    unlimited = torch.full((), torch.finfo(x.dtype).max, dtype=x.dtype)
    from_low = least / low if least * low > 0 else unlimited
    from_high = most / high if most * high > 0 else unlimited
    if from_low < from_high:
        scale, step = from_low, low / least
        high = most * step
    else:
        scale, step = from_high, high / most
        low = least * step
    if range_given:
        x = torch.maximum(torch.minimum(x, high), low)
    scaled = x * scale
    return (torch.floor(scaled + 0.5) if round_mode == "HALF_UP" else torch.round(scaled)) * step


# Fake quantisation: the float range is nudged so that zero falls on an integer.
def _nudged(
    low: torch.Tensor, high: torch.Tensor, num_bits: int, narrow_range: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    first, last = float(narrow_range), float(2**num_bits - 1)
    scale = (high - low) / (last - first)
    zero = first - low / scale
    zero = torch.where(zero < first, first, torch.where(zero > last, last, _round_away(zero)))
    return (first - zero) * scale, (last - zero) * scale, scale


def _check_bits(num_bits: int) -> None:
    if not 2 <= num_bits <= 16:
        raise _invalid("num_bits must be between 2 and 16, inclusive")


def _fake_quant(
    x: torch.Tensor, low: torch.Tensor, high: torch.Tensor, num_bits: int, narrow_range: bool, divides: bool = False
) -> torch.Tensor:
    """`divides`: by the step, rather than to multiply by its reciprocal, which gives another last bit."""
    _check_bits(num_bits)
    nudged_low, nudged_high, scale = _nudged(low, high, num_bits, narrow_range)
    clamped = torch.maximum(torch.minimum(x, nudged_high), nudged_low)
    shifted = clamped - nudged_low
    steps = shifted / scale if divides else shifted * (1.0 / scale)
    result = torch.floor(steps + 0.5) * scale + nudged_low
    return torch.where((low == 0) & (high == 0), 0.0, result)


def _fake_quant_grad(
    gradients: torch.Tensor, x: torch.Tensor, low: torch.Tensor, high: torch.Tensor, num_bits: int, narrow_range: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients by the input, by the minimum and by the maximum, the last two before they are summed."""
    _check_bits(num_bits)
    nudged_low, nudged_high, _ = _nudged(low, high, num_bits, narrow_range)
    no_range = (low == 0) & (high == 0)
    below, above = ~no_range & (x < nudged_low), ~no_range & (x > nudged_high)
    return (
        torch.where(below | above, 0.0, gradients),
        torch.where(below, gradients, 0.0),
        torch.where(above, gradients, 0.0),
    )


def _fixed_range(low: float, high: float) -> tuple[torch.Tensor, torch.Tensor]:
    if low >= high:
        raise _invalid(f"min has to be smaller than max, was: {low:g} >= {high:g}")
    return _scalar32(low), _scalar32(high)


@fresh("FakeQuantWithMinMaxArgs")
def fake_quant_args(inputs: torch.Tensor, *, min: float, max: float, num_bits: int, narrow_range: bool) -> torch.Tensor:
    return _fake_quant(inputs, *_fixed_range(min, max), num_bits, narrow_range)


@fresh("FakeQuantWithMinMaxArgsGradient")
def fake_quant_args_gradient(
    gradients: torch.Tensor, inputs: torch.Tensor, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> torch.Tensor:
    return _fake_quant_grad(gradients, inputs, *_fixed_range(min, max), num_bits, narrow_range)[0]


@fresh("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def fake_quant_vars(
    inputs: torch.Tensor, min: torch.Tensor, max: torch.Tensor, *, num_bits: int, narrow_range: bool
) -> torch.Tensor:
    for name, end in (("min", min), ("max", max)):
        if end.dim() and end.shape[0] != inputs.shape[-1]:
            raise _invalid(f"{name} has {end.shape[0]} ends for {inputs.shape[-1]} channels")
    return _fake_quant(inputs, min, max, num_bits, narrow_range, divides=True)


@fresh("FakeQuantWithMinMaxVarsGradient")
def fake_quant_vars_gradient(
    gradients: torch.Tensor,
    inputs: torch.Tensor,
    min: torch.Tensor,
    max: torch.Tensor,
    *,
    num_bits: int,
    narrow_range: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    through, below, above = _fake_quant_grad(gradients, inputs, min, max, num_bits, narrow_range)
    return through, below.sum(), above.sum()


@fresh("FakeQuantWithMinMaxVarsPerChannelGradient")
def fake_quant_channel_gradient(
    gradients: torch.Tensor,
    inputs: torch.Tensor,
    min: torch.Tensor,
    max: torch.Tensor,
    *,
    num_bits: int,
    narrow_range: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    through, below, above = _fake_quant_grad(gradients, inputs, min, max, num_bits, narrow_range)
    outer = list(range(inputs.dim() - 1))
    return (through, below.sum(outer), above.sum(outer)) if outer else (through, below, above)


# Arithmetic on quantised tensors.
def zero_of(low: torch.Tensor, high: torch.Tensor, dtype: torch.dtype) -> int:
    """The integer that stands for 0.0, not held to the type's limits."""
    steps = 2.0 ** (dtype.itemsize * 8)
    scale = steps / (float(high - low) * (steps / (steps - 1)))
    return -int(_round_away(torch.tensor(float(low) * scale, dtype=torch.float64))) + torch.iinfo(dtype).min


def product_range(
    low_a: torch.Tensor, high_a: torch.Tensor, low_b: torch.Tensor, high_b: torch.Tensor, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    least, most = _limits(dtype)
    step = (high_a - low_a) / 255.0 * ((high_b - low_b) / 255.0)
    return step * least, step * most


@fresh("QuantizedMatMul")
def quantized_matmul(
    a: torch.Tensor,
    b: torch.Tensor,
    min_a: torch.Tensor,
    max_a: torch.Tensor,
    min_b: torch.Tensor,
    max_b: torch.Tensor,
    *,
    Toutput: DType,
    transpose_a: bool,
    transpose_b: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    left = a.to(torch.int32) - zero_of(min_a, max_a, a.dtype)
    right = b.to(torch.int32) - zero_of(min_b, max_b, b.dtype)
    product = torch.mm(left.mT if transpose_a else left, right.mT if transpose_b else right)
    return product, *product_range(min_a, max_a, min_b, max_b, torch_dtype(Toutput))


@fresh("QuantizedMul")
def quantized_mul(
    x: torch.Tensor,
    y: torch.Tensor,
    min_x: torch.Tensor,
    max_x: torch.Tensor,
    min_y: torch.Tensor,
    max_y: torch.Tensor,
    *,
    Toutput: DType,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    product = (x.to(torch.int32) - zero_of(min_x, max_x, x.dtype)) * (
        y.to(torch.int32) - zero_of(min_y, max_y, y.dtype)
    )
    return product, *product_range(min_x, max_x, min_y, max_y, torch_dtype(Toutput))


@fresh("QuantizedAdd")
def quantized_add(
    x: torch.Tensor, y: torch.Tensor, min_x: torch.Tensor, max_x: torch.Tensor, min_y: torch.Tensor, max_y: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Both sides in a range with room for 2**14 such sums. A lone value is brought there by itself; of several, a step is
    brought there, and they are whole numbers of such.
    """
    for low, up, name in ((min_x, max_x, "x"), (min_y, max_y, "y")):
        if float(up) <= float(low):
            raise _invalid(f"max_{name} has to be larger than min_{name}, was: {float(up):g} <= {float(low):g}")
    high = torch.stack([v.abs().reshape(()) for v in (min_x, max_x, min_y, max_y)]).max() * 2.0**14
    terms = []
    for values, low, up in ((x, min_x, max_x), (y, min_y, max_y)):
        if values.numel() == 1:
            terms.append(float_to_quantized(quantized_to_float(values, low, up), -high, high, torch.int32))
            continue
        ends = quantized_to_float(torch.tensor([0, 1], dtype=values.dtype), low, up)
        first, second = float_to_quantized(ends, -high, high, torch.int32)
        terms.append(values.to(torch.int32) * (second - first) + first)
    return terms[0] + terms[1], -high, high


def _in_new_range(
    values: torch.Tensor,
    low: torch.Tensor,
    high: torch.Tensor,
    new_low: torch.Tensor,
    new_high: torch.Tensor,
    dtype: torch.dtype,
) -> torch.Tensor:
    floats = quantized_to_float(values, low, high)
    least, most = _limits(dtype)
    scaled = _round_away((floats - new_low) * ((most - least) / (new_high - new_low))) + least
    return _to_int(scaled.clamp(least, most), dtype)


def _used_range(values: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The floats of the lowest and highest value that occur, with zero between them."""
    ends = quantized_to_float(torch.stack([values.min(), values.max()]), low, high)
    return torch.clamp(ends[0], max=0.0), torch.maximum(ends[1], torch.zeros(()))


@fresh("QuantizeDownAndShrinkRange")
def quantize_down_and_shrink_range(
    input: torch.Tensor, input_min: torch.Tensor, input_max: torch.Tensor, *, out_type: DType
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    low, high = _used_range(input, input_min, input_max)
    return _in_new_range(input, input_min, input_max, low, high, torch_dtype(out_type)), low, high


@fresh("RequantizationRange")
def requantization_range(
    input: torch.Tensor, input_min: torch.Tensor, input_max: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    return _used_range(input, input_min, input_max)


@kernel("Requantize", result=view(3, 4))
def requantize(
    input: torch.Tensor,
    input_min: torch.Tensor,
    input_max: torch.Tensor,
    requested_output_min: torch.Tensor,
    requested_output_max: torch.Tensor,
    *,
    out_type: DType,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    values = _in_new_range(
        input, input_min, input_max, requested_output_min, requested_output_max, torch_dtype(out_type)
    )
    return values, requested_output_min, requested_output_max


@fresh("QuantizedConcat")
def quantized_concat(
    concat_dim: torch.Tensor,
    values: list[torch.Tensor],
    input_mins: list[torch.Tensor],
    input_maxes: list[torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    low, high = torch.stack(list(input_mins)).min(), torch.stack(list(input_maxes)).max()
    parts = [
        part
        if part_low == low and part_high == high
        else _in_new_range(part, part_low, part_high, low, high, part.dtype)
        for part, part_low, part_high in zip(values, input_mins, input_maxes, strict=True)
    ]
    return torch.cat(parts, int(concat_dim)), low, high


@kernel("QuantizedReshape", result=same(0, 2, 3))
def quantized_reshape(
    tensor: AnyTensor, shape: torch.Tensor, input_min: torch.Tensor, input_max: torch.Tensor
) -> tuple[AnyTensor, torch.Tensor, torch.Tensor]:
    return tensor.reshape(shape.tolist()), input_min, input_max


@kernel("QuantizedRelu", result=view(1, 2))
def quantized_relu(
    features: torch.Tensor, min_features: torch.Tensor, max_features: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    zero = float_to_quantized(torch.zeros(()), min_features, max_features, features.dtype)
    return torch.maximum(features, zero), min_features, max_features


def _quantized_relu_up_to(
    features: torch.Tensor, low: torch.Tensor, high: torch.Tensor, most: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    zero = float_to_quantized(torch.zeros(()), low, high, features.dtype)
    top = float_to_quantized(most, low, high, features.dtype)
    return torch.minimum(torch.maximum(features, zero), top), low, high


@kernel("QuantizedRelu6", result=view(1, 2))
def quantized_relu6(
    features: torch.Tensor, min_features: torch.Tensor, max_features: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return _quantized_relu_up_to(features, min_features, max_features, _scalar32(6.0))


@kernel("QuantizedReluX", result=view(2, 3))
def quantized_relu_x(
    features: torch.Tensor, max_value: torch.Tensor, min_features: torch.Tensor, max_features: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return _quantized_relu_up_to(features, min_features, max_features, max_value)
