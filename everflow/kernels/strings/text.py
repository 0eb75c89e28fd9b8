"""Kernels on strings: joining, splitting, cutting, matching, hashing, and numbers to and from text.

A string tensor is a numpy object array of bytes.
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import re2
import torch

from everflow.framework.errors import InvalidArgumentError, OutOfRangeError
from everflow.kernels.registry import fresh
from everflow.kernels.strings.hashing import fingerprint64, murmur64, siphashes
from everflow.kernels.tensors import AnyTensor, Strings, torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

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
    return mapped(lambda s: s.strip(_SPACE), input)


def _changed_case(op_type: str, change_bytes: Callable, change_text: Callable) -> None:
    @fresh(op_type)
    def change(input: Strings, *, encoding: str) -> Strings:
        if encoding == "":
            return mapped(change_bytes, input)
        if encoding != "utf-8":
            raise InvalidArgumentError(None, None, f"only utf-8 or '' (no encoding) is supported, received {encoding}")
        return mapped(lambda s: change_text(s.decode("utf-8", "replace")).encode(), input)


_changed_case("StringLower", bytes.lower, str.lower)
_changed_case("StringUpper", bytes.upper, str.upper)


def characters(s: bytes) -> int:
    """How many characters UTF-8 text has: bytes that don't continue one."""
    return len(s) - len(_CONTINUATION.findall(s))


@fresh("StringLength")
def length(input: Strings, *, unit: str) -> torch.Tensor:
    return measured(len if unit == "BYTE" else characters, input, torch.int32)


@fresh("StringToHashBucket")
def to_hash_bucket(string_tensor: Strings, *, num_buckets: int) -> torch.Tensor:
    return measured(lambda s: murmur64(s) % num_buckets, string_tensor, torch.int64)


@fresh("StringToHashBucketFast")
def to_hash_bucket_fast(input: Strings, *, num_buckets: int) -> torch.Tensor:
    return measured(lambda s: fingerprint64(s) % num_buckets, input, torch.int64)


@fresh("StringToHashBucketStrong")
def to_hash_bucket_strong(input: Strings, *, num_buckets: int, key: list[int]) -> torch.Tensor:
    if len(key) != 2:
        raise InvalidArgumentError(None, None, "Key must have 2 elements")
    buckets = siphashes(list(input.flat), key) % np.uint64(num_buckets)
    return torch.from_numpy(buckets.astype(np.int64)).reshape(input.shape)


@fresh("Fingerprint")
def fingerprint(data: AnyTensor, method: Strings) -> torch.Tensor:
    if scalar_string(method, "method") != b"farmhash64":
        raise InvalidArgumentError(None, None, f"Unsupported fingerprint method: {method.item().decode()}")
    if data.ndim < 1:
        raise InvalidArgumentError(None, None, "`data` should have at least one dimension.")
    if isinstance(data, np.ndarray):
        if data.ndim == 1:
            rows = list(data)
        else:
            # Several strings in a row: the fingerprint of their fingerprints.
            rows = [b"".join(fingerprint64(s).to_bytes(8, "little") for s in row.flat) for row in data]
    else:
        rows = [
            row.contiguous().view(torch.uint8).numpy().tobytes() if row.ndim else row.numpy().tobytes() for row in data
        ]
    digits = b"".join(fingerprint64(row).to_bytes(8, "little") for row in rows)
    return torch.tensor(list(digits), dtype=torch.uint8).reshape(len(rows), 8)


@fresh("EncodeBase64")
def encode_base64(input: Strings, *, pad: bool) -> Strings:
    encode = base64.urlsafe_b64encode
    return mapped(encode if pad else lambda s: encode(s).rstrip(b"="), input)


def _from_base64(s: bytes) -> bytes:
    digits = s[: len(s) - min(2, len(s) - len(s.rstrip(b"=")))] if len(s) % 4 == 0 else s
    if len(digits) % 4 == 1:
        raise InvalidArgumentError(None, None, "Base64 string length cannot be 1 modulo 4.")
    if re.search(rb"[^A-Za-z0-9_-]", digits):
        raise InvalidArgumentError(None, None, "Invalid character found in base64.")
    return binascii.a2b_base64(digits.translate(bytes.maketrans(b"-_", b"+/")) + b"=" * (-len(digits) % 4))


@fresh("DecodeBase64")
def decode_base64(input: Strings) -> Strings:
    return mapped(_from_base64, input)


# --- cutting and joining ----------------------------------------------------------------------


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


@fresh("Substr")
def substr(input: Strings, pos: torch.Tensor, len: torch.Tensor, *, unit: str) -> Strings:
    if pos.shape != len.shape:
        raise InvalidArgumentError(
            None, None, f"pos and len should have the same shape, got: {list(pos.shape)} vs. {list(len.shape)}"
        )
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
    rows = zip(*(np.broadcast_to(value, shape).flat for value in inputs))
    return strings((glue.join(row) for row in rows), shape)


@fresh("ReduceJoin")
def reduce_join(inputs: Strings, reduction_indices: torch.Tensor, *, keep_dims: bool, separator: str) -> Strings:
    glue = text_bytes(separator)
    axes = []
    for axis in reduction_indices.reshape(-1).tolist():
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
    rows = inputs.transpose(kept + axes[::-1]).reshape(int(np.prod(outer, dtype=np.int64)), -1 if inputs.size else 0)
    shape = [1 if axis in axes else size for axis, size in enumerate(inputs.shape)] if keep_dims else outer
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
    for row, segment in zip(inputs.reshape(segment_ids.numel(), -1), segment_ids.reshape(-1).tolist()):
        if not 0 <= segment < count:
            raise InvalidArgumentError(
                None, None, "segment_ids are not allowed to exceed num_segments or to have negative values."
            )
        groups[segment].append(row)
    glue = text_bytes(separator)
    width = int(np.prod(rest, dtype=np.int64))
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


@fresh("StringSplit")
def split(input: Strings, delimiter: Strings, *, skip_empty: bool) -> tuple[torch.Tensor, Strings, torch.Tensor]:
    if input.ndim != 1:
        raise InvalidArgumentError(None, None, f"input must be a vector, got shape: {list(input.shape)}")
    delimiters = scalar_string(delimiter, "delimiter")
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
    if separator:
        return _sparse_rows(s.split(separator, maxsplit) for s in input)
    return _sparse_rows(_split_at_spaces(s, maxsplit) for s in input)


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

    found, bounds = [], [0] if splits else []
    for start, end in zip(splits, splits[1:]):
        if end < start:
            raise InvalidArgumentError(None, None, f"Invalid split value {end}, must be in [{start},{len(data)}]")
        here = [gram for width in ngram_widths if width > 0 for gram in grams_of(start, end, width)]
        if not here and preserve_short_sequences and end > start:
            padding = max(0, pad_width)
            here = [glue.join([left] * padding + list(data[start:end]) + [right] * padding)]
        found += here
        bounds.append(len(found))
    return strings(found, (len(found),)), torch.tensor(bounds, dtype=torch_dtype(Tsplits))


# --- patterns ---------------------------------------------------------------------------------


@functools.lru_cache(maxsize=256)
def _pattern(source: bytes) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(source, options)
    except re2.error as error:
        reason = error.args[0]
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise InvalidArgumentError(
            None, None, f"Invalid pattern: {source.decode('utf-8', 'replace')}, error: {reason}"
        ) from None


def _rewriting(rewrite: bytes, groups: int) -> Callable:
    """`fn(match)`: the text that stands for a match. A wrong escape or group ends it, as in RE2."""
    parts: list[bytes | int] = []
    position = 0
    while position < len(rewrite):
        at = rewrite.find(b"\\", position)
        if at < 0:
            parts.append(rewrite[position:])
            break
        parts.append(rewrite[position:at])
        mark = rewrite[at + 1 : at + 2]
        if mark.isdigit() and int(mark) <= groups:
            parts.append(int(mark))
        elif mark == b"\\":
            parts.append(b"\\")
        else:
            break
        position = at + 2
    return lambda match: b"".join((match.group(p) or b"") if isinstance(p, int) else p for p in parts)


def _is_continuation(s: bytes, at: int) -> bool:
    return at < len(s) and s[at] & 0xC0 == 0x80


def _replace_all(regexp: Any, make: Callable, s: bytes) -> bytes:
    pieces, position, last_end = [], 0, -1
    while position <= len(s):
        match = regexp.search(s, position)
        if match is None:
            break
        start, end = match.span()
        pieces.append(s[position:start])
        if start == last_end and end == start:  # an empty match right after a match doesn't count
            step = position + 1
            while _is_continuation(s, step):
                step += 1
            pieces.append(s[position:step])
            position = step
            continue
        pieces.append(make(match))
        position = last_end = end
    pieces.append(s[position:])
    return b"".join(pieces)


def _replaced(input: Strings, source: bytes, rewrite: bytes, replace_global: bool) -> Strings:
    regexp = _pattern(source)
    make = _rewriting(rewrite, regexp.groups)

    def replace_first(s: bytes) -> bytes:
        match = regexp.search(s)
        return s if match is None else s[: match.start()] + make(match) + s[match.end() :]

    return mapped((lambda s: _replace_all(regexp, make, s)) if replace_global else replace_first, input)


@fresh("RegexReplace")
def regex_replace(input: Strings, pattern: Strings, rewrite: Strings, *, replace_global: bool) -> Strings:
    return _replaced(input, scalar_string(pattern, "Pattern"), scalar_string(rewrite, "Rewrite"), replace_global)


@fresh("StaticRegexReplace")
def static_regex_replace(input: Strings, *, pattern: str, rewrite: str, replace_global: bool) -> Strings:
    return _replaced(input, text_bytes(pattern), text_bytes(rewrite), replace_global)


def _matched(input: Strings, source: bytes) -> torch.Tensor:
    full = _pattern(source).fullmatch
    return measured(lambda s: full(s) is not None, input, torch.bool)


@fresh("RegexFullMatch")
def regex_full_match(input: Strings, pattern: Strings) -> torch.Tensor:
    return _matched(input, scalar_string(pattern, "Pattern"))


@fresh("StaticRegexFullMatch")
def static_regex_full_match(input: Strings, *, pattern: str) -> torch.Tensor:
    return _matched(input, text_bytes(pattern))
