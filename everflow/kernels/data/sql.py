"""The rows of SQLite queries as a dataset at run time."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING

import numpy as np

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError, UnknownError
from everflow.kernels.data.datasets import Element, End, Following, Iteration, Source, dataset, text
from everflow.kernels.tensors import AnyTensor, Strings, from_numpy

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

_TYPES = (
    dtypes.string, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.bool, dtypes.float64,
)  # fmt: skip
_LEADING_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def _number(value: bytes | float | None) -> float:
    """A field as SQLite reads it where a number is asked for: text by how it begins, NULL as zero."""
    if isinstance(value, (int, float)):
        return value
    found = _LEADING_NUMBER.match(value.decode("latin-1") if value is not None else "")
    return 0 if found is None else float(found[0])


def _field(value: bytes | float | None, dtype: DType) -> AnyTensor:
    if dtype is dtypes.string:
        spelled = b"" if value is None else value if isinstance(value, bytes) else str(value).encode()
        return np.array(spelled, object)
    if dtype is dtypes.float64:
        return from_numpy(np.array(float(_number(value))))
    if dtype is dtypes.bool:
        return from_numpy(np.array(int(_number(value)) != 0))
    return from_numpy(np.array(int(_number(value)), np.int64).astype(dtype.as_numpy_dtype))


def _asked(connection: sqlite3.Connection, query: str) -> sqlite3.Cursor | None:
    """What a query finds; None where it would change the database, which gives no rows."""
    try:
        return connection.execute(query)
    except sqlite3.OperationalError as e:
        if "readonly" in str(e):
            return None
        raise


@dataset("SqlDataset", "ExperimentalSqlDataset")
def sql_dataset(
    driver_name: Strings, data_source_name: Strings, query: Strings, *, output_types: list[DType]
) -> Source:
    if text(driver_name) != "sqlite":
        raise InvalidArgumentError(
            None,
            None,
            f"The database type, {text(driver_name)}, is not supported by SqlDataset. The set of supported databases is: {{'sqlite'}}.",
        )
    if any(t not in _TYPES for t in output_types):
        names = ", ".join(t.enum_name for t in _TYPES)
        raise InvalidArgumentError(None, None, f"Each element of `output_types_` must be one of: {names}")

    def start(iteration: Iteration) -> Following:
        rows = None

        def following() -> Element:
            nonlocal rows
            try:
                if rows is None:
                    connection = sqlite3.connect(
                        f"file:{text(data_source_name)}?mode=ro", uri=True, check_same_thread=False
                    )
                    connection.text_factory = bytes
                    found = _asked(connection, text(query))
                    columns = 0 if found is None else len(found.description or ())
                    if found is None or columns != len(output_types):
                        raise InvalidArgumentError(
                            None,
                            None,
                            f"The number of columns in query ({columns}) must match the number of elements in "
                            f"output_types ({len(output_types)}).",
                        )
                    rows = found
                row = next(rows, None)
            except sqlite3.Error as e:
                raise UnknownError(None, None, f"{e}: {text(query)}") from e
            if row is None:
                raise End
            return tuple(_field(value, dtype) for value, dtype in zip(row, output_types))

        return following

    return Source(start)
