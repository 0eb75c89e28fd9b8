"""Batch normalization in its fused forms, and normalization over neighbouring channels."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from everflow.framework.errors import InvalidArgumentError
from everflow.framework.windows import parse_format
from everflow.kernels.facts import SHARE, view
from everflow.kernels.nn.convolution import as_format, channels_first
from everflow.kernels.registry import fresh, kernel, library
from everflow.native.lowering import lowers
from everflow.native.values import Value, apply


def _check_vectors(x: torch.Tensor, channels: int, **vectors: torch.Tensor) -> None:
    if x.dim() != 4:
        raise InvalidArgumentError(None, None, f"input must be 4-dimensional{list(x.shape)}")
    for name, vector in vectors.items():
        if vector.dim() != 1 or (vector.shape[0] and vector.shape[0] != channels):
            raise InvalidArgumentError(
                None, None, f"{name} must have one entry for each of {channels} channels, not {list(vector.shape)}"
            )


def _batch_norm(
    x: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> tuple[torch.Tensor, ...]:
    """y, mean and variance for moving averages, mean and variance for the gradient."""
    form = parse_format(data_format)
    _check_vectors(
        x, x.shape[form.channel_axis], scale=scale, offset=offset, estimated_mean=mean, estimated_variance=variance
    )
    image = channels_first(x, form)
    if not is_training:
        if mean.numel() != image.shape[1] or variance.numel() != image.shape[1]:
            raise InvalidArgumentError(
                None, None, f"mean and variance must be given for {image.shape[1]} channels when not training"
            )
        y = torch.native_batch_norm(image, scale, offset, mean, variance, False, 0.0, epsilon)[0]
        return as_format(y, form), mean, variance, mean, variance
    if mean.numel() or variance.numel():
        raise InvalidArgumentError(None, None, f"estimated_mean must be empty for training{list(mean.shape)}")
    count = image.numel() // image.shape[1] if image.shape[1] else 0
    if count == 0:
        return torch.empty_like(x), *(torch.full_like(scale, float("nan")) for _ in range(4))
    # ATen's own moving averages, with momentum 1, are the batch's mean and unbiased variance.
    mean, unbiased = torch.zeros_like(scale), torch.zeros_like(scale)
    y, saved_mean, _ = torch.native_batch_norm(image, scale, offset, mean, unbiased, True, 1.0, epsilon)
    if count == 1:
        unbiased, biased = torch.zeros_like(scale), torch.zeros_like(scale)
    else:
        biased = unbiased * ((count - 1) / count)
    return as_format(y, form), saved_mean, unbiased, saved_mean.clone(), biased


@kernel("FusedBatchNorm", "FusedBatchNormV2", result=view(3, 4), threads_matter_from=0)
def fused_batch_norm(
    x: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    *,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> tuple[torch.Tensor, ...]:
    return _batch_norm(x, scale, offset, mean, variance, epsilon, data_format, is_training)


@kernel("FusedBatchNormV3", result=view(3, 4), threads_matter_from=0)
def fused_batch_norm_v3(
    x: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    *,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> tuple[torch.Tensor, ...]:
    results = _batch_norm(x, scale, offset, mean, variance, epsilon, data_format, is_training)
    return (*results, scale.new_zeros(()))


def _batch_norm_grad(
    grad: torch.Tensor,
    x: torch.Tensor,
    scale: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    form = parse_format(data_format)
    _check_vectors(x, x.shape[form.channel_axis], scale=scale, reserve_space_1=mean, reserve_space_2=variance)
    if grad.shape != x.shape:
        raise InvalidArgumentError(
            None, None, f"y_backprop of shape {list(grad.shape)} doesn't fit x of shape {list(x.shape)}"
        )
    if x.numel() == 0:
        return (torch.empty_like(x), torch.zeros_like(scale), torch.zeros_like(scale))
    invstd = torch.rsqrt(variance + epsilon)
    dx, dscale, doffset = torch.ops.aten.native_batch_norm_backward(
        channels_first(grad, form),
        channels_first(x, form),
        scale,
        mean,
        variance,
        mean,
        invstd,
        is_training,
        epsilon,
        (True, True, True),
    )
    return as_format(dx, form), dscale, doffset


@library("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def fused_batch_norm_grad(
    grad: torch.Tensor,
    x: torch.Tensor,
    scale: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    _reserve: torch.Tensor | None = None,
    *,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> tuple[torch.Tensor, ...]:
    results = _batch_norm_grad(grad, x, scale, mean, variance, epsilon, data_format, is_training)
    return (*results, scale.new_zeros(()), scale.new_zeros(()))


# --- as expressions -------------------------------------------------------------------------------


class _Channels:
    """An image's channels in expressions: sums over all else, and vectors that are spread over it."""

    def __init__(self, image: Value, data_format: str) -> None:
        axis = parse_format(data_format).channel_axis % 4
        self._shape = image.shape
        self._as_vector = [n if a == axis else 1 for a, n in enumerate(image.shape)]
        self._others = [a for a in range(4) if a != axis]
        self.count = image.size // image.shape[axis]

    def sum(self, image: Value) -> Value:
        return image.reduce("sum", self._others)

    def spread(self, vector: Value) -> Value:
        return vector.reshape(self._as_vector).expand(self._shape)


@lowers("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", known=(3, 4))
def _lower_batch_norm(
    x: Value,
    scale: Value,
    offset: Value,
    _mean: object,
    _variance: object,
    *,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> tuple[Value, ...] | None:
    """With moments that are given the library folds them into one factor, so it is for training only."""
    if not is_training or len(x.shape) != 4:
        return None
    channels = _Channels(x, data_format)
    mean = channels.sum(x) / channels.count
    centered = x - channels.spread(mean)
    variance = channels.sum(centered * centered) / channels.count
    factor = apply("rsqrt", variance + epsilon) * scale
    y = centered * channels.spread(factor) + channels.spread(offset)
    return y, mean, variance * (channels.count / max(channels.count - 1, 1)), mean, variance


@lowers("FusedBatchNormGrad", "FusedBatchNormGradV2")
def _lower_batch_norm_grad(
    grad: Value,
    x: Value,
    scale: Value,
    mean: Value,
    variance: Value,
    *,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> tuple[Value, ...] | None:
    if len(x.shape) != 4 or grad.shape != x.shape:
        return None
    channels = _Channels(x, data_format)
    centered = x - channels.spread(mean)
    inverse = apply("rsqrt", variance + epsilon)
    total, along = channels.sum(grad), channels.sum(grad * centered)
    left = grad
    if is_training:
        back = along * inverse * inverse / channels.count
        left = grad - channels.spread(total / channels.count) - centered * channels.spread(back)
    return left * channels.spread(scale * inverse), along * inverse, total


@fresh("BatchNormWithGlobalNormalization")
def batch_norm_with_global_normalization(
    x: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    beta: torch.Tensor,
    gamma: torch.Tensor,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> torch.Tensor:
    _check_vectors(x, x.shape[-1], m=mean, v=variance, beta=beta, gamma=gamma)
    factor = torch.rsqrt(variance + variance_epsilon)
    if scale_after_normalization:
        factor = factor * gamma
    return (x - mean) * factor + beta


@fresh("BatchNormWithGlobalNormalizationGrad")
def batch_norm_with_global_normalization_grad(
    x: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    gamma: torch.Tensor,
    grad: torch.Tensor,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> tuple[torch.Tensor, ...]:
    _check_vectors(x, x.shape[-1], m=mean, v=variance, gamma=gamma)
    axes = (0, 1, 2)
    inverse = torch.rsqrt(variance + variance_epsilon)
    dbeta = grad.sum(axes)
    centered = (grad * (x - mean)).sum(axes)
    scale = inverse * gamma if scale_after_normalization else inverse
    dgamma = centered * inverse if scale_after_normalization else torch.zeros_like(gamma)
    dvariance = centered * scale * inverse * inverse * -0.5
    return grad * scale, -dbeta * scale, dvariance, dbeta, dgamma


def _neighbours(x: torch.Tensor, radius: int) -> torch.Tensor:
    """The sum over each channel (the last axis) and the `radius` channels on either side."""
    channels = x.shape[-1]
    padded = F.pad(x, (radius, radius))
    total = padded[..., :channels].clone()
    for shift in range(1, 2 * radius + 1):
        total += padded[..., shift : shift + channels]
    return total


def _to_minus(x: torch.Tensor, beta: float) -> torch.Tensor:
    """x to the power of -beta, without logarithms for the powers that networks use."""
    if beta == 0.5:
        return x.rsqrt()
    if beta == 0.75:
        root = x.sqrt()
        return root.sqrt().mul_(root).reciprocal_()
    return x.pow(-beta)


def _check_image(x: torch.Tensor) -> None:
    if x.dim() != 4:
        raise InvalidArgumentError(None, None, "in must be 4-dimensional")


@fresh("LRN", threads_matter_from=SHARE)
def lrn(x: torch.Tensor, *, depth_radius: int, bias: float, alpha: float, beta: float) -> torch.Tensor:
    _check_image(x)
    if x.numel() == 0:
        return x
    return _to_minus(_neighbours(x * x, depth_radius).mul_(alpha).add_(bias), beta).mul_(x)


@fresh("LRNGrad", threads_matter_from=SHARE)
def lrn_grad(
    grad: torch.Tensor, x: torch.Tensor, y: torch.Tensor, *, depth_radius: int, bias: float, alpha: float, beta: float
) -> torch.Tensor:
    _check_image(x)
    if x.numel() == 0:
        return grad
    norm = _neighbours(x * x, depth_radius).mul_(alpha).add_(bias)
    around = _neighbours(grad * y / norm, depth_radius).mul_(x)
    return _to_minus(norm, beta).mul_(grad).sub_(around, alpha=2 * alpha * beta)
