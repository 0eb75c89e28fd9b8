"""Kernels that make Summary protos: numbers, histograms, images, sounds and tensors."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from google.protobuf.message import DecodeError

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import make_tensor_proto
from everflow.kernels.audio import wav_file
from everflow.kernels.image import png as image_png
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import AnyTensor, Strings, to_numpy
from everflow.protos.summary_pb2 import HistogramProto, Summary, SummaryMetadata

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node


def _serialized(summary: Summary) -> np.ndarray:
    return np.array(summary.SerializeToString(), dtype=object)


def _text(value: Strings) -> str:
    return value.item().decode()


@fresh("ScalarSummary")
def scalar_summary(tags: Strings, values: torch.Tensor) -> Strings:
    if tags.shape != tuple(values.shape):
        raise InvalidArgumentError(
            None,
            None,
            f"tags and values are not the same shape: {list(tags.shape)} != {list(values.shape)}{_single(tags)}",
        )
    summary = Summary()
    for tag, value in zip(tags.ravel().tolist(), values.double().ravel().tolist()):
        summary.value.add(tag=tag.decode(), simple_value=value)
    return _serialized(summary)


def _single(tags: Strings) -> str:
    return f" (tag '{_text(tags)}')" if tags.size == 1 else ""


@functools.cache
def bucket_limits() -> np.ndarray:
    """Upper limits of the buckets: growing by a tenth from 1e-12 to 1e20, the same below zero, and the largest double."""
    positive, value = [], 1e-12
    while value < 1e20:
        positive.append(value)
        value *= 1.1
    positive.append(sys.float_info.max)
    return np.array([-v for v in reversed(positive)] + [0.0] + positive)


def histogram_of(values: np.ndarray) -> HistogramProto:
    """The histogram of an array; runs of empty buckets become one."""
    flat = values.astype(np.float64).ravel()
    proto = HistogramProto()
    if not flat.size:
        # An empty histogram's bounds are the wrong way round, so that any value would replace them.
        proto.min, proto.max = sys.float_info.max, -sys.float_info.max
        proto.bucket_limit.append(sys.float_info.max)
        proto.bucket.append(0.0)
        return proto
    proto.min, proto.max = float(flat.min()), float(flat.max())
    proto.num, proto.sum, proto.sum_squares = float(flat.size), float(flat.sum()), float(np.square(flat).sum())
    limits = bucket_limits()
    # Sorted values are counted by looking for the limits among them, which are few.
    put_buckets(proto, np.diff(np.searchsorted(np.sort(flat), limits, side="left"), prepend=0))
    return proto


def put_buckets(proto: HistogramProto, counts: np.ndarray) -> None:
    """How many values are in each bucket. A bucket stays if something is in it, or if it ends a run of empty ones."""
    kept = (counts > 0) | np.append(counts[1:] > 0, True)
    proto.bucket_limit.extend(bucket_limits()[kept].tolist())
    proto.bucket.extend(counts[kept].tolist())


@fresh("HistogramSummary")
def histogram_summary(tag: Strings, values: torch.Tensor) -> Strings:
    if tag.ndim:
        raise InvalidArgumentError(None, None, f"The tag must be a scalar, not of shape {list(tag.shape)}")
    array = to_numpy(values.float() if values.dtype is torch.bfloat16 else values)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        kind = "Nan" if np.isnan(array).any() else "Infinity"
        raise InvalidArgumentError(None, None, f"{kind} in summary histogram for: {_text(tag)}")
    summary = Summary()
    summary.value.add(tag=_text(tag)).histo.CopyFrom(histogram_of(array))
    return _serialized(summary)


# --- images ----------------------------------------------------------------------------------

_ALMOST_ZERO = 1e-6


def _as_bytes(image: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """A float image as bytes: scaled so that its largest value is white, around grey where it has negative ones."""
    flat = image.reshape(-1, image.shape[-1]).astype(np.float32)
    finite = np.isfinite(flat).all(axis=1)
    if not finite.any():
        low = high = 0.0
    else:
        low, high = float(flat[finite].min()), float(flat[finite].max())
    if low < 0:
        largest = max(abs(low), abs(high))
        scale, offset = (0.0 if largest < _ALMOST_ZERO else 127.0 / largest), 128.0
    else:
        scale, offset = (0.0 if high < _ALMOST_ZERO else 255.0 / high), 0.0
    result = np.empty(flat.shape, np.uint8)
    result[finite] = (flat[finite] * np.float32(scale) + np.float32(offset)).astype(np.uint8)
    result[~finite] = bad_color[: flat.shape[1]]
    return result.reshape(image.shape)


@fresh("ImageSummary")
def image_summary(tag: Strings, tensor: torch.Tensor, *, max_images: int, bad_color: np.ndarray) -> Strings:
    if tensor.ndim != 4 or tensor.shape[3] not in (1, 3, 4):
        raise InvalidArgumentError(None, None, f"Tensor must be 4-D with last dim 1, 3, or 4, not {list(tensor.shape)}")
    if tag.size != 1:
        raise InvalidArgumentError(None, None, f"Tags must be a scalar, not of shape {list(tag.shape)}")
    if len(bad_color) < tensor.shape[3]:
        raise InvalidArgumentError(
            None,
            None,
            f"expected depth <= bad_color.size, got depth = {tensor.shape[3]}, bad_color.size = {len(bad_color)}",
        )
    summary, base = Summary(), _text(tag)
    for i, image in enumerate(
        to_numpy(tensor[:max_images].float() if tensor.is_floating_point() else tensor[:max_images])
    ):
        pixels = image if image.dtype == np.uint8 else _as_bytes(image, np.asarray(bad_color))
        made = summary.value.add(tag=f"{base}/image/{i}" if max_images > 1 else f"{base}/image").image
        made.height, made.width, made.colorspace = pixels.shape
        made.encoded_image_string = image_png.encode(np.ascontiguousarray(pixels), -1)
    return _serialized(summary)


# --- sounds ----------------------------------------------------------------------------------


def _audio(tag: Strings, tensor: torch.Tensor, rate: float, max_outputs: int) -> Strings:
    if tensor.ndim not in (2, 3):
        raise InvalidArgumentError(None, None, f"Tensor must be 3-D or 2-D, got: {list(tensor.shape)}")
    if rate <= 0:
        raise InvalidArgumentError(None, None, f"sample_rate must be positive, got {rate}")
    summary, base = Summary(), _text(tag)
    for i, frames in enumerate(tensor[:max_outputs].float()):
        frames = frames if frames.ndim == 2 else frames[:, None]
        made = summary.value.add(tag=f"{base}/audio/{i}" if max_outputs > 1 else f"{base}/audio").audio
        made.sample_rate, made.num_channels, made.length_frames = rate, frames.shape[1], frames.shape[0]
        made.encoded_audio_string = wav_file(frames, round(rate))
        made.content_type = "audio/wav"
    return _serialized(summary)


@fresh("AudioSummaryV2")
def audio_summary_v2(tag: Strings, tensor: torch.Tensor, sample_rate: torch.Tensor, *, max_outputs: int) -> Strings:
    return _audio(tag, tensor, float(sample_rate), max_outputs)


@fresh("AudioSummary")
def audio_summary(tag: Strings, tensor: torch.Tensor, *, sample_rate: float, max_outputs: int) -> Strings:
    return _audio(tag, tensor, sample_rate, max_outputs)


# --- tensors and merging ---------------------------------------------------------------------


def tensor_value(summary: Summary, tag: str, tensor: AnyTensor, dtype: DType) -> Any:
    """Add a value that holds a tensor."""
    made = summary.value.add(tag=tag)
    array = to_numpy(tensor, dtype)
    if dtype is dtypes.string:
        made.tensor.CopyFrom(make_tensor_proto(array, dtype))
    else:
        # Also of one element, other than in graphs.
        made.tensor.dtype = dtype.as_datatype_enum
        made.tensor.tensor_shape.CopyFrom(TensorShape(array.shape).as_proto())
        made.tensor.tensor_content = array.tobytes()
    return made


@fresh("TensorSummaryV2")
def tensor_summary_v2(tag: Strings, tensor: AnyTensor, serialized_summary_metadata: Strings, *, T: DType) -> Strings:
    summary = Summary()
    made = tensor_value(summary, _text(tag), tensor, T)
    made.metadata.CopyFrom(SummaryMetadata.FromString(serialized_summary_metadata.item()))
    return _serialized(summary)


@fresh("TensorSummary")
def tensor_summary(tensor: AnyTensor, *, T: DType, node: Node) -> Strings:
    summary = Summary()
    made = tensor_value(summary, "", tensor, T)
    made.node_name = node.name
    return _serialized(summary)


def _parsed(serialized: bytes) -> Summary:
    try:
        return Summary.FromString(serialized)
    except DecodeError as e:
        raise InvalidArgumentError(None, None, "Could not parse one of the summary inputs") from e


@fresh("MergeSummary")
def merge_summary(inputs: list[Strings]) -> Strings:
    merged, seen = Summary(), set()
    for group in inputs:
        for serialized in group.ravel().tolist():
            for value in _parsed(serialized).value:
                # Values from old graphs without tags can't clash.
                if value.tag and value.tag in seen:
                    raise InvalidArgumentError(None, None, f"Duplicate tag {value.tag} found in summary inputs")
                seen.add(value.tag)
                merged.value.append(value)
    return _serialized(merged)
