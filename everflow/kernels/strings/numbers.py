"""Kernels between numbers and text: AsString, StringToNumber, StringFormat."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh
from everflow.kernels.strings.text import contiguous, measured, strings, text_bytes
from everflow.kernels.tensors import AnyTensor, Strings, Value, room, torch_dtype
from everflow.native.loops.library import Library

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node

_NUMBERS = Library("numbers", cost=4)
_MOST_DIGITS = 9  # behind the point, that compiled loops write

# --- numbers to text --------------------------------------------------------------------------


def _text(value: str) -> bytes:
    return value.encode()


def _as_c(template: str, value: int) -> str:
    """C's printf for one number; Python's agrees but for padding what is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        template = template.replace("%0", "%", 1)
    return template % value


def _written(input: torch.Tensor, precision: int, template: str) -> Strings | None:
    """The texts of numbers by a compiled loop; those it leaves out by the template."""
    code = _NUMBERS.ready(input.numel())
    floating = input.is_floating_point()
    if code is None or input.dtype is torch.uint64 or (floating and precision > _MOST_DIGITS):
        return None
    wide, out = input.to(torch.float64 if floating else torch.int64).contiguous(), np.empty(input.shape, object)
    if not floating:
        return out if code.from_integers(wide.data_ptr(), out.size, id(out)) == 0 else None
    left = code.from_floats(wide.data_ptr(), out.size, precision, id(out))
    if left > 0:
        to = out.reshape(-1)
        for at, value in enumerate(wide.reshape(-1).tolist()):
            if to[at] is None:
                to[at] = _text(_as_c(template, value))
    return out if left >= 0 else None


@fresh("AsString")
def as_string(
    input: torch.Tensor, *, precision: int, scientific: bool, shortest: bool, width: int, fill: str, node: Node
) -> Strings:
    dtype = node.input_dtypes[0].base_dtype
    fractional = dtype.is_floating or dtype.is_complex
    if scientific and shortest:
        raise InvalidArgumentError(None, None, "Cannot select both scientific and shortest notation")
    if precision >= 0 and not fractional:
        raise InvalidArgumentError(None, None, f"precision not supported for datatype {dtype.name}")
    if (scientific or shortest) and not fractional:
        raise InvalidArgumentError(
            None, None, f"scientific and shortest format not supported for datatype {dtype.name}"
        )
    if len(fill) > 1:
        raise InvalidArgumentError(None, None, "Fill string must be one or fewer characters")
    if fill not in ("", " ", "+", "-", "0", "#"):
        raise InvalidArgumentError(None, None, f'Fill argument not supported: "{fill}"')
    if dtype is dtypes.bool:
        return strings((b"true" if v else b"false" for v in input.reshape(-1).tolist()), input.shape)
    template = f"%{fill}" + (str(width) if width > -1 else "")
    if fractional:
        template += (f".{precision}" if precision > -1 else "") + ("g" if shortest else "e" if scientific else "f")
    else:
        template += "d"
    if width < 0 and fill not in ("+", " ") and not (scientific or shortest or dtype.is_complex):
        found = _written(input, 6 if precision < 0 else precision, template)
        if found is not None:
            return found
    values = input.reshape(-1).tolist()
    if dtype.is_complex:
        texts = (f"({_as_c(template, v.real)},{_as_c(template, v.imag)})" for v in values)
    else:
        texts = (_as_c(template, v) for v in values)
    return strings(map(_text, texts), input.shape)


# --- text to numbers --------------------------------------------------------------------------

_SPACE = b" \t\n\v\f\r"
_NOT_FINITE = frozenset(sign + name for sign in (b"", b"+", b"-") for name in (b"inf", b"nan"))
_HEX_NUMBER = re.compile(rb"[+-]?0[xX][0-9a-fA-F]+")
_INTEGER = re.compile(rb"-?\d+")


def parse_float(s: bytes) -> float | None:
    """The number that text spells, or None. Python's spellings, less a few of its own and with hexadecimals."""
    try:
        value = float(s)
    except ValueError:
        s = s.strip(_SPACE)
        return float(int(s, 16)) if _HEX_NUMBER.fullmatch(s) else None
    if b"_" in s or (not math.isfinite(value) and b"i" in s.lower() and s.strip(_SPACE).lower() not in _NOT_FINITE):
        return None
    return value


@functools.cache
def number_parser(dtype: DType) -> Callable[[bytes], float | None]:
    """The function that gives the number of this dtype that text spells, or None where it doesn't or doesn't fit."""
    if dtype.is_floating:
        return parse_float
    low, high = int(dtype.min), int(dtype.max)

    def parse_integer(s: bytes) -> int | None:
        if not s.isdigit():
            s = s.strip(_SPACE)
            if not _INTEGER.fullmatch(s):
                return None
        value = int(s)
        return value if low <= value <= high else None

    return parse_integer


@fresh("StringToNumber")
def string_to_number(string_tensor: Strings, *, out_type: DType) -> torch.Tensor:
    parse = number_parser(out_type)

    def parsed(s: bytes) -> float:
        value = parse(s)
        if value is None:
            raise InvalidArgumentError(
                None, None, f"StringToNumberOp could not correctly convert string: {s.decode('utf-8', 'replace')}"
            )
        return value

    found = _numbers_of(string_tensor, torch_dtype(out_type), parsed)
    return measured(parsed, string_tensor, torch_dtype(out_type)) if found is None else found


def _numbers_of(text: Strings, dtype: torch.dtype, parsed: Callable[[bytes], float]) -> torch.Tensor | None:
    """The numbers that texts spell, by a compiled loop; what it leaves out by a function."""
    code = _NUMBERS.ready(text.size)
    if code is None:
        return None
    given, out, left = contiguous(text), room(text.shape, dtype), room((text.size,), torch.int64)
    loop = code.to_floats if dtype.is_floating_point else code.to_integers
    missed = loop(id(given), given.size, out.data_ptr(), dtype.itemsize == 8, left.data_ptr())
    if missed < 0:
        return None
    if missed:
        flat, numbers = given.reshape(-1), out.numpy().reshape(-1)
        for at in left[:missed].tolist():
            numbers[at] = parsed(flat[at])
    return out


# --- tensors as text --------------------------------------------------------------------------

_ESCAPES = {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t", 0x22: '\\"', 0x27: "\\'", 0x5C: "\\\\"}


def escaped(s: bytes) -> str:
    """Text with C's escapes for what can't be printed."""
    return "".join(_ESCAPES.get(b) or (chr(b) if 0x20 <= b < 0x7F else f"\\{b:03o}") for b in s)


def number_text(value: float, dtype: DType) -> str:
    """A number as TensorFlow's messages and formatted strings show it: the shorter of two fixed precisions that reads
    back the same.
    """
    if dtype.is_complex:
        return "?"
    if not dtype.is_floating:
        return str(int(value))
    if math.isnan(value):
        return "nan"
    if dtype is dtypes.float64:
        short = f"{value:.15g}"
        return short if float(short) == value else f"{value:.17g}"
    short = f"{value:.6g}"
    return short if np.float32(short) == np.float32(value) else f"{value:.9g}"


def _element_text(value: Any, dtype: DType) -> str:
    return f'"{escaped(value)}"' if dtype is dtypes.string else number_text(value, dtype)


def summarized(value: AnyTensor, dtype: DType, edge_items: int) -> str:
    """A tensor's text with only so many items at each end of every dimension; all of them for -1."""
    array = (
        value
        if isinstance(value, np.ndarray)
        else value.to(torch.float32).numpy()
        if value.dtype is torch.bfloat16
        else value.numpy()
    )
    if array.ndim == 0:
        return "[?]" if dtype.is_complex else _element_text(array.item(), dtype)
    return _rows_text(array, dtype, array.size if edge_items < 0 else edge_items, 1)


def _rows_text(part: np.ndarray, dtype: DType, edge_items: int, depth: int) -> str:
    """One dimension's items in brackets: numbers beside each other, rows below each other."""
    innermost = part.ndim == 1
    between = " " if innermost else "\n" * (part.ndim - 1) + " " * depth
    if len(part) and not part.size and not innermost:
        return f"[{between}...]"

    def texts(items: np.ndarray) -> list[str]:
        return [_element_text(v, dtype) if innermost else _rows_text(v, dtype, edge_items, depth + 1) for v in items]

    if len(part) <= 2 * edge_items:
        return "[" + between.join(texts(part)) + "]"
    head, tail = texts(part[:edge_items]), texts(part[len(part) - edge_items :])
    if not head and not innermost:  # The omission still begins a line.
        head = [""]
    return "[" + between.join([*head, "...", *tail]) + "]"


@fresh("StringFormat")
def string_format(inputs: list[Value], *, template: str, placeholder: str, summarize: int, node: Node) -> Strings:
    pieces = text_bytes(template).split(text_bytes(placeholder))
    texts = [summarized(v, t.base_dtype, summarize).encode() for v, t in zip(inputs, node.input_dtypes)]
    if len(pieces) - 1 != len(texts):
        raise InvalidArgumentError(
            None, None, f"The template has {len(pieces) - 1} placeholders for {len(texts)} inputs"
        )
    filled = pieces[0] + b"".join(text + piece for text, piece in zip(texts, pieces[1:]))
    return strings([filled], ())
