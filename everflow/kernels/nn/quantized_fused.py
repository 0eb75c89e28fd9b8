"""Products of quantised tensors with what follows them in one op: bias, sum, relu and a range for the result.

A graph rewriter makes these ops from simple ones, so they are put together from the same parts: numbers become floats,
and the result is written in the range that the op asks for, or in that of a product. Filters may have a range for each
channel of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from everflow.kernels.nn.convolution import conv2d, depthwise_conv2d
from everflow.kernels.quantization import float_to_quantized, quantized_to_float
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

_Result = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
_PLAIN = (torch.float32, torch.float64)


def _floats(values: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    """What quantised numbers stand for: evenly around zero for signed ones, which may have ranges for each channel."""
    if values.dtype in _PLAIN:
        return values.double()
    if low.numel() > 1 or torch.iinfo(values.dtype).min < 0:
        return values.double() * _step(low, high, values.dtype)
    return quantized_to_float(values, low, high).double()


def _step(low: torch.Tensor, high: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The distance of two numbers next to each other; the whole type is used, evenly around zero for signed ones."""
    widest = torch.maximum(low.abs(), high.abs()).double()
    if torch.iinfo(dtype).min < 0:
        return widest / torch.iinfo(dtype).max
    return (high - low).double() / torch.iinfo(dtype).max


def _written(
    result: torch.Tensor, step: torch.Tensor, frozen: tuple[torch.Tensor, torch.Tensor] | None, dtype: DType
) -> _Result:
    """The result in a range that was asked for, or as so many steps of a product."""
    kind = torch_dtype(dtype)
    if frozen is not None:
        low, high = (limit.reshape(()).clone() for limit in frozen)
        if torch.iinfo(kind).min < 0:
            limits = torch.iinfo(kind)
            scaled = (result / _step(low, high, kind)).round().clamp(limits.min + 1, limits.max)
            return scaled.to(kind), low, high
        return float_to_quantized(result.float(), low, high, kind), low, high
    limits = torch.iinfo(kind)
    whole = (result / step).round().clamp(limits.min, limits.max).to(kind)
    return whole, (step * limits.min).float(), (step * limits.max).float()


def _fused(name: str, product: Callable[..., torch.Tensor]) -> Callable[..., _Result]:
    """The kernel of an op whose name says what follows the product."""
    with_bias, with_sum = "Bias" in name, "Sum" in name
    with_relu, requantized = "Relu" in name, "AndRequantize" in name

    def run(*inputs: torch.Tensor, dtype: DType, **options: object) -> _Result:
        rest = list(inputs)
        a, b = rest.pop(0), rest.pop(0)
        bias = rest.pop(0) if with_bias else None
        low_a, high_a, low_b, high_b = (rest.pop(0) for _ in range(4))
        frozen = (rest.pop(0), rest.pop(0)) if requantized else None
        step = _step(low_a, high_a, a.dtype) * _step(low_b, high_b, b.dtype)
        result = product(_floats(a, low_a, high_a), _floats(b, low_b, high_b), **options)
        if bias is not None:
            result = result + (bias.double() if bias.dtype in _PLAIN else bias.double() * step)
        if with_sum:
            summand = rest.pop(0)
            low, high = (
                (rest.pop(0), rest.pop(0))
                if rest
                else (step * torch.iinfo(torch.int32).min, step * torch.iinfo(torch.int32).max)
            )
            result = result + _floats(summand, low, high)
        if with_relu:
            result = torch.relu(result)
        return _written(result, step, frozen, dtype)

    return run


def _convolution(
    image: torch.Tensor, filters: torch.Tensor, strides: list[int], padding: str, dilations: list[int]
) -> torch.Tensor:
    return conv2d(
        image, filters, strides=strides, padding=padding, explicit_paddings=[], data_format="NHWC", dilations=dilations
    )


def _depthwise(
    image: torch.Tensor, filters: torch.Tensor, strides: list[int], padding: str, dilations: list[int]
) -> torch.Tensor:
    return depthwise_conv2d(image, filters, strides=strides, padding=padding, data_format="NHWC", dilations=dilations)


def _matrix_product(a: torch.Tensor, b: torch.Tensor, transpose_a: bool, transpose_b: bool) -> torch.Tensor:
    return torch.mm(a.mT if transpose_a else a, b.mT if transpose_b else b)


def _register_convolution(name: str, product: Callable[..., torch.Tensor]) -> None:
    fused = _fused(name, product)

    @fresh(name)
    def run(*inputs: torch.Tensor, out_type: DType, strides: list[int], padding: str, dilations: list[int]) -> _Result:
        return fused(*inputs, dtype=out_type, strides=strides, padding=padding, dilations=dilations)


def _register_product(name: str) -> None:
    fused = _fused(name, _matrix_product)

    @fresh(name)
    def run(*inputs: torch.Tensor, Toutput: DType, transpose_a: bool, transpose_b: bool) -> _Result:
        return fused(*inputs, dtype=Toutput, transpose_a=transpose_a, transpose_b=transpose_b)


for (
    _name
) in """AndRelu AndReluAndRequantize AndRequantize PerChannel WithBias WithBiasAndRelu WithBiasAndReluAndRequantize
        WithBiasAndRequantize WithBiasSignedSumAndReluAndRequantize WithBiasSumAndRelu
        WithBiasSumAndReluAndRequantize""".split():
    _register_convolution(f"QuantizedConv2D{_name}", _convolution)
for _name in ("", "WithBias", "WithBiasAndRelu", "WithBiasAndReluAndRequantize"):
    _register_convolution(f"QuantizedDepthwiseConv2D{_name}", _depthwise)
for _name in ("WithBias", "WithBiasAndRelu", "WithBiasAndReluAndRequantize"):
    _register_product(f"QuantizedMatMul{_name}")


@fresh("RequantizationRangePerChannel")
def requantization_range_per_channel(
    input: torch.Tensor, input_min: torch.Tensor, input_max: torch.Tensor, *, clip_value_max: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The range that numbers with a range for each channel use, but not beyond `clip_value_max`."""
    floats = _floats(input, input_min, input_max).float()
    low, high = floats.amin(), floats.amax()
    if float(low) < 0:  # numbers of both signs keep a range around zero
        high = torch.maximum(-low, high).clamp(max=clip_value_max)
        return -high, high
    return torch.zeros(()), high.clamp(max=clip_value_max)


@fresh("RequantizePerChannel")
def requantize_per_channel(
    input: torch.Tensor,
    input_min: torch.Tensor,
    input_max: torch.Tensor,
    requested_output_min: torch.Tensor,
    requested_output_max: torch.Tensor,
    *,
    out_type: DType,
) -> _Result:
    asked = requested_output_min, requested_output_max
    return _written(_floats(input, input_min, input_max), torch.ones(()), asked, out_type)
