"""Kernels that take bytes apart: raw numbers, CSV lines, compressed data, JSON examples and serialized tensors."""

from __future__ import annotations

import math
import re
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from google.protobuf import json_format
from google.protobuf.message import DecodeError

from everflow.framework import dtypes
from everflow.framework.errors import DataLossError, InvalidArgumentError
from everflow.framework.tensor_values import make_ndarray
from everflow.kernels.facts import same
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.strings.numbers import number_parser
from everflow.kernels.strings.text import TEXT, contiguous, mapped, scalar_string, strings
from everflow.kernels.tensors import AnyTensor, Strings, from_numpy, to_numpy, torch_dtype
from everflow.native.loops.library import Library
from everflow.protos import example_pb2, tensor_pb2

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

# --- raw bytes --------------------------------------------------------------------------------


def _numbers(data: bytes, dtype: DType, little_endian: bool) -> np.ndarray:
    kind = np.dtype(dtype.as_numpy_dtype)
    if dtype is dtypes.bool:
        return np.frombuffer(data, np.uint8) != 0
    if little_endian or kind.itemsize == 1:
        return np.frombuffer(data, kind).copy()
    # Each number is turned around as a whole: of a complex one the parts change places, as they do in TensorFlow.
    return np.frombuffer(data, np.uint8).reshape(-1, kind.itemsize)[:, ::-1].copy().view(kind).reshape(-1)


def _gathered(strings: Strings, out_type: DType, width: int) -> torch.Tensor | None:
    """The numbers of many strings by a compiled loop; None where there is none or sizes don't fit."""
    code, given = TEXT.ready(strings.size), contiguous(strings)
    size = len(given.flat[0])
    if code is None or size % width:
        return None
    out = torch.empty([*strings.shape, size // width], dtype=torch_dtype(out_type))
    return out if code.gather(id(given), given.size, size, out.data_ptr()) == 0 else None


@fresh("DecodeRaw")
def decode_raw(bytes: Strings, *, out_type: DType, little_endian: bool) -> torch.Tensor:
    width = np.dtype(out_type.as_numpy_dtype).itemsize
    if little_endian and out_type is not dtypes.bool and bytes.size > 1:
        found = _gathered(bytes, out_type, width)
        if found is not None:
            return found
    items = bytes.reshape(-1).tolist()
    size = len(items[0]) if items else 0
    for index, s in enumerate(items):
        if len(s) != size:
            raise InvalidArgumentError(
                None,
                None,
                f"DecodeRaw requires input strings to all be the same size, but element {index} has size {size} != {len(s)}",
            )
    if size % width:
        raise InvalidArgumentError(
            None,
            None,
            f"Input to DecodeRaw has length {size} that is not a multiple of {width}, the size of {out_type.name}",
        )
    values = _numbers(items[0] if len(items) == 1 else b"".join(items), out_type, little_endian)
    return from_numpy(values.reshape(*bytes.shape, size // width))


@fresh("DecodePaddedRaw")
def decode_padded_raw(
    input_bytes: Strings, fixed_length: torch.Tensor, *, out_type: DType, little_endian: bool
) -> torch.Tensor:
    size = int(fixed_length)
    width = np.dtype(out_type.as_numpy_dtype).itemsize
    if size <= 0:
        raise InvalidArgumentError(None, None, f"fixed_length ({size}) must be greater than zero.")
    if size % width:
        raise InvalidArgumentError(
            None, None, f"fixed_length ({size}) must be a multiple of the size of out_type ({width})"
        )
    padded = b"".join(s[:size].ljust(size, b"\0") for s in input_bytes.flat)
    return from_numpy(_numbers(padded, out_type, little_endian)).reshape(*input_bytes.shape, size // width)


# 16 more than the window asks zlib for the gzip format.
_WINDOWS = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS + 16}


@kernel("DecodeCompressed", result=same(0))
def decode_compressed(packed: Strings, *, compression_type: str) -> Strings:
    if compression_type in ("", "NONE"):
        return packed
    if compression_type not in _WINDOWS:
        raise InvalidArgumentError(None, None, "Only ZLIB, GZIP or NONE are supported compressions")

    def expand(s: bytes) -> bytes:
        if not s:
            return s
        try:
            return zlib.decompressobj(_WINDOWS[compression_type]).decompress(s)
        except zlib.error as error:
            raise DataLossError(None, None, f"inflate() failed: {error}") from None

    return mapped(expand, packed)


# --- CSV --------------------------------------------------------------------------------------


# A line without any of these is split at its delimiters and done.
_NEEDS_CARE = re.compile(rb'["\r\n]')


def _csv_error(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


def split_csv_line(line: bytes, delimiter: bytes, use_quotes: bool) -> list[bytes]:
    """The fields of one CSV record, quotes taken off."""
    if not line:
        return []
    if not _NEEDS_CARE.search(line):
        return line.split(delimiter)
    if not use_quotes:
        if b"\n" in line or b"\r" in line:
            raise _csv_error("Fields cannot have CRLFs inside where nothing is quoted")
        return line.split(delimiter)
    fields, at = [], 0
    while True:
        if line[at : at + 1] == b'"':
            parts, at = [], at + 1
            while True:
                end = line.find(b'"', at)
                if end < 0:
                    raise _csv_error("Quoted field has to end with quote followed by delim or end")
                parts.append(line[at:end])
                after = line[end + 1 : end + 2]
                at = end + 2
                if after == b'"':
                    parts.append(b'"')
                elif after in (b"", delimiter):
                    break
                else:
                    raise _csv_error("Quote inside a string has to be escaped by another quote")
            fields.append(b"".join(parts))
            if not after:
                return fields
        else:
            end = line.find(delimiter, at)
            field = line[at:] if end < 0 else line[at:end]
            if any(c in field for c in (b'"', b"\n", b"\r")):
                raise _csv_error("Unquoted fields cannot have quotes/CRLFs inside")
            fields.append(field)
            if end < 0:
                return fields
            at = end + 1
        if at == len(line):
            fields.append(b"")
            return fields


_CSV = Library("csv_lines", cost=15)
_COLUMN_KINDS = {dtypes.string: 0, dtypes.int32: 1, dtypes.int64: 2, dtypes.float32: 3, dtypes.float64: 4}


def _decode_compiled(
    records: Strings,
    record_defaults: list[AnyTensor],
    types: list[DType],
    delimiter: bytes,
    quotes: bool,
    na_value: str,
    select_cols: list[int],
) -> list[AnyTensor] | None:
    """The columns by a compiled loop, where it finds nothing wrong with any line."""
    code = _CSV.ready(records.size * len(types))
    if code is None or delimiter == b'"' or len(set(select_cols)) != len(select_cols) or not types:
        return None
    given, missing, held = contiguous(records), na_value.encode(), []
    columns, table = [], []
    for dtype, default in zip(types, record_defaults):
        column: AnyTensor
        if isinstance(default, np.ndarray):
            column = np.empty(records.shape, object)
            held.append(default.item() if default.size == 1 else None)
            table += [_COLUMN_KINDS[dtype], id(column), id(held[-1]) if default.size == 1 else 0]
        else:
            column = torch.empty(records.shape, dtype=default.dtype)
            table += [_COLUMN_KINDS[dtype], column.data_ptr(), default.data_ptr() if default.numel() == 1 else 0]
        columns.append(column)
    where = [-1] * (max(select_cols) + 1) if select_cols else [*range(len(types))]
    for place, column_number in enumerate(select_cols):
        where[column_number] = place
    room = np.array([*table, *where], np.int64)
    place = room.ctypes.data
    status = code.decode(
        id(given),
        given.size,
        place,
        len(types),
        place + 8 * len(table),
        -len(where) if select_cols else len(where),
        delimiter[0],
        quotes,
        id(missing),
    )
    return columns if status == 0 else None


@fresh("DecodeCSV")
def decode_csv(
    records: Strings,
    record_defaults: list[AnyTensor],
    *,
    OUT_TYPE: list[DType],
    field_delim: str,
    use_quote_delim: bool,
    na_value: str,
    select_cols: list[int],
) -> list[AnyTensor]:
    delimiter = field_delim.encode()
    if len(delimiter) != 1:
        raise _csv_error("field_delim should be only 1 char")
    for index, default in enumerate(record_defaults):
        if default.ndim > 1 or math.prod(default.shape) > 1:
            raise _csv_error(f"record_defaults[{index}] must be a scalar or a vector of one value at most")
    found = _decode_compiled(records, record_defaults, OUT_TYPE, delimiter, use_quote_delim, na_value, select_cols)
    if found is not None:
        return found
    rows = []
    for number, record in enumerate(records.flat):
        fields = split_csv_line(record, delimiter, use_quote_delim)
        if select_cols:
            fields = [fields[c] for c in select_cols if c < len(fields)]
        if len(fields) != len(OUT_TYPE):
            raise _csv_error(f"Expect {len(OUT_TYPE)} fields but have {len(fields)} in record {number}")
        rows.append(fields)
    missing = (b"", na_value.encode())
    columns = zip(*rows) if rows else [()] * len(OUT_TYPE)
    return [
        _column(column, dtype, default, missing, index, records.shape)
        for index, (column, dtype, default) in enumerate(zip(columns, OUT_TYPE, record_defaults))
    ]


def _column(
    fields: tuple[bytes, ...],
    dtype: DType,
    default: AnyTensor,
    missing: tuple[bytes, bytes],
    index: int,
    shape: tuple[int, ...],
) -> AnyTensor:
    """One column's values from its fields, in the order of the records."""
    parse = None if dtype is dtypes.string else number_parser(dtype)
    values: list[Any] = []
    for number, field in enumerate(fields):
        if field in missing:
            if (default.size if isinstance(default, np.ndarray) else default.numel()) != 1:
                raise _csv_error(f"Field {index} is required but missing in record {number}!")
            value = default.item()
        elif parse is not None:
            value = parse(field)
            if value is None:
                name = {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
                raise _csv_error(
                    f"Field {index} in record {number} is not a valid {name}: {field.decode('utf-8', 'replace')}"
                )
        else:
            value = field
        values.append(value)
    if parse is None:
        return strings(values, shape)
    return torch.from_numpy(np.array(values, dtype.as_numpy_dtype).reshape(shape))


# --- protocol buffers -------------------------------------------------------------------------


@fresh("DecodeJSONExample")
def decode_json_example(json_examples: Strings) -> Strings:
    def convert(text: bytes) -> bytes:
        try:
            example = json_format.Parse(text, example_pb2.Example())
        except (json_format.ParseError, UnicodeDecodeError) as error:
            raise InvalidArgumentError(None, None, f"Error while parsing JSON: {error}") from None
        return example.SerializeToString(deterministic=True)

    return mapped(convert, json_examples)


@fresh("SerializeTensor")
def serialize_tensor(tensor: AnyTensor, *, T: DType) -> Strings:
    proto = tensor_pb2.TensorProto(dtype=T.as_datatype_enum)
    proto.tensor_shape.SetInParent()  # a scalar's shape is written too
    for size in tensor.shape:
        proto.tensor_shape.dim.add(size=int(size))
    if isinstance(tensor, np.ndarray):
        proto.string_val.extend(tensor.flat)
    else:
        proto.tensor_content = to_numpy(tensor, None).tobytes()
    return strings([proto.SerializeToString()], ())


@fresh("ParseTensor")
def parse_tensor(serialized: Strings, *, out_type: DType) -> AnyTensor:
    if serialized.ndim != 0:
        raise InvalidArgumentError(
            None, None, f"Expected `serialized` to be a scalar, got shape: [{','.join(map(str, serialized.shape))}]"
        )
    data = scalar_string(serialized, "serialized")
    try:
        proto = tensor_pb2.TensorProto.FromString(data)
    except DecodeError:
        proto = None
    if proto is None or proto.dtype == 0:
        raise InvalidArgumentError(None, None, f"Cannot parse tensor from proto: {data!r}")
    found = dtypes.as_dtype(proto.dtype)
    if found != out_type:
        names = [{"float32": "float", "float64": "double"}.get(t.name, t.name) for t in (found, out_type)]
        raise InvalidArgumentError(
            None, None, f"Type mismatch between parsed tensor ({names[0]}) and dtype ({names[1]})"
        )
    if found is dtypes.variant:  # the states of iterators, which are strings here
        return strings(list(proto.string_val), [d.size for d in proto.tensor_shape.dim])
    return from_numpy(make_ndarray(proto))
