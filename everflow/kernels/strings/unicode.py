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

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh
from everflow.kernels.strings.text import contiguous, mapped, strings
from everflow.kernels.tensors import Strings, torch_dtype
from everflow.native.loops.library import Library

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

_UTF8 = Library("utf8", cost=40)
# Forms of text, as compiled loops number them.
_FORMS = {"UTF-8": 0, "UTF-16-BE": 1, "UTF-32-BE": 2}
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
    codec = _OUTPUT_CODECS[output_encoding]
    if codec == "utf-8":  # Only here halves of a pair are no text by themselves.
        points = [_REPLACEMENT if 0xD800 <= p <= 0xDFFF else p for p in points]
    return "".join(map(chr, points)).encode(codec, "surrogatepass")


def _check_replacement(replacement_char: int) -> None:
    if not 0 <= replacement_char <= _LAST_CODE_POINT:
        raise InvalidArgumentError(None, None, "replacement_char out of unicode codepoint range")


def _decode_utf8(
    input: Strings, splits_dtype: DType, replace_control: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None:
    """By compiled loops, where nothing has to be replaced."""
    code = _UTF8.ready(input.size)
    if code is None:
        return None
    given = contiguous(input)
    total = code.measure(id(given), given.size, replace_control)
    if total < 0:
        return None
    points, offsets = torch.empty(total, dtype=torch.int32), torch.empty(total, dtype=torch.int64)
    splits = torch.empty(given.size + 1, dtype=torch.int64)
    code.decode(id(given), given.size, points.data_ptr(), offsets.data_ptr(), splits.data_ptr())
    return splits.to(torch_dtype(splits_dtype)), points, offsets


def _decode_all(
    input: Strings, encoding: str, errors: str, replacement_char: int, replace_control: bool, splits_dtype: DType
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    _check_replacement(replacement_char)
    found = _decode_utf8(input, splits_dtype, replace_control) if _codec(encoding) == "utf-8" else None
    if found is not None:
        return found
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
    code = _UTF8.ready(input.size) if _codec(input_encoding) == "utf-8" else None
    if code is not None:
        given, out = contiguous(input), np.empty(input.shape, object)
        is_valid = code.measure(id(given), given.size, replace_control_characters) >= 0
        if is_valid and code.transcode(id(given), given.size, _FORMS[output_encoding], id(out)) == 0:
            return out

    def convert(s: bytes) -> bytes:
        points, _ = _decoded(s, input_encoding, errors, replacement_char, replace_control_characters)
        return _encoded(points, output_encoding)

    return mapped(convert, input)


@fresh("UnicodeEncode")
def unicode_encode(
    input_values: torch.Tensor, input_splits: torch.Tensor, *, errors: str, output_encoding: str, replacement_char: int
) -> Strings:
    _check_replacement(replacement_char)
    count = input_values.numel()
    code = _UTF8.ready(count)
    if code is not None and len(input_splits) > 1:
        values, bounds = input_values.contiguous(), input_splits.to(torch.int64).contiguous()
        out, form = np.empty(len(bounds) - 1, object), _FORMS[output_encoding]
        if code.encode(values.data_ptr(), count, bounds.data_ptr(), out.size, form, id(out)) == 0:
            return out
    if input_splits.numel() and (int(input_splits.min()) < 0 or int(input_splits.max()) > count):
        raise InvalidArgumentError(None, None, f"Values in input_splits must be in [0, {count}]")
    points, splits = input_values.tolist(), input_splits.tolist()

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


@fresh("_UnicodeCharacters")
def unicode_characters(
    input: Strings,
    *,
    input_encoding: str,
    output_encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
) -> Strings:
    """What is decoded, encoded again, each code point by itself."""
    code = _UTF8.ready(input.size)
    if code is not None and output_encoding == "UTF-8" and _codec(input_encoding) == "utf-8":
        _check_replacement(replacement_char)
        given = contiguous(input)
        total = code.measure(id(given), given.size, replace_control_characters)
        if total >= 0:
            out = np.empty(total, object)
            if code.characters(id(given), given.size, id(out)) == 0:
                return out
    _, points, _ = _decode_all(
        input, input_encoding, errors, replacement_char, replace_control_characters, dtypes.int64
    )
    bounds = torch.arange(len(points) + 1)
    return unicode_encode(
        points, bounds, errors=errors, output_encoding=output_encoding, replacement_char=replacement_char
    )


@lru_cache(maxsize=1)
def _scripts() -> np.ndarray:
    """The number of each code point's script, with those of what is none before and behind."""
    starts, scripts = np.array(json.loads(Path(__file__).with_name("unicode_scripts.json").read_text()), np.int32).T
    of_points = np.repeat(scripts, np.diff(starts, append=_LAST_CODE_POINT + 1))
    return np.pad(of_points, 1, constant_values=-1)


@fresh("UnicodeScript")
def unicode_script(input: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(_scripts().take(input.numpy() + 1, mode="clip"))
