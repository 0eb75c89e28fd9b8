"""Batches of Example and SequenceExample records by compiled loops (`native/loops/records.py`).

Every function gives None where there is no compiled code yet or a record is not as usual: then `examples.py` parses the
batch with protobuf, and says what is wrong with it.
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.kernels.tensors import AnyTensor, SparseParts, Strings
from everflow.native.loops.library import Library

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType

_RECORDS = Library("records", cost=20)
_KINDS = {dtypes.string: 1, dtypes.float32: 2, dtypes.int64: 3}
_FILLERS = {dtypes.float32: "fill_floats", dtypes.int64: "fill_integers"}
_ANY = -1
# Records from which on it pays to let other threads run meanwhile.
_MANY = 32


class Sparse(NamedTuple):
    """A feature with as many values as there are."""

    key: bytes
    dtype: DType


class Dense(NamedTuple):
    """A feature of this shape, -1 for an open first size, and what stands for it where it is missing."""

    key: bytes
    dtype: DType
    sizes: list[int]
    default: Any

    @property
    def is_open(self) -> bool:
        return bool(self.sizes) and self.sizes[0] < 0

    @property
    def values(self) -> int:
        """How many values it has, or those of one entry where the first size is open."""
        return math.prod(self.sizes[1:] if self.is_open else self.sizes)

    @property
    def wanted(self) -> int:
        return _ANY if self.is_open else self.values


class _Rows:
    """Where the values of features are: rows for each feature, one after the other."""

    def __init__(self, code: Any, wanted: Sequence[tuple[bytes, DType, int]], rows: int) -> None:
        self.code, self.features, self.rows = code, len(wanted), rows
        self.quick = code if rows < _MANY else code.free
        head, size = 3 * len(wanted), len(wanted) * rows
        self.room = np.empty(2 * head + 3 * size, np.int64)
        self.keys = [key for key, _, _ in wanted]  # what is asked has only their addresses
        self.room[:head] = [v for key, dtype, count in wanted for v in (id(key), _KINDS[dtype], count)]
        self.asked: int = self.room.ctypes.data
        self.measures = self.asked + 8 * head
        self.spans = self.measures + 8 * head
        self.counts = self.spans + 16 * size

    def measured(self) -> list[list[int]]:
        """[all values, those of the longest row, rows that are missing] of each feature."""
        self.code.measure(self.counts, self.features, self.rows, self.measures)
        head = 3 * self.features
        return self.room[head : 2 * head].reshape(-1, 3).tolist()

    def row_counts(self, feature: int) -> np.ndarray:
        start = 6 * self.features + (2 * self.features + feature) * self.rows
        return self.room[start : start + self.rows]

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
        out = torch.empty(shape, dtype=torch.float32 if dtype is dtypes.float32 else torch.int64)
        place = 0 if default is None else default.data_ptr()
        getattr(self.quick, _FILLERS[dtype])(spans, counts, self.rows, out.data_ptr(), width, place, step)
        return out


def _plain_default(feature: Dense) -> AnyTensor:
    """A default whose values lie one after the other."""
    default = feature.default
    if isinstance(default, torch.Tensor):
        return default.contiguous()
    return default if default.flags.c_contiguous else default.copy()


_BLANK: dict[DType, AnyTensor] = {
    dtypes.int64: torch.zeros(1, dtype=torch.int64),
    dtypes.float32: torch.zeros(1),
    dtypes.string: np.array([b""], object),
}


def _filler(feature: Dense) -> AnyTensor:
    """What fills up rows that are shorter than others."""
    default = _plain_default(feature)
    return default if math.prod(default.shape) else _BLANK[feature.dtype]


def _dense(found: _Rows, at: int, feature: Dense, measures: list[int], lead: list[int]) -> AnyTensor | None:
    _, longest, missing = measures
    if not feature.is_open:
        default = None
        if missing:
            default = _plain_default(feature)
            if math.prod(default.shape) != feature.values:
                return None
        return found.values(at, feature.dtype, [*lead, *feature.sizes], feature.values, default, 1)
    stride = feature.values
    if stride == 0 or (stride > 1 and (np.maximum(found.row_counts(at), 0) % stride).any()):
        return None
    shape = [*lead, longest // stride, *feature.sizes[1:]]
    return found.values(at, feature.dtype, shape, longest, _filler(feature), 0)


def _sparse(found: _Rows, at: int, feature: Sparse, measures: list[int], batched: bool) -> SparseParts:
    total, longest, _ = measures
    values = found.values(at, feature.dtype, [total])
    if not batched:
        return torch.arange(total).reshape(-1, 1), values, torch.tensor([total])
    indices = torch.empty((total, 2), dtype=torch.int64)
    found.quick.fill_indices(found.counts + 8 * at * found.rows, found.rows, indices.data_ptr())
    return indices, values, torch.tensor([found.rows, longest])


def _asked(sparse: Sequence[Sparse], dense: Sequence[Dense]) -> list[tuple[bytes, DType, int]] | None:
    if any(-1 in (feature.sizes[1:] if feature.is_open else feature.sizes) for feature in dense):
        return None
    return [(f.key, f.dtype, _ANY) for f in sparse] + [(f.key, f.dtype, f.wanted) for f in dense]


def _results(
    found: _Rows, sparse: Sequence[Sparse], dense: Sequence[Dense], batched: bool
) -> tuple[list[SparseParts], list[AnyTensor]] | None:
    measures = found.measured()
    lead = [found.rows] if batched else []
    outputs = []
    for at, feature in enumerate(dense, len(sparse)):
        output = _dense(found, at, feature, measures[at], lead)
        if output is None:
            return None
        outputs.append(output)
    return [_sparse(found, at, f, measures[at], batched) for at, f in enumerate(sparse)], outputs


def examples(
    serialized: Strings, sparse: Sequence[Sparse], dense: Sequence[Dense], batched: bool = True
) -> tuple[list[SparseParts], list[AnyTensor]] | None:
    """The sparse and the dense features of a batch of Examples, or of a single one."""
    code = _RECORDS.ready(serialized.size * (len(sparse) + len(dense)))
    asked = _asked(sparse, dense)
    if code is None or asked is None:
        return None
    records, found = serialized.copy(), _Rows(code, asked, serialized.size)  # the copy holds what rows point into
    if found.quick.locate(id(records), found.rows, found.asked, found.features, found.spans, found.counts) < 0:
        return None
    return _results(found, sparse, dense, batched)


# --- sequences


def sequences(
    serialized: Strings,
    sparse: Sequence[Sparse],
    dense: Sequence[Dense],
    sparse_lists: Sequence[Sparse],
    dense_lists: Sequence[Dense],
    may_be_missing: Container[bytes],
    batched: bool = True,
) -> Sequences | None:
    """The features of the contexts and of the steps of a batch of SequenceExamples, or of a single one."""
    code = _RECORDS.ready(serialized.size * (len(sparse) + len(dense) + 8 * (len(sparse_lists) + len(dense_lists))))
    asked, asked_of_steps = _asked(sparse, dense), _asked(sparse_lists, dense_lists)
    if code is None or asked is None or asked_of_steps is None:
        return None
    if any(feature.is_open for feature in [*dense, *dense_lists]):
        return None
    records = serialized.copy()  # which holds what rows point into
    found, lists = _Rows(code, asked, records.size), _Rows(code, asked_of_steps, records.size)
    context = (found.asked, found.features, found.spans, found.counts)
    of_steps = (lists.asked, lists.features, lists.spans, lists.counts)
    if found.quick.locate_sequences(id(records), found.rows, *context, *of_steps) < 0:
        return None
    results = _results(found, sparse, dense, batched)
    measures = lists.measured()
    steps = [_Steps(lists, at, asked_of_steps[at], measures[at][1]) for at in range(lists.features)]
    required = (f.key not in may_be_missing and measures[at][2] for at, f in enumerate(dense_lists, len(sparse_lists)))
    if results is None or any(required) or not all(s.is_usual for s in steps):
        return None
    return Sequences(
        *results,
        [s.sparse(f.dtype, batched) for s, f in zip(steps, sparse_lists)],
        [s.dense(f, batched) for s, f in zip(steps[len(sparse_lists) :], dense_lists)],
        [
            torch.from_numpy(np.maximum(lists.row_counts(at), 0))
            for at in range(len(sparse_lists), len(sparse_lists) + len(dense_lists))
        ],
    )


class Sequences(NamedTuple):
    """What a batch of SequenceExamples has; `lengths` are the steps of each dense list in each record."""

    sparse: list[SparseParts]
    dense: list[AnyTensor]
    sparse_lists: list[SparseParts]
    dense_lists: list[AnyTensor]
    lengths: list[torch.Tensor]


class _Steps:
    """The steps of one feature list as rows: as many for each record as the longest one has."""

    def __init__(self, lists: _Rows, at: int, asked: tuple[bytes, DType, int], longest: int) -> None:
        self.records, self.longest = lists.rows, longest
        self.rows = _Rows(lists.code, [asked], lists.rows * longest)
        spans = lists.spans + 16 * at * lists.rows
        status = self.rows.quick.locate_steps(
            spans, lists.rows, self.rows.asked, longest, self.rows.spans, self.rows.counts
        )
        self.is_usual = status == 0

    def dense(self, feature: Dense, batched: bool) -> AnyTensor:
        """The values of all steps; records with fewer steps are filled up with blanks."""
        shape = [*([self.records] if batched else []), self.longest, *feature.sizes]
        return self.rows.values(0, feature.dtype, shape, feature.values, _BLANK[feature.dtype], 0)

    def sparse(self, dtype: DType, batched: bool) -> SparseParts:
        ((total, widest, _),) = self.rows.measured()
        values = self.rows.values(0, dtype, [total])
        if not batched:
            indices = torch.empty((total, 2), dtype=torch.int64)
            self.rows.quick.fill_indices(self.rows.counts, self.longest, indices.data_ptr())
            return indices, values, torch.tensor([self.longest, widest])
        indices = torch.empty((total, 3), dtype=torch.int64)
        self.rows.quick.fill_step_indices(self.rows.counts, self.records, self.longest, indices.data_ptr())
        return indices, values, torch.tensor([self.records, self.longest, widest])
