"""nn ops on quantised tensors: integers that stand for evenly spaced floats between a minimum and a maximum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import view
from everflow.kernels.nn.convolution import conv2d
from everflow.kernels.nn.pooling import avg_pool, max_pool
from everflow.kernels.quantization import float_to_quantized, product_range, quantized_to_float, zero_of
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.tensors import torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

# Room for sums: the output range of a bias addition is this many times the largest float of its inputs.
_BIAS_HEADROOM = 2.0**17
_BATCH_NORM_RANGE = 2.0**20


@fresh("QuantizedConv2D")
def quantized_conv2d(
    x: torch.Tensor,
    w: torch.Tensor,
    min_input: torch.Tensor,
    max_input: torch.Tensor,
    min_filter: torch.Tensor,
    max_filter: torch.Tensor,
    *,
    out_type: DType,
    strides: list[int],
    padding: str,
    dilations: list[int],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    # Doubles hold these integers exactly, and have a fast convolution.
    image = x.double() - zero_of(min_input, max_input, x.dtype)
    filters = w.double() - zero_of(min_filter, max_filter, w.dtype)
    result = conv2d(
        image, filters, strides=strides, padding=padding, explicit_paddings=[], data_format="NHWC", dilations=dilations
    )
    dtype = torch_dtype(out_type)
    return result.round().to(dtype), *product_range(min_input, max_input, min_filter, max_filter, dtype)


@kernel("QuantizedMaxPool", result=view(1, 2))
def quantized_max_pool(
    x: torch.Tensor,
    min_input: torch.Tensor,
    max_input: torch.Tensor,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return max_pool(x, ksize=ksize, strides=strides, padding=padding, data_format="NHWC"), min_input, max_input


@kernel("QuantizedAvgPool", result=view(1, 2))
def quantized_avg_pool(
    x: torch.Tensor,
    min_input: torch.Tensor,
    max_input: torch.Tensor,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    mean = avg_pool(x.double(), ksize=ksize, strides=strides, padding=padding, data_format="NHWC")
    # Means of whole numbers that should be whole may come out a little below.
    return (mean + 1e-9).floor().to(x.dtype), min_input, max_input


@fresh("QuantizedBiasAdd")
def quantized_bias_add(
    x: torch.Tensor,
    bias: torch.Tensor,
    min_input: torch.Tensor,
    max_input: torch.Tensor,
    min_bias: torch.Tensor,
    max_bias: torch.Tensor,
    *,
    out_type: DType,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if x.dim() < 2 or bias.dim() != 1 or bias.shape[0] != x.shape[-1]:
        shapes = f"{list(bias.shape)} vs. {list(x.shape)}"
        raise InvalidArgumentError(
            None, None, f"Must provide as many biases as the last dimension of the input: {shapes}"
        )
    high = torch.stack([v.abs().reshape(()) for v in (min_input, max_input, min_bias, max_bias)]).max() * _BIAS_HEADROOM
    terms = [
        float_to_quantized(quantized_to_float(values, low, up), -high, high, torch_dtype(out_type))
        for values, low, up in ((x, min_input, max_input), (bias, min_bias, max_bias))
    ]
    return terms[0] + terms[1], -high, high


@fresh("QuantizedBatchNormWithGlobalNormalization")
def quantized_batch_norm(
    x: torch.Tensor,
    x_min: torch.Tensor,
    x_max: torch.Tensor,
    mean: torch.Tensor,
    mean_min: torch.Tensor,
    mean_max: torch.Tensor,
    variance: torch.Tensor,
    variance_min: torch.Tensor,
    variance_max: torch.Tensor,
    beta: torch.Tensor,
    beta_min: torch.Tensor,
    beta_max: torch.Tensor,
    gamma: torch.Tensor,
    gamma_min: torch.Tensor,
    gamma_max: torch.Tensor,
    *,
    out_type: DType,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    factor = torch.rsqrt(quantized_to_float(variance, variance_min, variance_max) + variance_epsilon)
    if scale_after_normalization:
        factor = factor * quantized_to_float(gamma, gamma_min, gamma_max)
    centered = quantized_to_float(x, x_min, x_max) - quantized_to_float(mean, mean_min, mean_max)
    result = centered * factor + quantized_to_float(beta, beta_min, beta_max)
    high = x_min.new_full((), _BATCH_NORM_RANGE)
    return float_to_quantized(result, -high, high, torch_dtype(out_type)), -high, high


@fresh("QuantizedInstanceNorm")
def quantized_instance_norm(
    x: torch.Tensor,
    x_min: torch.Tensor,
    x_max: torch.Tensor,
    *,
    output_range_given: bool,
    given_y_min: float,
    given_y_max: float,
    variance_epsilon: float,
    min_separation: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if x.dim() != 4:
        raise InvalidArgumentError(None, None, "Tensor must be 4-dimensional")
    floats = quantized_to_float(x, x_min, x_max)
    mean = floats.mean((1, 2), keepdim=True)
    variance = floats.var((1, 2), keepdim=True, correction=0)
    y = (floats - mean) * torch.rsqrt(variance + variance_epsilon)
    if output_range_given:
        low, high = y.new_full((), given_y_min), y.new_full((), given_y_max)
    else:
        low, high = y.min(), y.max()
        high = torch.maximum(high, low + min_separation)
    return float_to_quantized(y, low, high, x.dtype), low, high
