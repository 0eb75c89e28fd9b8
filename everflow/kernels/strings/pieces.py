"""Kernels that cut strings, join them and split them."""

from __future__ import annotations

import array
import functools
import math
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError, OutOfRangeError
from everflow.kernels.registry import fresh
from everflow.kernels.strings.text import (
    TEXT,
    Known,
    characters,
    contiguous,
    row_positions,
    scalar_string,
    strings,
    text_address,
    text_bytes,
)
from everflow.kernels.tensors import Strings, room, torch_dtype, vector
from everflow.native.loops.library import Library

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

_SPLITS = Library("splits", cost=10)


def _character_starts(s: bytes) -> list[int]:
    return [i for i, byte in enumerate(s) if byte & 0xC0 != 0x80] + [len(s)]


def _substring(s: bytes, start: int, count: int, unit: str, index: int) -> bytes:
    size = len(s) if unit == "BYTE" else characters(s)
    if not -size <= start <= size:
        shown = f" b'{s.decode('utf-8', 'replace')}'" if unit == "BYTE" else ""
        raise InvalidArgumentError(None, None, f"pos {start} out of range for string{shown} at index {index}")
    if start < 0:
        start += size
    if unit == "BYTE":
        return s[start:] if count < 0 else s[start : start + count]
    if count <= 0:
        return b""
    starts = _character_starts(s)
    return s[starts[start] : starts[min(start + count, size)]]


def _substrings(input: Strings, pos: torch.Tensor, count: torch.Tensor, unit: str) -> Strings | None:
    """By a compiled loop, which knows no errors."""
    code = TEXT.ready(input.size)
    if code is None:
        return None
    given, out = contiguous(input), np.empty(input.shape, object)
    in_characters = int(unit != "BYTE")
    if pos.ndim:
        starts, sizes = (t.to(torch.int64).contiguous() for t in (pos, count))
        where = (starts.data_ptr(), sizes.data_ptr(), 1)
    else:
        one = array.array("q", [pos.item(), count.item()])
        place = one.buffer_info()[0]
        where = (place, place + 8, 0)
    known = Known(given.size)
    left = code.substrings(id(given), given.size, *where, in_characters, known.address, id(out))
    return out if left == 0 else None


@fresh("Substr")
def substr(input: Strings, pos: torch.Tensor, len: torch.Tensor, *, unit: str) -> Strings:
    if pos.shape != len.shape:
        raise InvalidArgumentError(
            None, None, f"pos and len should have the same shape, got: {list(pos.shape)} vs. {list(len.shape)}"
        )
    if pos.ndim == 0 or pos.shape == input.shape:
        found = _substrings(input, pos, len, unit)
        if found is not None:
            return found
    try:
        cut, starts, sizes = np.broadcast_arrays(input, pos.numpy(), len.numpy())
    except ValueError:
        raise InvalidArgumentError(
            None, None, f"Broadcast dimensions don't fit: {list(input.shape)} and {list(pos.shape)}"
        ) from None
    pieces = (
        _substring(s, int(p), int(n), unit, i) for i, (s, p, n) in enumerate(zip(cut.flat, starts.flat, sizes.flat))
    )
    return strings(pieces, cut.shape)


@fresh("StringJoin")
def join(inputs: list[Strings], *, separator: str) -> Strings:
    shapes = {value.shape for value in inputs if value.ndim}
    if len(shapes) > 1:
        raise InvalidArgumentError(
            None, None, f"Input shapes do not match: {' vs. '.join(str(list(s)) for s in sorted(shapes))}"
        )
    shape = shapes.pop() if shapes else ()
    glue = text_bytes(separator)
    code = TEXT.ready(math.prod(shape))
    if code is not None and inputs:
        given, out = [contiguous(value) for value in inputs], np.empty(shape, object)
        table = array.array("q", [*map(id, given), *(int(value.ndim > 0) for value in given)])
        place = table.buffer_info()[0]
        if code.join_arrays(place, place + 8 * len(given), len(given), out.size, id(glue), id(out)) == 0:
            return out
    rows = zip(*(np.broadcast_to(value, shape).flat for value in inputs))
    return strings((glue.join(row) for row in rows), shape)


@fresh("ReduceJoin")
def reduce_join(inputs: Strings, reduction_indices: torch.Tensor, *, keep_dims: bool, separator: str) -> Strings:
    glue = text_bytes(separator)
    axes: list[int] = []
    for axis in reduction_indices.tolist() if reduction_indices.dim() == 1 else reduction_indices.reshape(-1).tolist():
        if not -inputs.ndim <= axis < inputs.ndim:
            raise OutOfRangeError(
                None, None, f"Invalid reduction dimension {axis} for input with {inputs.ndim} dimension(s)"
            )
        if axis % inputs.ndim in axes:
            raise InvalidArgumentError(None, None, f"Duplicate reduction dimension {axis}")
        axes.append(axis % inputs.ndim)
    kept = [axis for axis in range(inputs.ndim) if axis not in axes]
    outer = [inputs.shape[axis] for axis in kept]
    # The axis given first is joined first.
    rows = inputs.transpose(kept + axes[::-1]).reshape(math.prod(outer), -1 if inputs.size else 0)
    shape = [1 if axis in axes else size for axis, size in enumerate(inputs.shape)] if keep_dims else outer
    code = TEXT.ready(inputs.size)
    if code is not None:
        given, out = contiguous(rows), np.empty(shape, object)
        if code.join_rows(id(given), *given.shape, id(glue), id(out)) == 0:
            return out
    return strings((glue.join(row) for row in rows), shape)


@fresh("UnsortedSegmentJoin")
def unsorted_segment_join(
    inputs: Strings, segment_ids: torch.Tensor, num_segments: torch.Tensor, *, separator: str
) -> Strings:
    count = int(num_segments)
    if tuple(inputs.shape[: segment_ids.ndim]) != tuple(segment_ids.shape):
        raise InvalidArgumentError(
            None,
            None,
            f"data.shape = {list(inputs.shape)} does not start with segment_ids.shape = {list(segment_ids.shape)}",
        )
    rest = inputs.shape[segment_ids.ndim :]
    groups = [[] for _ in range(count)]
    width = int(np.prod(rest, dtype=np.int64))
    for row, segment in zip(inputs.reshape(segment_ids.numel(), width), segment_ids.reshape(-1).tolist()):
        if not 0 <= segment < count:
            raise InvalidArgumentError(
                None, None, "segment_ids are not allowed to exceed num_segments or to have negative values."
            )
        groups[segment].append(row)
    glue = text_bytes(separator)
    joined = (glue.join(row[i] for row in group) for group in groups for i in range(width))
    return strings(joined, (count, *rest))


def _sparse_rows(rows: Iterable[list[bytes]]) -> tuple[torch.Tensor, Strings, torch.Tensor]:
    """The (indices, values, shape) of lists of strings; the lists are let go one by one."""
    values, counts = [], []
    for row in rows:
        values += row
        counts.append(len(row))
    return (
        torch.from_numpy(row_positions(counts)),
        strings(values, (len(values),)),
        torch.tensor([len(counts), max(counts, default=0)]),
    )


# Ways to split, as compiled loops number them.
_AT_BYTES, _AT_SEPARATOR, _AT_SPACES, _EVERYWHERE = range(4)


@functools.lru_cache(maxsize=64)
def _cut_at(delimiters: bytes) -> bytes:
    """For each byte whether to cut at it."""
    return bytes(c in delimiters for c in range(256))


def _split(
    input: Strings, way: int, separator: bytes = b"", most: int = -1, skip_empty: bool = False
) -> tuple[torch.Tensor, Strings, torch.Tensor] | None:
    """The (indices, values, shape) of the pieces of strings, by compiled loops."""
    code = _SPLITS.ready(input.size)
    if code is None:
        return None
    given, counts = contiguous(input), room((input.size,), torch.int64)
    how = (way, text_address(separator), len(separator), most, skip_empty)
    total = code.count_pieces(id(given), given.size, *how, counts.data_ptr())
    if total < 0:
        return None
    values, indices = np.empty(total, object), room((total, 2), torch.int64)
    known = Known(total)
    if code.make_pieces(id(given), given.size, *how, known.address, id(values)) < 0:
        return None
    longest = code.place_pieces(counts.data_ptr(), given.size, indices.data_ptr())
    return indices, values, vector(given.size, longest)


@fresh("StringSplit")
def split(input: Strings, delimiter: Strings, *, skip_empty: bool) -> tuple[torch.Tensor, Strings, torch.Tensor]:
    if input.ndim != 1:
        raise InvalidArgumentError(None, None, f"input must be a vector, got shape: {list(input.shape)}")
    delimiters = scalar_string(delimiter, "delimiter")
    found = _split(input, _AT_BYTES if delimiters else _EVERYWHERE, _cut_at(delimiters), -1, skip_empty)
    if found is not None:
        return found
    if not delimiters:
        return _sparse_rows([s[i : i + 1] for i in range(len(s))] for s in input)
    if len(delimiters) == 1:
        rows = (s.split(delimiters) if s else [] for s in input)
    else:
        cut = re.compile(b"[" + re.escape(delimiters) + b"]").split
        rows = (cut(s) if s else [] for s in input)
    return _sparse_rows(([piece for piece in row if piece] for row in rows) if skip_empty else rows)


def _split_at_spaces(s: bytes, limit: int) -> list[bytes]:
    if limit < 0:
        return s.split()
    pieces = s.split(None, limit)
    # Exactly one split allowed leaves the remainder as an empty piece where nothing follows the first word.
    if limit == 1 and len(pieces) == 1:
        return [*pieces, b""]
    return pieces


@fresh("StringSplitV2")
def split_v2(input: Strings, sep: Strings, *, maxsplit: int) -> tuple[torch.Tensor, Strings, torch.Tensor]:
    if input.ndim != 1:
        raise InvalidArgumentError(None, None, f"input must be a vector, got shape: {list(input.shape)}")
    if maxsplit == 0:
        return _sparse_rows([s] for s in input)
    separator = scalar_string(sep, "sep")
    if separator or maxsplit != 1:
        found = _split(input, _AT_SEPARATOR if separator else _AT_SPACES, separator, maxsplit)
        if found is not None:
            return found
    if separator:
        return _sparse_rows(s.split(separator, maxsplit) for s in input)
    return _sparse_rows(_split_at_spaces(s, maxsplit) for s in input)


def _windows(
    data: Strings, splits: torch.Tensor, widths: list[int], glue: bytes
) -> tuple[Strings, torch.Tensor] | None:
    """The stretches of these widths of all rows, and where each row's begin, by compiled loops."""
    code, rows = TEXT.ready(len(data)), len(splits) - 1
    if code is None or rows < 0:
        return None
    given, kinds, ends = contiguous(data), array.array("q", widths), room((rows + 1,), torch.int64)
    how = (splits.data_ptr(), rows, kinds.buffer_info()[0], len(widths))
    total = code.count_windows(*how, len(data), ends.data_ptr())
    if total < 0:
        return None
    out = np.empty(total, object)
    return (out, ends) if code.join_windows(id(given), *how, id(glue), id(out)) == 0 else None


@fresh("StringNGrams")
def ngrams(
    data: Strings,
    data_splits: torch.Tensor,
    *,
    separator: str,
    ngram_widths: list[int],
    left_pad: str,
    right_pad: str,
    pad_width: int,
    preserve_short_sequences: bool,
    Tsplits: DType,
) -> tuple[Strings, torch.Tensor]:
    glue, left, right = (text_bytes(t) for t in (separator, left_pad, right_pad))
    if pad_width == 0 and not preserve_short_sequences:
        bounds = data_splits.to(torch.int64).contiguous()
        windows = _windows(data, bounds, [width for width in ngram_widths if width > 0], glue)
        if windows is not None:
            return windows[0], windows[1] if Tsplits is dtypes.int64 else windows[1].to(torch_dtype(Tsplits))
    splits = data_splits.tolist()
    for value in splits:
        if not 0 <= value <= len(data):
            raise InvalidArgumentError(None, None, f"Invalid split value {value}, must be in [0,{len(data)}]")

    def grams_of(start: int, end: int, width: int) -> Iterator[bytes]:
        padding = width - 1 if pad_width < 0 else min(pad_width, width - 1)
        count = max(0, end - start + 2 * padding - width + 1)
        for n in range(count):
            before, after = max(0, padding - n), max(0, padding - (count - n - 1))
            first = start + max(0, n - padding)
            # The last token is added even where padding leaves no room for one.
            tokens = [*range(first, first + width - before - after - 1), first + width - before - after - 1]
            yield glue.join([left] * before + [data[i] for i in tokens if i >= 0] + [right] * after)

    found, ends = [], [0] if splits else []
    for start, end in zip(splits, splits[1:]):
        if end < start:
            raise InvalidArgumentError(None, None, f"Invalid split value {end}, must be in [{start},{len(data)}]")
        here = [gram for width in ngram_widths if width > 0 for gram in grams_of(start, end, width)]
        if not here and preserve_short_sequences and end > start:
            padding = max(0, pad_width)
            here = [glue.join([left] * padding + list(data[start:end]) + [right] * padding)]
        found += here
        ends.append(len(found))
    return strings(found, (len(found),)), torch.tensor(ends, dtype=torch_dtype(Tsplits))
