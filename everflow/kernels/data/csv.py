"""CSV files as datasets at run time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from everflow.formats import records
from everflow.framework.errors import InvalidArgumentError, NotFoundError
from everflow.kernels.data.datasets import Element, End, Following, Iteration, Restarting, Source, dataset, text
from everflow.kernels.data.files import checked_compression, opened
from everflow.kernels.io.parsing import decode_csv

if TYPE_CHECKING:
    import torch

    from everflow.framework.dtypes import DType
    from everflow.kernels.tensors import AnyTensor, Strings


def _rows(file: BinaryIO, use_quotes: bool) -> Iterator[bytes]:
    """The records of a CSV file as bytes: a line each, or more where a quoted field goes over several."""
    row, is_open = b"", False
    for line, end in _lines(file):
        row = row + line if is_open else line
        is_open = use_quotes and row.count(b'"') % 2 == 1
        if is_open:
            row += end
        else:
            yield row
    if is_open:
        yield row.removesuffix(b"\n")


def _lines(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """The lines of a file, and how each ends: with a line feed, a carriage return, or both."""
    rest = b""
    while piece := file.read(1 << 18):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield from _split_at_returns(line.removesuffix(b"\r"), b"\r\n" if line.endswith(b"\r") else b"\n")
    if rest:
        yield from _split_at_returns(rest.removesuffix(b"\r"), b"\n")


def _split_at_returns(line: bytes, end: bytes) -> Iterator[tuple[bytes, bytes]]:
    *before, last = line.split(b"\r") if b"\r" in line else (line,)
    for part in before:
        yield part, b"\r"
    yield last, end


class _FileByFile:
    """The rows of files, one file after the other."""

    def __init__(self, names: list[str], rows_of: Callable[[str], Iterator[bytes]]) -> None:
        self._waiting, self._rows_of = names[::-1], rows_of
        self._rows: Restarting | None = None

    def next(self) -> bytes | None:
        """The next row, or None after the last file's last one."""
        while self._waiting:
            if self._rows is None:
                self._rows = Restarting(functools.partial(self._rows_of, self._waiting[-1]))
            try:
                row: bytes | None = next(self._rows, None)
            except NotFoundError:  # it stays the next one to be read
                self._rows = None
                raise
            if row is not None:
                return row
            self._waiting.pop()
            self._rows = None
        return None


@dataset("CSVDataset", "ExperimentalCSVDataset")
def csv_dataset(
    filenames: Strings,
    compression_type: Strings,
    buffer_size: torch.Tensor,
    header: torch.Tensor,
    field_delim: Strings,
    use_quote_delim: torch.Tensor,
    na_value: Strings,
    select_cols: torch.Tensor,
    record_defaults: list[AnyTensor],
    *,
    output_types: list[DType],
) -> Source:
    compression = checked_compression(compression_type)
    delimiter, quotes, missing = text(field_delim), bool(use_quote_delim), text(na_value)
    columns, skip_header = select_cols.tolist(), bool(header)
    if len(delimiter) != 1:
        raise InvalidArgumentError(None, None, "field_delim should be only 1 char")
    if columns and columns[0] < 0:
        raise InvalidArgumentError(None, None, f"select_cols are numbers of columns, from 0 on, not {columns}")
    if any(a >= b for a, b in zip(columns, columns[1:])):
        raise InvalidArgumentError(None, None, "select_cols should be strictly increasing indices")
    if columns and len(columns) != len(record_defaults):
        problem = f"select_cols has {len(columns)} columns, and there are defaults for {len(record_defaults)}"
        raise InvalidArgumentError(None, None, problem)
    names = [n.decode() for n in np.atleast_1d(filenames).reshape(-1).tolist()]

    def rows_of(name: str) -> Iterator[bytes]:
        with opened(name) as file:
            rows = _rows(records.decoded(file, compression), quotes)
            if skip_header and next(rows, None) is None:
                raise InvalidArgumentError(None, None, f"{name} should begin with a header, and is empty")
            yield from rows

    def start(iteration: Iteration) -> Following:
        rows = _FileByFile(names, rows_of)

        def following() -> Element:
            if (row := rows.next()) is None:
                raise End
            is_blank = not row and len(record_defaults) == 1  # one empty field; for decode_csv it has none
            fields = decode_csv(
                np.array(delimiter.encode() if is_blank else row, object),
                record_defaults,
                OUT_TYPE=output_types,
                field_delim=delimiter,
                use_quote_delim=quotes,
                na_value=missing,
                select_cols=columns or [0] * is_blank,
            )
            return tuple(fields)

        return following

    return Source(start)
