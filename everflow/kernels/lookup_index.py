"""The entries of a table that no longer changes, laid out for compiled loops: many keys are found at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.kernels.strings.text import contiguous, strings
from everflow.kernels.tensors import AnyTensor, Strings, room, torch_dtype
from everflow.native.loops.library import Library

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

TABLES = Library("tables", cost=4)
_WIDTHS = (8, 4)  # bytes of numbers that there are loops for


def is_possible(key_dtype: DType, value_dtype: DType) -> bool:
    """Whether there are loops for keys and values of these types."""
    return key_dtype in (dtypes.string, dtypes.int64) and (
        value_dtype is dtypes.string or torch_dtype(value_dtype).itemsize in _WIDTHS
    )


class Index:
    """Keys and values of a table, and in which slot each key's place is."""

    def __init__(self, code: Any, entries: dict[Any, Any], key_dtype: DType, value_dtype: DType) -> None:
        self._code, self._of_strings, self._to_strings = code, key_dtype is dtypes.string, value_dtype is dtypes.string
        self._keys = _column(list(entries), key_dtype)
        self._values = _column(list(entries.values()), value_dtype)
        size = 1 << max(2, (2 * len(entries)).bit_length())
        self._slots, self._mask = torch.zeros(size, dtype=torch.int64), size - 1
        place = self._slots.data_ptr()
        if self._of_strings:
            self.is_whole = code.index_strings(id(self._keys), len(entries), place, self._mask) == 0
        else:
            code.index_numbers(self._keys.data_ptr(), len(entries), place, self._mask)
            self.is_whole = True

    def find(self, keys: AnyTensor, default: Any) -> AnyTensor | None:
        """The value of each key; None where keys are not what they should be."""
        out = None if self._to_strings else room(tuple(keys.shape), self._values.dtype)
        # Where values are as wide as places, they take their room.
        is_wide = out is not None and out.dtype.itemsize == 8
        places = out if out is not None and is_wide else room(tuple(keys.shape), torch.int64)
        count, place = places.numel(), places.data_ptr()
        if isinstance(keys, np.ndarray):
            asked = contiguous(keys)
            find, of, held = self._code.find_strings, id(asked), id(self._keys)
        else:
            numbers = keys.contiguous()
            find, of, held = self._code.find_numbers, numbers.data_ptr(), self._keys.data_ptr()
        if find(of, count, held, self._slots.data_ptr(), self._mask, place) < 0:
            return None
        if out is None:
            missing, found = default.item(), np.empty(keys.shape, object)
            self._code.take_strings(place, count, id(self._values), id(missing), id(found))
            return found
        take = self._code.take_words if is_wide else self._code.take_halves
        take(place, count, self._values.data_ptr(), default.data_ptr(), out.data_ptr())
        return out


def _column(values: list[Any], dtype: DType) -> Any:
    if dtype is dtypes.string:
        found: Strings = strings(values, (len(values),))
        return found
    return torch.tensor(values, dtype=torch_dtype(dtype))
