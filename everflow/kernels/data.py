"""Datasets at run time: objects that start iterations; sources, and transformations that call no function.

An iteration is a function without arguments that returns the next element, a tuple of kernel values, or raises `End`. It is
not a generator since an iteration goes on after an error: the next call gives the next element.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import DataLossError, InvalidArgumentError
from everflow.kernels.queues import copied, rows_of, shape_text
from everflow.kernels.registry import kernel
from everflow.kernels.tensors import to_numpy

_AT_A_TIME = 256


class End(Exception):
    """There are no more elements."""


class Iteration:
    """What all datasets below one iterator share: the run that asks at this moment, and whether passes may be fused."""

    def __init__(self, step=None, fuse=False, noted_seeds=()):
        self.step = step
        self.fuse = fuse
        self._functions: dict[str, Callable] = {}
        self._noted = deque(noted_seeds)
        self.seeds: list[tuple[int, int]] = []

    def seeds_of(self, draw: Callable[[], tuple[int, int]]) -> tuple[int, int]:
        """Seeds for one of its random streams, which it notes; where it repeats an earlier iteration, that one's."""
        self.seeds.append(tuple(self._noted.popleft()) if self._noted else draw())
        return self.seeds[-1]

    def function(self, session, attr) -> Callable:
        """A function of the graph. Random ops in it begin their streams anew with each iteration."""
        found = self._functions.get(attr.name)
        if found is None:
            draws = any("seed" in op.attrs for op in _stateful_ops(session.graph, attr.name))
            found = self._functions[attr.name] = session.function(attr, fresh=draws)
        return found

    def stateful_op(self, session) -> str | None:
        """The type of an op in its functions that keeps state of its own, if there is one."""
        return next((op.type for name in self._functions for op in _stateful_ops(session.graph, name)), None)


def _stateful_ops(graph, name) -> list:
    """The ops of a graph's function that keep state from call to call: random ops, Python functions."""
    function = graph._functions[name]
    inputs, outputs = function.body_tensors()
    bodies = {t.graph for t in [*inputs, *outputs]}
    return [op for body in bodies for op in body.get_operations() if op.definition.is_stateful]


class Dataset:
    """A dataset: `start(iteration)` returns a function that gives its elements one by one."""

    def __init__(self, start: Callable, cardinality: int = -2, fused_repeat: Callable | None = None):
        self.start = start
        self.cardinality = cardinality  # -1 infinite, -2 unknown
        # Shuffles have a form of their own for being repeated: count → dataset.
        self.fused_repeat = fused_repeat


def from_iterable(make: Callable, cardinality: int = -2) -> Dataset:
    """A dataset over what `make()` iterates."""

    def start(iteration):
        advance = iter(make()).__next__

        def following():
            try:
                return advance()
            except StopIteration:
                raise End from None

        return following

    return Dataset(start, cardinality)


def stack(values: list, component: int = 0):
    """Elements of one component as one tensor along a new first axis."""
    first = values[0]
    if not isinstance(first, (torch.Tensor, np.ndarray)):
        out = np.empty(len(values), object)
        out[:] = values
        return out
    if isinstance(first, torch.Tensor):
        try:
            return torch.stack(values)
        except RuntimeError:
            _check_shapes(values, component)
            raise
    _check_shapes(values, component)
    out = np.empty((len(values), *first.shape), object)
    for i, value in enumerate(values):
        out[i] = value[()] if value.ndim == 0 else value
    return out


def _check_shapes(values: list, component: int) -> None:
    for i, value in enumerate(values):
        if value.shape != values[0].shape:
            raise InvalidArgumentError(
                None,
                None,
                f"Cannot batch tensors with different shapes in component {component}. First element had shape "
                f"{shape_text(values[0].shape)} and element {i} had shape {shape_text(value.shape)}.",
            )


def batched(elements: list) -> tuple:
    """Elements as one, stacked in each component."""
    return tuple(stack(list(column), i) for i, column in enumerate(zip(*elements, strict=True)))


def text(value) -> str:
    """A scalar string as Python text."""
    return value.item().decode() if isinstance(value, np.ndarray) else str(value)


def _limited(cardinality, count):
    return cardinality if count < 0 else count if cardinality == -1 else min(cardinality, count) if cardinality >= 0 else -2


# --- sources ---------------------------------------------------------------------------------


@kernel("TensorDataset")
def tensor_dataset(components):
    element = tuple(copied(c) for c in components)
    return from_iterable(lambda: [element], 1)


@kernel("TensorSliceDataset")
def tensor_slice_dataset(components):
    sizes = {len(c) if c.ndim else -1 for c in components}
    if -1 in sizes:
        raise InvalidArgumentError(None, None, "All components must be at least 1-dimensional")
    if len(sizes) > 1:
        raise InvalidArgumentError(None, None, "All components must have the same size in the 0th dimension")
    columns, size = [copied(c) for c in components], sizes.pop()
    return from_iterable(lambda: zip(*map(_rows, columns)), size)


def _rows(column):
    """The rows of a tensor one by one; some at a time are cut off together, which takes less time than each alone."""
    for begin in range(0, len(column), _AT_A_TIME):
        yield from rows_of(column[begin : begin + _AT_A_TIME])


@kernel("SparseTensorSliceDataset")
def sparse_tensor_slice_dataset(indices, values, dense_shape):
    rows, row_shape = int(dense_shape[0]), dense_shape[1:].clone()
    owners = indices[:, 0].numpy()
    if (np.diff(owners) < 0).any():
        raise InvalidArgumentError(None, None, "indices must be in order of their rows")

    def elements():
        for row in range(rows):
            begin, end = np.searchsorted(owners, row), np.searchsorted(owners, row, side="right")
            yield indices[begin:end, 1:], values[begin:end], row_shape

    return from_iterable(elements, rows)


@kernel("RangeDataset")
def range_dataset(start, stop, step):
    if int(step) == 0:
        raise InvalidArgumentError(None, None, "step must be a non-zero integer.")
    numbers = range(int(start), int(stop), int(step))

    def elements():
        for begin in range(0, len(numbers), _AT_A_TIME):
            some = numbers[begin : begin + _AT_A_TIME]
            yield from zip(rows_of(torch.arange(some.start, some.stop, some.step)))

    return from_iterable(elements, len(numbers))


# --- passing on ------------------------------------------------------------------------------


@kernel("PrefetchDataset")
def prefetch_dataset(input_dataset, buffer_size):
    if int(buffer_size) < -1:
        raise InvalidArgumentError(None, None, "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
    return input_dataset


@kernel(
    "ModelDataset", "NonSerializableDataset", "WrapDatasetVariant", "UnwrapDatasetVariant", "MaxIntraOpParallelismDataset",
    "PrivateThreadPoolDataset", "ThreadPoolDataset", "BytesProducedStatsDataset", "LatencyStatsDataset", "SetStatsAggregatorDataset",
    "ExperimentalNonSerializableDataset", "ExperimentalMaxIntraOpParallelismDataset", "ExperimentalPrivateThreadPoolDataset",
    "ExperimentalThreadPoolDataset", "ExperimentalBytesProducedStatsDataset", "ExperimentalLatencyStatsDataset",
    "ExperimentalSetStatsAggregatorDataset",
)  # fmt: skip
def passing_on(input_dataset, *settings):
    return input_dataset


@kernel("SleepDataset", "ExperimentalSleepDataset")
def sleep_dataset(input_dataset, sleep_microseconds):
    seconds = int(sleep_microseconds) * 1e-6

    def start(iteration):
        following = input_dataset.start(iteration)

        def slept():
            time.sleep(seconds)
            return following()

        return slept

    return Dataset(start, input_dataset.cardinality)


@kernel("OptimizeDataset")
def optimize_dataset(input_dataset, optimizations):
    fuse = b"shuffle_and_repeat_fusion" in optimizations.tolist()

    def start(iteration):
        iteration.fuse = iteration.fuse or fuse
        return input_dataset.start(iteration)

    return Dataset(start, input_dataset.cardinality)


@kernel("DatasetCardinality", "ExperimentalDatasetCardinality")
def dataset_cardinality(input_dataset):
    return torch.tensor(input_dataset.cardinality)


# --- choosing elements -----------------------------------------------------------------------


@kernel("TakeDataset")
def take_dataset(input_dataset, count):
    count = int(count)

    def start(iteration):
        following, left = input_dataset.start(iteration), count

        def take():
            nonlocal left
            if left == 0:
                raise End
            element = following()
            left -= 1
            return element

        return take

    return Dataset(start, _limited(input_dataset.cardinality, count))


@kernel("SkipDataset")
def skip_dataset(input_dataset, count):
    count = int(count)

    def start(iteration):
        following, left = input_dataset.start(iteration), count

        def skip():
            nonlocal left
            if left < 0:
                raise End
            while left > 0:
                following()
                left -= 1
            return following()

        return skip

    known = input_dataset.cardinality
    return Dataset(start, 0 if count < 0 else known if known < 0 else max(0, known - count))


@kernel("ShardDataset")
def shard_dataset(input_dataset, num_shards, index, *, require_non_empty):
    shards, mine = int(num_shards), int(index)
    if shards <= 0:
        raise InvalidArgumentError(None, None, f"Number of shards must be greater than zero (currently num_shards = {shards}).")
    if not 0 <= mine < shards:
        raise InvalidArgumentError(None, None, f"Index must be between 0 and {shards - 1} (currently index = {mine}).")

    def start(iteration):
        following, position = input_dataset.start(iteration), 0

        def shard():
            nonlocal position
            while True:
                element = following()
                position += 1
                if (position - 1) % shards == mine:
                    return element

        return shard

    known = input_dataset.cardinality
    return Dataset(start, known if known < 0 else max(0, -((mine - known) // shards)))


@kernel("UniqueDataset", "ExperimentalUniqueDataset")
def unique_dataset(input_dataset):
    def start(iteration):
        following, seen = input_dataset.start(iteration), set()

        def unique():
            while True:
                element = following()
                key = element[0].item() if element[0].ndim == 0 else tuple(element[0].reshape(-1).tolist())
                if key not in seen:
                    seen.add(key)
                    return element

        return unique

    return Dataset(start)


# --- joining ---------------------------------------------------------------------------------


@kernel("RepeatDataset")
def repeat_dataset(input_dataset, count):
    count = int(count)

    def start(iteration):
        if count == 1:  # nothing to fuse: it is taken away first
            return input_dataset.start(iteration)
        if iteration.fuse and input_dataset.fused_repeat is not None:
            return input_dataset.fused_repeat(count).start(iteration)
        following, done, empty = None, 0, False

        def repeat():
            nonlocal following, done, empty
            while not empty and (count < 0 or done < count):
                fresh = following is None
                if fresh:
                    following = input_dataset.start(iteration)
                try:
                    return following()
                except End:
                    following = None
                    done += 1
                    empty = fresh and count < 0  # else it would look for a first element for ever
            raise End

        return repeat

    known = input_dataset.cardinality
    return Dataset(start, 0 if count == 0 or known == 0 else -1 if count < 0 or known == -1 else known * count if known >= 0 else -2)


@kernel("ConcatenateDataset")
def concatenate_dataset(input_dataset, another_dataset):
    def start(iteration):
        following, last = input_dataset.start(iteration), False

        def concatenate():
            nonlocal following, last
            try:
                return following()
            except End:
                if last:
                    raise
                following, last = another_dataset.start(iteration), True
                return following()

        return concatenate

    sizes = (input_dataset.cardinality, another_dataset.cardinality)
    return Dataset(start, -1 if -1 in sizes else -2 if -2 in sizes else sum(sizes))


@kernel("ZipDataset")
def zip_dataset(input_datasets):
    def start(iteration):
        parts = [d.start(iteration) for d in input_datasets]
        return lambda: tuple(value for part in [following() for following in parts] for value in part)

    sizes = [d.cardinality for d in input_datasets]
    finite = [s for s in sizes if s != -1]
    return Dataset(start, -2 if -2 in sizes else min(finite) if finite else -1)


@kernel("DirectedInterleaveDataset", "ExperimentalDirectedInterleaveDataset")
def directed_interleave_dataset(selector_input_dataset, data_input_datasets):
    def start(iteration):
        select = selector_input_dataset.start(iteration)
        parts = [d.start(iteration) for d in data_input_datasets]
        open_parts = set(range(len(parts)))

        def choose():
            while open_parts:
                index = int(select()[0])
                if not 0 <= index < len(parts):
                    raise InvalidArgumentError(None, None, f"Selector index out of range: {index} >= {len(parts)}")
                if index not in open_parts:
                    continue
                try:
                    return parts[index]()
                except End:
                    open_parts.discard(index)
            raise End

        return choose

    return Dataset(start)


# --- batches ---------------------------------------------------------------------------------


def grouped(input_dataset, size: int, drop_remainder: bool, join: Callable) -> Dataset:
    """`size` elements at a time, made one by `join(elements)`."""
    if size <= 0:
        raise InvalidArgumentError(None, None, "Batch size must be greater than zero.")

    def start(iteration):
        following = input_dataset.start(iteration)

        def batch():
            elements = []
            while len(elements) < size:
                try:
                    elements.append(following())
                except End:
                    if not elements or drop_remainder:
                        raise
                    break
            return join(elements)

        return batch

    known = input_dataset.cardinality
    return Dataset(start, known if known < 0 else known // size if drop_remainder else -(-known // size))


@kernel("BatchDataset")
def batch_dataset(input_dataset, batch_size):
    return grouped(input_dataset, int(batch_size), False, batched)


@kernel("BatchDatasetV2")
def batch_dataset_v2(input_dataset, batch_size, drop_remainder):
    return grouped(input_dataset, int(batch_size), bool(drop_remainder), batched)


def _padded(input_dataset, batch_size, padded_shapes, padding_values, drop_remainder):
    shapes = [s.tolist() for s in padded_shapes]

    def pad_column(values, wanted, filler, component):
        rank = len(wanted)
        for value in values:
            if value.ndim != rank:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"All elements in a batch must have the same rank as the padded shape for component{component}: "
                    f"expected rank {rank} but got element with rank {value.ndim}",
                )
        size = [max(v.shape[d] for v in values) if wanted[d] < 0 else wanted[d] for d in range(rank)]
        for value in values:
            if any(n > s for n, s in zip(value.shape, size)):
                raise DataLossError(
                    None,
                    None,
                    f"Attempted to pad to a smaller size than the input element. ({shape_text(value.shape)} into {shape_text(size)})",
                )
        if isinstance(values[0], torch.Tensor):
            out = torch.full((len(values), *size), filler.item(), dtype=values[0].dtype)
        else:
            out = np.full((len(values), *size), filler.item(), object)
        for i, value in enumerate(values):
            out[(i, *(slice(0, n) for n in value.shape))] = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
        return out

    def join(elements):
        columns = zip(*elements, strict=True)
        return tuple(pad_column(c, s, f, i) for i, (c, s, f) in enumerate(zip(columns, shapes, padding_values, strict=True)))

    return grouped(input_dataset, int(batch_size), drop_remainder, join)


@kernel("PaddedBatchDataset")
def padded_batch_dataset(input_dataset, batch_size, padded_shapes, padding_values):
    return _padded(input_dataset, batch_size, padded_shapes, padding_values, False)


@kernel("PaddedBatchDatasetV2")
def padded_batch_dataset_v2(input_dataset, batch_size, padded_shapes, padding_values, drop_remainder):
    return _padded(input_dataset, batch_size, padded_shapes, padding_values, bool(drop_remainder))


@kernel("UnbatchDataset", "ExperimentalUnbatchDataset")
def unbatch_dataset(input_dataset):
    def start(iteration):
        following, rows = input_dataset.start(iteration), iter(())

        def unbatch():
            nonlocal rows
            while True:
                for row in rows:
                    return row
                components = following()
                if len({len(c) for c in components}) > 1:
                    raise InvalidArgumentError(None, None, "Input element must have the same batch size in each component.")
                rows = zip(*[rows_of(c) for c in components])

        return unbatch

    return Dataset(start)


@kernel("DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset")
def dense_to_sparse_batch_dataset(input_dataset, batch_size, row_shape, *, output_types):
    from everflow.kernels.sparse_serialize import serialize_sparse

    wanted = row_shape.tolist()

    def join(elements):
        values = [e[0] for e in elements]
        for value in values:
            if value.ndim != len(wanted):
                raise InvalidArgumentError(
                    None, None, f"Input element had shape ({shape_text(value.shape)}) that is incompatible with the row shape"
                )
        size = [max(v.shape[d] for v in values) if w < 0 else w for d, w in enumerate(wanted)]
        for value in values:
            if any(n > s for n, s in zip(value.shape, size)):
                raise DataLossError(
                    None, None, f"Input element had shape ({shape_text(value.shape)}) that is incompatible with the row shape"
                )
        places = [
            np.concatenate(
                [np.full((v.numel() if isinstance(v, torch.Tensor) else v.size, 1), i), np.indices(v.shape).reshape(v.ndim, -1).T], 1
            )
            for i, v in enumerate(values)
        ]
        indices = torch.from_numpy(np.concatenate(places).astype(np.int64))
        flat = [v.reshape(-1) for v in values]
        joined = torch.cat(flat) if isinstance(flat[0], torch.Tensor) else np.concatenate(flat)
        shape = torch.tensor([len(values), *size])
        kind = dtypes.string if isinstance(joined, np.ndarray) else dtypes.as_dtype(to_numpy(joined).dtype)
        return (serialize_sparse(indices, joined, shape, T=kind, out_type=dtypes.variant),)

    return grouped(input_dataset, int(batch_size), False, join)


@kernel("IgnoreErrorsDataset", "ExperimentalIgnoreErrorsDataset")
def ignore_errors_dataset(input_dataset):
    def start(iteration):
        following = input_dataset.start(iteration)

        def ignore():
            while True:
                try:
                    return following()
                except End:
                    raise
                except Exception:  # every failing element is left out: that is what the dataset is for
                    continue

        return ignore

    return Dataset(start)
