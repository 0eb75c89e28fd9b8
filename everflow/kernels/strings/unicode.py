"""Kernels between text in an encoding and Unicode code points: decode, encode, transcode, script."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh
from everflow.kernels.strings.text import mapped, strings
from everflow.kernels.tensors import Strings, torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

_LAST_CODE_POINT = 0x10FFFF
_REPLACEMENT = 0xFFFD
_OUTPUT_CODECS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
_WIDE = {"utf-16": ("utf-16-be", {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}),
         "utf-32": ("utf-32-be", {codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF32_BE: "utf-32-be"})}  # fmt: skip


@lru_cache(maxsize=64)
def _codec(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise InvalidArgumentError(None, None, f"Could not create converter for input encoding: {encoding}") from None


def _byte_lengths(text: str, codec: str) -> list[int]:
    """How many bytes each character takes in an encoding."""
    if codec == "utf-8":
        return [1 if c < "\x80" else 2 if c < "\u0800" else 3 if c < "\U00010000" else 4 for c in text]
    if codec.startswith("utf-16"):
        return [2 if c < "\U00010000" else 4 for c in text]
    if codec.startswith("utf-32"):
        return [4] * len(text)
    return [len(c.encode(codec)) for c in text]


def _characters(s: bytes, encoding: str) -> Iterator[tuple[int | None, int]]:
    """(code point, offset) of each character; None as the code point of bytes that are none."""
    codec = _codec(encoding)
    start = 0
    if codec in _WIDE:
        codec, marks = _WIDE[codec]
        for mark, marked in marks.items():
            if s.startswith(mark):
                codec, s = marked, s[len(mark) :]
                break
    while start < len(s):
        try:
            text, bad = s[start:].decode(codec), None
        except UnicodeDecodeError as error:
            text, bad = s[start : start + error.start].decode(codec), error
        offset = start
        for c, size in zip(text, _byte_lengths(text, codec)):
            yield ord(c), offset
            offset += size
        if bad is None:
            return
        yield None, start + bad.start
        start += bad.end


def _decoded(
    s: bytes, encoding: str, errors: str, replacement: int, replace_control: bool
) -> tuple[list[int], list[int]]:
    """The (code points, offsets) of text after the rule for errors was applied."""
    points, offsets = [], []
    for point, offset in _characters(s, encoding):
        if point is None or (replace_control and point <= 0x1F):
            if errors == "strict":
                raise InvalidArgumentError(None, None, "Invalid formatting on input string")
            if errors == "ignore":
                continue
            point = replacement
        points.append(point)
        offsets.append(offset)
    return points, offsets


def _encoded(points: list[int], output_encoding: str) -> bytes:
    valid = (p if not 0xD800 <= p <= 0xDFFF else _REPLACEMENT for p in points)
    return "".join(map(chr, valid)).encode(_OUTPUT_CODECS[output_encoding])


def _check_replacement(replacement_char: int) -> None:
    if not 0 <= replacement_char <= _LAST_CODE_POINT:
        raise InvalidArgumentError(None, None, "replacement_char out of unicode codepoint range")


def _decode_all(
    input: Strings, encoding: str, errors: str, replacement_char: int, replace_control: bool, splits_dtype: DType
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    _check_replacement(replacement_char)
    _codec(encoding)
    splits, values, starts = [0], [], []
    for s in input.flat:
        points, offsets = _decoded(s, encoding, errors, replacement_char, replace_control)
        values += points
        starts += offsets
        splits.append(len(values))
    return (
        torch.tensor(splits, dtype=torch_dtype(splits_dtype)),
        torch.tensor(values, dtype=torch.int32),
        torch.tensor(starts, dtype=torch.int64),
    )


@fresh("UnicodeDecode")
def unicode_decode(
    input: Strings,
    *,
    input_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
    Tsplits: DType,
) -> tuple[torch.Tensor, torch.Tensor]:
    return _decode_all(input, input_encoding, errors, replacement_char, replace_control_characters, Tsplits)[:2]


@fresh("UnicodeDecodeWithOffsets")
def unicode_decode_with_offsets(
    input: Strings,
    *,
    input_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
    Tsplits: DType,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return _decode_all(input, input_encoding, errors, replacement_char, replace_control_characters, Tsplits)


@fresh("UnicodeTranscode")
def unicode_transcode(
    input: Strings,
    *,
    input_encoding: str,
    output_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
) -> Strings:
    _check_replacement(replacement_char)
    _codec(input_encoding)

    def convert(s: bytes) -> bytes:
        points, _ = _decoded(s, input_encoding, errors, replacement_char, replace_control_characters)
        return _encoded(points, output_encoding)

    return mapped(convert, input)


@fresh("UnicodeEncode")
def unicode_encode(
    input_values: torch.Tensor, input_splits: torch.Tensor, *, errors: str, output_encoding: str, replacement_char: int
) -> Strings:
    _check_replacement(replacement_char)
    points = input_values.tolist()
    splits = input_splits.tolist()
    if any(not 0 <= split <= len(points) for split in splits):
        raise InvalidArgumentError(None, None, f"Values in input_splits must be in [0, {len(points)}]")

    def checked(point: int) -> list[int]:
        if 0 <= point <= _LAST_CODE_POINT:
            return [point]
        if errors == "strict":
            raise InvalidArgumentError(None, None, "Code point value out of valid Unicode range.")
        return [replacement_char] if errors == "replace" else []

    texts = []
    for start, end in zip(splits, splits[1:]):
        texts.append(_encoded([p for point in points[start:end] for p in checked(point)], output_encoding))
    return strings(texts, (len(texts),))


@lru_cache(maxsize=1)
def _scripts() -> tuple[np.ndarray, np.ndarray]:
    """First code points of stretches of one script, and the number of that script."""
    table = np.array(json.loads(Path(__file__).with_name("unicode_scripts.json").read_text()), np.int32)
    return table[:, 0].copy(), table[:, 1].copy()


@fresh("UnicodeScript")
def unicode_script(input: torch.Tensor) -> torch.Tensor:
    starts, scripts = _scripts()
    points = input.numpy()
    found = scripts[np.maximum(np.searchsorted(starts, points, side="right") - 1, 0)]
    return torch.from_numpy(np.where((points >= 0) & (points <= _LAST_CODE_POINT), found, -1).astype(np.int32))
