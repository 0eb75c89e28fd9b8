"""Datasets at run time: objects that start iterations; sources, and datasets that pass elements on as they are.

An iteration is a function without arguments that returns the next element, a tuple of kernel values, or raises `End`.
It is not a generator since an iteration goes on after an error: the next call gives the next element.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import same
from everflow.kernels.queues.queues import copied, rows_of
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.tensors import AnyTensor, Strings, Value

if TYPE_CHECKING:
    from everflow.framework.graph import Graph
    from everflow.kernels.context import Session, Step
    from everflow.protos.attr_value_pb2 import NameAttrList

Element: TypeAlias = tuple[Value, ...]
Following: TypeAlias = Callable[[], Element]  # gives the next element, or raises `End`
Start: TypeAlias = "Callable[[Iteration], Following]"

_AT_A_TIME = 256

dataset = functools.partial(kernel, result=same())  # it holds what it is made of


class End(Exception):
    """There are no more elements."""


class Iteration:
    """What all datasets below one iterator share: the run that asks at this moment, and whether passes may be fused."""

    def __init__(
        self, step: Step | None = None, fuse: bool = False, noted_seeds: Sequence[tuple[int, int]] = ()
    ) -> None:
        self.step = step
        self.fuse = fuse
        self._functions: dict[str, Callable] = {}
        self._noted = deque((first, second) for first, second in noted_seeds)
        self.seeds: list[tuple[int, int]] = []

    def check(self) -> None:
        """Raise when the run that asks should stop."""
        if self.step is not None:
            self.step.check()

    def seeds_of(self, draw: Callable[[], tuple[int, int]]) -> tuple[int, int]:
        """Seeds for one of its random streams, which it notes; where it repeats an earlier iteration, that one's."""
        self.seeds.append(self._noted.popleft() if self._noted else draw())
        return self.seeds[-1]

    def function(self, session: Session, attr: NameAttrList) -> Callable:
        """A function of the graph. Random ops in it begin their streams anew with each iteration."""
        found = self._functions.get(attr.name)
        if found is None:
            draws = any("seed" in op.attrs for op in _stateful_ops(session.graph, attr.name))
            found = self._functions[attr.name] = session.function(attr, fresh=draws)
        return found

    def stateful_op(self, session: Session) -> str | None:
        """The type of an op in its functions that keeps state of its own, if there is one."""
        return next((op.type for name in self._functions for op in _stateful_ops(session.graph, name)), None)


def _stateful_ops(graph: Graph, name: str) -> list:
    """The ops of a graph's function that keep state from call to call: random ops, Python functions."""
    function: Any = graph._functions[name]
    inputs, outputs = function.body_tensors()
    bodies = {t.graph for t in [*inputs, *outputs]}
    return [op for body in bodies for op in body.get_operations() if op.definition.is_stateful]


class Dataset:
    """A dataset: `start(iteration)` returns a function that gives its elements one by one."""

    def __init__(self, start: Start, cardinality: int = -2, fused_repeat: Callable | None = None) -> None:
        self.start = start
        self.cardinality = cardinality  # -1 infinite, -2 unknown
        # Shuffles have a form of their own for being repeated: count → dataset.
        self.fused_repeat = fused_repeat
        self.parts: list[Dataset] | None = None  # the datasets that one is joined of


class Source(Dataset):
    """A dataset that has its elements from no other one. However datasets are nested, looking for the next element
    comes by here:
    this is where a run that asks for an element that never comes sees that it should stop."""

    def __init__(self, start: Start, cardinality: int = -2) -> None:
        def checking(iteration: Iteration) -> Following:
            following = start(iteration)

            def checked() -> Element:
                if iteration.step is not None:
                    iteration.step.check()
                return following()

            return checked

        super().__init__(checking, cardinality)


class Restarting:
    """Iterates what `make()` does. Ctrl-C may come in the midst of a generator, which is over then: it begins anew,
    where it was.
    """

    def __init__(self, make: Callable) -> None:
        self._make, self._given = make, 0
        self._advance = iter(make()).__next__

    def __iter__(self) -> Restarting:
        return self

    def __next__(self) -> Any:
        try:
            element = self._advance()
        except Exception:
            raise
        except BaseException:
            self._advance = itertools.islice(iter(self._make()), self._given, None).__next__
            raise
        self._given += 1
        return element


def from_iterable(make: Callable, cardinality: int = -2) -> Dataset:
    """A dataset over what `make()` iterates: a source, which checks by itself since most elements come from here."""

    def start(iteration: Iteration) -> Following:
        advance = Restarting(make).__next__

        def following() -> Element:
            if iteration.step is not None:
                iteration.step.check()
            try:
                return advance()
            except StopIteration:
                raise End from None

        return following

    return Dataset(start, cardinality)


def text(value: Strings) -> str:
    """A scalar string as Python text."""
    return value.item().decode() if isinstance(value, np.ndarray) else str(value)


# --- sources ---------------------------------------------------------------------------------


@dataset("TensorDataset")
def tensor_dataset(components: list[Value]) -> Dataset:
    element = tuple(copied(c) for c in components)
    return from_iterable(lambda: [element], 1)


@dataset("TensorSliceDataset")
def tensor_slice_dataset(components: list[Value]) -> Dataset:
    sizes = {len(c) if c.ndim else -1 for c in components}
    if -1 in sizes:
        raise InvalidArgumentError(None, None, "All components must be at least 1-dimensional")
    if len(sizes) > 1:
        raise InvalidArgumentError(None, None, "All components must have the same size in the 0th dimension")
    columns, size = [copied(c) for c in components], sizes.pop()
    return from_iterable(lambda: zip(*map(_rows, columns)), size)


def _rows(column: AnyTensor) -> Iterator[AnyTensor]:
    """The rows of a tensor one by one; some at a time are cut off together, which takes less time than each alone."""
    for begin in range(0, len(column), _AT_A_TIME):
        yield from rows_of(column[begin : begin + _AT_A_TIME])


@dataset("SparseTensorSliceDataset")
def sparse_tensor_slice_dataset(indices: torch.Tensor, values: torch.Tensor, dense_shape: torch.Tensor) -> Dataset:
    rows, row_shape = int(dense_shape[0]), dense_shape[1:].clone()
    indices, values = copied(indices), copied(values)
    owners = indices[:, 0].numpy()
    if (np.diff(owners) < 0).any():
        raise InvalidArgumentError(None, None, "indices must be in order of their rows")

    def elements() -> Iterator[Element]:
        for row in range(rows):
            begin, end = np.searchsorted(owners, row), np.searchsorted(owners, row, side="right")
            yield indices[begin:end, 1:], values[begin:end], row_shape

    return from_iterable(elements, rows)


@dataset("RangeDataset")
def range_dataset(start: torch.Tensor, stop: torch.Tensor, step: torch.Tensor) -> Dataset:
    if int(step) == 0:
        raise InvalidArgumentError(None, None, "step must be a non-zero integer.")
    numbers = range(int(start), int(stop), int(step))

    def elements() -> Iterator[Element]:
        for begin in range(0, len(numbers), _AT_A_TIME):
            some = numbers[begin : begin + _AT_A_TIME]
            yield from zip(rows_of(torch.arange(some.start, some.stop, some.step)))

    return from_iterable(elements, len(numbers))


# --- passing on ------------------------------------------------------------------------------


@dataset("PrefetchDataset")
def prefetch_dataset(input_dataset: Dataset, buffer_size: torch.Tensor) -> Dataset:
    if int(buffer_size) < -1:
        raise InvalidArgumentError(None, None, "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
    return input_dataset


@dataset(
    "ModelDataset", "NonSerializableDataset", "WrapDatasetVariant", "UnwrapDatasetVariant", "MaxIntraOpParallelismDataset",
    "PrivateThreadPoolDataset", "ThreadPoolDataset", "BytesProducedStatsDataset", "LatencyStatsDataset", "SetStatsAggregatorDataset",
    "ExperimentalNonSerializableDataset", "ExperimentalMaxIntraOpParallelismDataset", "ExperimentalPrivateThreadPoolDataset",
    "ExperimentalThreadPoolDataset", "ExperimentalBytesProducedStatsDataset", "ExperimentalLatencyStatsDataset",
    "ExperimentalSetStatsAggregatorDataset",
)  # fmt: skip
def passing_on(input_dataset: Dataset, *settings: Any) -> Dataset:
    return input_dataset


@dataset("SleepDataset", "ExperimentalSleepDataset")
def sleep_dataset(input_dataset: Dataset, sleep_microseconds: torch.Tensor) -> Dataset:
    seconds = int(sleep_microseconds) * 1e-6

    def start(iteration: Iteration) -> Following:
        following = input_dataset.start(iteration)

        def slept() -> Element:
            if iteration.step is None:
                time.sleep(seconds)
            else:
                iteration.step.sleep(seconds)
            return following()

        return slept

    return Dataset(start, input_dataset.cardinality)


@dataset("OptimizeDataset")
def optimize_dataset(input_dataset: Dataset, optimizations: Strings) -> Dataset:
    fuse = b"shuffle_and_repeat_fusion" in optimizations.tolist()

    def start(iteration: Iteration) -> Following:
        iteration.fuse = iteration.fuse or fuse
        return input_dataset.start(iteration)

    return Dataset(start, input_dataset.cardinality)


@fresh("DatasetCardinality", "ExperimentalDatasetCardinality")
def dataset_cardinality(input_dataset: Dataset) -> torch.Tensor:
    return torch.tensor(input_dataset.cardinality)
