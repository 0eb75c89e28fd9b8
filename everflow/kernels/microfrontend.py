"""The audio front end of small devices: filter banks of speech in whole numbers only, so that a model sees the same
features when it is trained and on a chip without floats.

A frame is windowed, transformed by an FFT of 16-bit numbers, gathered into mel channels, cleared of steady noise,
brought to an even loudness and put on a logarithmic scale. Each step rounds as the device does.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import torch

from everflow.framework.dtypes import DType
from everflow.framework.errors import InternalError, InvalidArgumentError
from everflow.kernels.registry import fresh

_WEIGHT_BITS = 12  # of windows, filter weights and signal-to-noise ratios
_NOISE_BITS = 14  # of smoothing factors
_LOUDNESS_BITS = 6  # behind the point of what the gain control gives
_LOG_BITS = 16
_SEGMENT_BITS = 7  # log2 is corrected by a table of 2 ** 7 segments
_LN_2 = 45426  # ln(2) with 16 bits behind the point
_LARGEST_SHORT = 2**15 - 1


def _bit_count(values: np.ndarray) -> np.ndarray:
    """How many bits whole numbers have, 0 for 0."""
    return np.frexp(values.astype(np.float64))[1]


def _wrapped(values: np.ndarray) -> np.ndarray:
    """What 16 bits keep of whole numbers."""
    return values.astype(np.int16).astype(np.int64)


# The FFT of 16-bit numbers. Numbers are pairs of arrays (real, imaginary); every stage scales down so that nothing
# overflows, and every product is rounded to 15 bits behind the point.


Complex = tuple[np.ndarray, np.ndarray]


def _product(a: np.ndarray, b: np.ndarray | int) -> np.ndarray:
    return _rounded(a * b)


def _rounded(product: np.ndarray) -> np.ndarray:
    return _wrapped((product + (1 << 14)) >> 15)


def _times(a: Complex, b: Complex) -> Complex:
    return _rounded(a[0] * b[0] - a[1] * b[1]), _rounded(a[0] * b[1] + a[1] * b[0])


def _divided(a: Complex, by: int) -> Complex:
    return _product(a[0], _LARGEST_SHORT // by), _product(a[1], _LARGEST_SHORT // by)


def _plus(a: Complex, b: Complex) -> Complex:
    return _wrapped(a[0] + b[0]), _wrapped(a[1] + b[1])


def _minus(a: Complex, b: Complex) -> Complex:
    return _wrapped(a[0] - b[0]), _wrapped(a[1] - b[1])


def _turned(angles: np.ndarray) -> Complex:
    """Points of the unit circle."""
    real, imaginary = (np.floor(0.5 + _LARGEST_SHORT * f(angles)).astype(np.int64) for f in (np.cos, np.sin))
    return real, imaginary


def _fft(signal: Complex, whole: int) -> Complex:
    """The transform along the last axis, whose size is a power of two; `whole` is the size of the outermost one."""
    size = signal[0].shape[-1]
    if size == 1:
        return signal
    radix = 4 if size % 4 == 0 else 2
    part = size // radix
    parts = [_divided(_fft((signal[0][..., i::radix], signal[1][..., i::radix]), whole), radix) for i in range(radix)]
    angles = -2 * math.pi * np.arange(part) * (whole // size) / whole
    first, *others = [p if i == 0 else _times(p, _turned(angles * i)) for i, p in enumerate(parts)]
    if radix == 2:
        found = [_plus(first, others[0]), _minus(first, others[0])]
    else:
        even, odd = _plus(first, others[1]), _minus(first, others[1])
        both, apart = _plus(others[0], others[2]), _minus(others[0], others[2])
        found = [
            _plus(even, both),
            (_wrapped(odd[0] + apart[1]), _wrapped(odd[1] - apart[0])),
            _minus(even, both),
            (_wrapped(odd[0] - apart[1]), _wrapped(odd[1] + apart[0])),
        ]
    return np.concatenate([real for real, _ in found], -1), np.concatenate([imaginary for _, imaginary in found], -1)


def real_fft(signal: np.ndarray) -> Complex:
    """(real, imaginary) of a transform of 16-bit numbers: size / 2 + 1 values, divided by the size."""
    half = signal.shape[-1] // 2
    packed = _fft((signal[..., 0::2], signal[..., 1::2]), half)
    ends = _divided((packed[0][..., :1], packed[1][..., :1]), 2)
    count = np.arange(1, half // 2 + 1)
    forward = _divided((packed[0][..., count], packed[1][..., count]), 2)
    backward = _divided((packed[0][..., half - count], _wrapped(-packed[1][..., half - count])), 2)
    total = _plus(forward, backward)
    turned = _times(_minus(forward, backward), _turned(-math.pi * (count / half + 0.5)))
    real = np.zeros((*signal.shape[:-1], half + 1), np.int64)
    imaginary = np.zeros_like(real)
    real[..., 0], real[..., half] = _wrapped(ends[0] + ends[1])[..., 0], _wrapped(ends[0] - ends[1])[..., 0]
    real[..., half - count] = (total[0] - turned[0]) >> 1
    imaginary[..., half - count] = (turned[1] - total[1]) >> 1
    real[..., count] = (total[0] + turned[0]) >> 1
    imaginary[..., count] = (total[1] + turned[1]) >> 1
    return real, imaginary


@dataclass(frozen=True)
class FilterBank:
    """Which bins of a spectrum belong to which channel: a triangle on the mel scale each, whose sides overlap."""

    first: int
    last: int
    rising: np.ndarray  # [channels + 1, bins]: what a bin gives to its channel
    falling: np.ndarray  # and what to the next

    def channels(self, energy: np.ndarray) -> np.ndarray:
        """The energy of channels, of spectra [frames, bins]."""
        gathered = energy @ self.rising.T
        gathered[:, 1:] += energy @ self.falling[:-1].T
        return gathered[:, 1:]


def _mel(frequency: np.ndarray | float) -> np.ndarray:
    return (1127.0 * np.log1p(np.asarray(frequency, np.float64) / 700.0)).astype(np.float32)


def _weight(values: np.ndarray) -> np.ndarray:
    return np.floor(values * np.float32(1 << _WEIGHT_BITS) + np.float32(0.5)).astype(np.int64)


@functools.lru_cache(maxsize=16)
def filter_bank(rate: int, bins: int, count: int, lower: float, upper: float) -> FilterBank:
    """The filter bank of `count` channels between two frequencies."""
    low, high = _mel(lower), _mel(upper)
    spacing = np.float32((high - low) / np.float32(count + 1))
    centers = (low + spacing * np.arange(1, count + 2, dtype=np.float32)).astype(np.float32)
    width = np.float32(0.5 * rate / np.float32(bins - 1))
    first = int(np.float32(1.5) + np.float32(lower) / width)
    mels = _mel(np.arange(bins, dtype=np.float32) * width)
    rising = np.zeros((count + 1, bins), np.int64)
    falling = np.zeros_like(rising)
    at = first
    for channel in range(count + 1):
        below = low if channel == 0 else centers[channel - 1]
        end = at
        while end < bins and mels[end] <= centers[channel]:
            end += 1
        if end == bins and mels[-1] <= centers[channel] and channel < count:
            raise InternalError(
                None, None, f"Channels up to {upper} Hz don't fit into sound of {rate} samples a second"
            )
        share = ((centers[channel] - mels[at:end]) / np.float32(centers[channel] - below)).astype(np.float32)
        rising[channel, at:end] = _weight(share)
        falling[channel, at:end] = _weight(np.float32(1.0) - share)
        at = end
    return FilterBank(first, at, rising, falling)


def _square_root(values: np.ndarray) -> np.ndarray:
    """The nearest whole square root of each."""
    roots = np.array([math.isqrt(v) for v in values.reshape(-1).tolist()], np.int64).reshape(values.shape)
    return roots + (values - roots * roots > roots)


@dataclass(frozen=True)
class _GainTable:
    """A gain as a function of loudness over 32 bits: a parabola for each power of two."""

    ends: tuple[int, int, int]
    parabolas: np.ndarray

    def __call__(self, values: np.ndarray) -> np.ndarray:
        bits = _bit_count(values)
        shifted = np.where(bits < 11, values << np.maximum(11 - bits, 0), values >> np.maximum(bits - 11, 0))
        fraction = shifted & 0x3FF
        start, slope, bend = (self.parabolas[np.maximum(bits, 2), i] for i in range(3))
        curve = (((bend * fraction) >> 5) + (slope << 5)) * fraction
        return np.where(values <= 2, np.array(self.ends)[np.minimum(values, 2)], ((curve + (1 << 14)) >> 15) + start)


@functools.lru_cache(maxsize=16)
def _gain_table(strength: float, offset: float, gain_bits: int, input_bits: int) -> _GainTable:
    def gain(x: int) -> int:
        loudness = np.float32(x) / np.float32(2.0**input_bits)
        found = np.float32(2.0**gain_bits) * np.power(loudness + np.float32(offset), np.float32(-strength))
        return _LARGEST_SHORT if found > _LARGEST_SHORT else int(found + np.float32(0.5))

    parabolas = np.zeros((33, 3), np.int64)
    for bits in range(2, 33):
        left = 1 << (bits - 1)
        right = left + left - 1 if bits == 32 else 2 * left
        ends = gain(left), gain(left + (left >> 1)), gain(right)
        middle, far = ends[1] - ends[0], ends[2] - ends[0]
        slope = 4 * middle - far
        parabolas[bits] = ends[0], slope, far - slope
    return _GainTable((gain(0), gain(1), int(parabolas[2, 0])), parabolas)


_SEGMENTS = np.round(
    (
        np.log2(1 + np.arange(2**_SEGMENT_BITS + 2) / 2**_SEGMENT_BITS)
        - np.arange(2**_SEGMENT_BITS + 2) / 2**_SEGMENT_BITS
    )
    * 2**_LOG_BITS
).astype(np.int64)
_SEGMENTS[-1] = 0


def _logarithm(values: np.ndarray, scale_shift: int) -> np.ndarray:
    """ln(values) * 2 ** scale_shift of whole numbers above 1."""
    whole = _bit_count(values) - 1
    rest = values - (np.int64(1) << whole)
    rest = np.where(
        whole < _LOG_BITS, rest << np.maximum(_LOG_BITS - whole, 0), rest >> np.maximum(whole - _LOG_BITS, 0)
    )
    segment = rest >> (_LOG_BITS - _SEGMENT_BITS)
    start, end = _SEGMENTS[segment], _SEGMENTS[segment + 1]
    between = ((end - start) * (rest - (segment << (_LOG_BITS - _SEGMENT_BITS)))) >> _LOG_BITS
    binary = (whole << _LOG_BITS) + rest + start + between
    half = 1 << (_LOG_BITS - 1)
    natural = (_LN_2 * binary + half) >> _LOG_BITS
    return ((natural << scale_shift) + half) >> _LOG_BITS


@fresh("AudioMicrofrontend")
def audio_microfrontend(
    audio: torch.Tensor,
    *,
    sample_rate: int,
    window_size: int,
    window_step: int,
    num_channels: int,
    upper_band_limit: float,
    lower_band_limit: float,
    smoothing_bits: int,
    even_smoothing: float,
    odd_smoothing: float,
    min_signal_remaining: float,
    enable_pcan: bool,
    pcan_strength: float,
    pcan_offset: float,
    gain_bits: int,
    enable_log: bool,
    scale_shift: int,
    left_context: int,
    right_context: int,
    frame_stride: int,
    zero_padding: bool,
    out_scale: int,
    out_type: DType,
) -> torch.Tensor:
    if out_scale == 0:
        raise InvalidArgumentError(None, None, "out_scale is 0: the result can't be divided by it")
    samples = audio.numpy().astype(np.int64)
    size, step = window_size * sample_rate // 1000, window_step * sample_rate // 1000
    if size < 1:
        raise InternalError(None, None, f"A window of {window_size} ms holds no sample")
    fft_size = 1 << (size - 1).bit_length()
    count = max(0, (len(samples) - size) // step + 1)
    starts = np.arange(count)[:, None] * step
    window = _weight((0.5 - 0.5 * np.cos(2 * np.pi / size * (np.arange(size) + 0.5))).astype(np.float32))
    frames = _wrapped((samples[starts + np.arange(size)] * window) >> _WEIGHT_BITS)
    shifts = 15 - _bit_count(np.abs(frames).max(1, initial=0))
    padded = np.zeros((count, fft_size), np.int64)
    padded[:, :size] = _wrapped(frames << shifts[:, None])
    real, imaginary = real_fft(padded)
    bank = filter_bank(sample_rate, fft_size // 2 + 1, num_channels, lower_band_limit, upper_band_limit)
    channels = _square_root(bank.channels(real**2 + imaginary**2)) >> shifts[:, None]
    correction = fft_size.bit_length() - 1 - _WEIGHT_BITS // 2
    even = np.arange(num_channels) % 2 == 0
    smoothing = np.where(
        even, int(np.float32(even_smoothing) * 2**_NOISE_BITS), int(np.float32(odd_smoothing) * 2**_NOISE_BITS)
    )
    channels, noise = _without_noise(
        channels, smoothing, smoothing_bits, int(np.float32(min_signal_remaining) * 2**_NOISE_BITS)
    )
    if enable_pcan:
        gains = _gain_table(pcan_strength, pcan_offset, gain_bits, smoothing_bits - correction)(noise)
        ratio = (channels * gains) >> (gain_bits - correction - _WEIGHT_BITS)
        quiet = ratio * ratio >> (2 + 2 * _WEIGHT_BITS - _LOUDNESS_BITS)
        channels = np.where(
            ratio < 2 << _WEIGHT_BITS, quiet, (ratio >> (_WEIGHT_BITS - _LOUDNESS_BITS)) - (1 << _LOUDNESS_BITS)
        )
    if enable_log:
        shifted = channels << correction if correction >= 0 else channels >> -correction
        channels = np.where(shifted > 1, _logarithm(np.maximum(shifted, 2), scale_shift), 0)
    channels = np.minimum(channels, 2**16 - 1)
    return _with_context(channels, left_context, right_context, frame_stride, zero_padding, out_scale, out_type)


def _without_noise(
    signal: np.ndarray, smoothing: np.ndarray, bits: int, remaining: int
) -> tuple[np.ndarray, np.ndarray]:
    """(what stands out of the noise, the noise), frame after frame: the noise is a running mean of each channel."""
    estimate = np.zeros(signal.shape[1], np.int64)
    cleared, noise = np.empty_like(signal), np.empty_like(signal)
    for i, frame in enumerate(signal):
        scaled = frame << bits
        estimate = (scaled * smoothing + estimate * ((1 << _NOISE_BITS) - smoothing)) >> _NOISE_BITS
        noise[i] = estimate
        estimate_here = np.minimum(estimate, scaled)
        cleared[i] = np.maximum((scaled - estimate_here) >> bits, (frame * remaining) >> _NOISE_BITS)
    return cleared, noise


def _with_context(
    frames: np.ndarray, left: int, right: int, stride: int, zeros: bool, scale: int, dtype: DType
) -> torch.Tensor:
    """Every `stride`-th frame with its neighbours beside it; before the first and after the last are zeros or copies."""
    count = len(frames)
    at = np.arange(0, count, stride)[:, None] + np.arange(-left, right + 1)
    found = (
        frames[np.clip(at, 0, max(count - 1, 0))]
        if count
        else np.zeros((0, left + right + 1, frames.shape[1]), np.int64)
    )
    if zeros:
        found = np.where(((at >= 0) & (at < count))[..., None], found, 0)
    found = found.reshape(len(at), (left + right + 1) * frames.shape[1])
    if dtype.is_floating:
        return torch.from_numpy(found.astype(np.float32) / np.float32(scale))
    return torch.from_numpy((found // scale).astype(np.uint16))
