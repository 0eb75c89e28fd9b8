"""Audio: WAV files, spectrograms and mel-frequency cepstral coefficients."""

from __future__ import annotations

import functools
import math
import struct
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh

if TYPE_CHECKING:
    from everflow.kernels.tensors import Strings


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)


class _Reader:
    """A cursor over the bytes of a file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int, what: str = "string") -> bytes:
        if self.at + size > len(self.data):
            raise _invalid(f"Data too short when trying to read {what}")
        piece = self.data[self.at : self.at + size]
        self.at += size
        return piece

    def number(self, form: str) -> int:
        return struct.unpack(form, self.take(struct.calcsize(form), "value"))[0]

    def expect(self, text: bytes) -> None:
        found = self.take(len(text))
        if found != text:
            raise _invalid(f"Header mismatch: Expected {text.decode()} but found {found.decode('latin-1')}")


def _parse_wav(data: bytes) -> tuple[np.ndarray, int]:
    """(samples [count, channels] as float32, sample rate) of a 16-bit PCM file."""
    reader = _Reader(data)
    reader.expect(b"RIFF")
    reader.number("<I")
    reader.expect(b"WAVE")
    reader.expect(b"fmt ")
    size = reader.number("<I")
    if size not in (16, 18):
        raise _invalid(f"Bad file size for WAV: Expected 16 or 18, but got{size}")
    form = reader.number("<H")
    if form != 1:
        raise _invalid(f"Bad audio format for WAV: Expected 1 (PCM), but got{form}")
    channels, rate, byte_rate, frame, bits = (reader.number(f) for f in ("<H", "<I", "<I", "<H", "<H"))
    if bits != 16:
        raise _invalid(f"Can only read 16-bit WAV files, but received {bits}")
    if channels * 2 != frame:
        raise _invalid(f"Bad bytes per sample in WAV header: Expected {channels * 2} but got {frame}")
    if byte_rate != frame * rate:
        raise _invalid(f"Bad bytes per second in WAV header: Expected {frame * rate} but got {byte_rate}")
    reader.take(size - 16)
    while reader.at < len(data):
        chunk = reader.take(4)
        size = reader.number("<I")
        if size > 2**31 - 1:
            raise _invalid(
                f"WAV data chunk '{chunk.decode('latin-1')}' is too large: {size} bytes, but the limit is {2**31 - 1}"
            )
        body = reader.take(size)
        if chunk == b"data":
            samples = np.frombuffer(body[: size // frame * frame], "<i2").reshape(-1, channels)
            return samples.astype(np.float32) / np.float32(32768), rate
    raise _invalid("No data chunk found in WAV")


@fresh("DecodeWav")
def decode_wav(contents: Strings, *, desired_channels: int, desired_samples: int) -> tuple[torch.Tensor, torch.Tensor]:
    if contents.ndim != 0:
        raise _invalid("contents must be scalar, got shape [" + ",".join(map(str, contents.shape)) + "]")
    samples, rate = _parse_wav(contents.item())
    count, channels = samples.shape
    wanted, length = (
        (channels if desired_channels == -1 else desired_channels),
        (count if desired_samples == -1 else desired_samples),
    )
    # Channels asked beyond those there repeat the last one; samples beyond the end are zero.
    columns = np.minimum(np.arange(wanted), channels - 1)
    result = np.zeros((length, wanted), np.float32)
    kept = min(length, count)
    result[:kept] = samples[:kept][:, columns]
    return torch.from_numpy(result), torch.tensor(rate, dtype=torch.int32)


@fresh("EncodeWav")
def encode_wav(audio: torch.Tensor, sample_rate: torch.Tensor) -> Strings:
    if audio.dim() != 2:
        raise _invalid("audio must be 2-dimensional[" + ",".join(map(str, audio.shape)) + "]")
    if sample_rate.dim() != 0:
        raise _invalid(
            "Input sample_rate should be a scalar tensor, got [" + ",".join(map(str, sample_rate.shape)) + "] instead."
        )
    return np.array(wav_file(audio.float(), int(sample_rate)), dtype=object)


def wav_file(audio: torch.Tensor, rate: int) -> bytes:
    """Frames [count, channels] from -1 to 1 as a WAV file of 16-bit samples."""
    if not audio.numel():
        raise _invalid("audio is null")
    if rate <= 0:
        raise _invalid(f"sample_rate must be in (0, 2^32), got: {rate}")
    channels = audio.shape[1]
    scaled = torch.nan_to_num(audio * 32768, nan=0.0)
    away_from_zero = torch.trunc(scaled + torch.copysign(torch.tensor(0.5), scaled))
    body = torch.clamp(away_from_zero, -32768, 32767).to(torch.int16).numpy().astype("<i2").tobytes()
    header = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(body), b"WAVE", b"fmt ", 16, 1, channels, rate, rate * channels * 2, channels * 2, 16, b"data", len(body))  # fmt: skip
    return header + body


@fresh("AudioSpectrogram")
def audio_spectrogram(samples: torch.Tensor, *, window_size: int, stride: int, magnitude_squared: bool) -> torch.Tensor:
    """[channels, frames, bins] of the power (or magnitude) of Hann-windowed frames."""
    if samples.dim() != 2:
        raise _invalid("input must be 2-dimensional[" + ",".join(map(str, samples.shape)) + "]")
    if window_size < 2:
        raise _invalid(f"Spectrogram initialization failed for window size {window_size}")
    length = 1 << (window_size - 1).bit_length()
    count = samples.shape[0]
    frames = 1 + (count - window_size) // stride if count >= window_size else 0
    if not frames:
        return torch.zeros((samples.shape[1], 0, length // 2 + 1))
    window = torch.hann_window(window_size, periodic=True, dtype=torch.float64)
    pieces = samples.double().mT.unfold(1, window_size, stride) * window
    spectrum = torch.fft.rfft(pieces, n=length)
    power = spectrum.real**2 + spectrum.imag**2
    return (power if magnitude_squared else power.sqrt()).float()


def _mel(frequency: float) -> float:
    return 1127.0 * math.log1p(frequency / 700.0)


@functools.lru_cache(maxsize=32)
def _mel_weights(bins: int, rate: float, channels: int, lower: float, upper: float) -> torch.Tensor:
    """[bins, channels] of triangular mel bands, as the op lays them out."""
    low, high = _mel(lower), _mel(upper)
    spacing = (high - low) / (channels + 1)
    centers = [low + spacing * (i + 1) for i in range(channels + 1)]
    width = 0.5 * rate / (bins - 1)
    first, last = int(1.5 + lower / width), int(upper / width)
    weights = np.zeros((bins, channels))
    channel = 0
    for i in range(first, min(last, bins - 1) + 1):
        mel = _mel(i * width)
        while channel < channels and centers[channel] < mel:
            channel += 1
        below = channel - 1
        if below >= 0:
            share = (centers[below + 1] - mel) / (centers[below + 1] - centers[below])
        else:
            share = (centers[0] - mel) / (centers[0] - low)
        if below >= 0:
            weights[i, below] += share
        if below + 1 < channels:
            weights[i, below + 1] += 1 - share
    return torch.from_numpy(weights)


@fresh("Mfcc")
def mfcc(
    spectrogram: torch.Tensor,
    sample_rate: torch.Tensor,
    *,
    upper_frequency_limit: float,
    lower_frequency_limit: float,
    filterbank_channel_count: int,
    dct_coefficient_count: int,
) -> torch.Tensor:
    """The cosine transform of the logarithm of mel bands of a power spectrogram [channels, frames, bins]."""
    if spectrogram.dim() != 3:
        raise _invalid("spectrogram must be 3-dimensional[" + ",".join(map(str, spectrogram.shape)) + "]")
    if sample_rate.dim() != 0:
        raise _invalid(
            "Input sample_rate should be a scalar tensor, got [" + ",".join(map(str, sample_rate.shape)) + "] instead."
        )
    count = filterbank_channel_count
    weights = _mel_weights(
        spectrogram.shape[2], float(sample_rate), count, lower_frequency_limit, upper_frequency_limit
    )
    bands = spectrogram.double().sqrt() @ weights
    logarithms = bands.clamp(min=1e-12).log()
    steps = torch.arange(count, dtype=torch.float64) + 0.5
    angles = torch.arange(dct_coefficient_count, dtype=torch.float64)[:, None] * steps * (math.pi / count)
    return (logarithms @ (math.sqrt(2.0 / count) * torch.cos(angles)).mT).float()
