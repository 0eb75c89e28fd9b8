"""Kernels that take one string at a time: case, spaces, lengths, Base64; and what all kernels on strings stand on.

A string tensor is a numpy object array of bytes. Compiled loops (`native/loops`) go over whole ones; until they are
there, and for what they leave out, a function of one string does.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import Strings, room
from everflow.native.loops.library import Library

TEXT = Library("text", cost=2)
_BASE64 = Library("base64_digits", cost=8)
_SPACE = b" \t\n\v\f\r"
_NUMPY = {
    torch.bool: np.bool_,
    torch.int32: np.int32,
    torch.int64: np.int64,
    torch.float32: np.float32,
    torch.float64: np.float64,
}
_CONTINUATION = re.compile(rb"[\x80-\xbf]")


def strings(values: Iterable[bytes], shape: Sequence[int]) -> np.ndarray:
    """A string tensor of this shape from its values in order."""
    shape = tuple(shape)
    array = np.empty(shape, object)
    if shape == ():
        array[()] = next(iter(values))
    else:
        flat = array.reshape(-1)
        flat[:] = list(values)
    return array


def mapped(function: Callable[[bytes], bytes], array: np.ndarray) -> np.ndarray:
    """A string tensor of the function's results."""
    return strings((function(s) for s in array.flat), array.shape)


def measured(function: Callable[[bytes], object], array: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
    """A numeric tensor of the function's results."""
    values = np.fromiter(map(function, array.flat), _NUMPY[dtype], array.size)
    return torch.from_numpy(values).reshape(array.shape)


def contiguous(array: np.ndarray) -> np.ndarray:
    """The array, or a copy of it, with one cell after the other."""
    return array if array.flags.c_contiguous else array.copy()


def looped(library: Library, loop: str, array: np.ndarray, plain: Callable[[bytes], bytes], *arguments: Any) -> Strings:
    """A string tensor of a compiled loop's results; the plain function makes those that it leaves out."""
    code = library.ready(array.size)
    if code is None:
        return mapped(plain, array)
    given, out = contiguous(array), np.empty(array.shape, object)
    left = getattr(code, loop)(id(given), given.size, id(out), *arguments)
    if left < 0:
        return mapped(plain, array)
    return filled(out, given, plain) if left else out


def filled(out: Strings, given: Strings, plain: Callable[[bytes], bytes]) -> Strings:
    """A loop's results with those that it left out."""
    to = out.reshape(-1)
    for at, s in enumerate(given.flat):
        if to[at] is None:
            to[at] = plain(s)
    return out


class Known:
    """Room in which compiled loops find strings that they made before; none where there are few strings."""

    PLACES = 4096  # as in `native/loops/objects.py`, which only the compiler loads

    def __init__(self, count: int) -> None:
        self._room = np.zeros(self.PLACES + 1, np.int64) if count >= self.PLACES else None
        self.address = 0 if self._room is None else self._room.ctypes.data


def text_address(text: bytes) -> int:
    """Where the bytes of a string lie, for as long as somebody holds it."""
    return id(text) + bytes.__basicsize__ - 1


def row_positions(counts: list[int]) -> np.ndarray:
    """The (row, place in the row) of each element of rows of these lengths."""
    lengths = np.array(counts, np.int64)
    positions = np.empty((int(lengths.sum()), 2), np.int64)
    positions[:, 0] = np.repeat(np.arange(len(lengths)), lengths)
    positions[:, 1] = np.arange(len(positions)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return positions


def text_bytes(attribute: str) -> bytes:
    """The bytes of a string attribute."""
    return attribute.encode("utf-8", "surrogateescape")


def scalar_string(value: np.ndarray, what: str) -> bytes:
    """The one string of a scalar tensor."""
    if value.ndim != 0:
        raise InvalidArgumentError(
            None, None, f"{what} must be a scalar, but received tensor of shape: {list(value.shape)}"
        )
    return value.item()


# --- one string at a time ---------------------------------------------------------------------


@fresh("StringStrip")
def strip(input: Strings) -> Strings:
    known = Known(input.size)
    return looped(TEXT, "strip", input, lambda s: s.strip(_SPACE), known.address)


def _changed_case(op_type: str, first: int, change_bytes: Callable, change_text: Callable) -> None:
    """`first`: the letter that the 26 to be changed begin with."""

    @fresh(op_type)
    def change(input: Strings, *, encoding: str) -> Strings:
        if encoding == "":
            return looped(TEXT, "change_case", input, change_bytes, first, 0)
        if encoding != "utf-8":
            raise InvalidArgumentError(None, None, f"only utf-8 or '' (no encoding) is supported, received {encoding}")
        change = lambda s: change_text(s.decode("utf-8", "replace")).encode()  # noqa: E731
        return looped(TEXT, "change_case", input, change, first, 1)


_changed_case("StringLower", ord("A"), bytes.lower, str.lower)
_changed_case("StringUpper", ord("a"), bytes.upper, str.upper)


def characters(s: bytes) -> int:
    """How many characters UTF-8 text has: bytes that don't continue one."""
    return len(s) - len(_CONTINUATION.findall(s))


@fresh("StringLength")
def length(input: Strings, *, unit: str) -> torch.Tensor:
    code = TEXT.ready(input.size)
    if code is not None:
        given, out = contiguous(input), room(input.shape, torch.int32)
        loop = code.lengths if unit == "BYTE" else code.character_lengths
        if loop(id(given), given.size, out.data_ptr()) == 0:
            return out
    return measured(len if unit == "BYTE" else characters, input, torch.int32)


@fresh("EncodeBase64")
def encode_base64(input: Strings, *, pad: bool) -> Strings:
    plain = base64.urlsafe_b64encode
    return looped(_BASE64, "encode", input, plain if pad else lambda s: plain(s).rstrip(b"="), pad)


def _from_base64(s: bytes) -> bytes:
    digits = s[: len(s) - min(2, len(s) - len(s.rstrip(b"=")))] if len(s) % 4 == 0 else s
    if len(digits) % 4 == 1:
        raise InvalidArgumentError(None, None, "Base64 string length cannot be 1 modulo 4.")
    if re.search(rb"[^A-Za-z0-9_-]", digits):
        raise InvalidArgumentError(None, None, "Invalid character found in base64.")
    return binascii.a2b_base64(digits.translate(bytes.maketrans(b"-_", b"+/")) + b"=" * (-len(digits) % 4))


@fresh("DecodeBase64")
def decode_base64(input: Strings) -> Strings:
    return looped(_BASE64, "decode", input, _from_base64)
