"""Batches of Example and SequenceExample records by compiled loops (`native/loops/records.py`).

Every function gives None where there is no compiled code yet or a record is not as usual: then `examples.py` parses the
batch with protobuf, and says what is wrong with it.
"""

from __future__ import annotations

import array
import ctypes
import functools
import math
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.kernels.tensors import AnyTensor, SparseParts, Strings, room, strided_room, vector
from everflow.native.loops.library import Library

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

_RECORDS = Library("records", cost=20)
_KINDS = {dtypes.string: 1, dtypes.float32: 2, dtypes.int64: 3}
_FILLERS = {dtypes.float32: "fill_floats", dtypes.int64: "fill_integers"}
_TYPES = {dtypes.float32: torch.float32, dtypes.int64: torch.int64}
_ANY = -1
# Records from which on it pays to let other threads run meanwhile.
_MANY = 32


class Sparse(NamedTuple):
    """A feature with as many values as there are."""

    key: bytes
    dtype: DType


class Dense:
    """A feature of this shape, -1 for an open first size."""

    def __init__(self, key: bytes, dtype: DType, sizes: list[int]) -> None:
        self.key, self.dtype, self.sizes = key, dtype, sizes
        self.is_open = bool(sizes) and sizes[0] < 0
        self.values = math.prod(sizes[1:] if self.is_open else sizes)  # or those of one entry of the open size
        self.wanted = _ANY if self.is_open else self.values
        self.shape = tuple(sizes)
        self.strides = tuple(math.prod(sizes[at + 1 :]) for at in range(len(sizes)))


class Features:
    """What is asked of each record, also in the form that loops take."""

    def __init__(self, sparse: Sequence[Sparse], dense: Sequence[Dense]) -> None:
        self.sparse, self.dense = sparse, dense
        self.asked = [(f.key, f.dtype, _ANY) for f in sparse] + [(f.key, f.dtype, f.wanted) for f in dense]
        self.count = len(self.asked)
        words = [word for key, dtype, count in self.asked for word in (id(key), _KINDS[dtype], count)]
        self._words = (ctypes.c_int64 * len(words))(*words)
        self.address = ctypes.addressof(self._words)
        self.is_known = all(-1 not in (f.sizes[1:] if f.is_open else f.sizes) for f in dense)
        self.has_open = any(f.is_open for f in dense)

    @functools.cached_property
    def lists(self) -> list[Features]:
        """Each feature alone, for those of steps."""
        return [Features([f], []) for f in self.sparse] + [Features([], [f]) for f in self.dense]


class _Rows:
    """Where the values of features are: rows for each feature, one after the other."""

    def __init__(self, code: Any, features: Features, rows: int) -> None:
        self.code, self.features, self.rows = code, features, rows
        self.quick = code if rows < _MANY else code.free
        self._head, size = 3 * features.count, features.count * rows
        self._room = (ctypes.c_int64 * (self._head + 3 * size))()
        self.measures = ctypes.addressof(self._room)
        self.spans = self.measures + 8 * self._head
        self.counts = self.spans + 16 * size

    @property
    def places(self) -> tuple[int, int, int, int]:
        """What is asked, and where it is to be noted."""
        return self.features.address, self.features.count, self.spans, self.counts

    def measured(self) -> list[list[int]]:
        """[all values, those of the longest row, rows that are missing] of each feature."""
        self.code.measure(self.counts, self.features.count, self.rows, self.measures)
        return [self._room[at : at + 3] for at in range(0, self._head, 3)]

    def record_counts(self) -> list[int]:
        """The values of each feature of a single record."""
        return self._room[self._head + 2 * self.features.count :]

    def row_counts(self, feature: int) -> np.ndarray:
        start = self._head + (2 * self.features.count + feature) * self.rows
        return np.ctypeslib.as_array(self._room)[start : start + self.rows]

    def values(
        self, feature: int, dtype: DType, shape: Sequence[int], width: int = _ANY, default: Any = None, step: int = 0
    ) -> AnyTensor:
        """A feature's values, each row filled up to so many with the default's, which are `step` apart."""
        spans, counts = self.spans + 16 * feature * self.rows, self.counts + 8 * feature * self.rows
        if dtype is dtypes.string:
            strings = np.empty(shape, object)
            place = 0 if default is None else id(default)
            if self.code.fill_strings(spans, counts, self.rows, id(strings), width, place, step) < 0:
                raise MemoryError
            return strings
        out = room(tuple(shape), _TYPES[dtype])
        place = 0 if default is None else default.data_ptr()
        getattr(self.quick, _FILLERS[dtype])(spans, counts, self.rows, out.data_ptr(), width, place, step)
        return out


def _plain(default: AnyTensor) -> AnyTensor:
    """A default whose values lie one after the other."""
    if isinstance(default, torch.Tensor):
        return default.contiguous()
    return default if default.flags.c_contiguous else default.copy()


_BLANK: dict[DType, AnyTensor] = {
    dtypes.int64: torch.zeros(1, dtype=torch.int64),
    dtypes.float32: torch.zeros(1),
    dtypes.string: np.array([b""], object),
}


def _dense(
    found: _Rows, at: int, feature: Dense, default: AnyTensor, measures: list[int], batched: bool
) -> AnyTensor | None:
    _, longest, missing = measures
    if not feature.is_open:
        filler = None
        if missing:
            filler = _plain(default)
            if math.prod(filler.shape) != feature.values:
                return None
        shape = [found.rows, *feature.sizes] if batched else feature.sizes
        return found.values(at, feature.dtype, shape, feature.values, filler, 1)
    stride = feature.values
    if stride == 0 or (stride > 1 and (np.maximum(found.row_counts(at), 0) % stride).any()):
        return None
    shape = [*([found.rows] if batched else []), longest // stride, *feature.sizes[1:]]
    # What fills up rows that are shorter than others.
    filler = _plain(default) if math.prod(default.shape) else _BLANK[feature.dtype]
    return found.values(at, feature.dtype, shape, longest, filler, 0)


def _sparse(found: _Rows, at: int, feature: Sparse, measures: list[int], batched: bool) -> SparseParts:
    total, longest, _ = measures
    values = found.values(at, feature.dtype, (total,))
    if not batched:
        return torch.from_numpy(np.arange(total).reshape(-1, 1)), values, vector(total)
    indices = room((total, 2), torch.int64)
    found.quick.fill_indices(found.counts + 8 * at * found.rows, found.rows, indices.data_ptr())
    return indices, values, vector(found.rows, longest)


def columns(sparse: Sequence[SparseParts]) -> tuple[list[AnyTensor], list[AnyTensor], list[AnyTensor]]:
    """Indices, values and shapes, each a list."""
    return [s[0] for s in sparse], [s[1] for s in sparse], [s[2] for s in sparse]


def _results(
    found: _Rows, defaults: Sequence[AnyTensor], batched: bool
) -> tuple[list[SparseParts], list[AnyTensor]] | None:
    measures, features = found.measured(), found.features
    outputs = []
    for at, (feature, default) in enumerate(zip(features.dense, defaults), len(features.sparse)):
        output = _dense(found, at, feature, default, measures[at], batched)
        if output is None:
            return None
        outputs.append(output)
    return [_sparse(found, at, f, measures[at], batched) for at, f in enumerate(features.sparse)], outputs


def examples(
    serialized: Strings, features: Features, defaults: Sequence[AnyTensor], batched: bool = True
) -> tuple[list[SparseParts], list[AnyTensor]] | None:
    """The sparse and the dense features of a batch of Examples, or of a single one."""
    code = _RECORDS.ready(serialized.size * features.count)
    if code is None or not features.is_known:
        return None
    records, found = serialized.copy(), _Rows(code, features, serialized.size)  # the copy holds what rows point into
    if found.quick.locate(id(records), found.rows, *found.places) < 0:
        return None
    return (
        _record(found, defaults)
        if found.rows == 1 and not (batched or features.has_open)
        else _results(found, defaults, batched)
    )


# --- single records: one call fills all outputs, since calls are what takes time there


def _output(dtype: DType, shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[AnyTensor, int]:
    """Room for values, and its address."""
    if dtype is dtypes.string:
        strings = np.empty(shape, object)
        return strings, id(strings)
    numbers = strided_room(shape, strides, _TYPES[dtype])
    return numbers, numbers.data_ptr()


def _address(default: AnyTensor) -> int:
    return default.data_ptr() if isinstance(default, torch.Tensor) else id(default)


def _record(found: _Rows, defaults: Sequence[AnyTensor]) -> tuple[list[SparseParts], list[AnyTensor]] | None:
    features, counts = found.features, found.record_counts()
    sparse, dense, places, held = [], [], [], []
    for feature, count in zip(features.sparse, counts):
        size = count if count > 0 else 0
        values, address = _output(feature.dtype, (size,), (1,))
        indices, shape = strided_room((size, 1), (1, 1), torch.int64), strided_room((1,), (1,), torch.int64)
        places += (address, 0, indices.data_ptr(), shape.data_ptr())
        sparse.append((indices, values, shape))
    for asked, default, count in zip(features.dense, defaults, counts[len(sparse) :]):
        output, address = _output(asked.dtype, asked.shape, asked.strides)
        filler = 0
        if count < 0:
            held.append(_plain(default))
            if math.prod(default.shape) != asked.values:
                return None
            filler = _address(held[-1])
        places += (address, filler, 0, 0)
        dense.append(output)
    outputs = array.array("q", places)
    status = found.code.fill_record(
        found.spans, found.counts, features.address, features.count, outputs.buffer_info()[0]
    )
    return None if status < 0 else (sparse, dense)


def _lists(lists: _Rows, counts: list[int]) -> list[AnyTensor] | None:
    """The dense feature lists of a single record."""
    dense, places = [], []
    for feature, count in zip(lists.features.dense, counts):
        size = count if count > 0 else 0
        output, address = _output(feature.dtype, (size, *feature.shape), (feature.values, *feature.strides))
        places += (address, _address(_BLANK[feature.dtype]), 0, 0)
        dense.append(output)
    outputs, room = array.array("q", places), (ctypes.c_int64 * (3 * max(counts, default=0) + 1))()
    status = lists.code.fill_lists(
        lists.spans,
        lists.counts,
        lists.features.address,
        lists.features.count,
        outputs.buffer_info()[0],
        ctypes.addressof(room),
    )
    return None if status < 0 else dense


# --- sequences


def sequences(
    serialized: Strings,
    features: Features,
    defaults: Sequence[AnyTensor],
    of_steps: Features,
    may_be_missing: Container[bytes],
    batched: bool = True,
) -> Sequences | None:
    """The features of the contexts and of the steps of a batch of SequenceExamples, or of a single one."""
    code = _RECORDS.ready(serialized.size * (features.count + 8 * of_steps.count))
    if code is None or any(not f.is_known or f.has_open for f in (features, of_steps)):
        return None
    records = serialized.copy()  # which holds what rows point into
    found, lists = _Rows(code, features, records.size), _Rows(code, of_steps, records.size)
    if found.quick.locate_sequences(id(records), found.rows, *found.places, *lists.places) < 0:
        return None
    if not (batched or of_steps.sparse):
        return _sequence(found, lists, defaults, may_be_missing)
    results = _results(found, defaults, batched)
    measures = lists.measured()
    steps = [_Steps(lists, at, measures[at][1]) for at in range(of_steps.count)]
    first = len(of_steps.sparse)
    required = (f.key not in may_be_missing and measures[at][2] for at, f in enumerate(of_steps.dense, first))
    if results is None or any(required) or not all(s.is_usual for s in steps):
        return None
    return Sequences(
        *results,
        [s.sparse(f.dtype, batched) for s, f in zip(steps, of_steps.sparse)],
        [s.dense(f, batched) for s, f in zip(steps[first:], of_steps.dense)],
        [torch.from_numpy(np.maximum(lists.row_counts(at), 0)) for at in range(first, of_steps.count)]
        if batched
        else [],
    )


def _sequence(
    found: _Rows, lists: _Rows, defaults: Sequence[AnyTensor], may_be_missing: Container[bytes]
) -> Sequences | None:
    """A single record whose feature lists are all dense."""
    steps = lists.record_counts()
    if any(count < 0 and f.key not in may_be_missing for f, count in zip(lists.features.dense, steps)):
        return None
    context, dense = _record(found, defaults), _lists(lists, [max(count, 0) for count in steps])
    return None if context is None or dense is None else Sequences(*context, [], dense, [])


class Sequences(NamedTuple):
    """What SequenceExamples have; `lengths` are the steps of each dense list in each record of a batch."""

    sparse: list[SparseParts]
    dense: list[AnyTensor]
    sparse_lists: list[SparseParts]
    dense_lists: list[AnyTensor]
    lengths: list[torch.Tensor]

    def outputs(self) -> tuple[Sequence[AnyTensor], ...]:
        """In the order of the op's outputs."""
        return *columns(self.sparse), self.dense, *columns(self.sparse_lists), self.dense_lists, self.lengths


class _Steps:
    """The steps of one feature list as rows: as many for each record as the longest one has."""

    def __init__(self, lists: _Rows, at: int, longest: int) -> None:
        self.records, self.longest = lists.rows, longest
        self.rows = rows = _Rows(lists.code, lists.features.lists[at], lists.rows * longest)
        spans = lists.spans + 16 * at * lists.rows
        status = rows.quick.locate_steps(spans, lists.rows, rows.features.address, longest, rows.spans, rows.counts)
        self.is_usual = status == 0

    def dense(self, feature: Dense, batched: bool) -> AnyTensor:
        """The values of all steps; records with fewer steps are filled up with blanks."""
        shape = [*([self.records] if batched else []), self.longest, *feature.sizes]
        return self.rows.values(0, feature.dtype, shape, feature.values, _BLANK[feature.dtype], 0)

    def sparse(self, dtype: DType, batched: bool) -> SparseParts:
        ((total, widest, _),) = self.rows.measured()
        values = self.rows.values(0, dtype, [total])
        if not batched:
            indices = room((total, 2), torch.int64)
            self.rows.quick.fill_indices(self.rows.counts, self.longest, indices.data_ptr())
            return indices, values, vector(self.longest, widest)
        indices = room((total, 3), torch.int64)
        self.rows.quick.fill_step_indices(self.rows.counts, self.records, self.longest, indices.data_ptr())
        return indices, values, vector(self.records, self.longest, widest)
