"""Datasets at run time: objects that start iterations; sources, and datasets that pass elements on as they are.

An iteration is a function without arguments that returns the next element, a tuple of kernel values, or raises `End`.
It is not a generator since an iteration goes on after an error: the next call gives the next element.
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError, UnimplementedError
from everflow.kernels.data import stages
from everflow.kernels.data.origins import MAKERS, Origin
from everflow.kernels.facts import same
from everflow.kernels.queues.queues import copied, rows_of
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.tensors import AnyTensor, Strings, Value
from everflow.protos.attr_value_pb2 import NameAttrList

if TYPE_CHECKING:
    from everflow.framework.graph import Graph
    from everflow.framework.operation import Operation
    from everflow.kernels.context import Node, Session, Step
    from everflow.kernels.data.stages import Stage
    from everflow.kernels.data.stats import Recorder

_F = TypeVar("_F", bound=Callable)
Element: TypeAlias = tuple[Value, ...]
Following: TypeAlias = Callable[[], Element]  # gives the next element, or raises `End`
Start: TypeAlias = "Callable[[Iteration], Following]"
Take: TypeAlias = Callable[[int], Any]  # gives up to so many elements, as columns or as numbers of rows; see `Blocks`
StartBlocks: TypeAlias = "Callable[[Iteration], Take]"

_AT_A_TIME = 256
# Ops with state of which calls may come in any order: what they look at stays as it is, or it is Python's to mind.
_IN_ANY_ORDER = frozenset(
    """
    Assert EagerPyFunc HashTable HashTableV2 LookupTableFind LookupTableFindV2 LookupTableSize LookupTableSizeV2 PyFunc ReadVariableOp
    VarHandleOp
    """.split()
)
# Of these, the ones whose call nobody sees.
_UNSEEN = _IN_ANY_ORDER - {"EagerPyFunc", "PyFunc", "ReadVariableOp", "VarHandleOp"}
_QUIET = frozenset(
    """
    FixedLengthRecordDataset FixedLengthRecordDatasetV2 HashTableV2 LookupTableFindV2 LookupTableSizeV2 RangeDataset RepeatDataset SkipDataset
    TFRecordDataset TakeDataset TensorDataset TensorSliceDataset TextLineDataset
    """.split()
)
_FUNCTION_CALLS = frozenset(
    ("If", "PartitionedCall", "StatefulPartitionedCall", "StatelessIf", "StatelessWhile", "While")
)
_BLOCKS = frozenset(("map_and_batch_fusion", "map_vectorization"))


def dataset(*op_types: str) -> Callable[[_F], _F]:
    """Register a kernel that makes a dataset, which holds what it is made of, and remembers how it was made."""

    def register(function: _F) -> _F:
        make = _remembering(op_types[0], function)
        MAKERS.update(dict.fromkeys(op_types, make))
        kernel(*op_types, result=same())(make)
        return function

    return register


def _remembering(op_type: str, function: Callable[..., Dataset]) -> Callable[..., Dataset]:
    """The same, which tells its datasets how they were made: by the op of a node, or else by one of this type."""
    asked = inspect.signature(function)

    @functools.wraps(function)
    def make(*inputs: Any, node: Node | None = None, **attributes: Any) -> Dataset:
        if "node" in asked.parameters:
            attributes["node"] = node
        made = function(*inputs, **attributes)
        kind = op_type if node is None else node.type.removeprefix("Experimental")
        if made.origin is None:
            made.came_from(Origin(kind, make, inputs, attributes, node))
        return made

    if "node" not in asked.parameters:
        at_node = inspect.Parameter("node", inspect.Parameter.KEYWORD_ONLY)
        parameters = [*asked.parameters.values(), at_node]
        make.__signature__ = asked.replace(parameters=parameters)  # type: ignore[attr-defined]
    return make


class End(Exception):
    """There are no more elements."""


class Iteration:
    """What all datasets below one iterator share: the run that asks at this moment, and which rewrites it wants."""

    def __init__(self, step: Step | None = None, noted_seeds: Sequence[tuple[int, int]] = ()) -> None:
        self.step = step
        self.rewrites: frozenset[str] = frozenset()
        self.top: Dataset | None = None  # what is iterated
        self.stats: Recorder | None = None  # where statistics go
        self.threads = os.cpu_count() or 1  # that share out the calls of one function
        self.has_own_threads = False  # whether that is how many there are in all, the one that asks included
        self.threads_of_a_kernel = 1  # in threads of the pipeline's own
        self.root = self  # what tells it from other iterations, also in threads of its own
        self._functions: dict[tuple[str, int], Callable] = {}
        self._apart: dict[tuple[str, int], tuple[Callable, Callable] | None] = {}
        self._drawing: dict[tuple[str, int], Callable | None] = {}
        self._noted = deque((first, second) for first, second in noted_seeds)
        self.seeds: list[tuple[int, int]] = []

    @property
    def takes_blocks(self) -> bool:
        """Whether batches are made of many elements at a time, functions called for all of them at once. Statistics
        are told for each element.
        """
        return self.stats is None and not _BLOCKS.isdisjoint(self.rewrites)

    @property
    def is_sloppy(self) -> bool:
        """Whether elements may come in another order where one is late."""
        return "make_sloppy" in self.rewrites

    def apart(self) -> Iteration:
        """The same iteration for a part of it that runs in a thread of its own, in steps of its own."""
        return copy.copy(self)

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
        key = _instance_of(attr)
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = session.function(attr, fresh=self.draws(session, attr))
        return found

    def function_apart(self, session: Session, attr: NameAttrList, captured: int) -> tuple[Callable, Callable] | None:
        """A function as two: the first draws the random numbers that the second takes after its inputs but the last
        `captured`.
        """
        key = _instance_of(attr)
        if key not in self._apart:
            self.function(session, attr)  # it is one of this iteration's
            self._apart[key] = session.functions.apart(attr.name, captured)
        return self._apart[key]

    def drawing(self, session: Session, attr: NameAttrList) -> Callable | None:
        """What draws a function's random numbers for several calls at once."""
        key = _instance_of(attr)
        if key not in self._drawing:
            self.function(session, attr)  # it is one of this iteration's
            self._drawing[key] = session.functions.drawing(attr.name)
        return self._drawing[key]

    @staticmethod
    def draws(session: Session, attr: NameAttrList) -> bool:
        """Whether a function has random ops."""
        return any("seed" in op.attrs for op in stateful_ops(session.graph, attr.name))

    def may_call_at_once(self, session: Session, attr: NameAttrList) -> bool:
        """Whether several calls of a function may go on at the same time: none of its ops shows which came first, but
        random ones, which may be called before.
        """
        return _has_state_only(session.graph, attr.name, _IN_ANY_ORDER)

    @staticmethod
    def may_call_ahead(session: Session, attr: NameAttrList) -> bool:
        """Whether nobody sees that a function was called for elements that are never asked for."""
        return _has_state_only(session.graph, attr.name, _UNSEEN)

    @staticmethod
    def is_quiet(session: Session, attr: NameAttrList) -> bool:
        """Whether nobody sees that a function is called before its results are asked for: it only looks at tables, and
        makes datasets of files and arrays.
        """
        function: Any = session.graph._functions[attr.name]
        ops = function.body_tensors()[1][0].graph.get_operations()
        return all(
            op.type in _QUIET if op.definition.is_stateful or "Dataset" in op.type else op.type not in _FUNCTION_CALLS
            for op in ops
        )

    @staticmethod
    def may_iterate_at_once(session: Session, attr: NameAttrList) -> bool:
        """Whether several datasets that a function makes may be iterated at the same time: nothing random is in them,
        and no op that shows which came first.
        """
        names, seen = [attr.name], set()
        while names:
            seen.add(name := names.pop())
            function: Any = session.graph._functions[name]
            for op in function.body_tensors()[1][0].graph.get_operations():
                is_shown = op.definition.is_stateful and "Dataset" not in op.type and op.type not in _IN_ANY_ORDER
                if is_shown or "Shuffle" in op.type or "Random" in op.type or "seed" in op.attrs:
                    return False
                called = (v.name for v in op.attrs.values() if isinstance(v, NameAttrList))
                names += [name for name in called if name not in seen]
        return True

    def stateful_op(self, session: Session) -> str | None:
        """The type of an op in its functions that keeps state of its own, if there is one."""
        found = (kept_state(session.graph, name) for name, _ in list(self._functions))
        return next((kind for kind in found if kind is not None), None)


# Where one dataset is used in several places, functions with random streams are told apart by this attribute.
INSTANCE = "_instance"


def _instance_of(attr: NameAttrList) -> tuple[str, int]:
    return attr.name, attr.attr[INSTANCE].i if INSTANCE in attr.attr else 0


def stateful_ops(graph: Graph, name: str) -> list:
    """The ops of a graph's function that keep state from call to call: random ops, Python functions."""
    function: Any = graph._functions[name]
    inputs, outputs = function.body_tensors()
    bodies = {t.graph for t in [*inputs, *outputs]}
    return [op for body in bodies for op in body.get_operations() if op.definition.is_stateful]


# Ops that count as having state, and don't keep a dataset from being written or its iterator from being saved.
_HARMLESS = frozenset("Assert LookupTableFindV2 LookupTableSizeV2 Print PrintV2 Timestamp".split())
# Datasets are made anew where they are needed, but for these.
_KEEPING = frozenset("ExperimentalGroupByReducerDataset GeneratorDataset GroupByReducerDataset ReduceDataset".split())


def kept_state(graph: Graph, name: str, allowed: frozenset[str] = frozenset()) -> str | None:
    """The type of the first op in a function, or in one that it calls, whose state can't be left behind; or None."""
    for op in stateful_ops(graph, name):
        kind = op.type
        if kind in _HARMLESS or kind in allowed or ("Dataset" in kind and kind not in _KEEPING):
            continue
        called = () if kind in _KEEPING else _called_by(graph, op)
        inner = (kept_state(graph, function, allowed) for function in called)
        found = next((each for each in inner if each is not None), None) if called else kind
        if found is not None:
            return found
    return None


def _called_by(graph: Graph, op: Operation) -> list[str]:
    """The names of the functions that an op calls."""
    given = [v for value in op.attrs.values() for v in (value if isinstance(value, list) else [value])]
    named = [value.name for value in given if isinstance(value, NameAttrList)]
    return [*named, *([op.type] if op.type in graph._functions else [])]


def _has_state_only(graph: Graph, name: str, allowed: frozenset[str]) -> bool:
    """Whether a function's ops with state are random ones, some of those allowed, or calls of functions of which all of
    them are allowed.
    """
    return all(
        op.type in allowed or "seed" in op.attrs or _calls_only(graph, op, allowed) for op in stateful_ops(graph, name)
    )


def _calls_only(graph: Graph, op: Operation, allowed: frozenset[str]) -> bool:
    called = [value.name for value in op.attrs.values() if isinstance(value, NameAttrList)]
    inner = [op for name in called for op in stateful_ops(graph, name)]
    return bool(called) and all(op.type in allowed or _calls_only(graph, op, allowed) for op in inner)


class Blocks:
    """A dataset's elements many at a time: `start(iteration)` returns a function `take(n)`.

    That gives up to n of the elements that come next, at least one, as columns: one tensor for each component, with the
    elements along its first axis. It raises `End`, or the error of an element, where that is what comes next.
    Where elements are rows of `columns`, what it gives are the numbers of rows, as one array.
    """

    def __init__(
        self,
        start: StartBlocks,
        columns: Sequence[AnyTensor] | None = None,
        *,
        quiet: bool = False,
        lists: bool = False,
        shared_out: bool = False,
    ) -> None:
        self.start = start
        self.columns = columns
        self.stage: Stage | None = None  # whose time is taken when they are
        self.quiet = quiet  # whether nobody sees that elements are read before they are asked for
        self.lists = lists  # whether columns may be `Lists`
        self.shared_out = shared_out  # whether threads make them

    def start_columns(self, iteration: Iteration) -> Take:
        """The same with rows of columns looked up."""
        take, columns = self.start(iteration), self.columns
        if columns is None:
            return take
        return lambda n: tuple(_looked_up(columns, take(n)))


def _looked_up(columns: Sequence[AnyTensor], numbers: np.ndarray) -> Iterator[AnyTensor]:
    first, count = int(numbers[0]), len(numbers)
    if count == 1 or (numbers[-1] - first == count - 1 and (np.diff(numbers) == 1).all()):
        return (column[first : first + count] for column in columns)
    places = torch.from_numpy(numbers)
    return (c.index_select(0, places) if isinstance(c, torch.Tensor) else c[numbers] for c in columns)


class Lists:
    """A column of vectors of different lengths: all their values behind each other, and how many there are of each."""

    def __init__(self, values: AnyTensor, lengths: torch.Tensor) -> None:
        self.values, self.lengths = values, lengths

    def __len__(self) -> int:
        return len(self.lengths)

    def rows(self) -> Sequence[AnyTensor]:
        """The vectors one by one."""
        if isinstance(self.values, torch.Tensor):
            return list(self.values.split(self.lengths.tolist()))
        return np.split(self.values, self.lengths.cumsum(0)[:-1].numpy())


def no_blocks() -> None:
    """For a dataset that gives its elements one by one only."""


class Dataset:
    """A dataset: `start(iteration)` returns a function that gives its elements one by one.

    `blocks()` gives the form that has many elements at a time, if there is one.
    """

    def __init__(
        self,
        start: Start,
        cardinality: int = -2,
        blocks: Callable[[], Blocks | None] = no_blocks,
    ) -> None:
        self.start = start
        self.cardinality = cardinality  # -1 infinite, -2 unknown
        self._make_blocks = blocks
        self.parts: list[Dataset] | None = None  # the datasets that one is joined of
        self.origin: Origin | None = None  # how it was made
        self.functions: list[Any] = []  # the graph's functions that it calls
        self.asserts = False  # whether it, or one below it, says which datasets must come after it
        self.rewritten: dict[frozenset[str], Dataset] = {}  # what it is with some rewrites
        self.stage: Stage | None = None  # its place in a report on where time goes, if there is one

    def came_from(self, origin: Origin) -> None:
        """Remember how it was made, and keep the functions it calls."""
        self.origin = origin
        self.functions = origin.functions()
        if stages.IS_WATCHING:
            stages.watched(self, origin.op_type, origin.inputs, origin.attributes)
        self.asserts = origin.op_type == "AssertNextDataset" or any(part.asserts for part in origin.sources())

    @functools.cached_property
    def blocks(self) -> Blocks | None:
        """Its elements many at a time, if it has such a form; columns are tensors."""
        return None if self.listed is None or self.listed.lists else self.listed

    @functools.cached_property
    def listed(self) -> Blocks | None:
        """The same where columns may be `Lists`, too."""
        return self._make_blocks()


def same_elements(input_dataset: Dataset) -> Dataset:
    """A dataset that passes on those of another one."""
    made = Dataset(input_dataset.start, input_dataset.cardinality, blocks=lambda: input_dataset.listed)
    made.stage = input_dataset.stage
    return made


class Source(Dataset):
    """A dataset that has its elements from no other one. However datasets are nested, looking for the next element
    comes by here:
    this is where a run that asks for an element that never comes sees that it should stop."""

    def __init__(self, start: Start, cardinality: int = -2, blocks: Callable[[], Blocks | None] = no_blocks) -> None:
        def checking(iteration: Iteration) -> Following:
            following = start(iteration)

            def checked() -> Element:
                if iteration.step is not None:
                    iteration.step.check()
                return following()

            return checked

        super().__init__(checking, cardinality, blocks=blocks)


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


def from_iterable(make: Callable, cardinality: int = -2, blocks: Callable[[], Blocks | None] = no_blocks) -> Dataset:
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

    return Dataset(start, cardinality, blocks=blocks)


def rows_in_order(columns: Sequence[AnyTensor], size: int) -> Blocks:
    """The rows of columns, the first one first."""

    def start(iteration: Iteration) -> Take:
        at = 0

        def take(n: int) -> np.ndarray:
            nonlocal at
            iteration.check()
            if at >= size:
                raise End
            begin, at = at, min(at + n, size)
            return np.arange(begin, at)

        return take

    return Blocks(start, columns, quiet=True)


def text(value: Strings) -> str:
    """A scalar string as Python text."""
    return value.item().decode() if isinstance(value, np.ndarray) else str(value)


# --- sources ---------------------------------------------------------------------------------


@dataset("TensorDataset")
def tensor_dataset(components: list[Value]) -> Dataset:
    element = tuple(copied(c) for c in components)
    columns = [c[None] for c in element if isinstance(c, (torch.Tensor, np.ndarray))]
    return from_iterable(
        lambda: [element], 1, lambda: rows_in_order(columns, 1) if len(columns) == len(element) else None
    )


@dataset("TensorSliceDataset")
def tensor_slice_dataset(components: list[Value]) -> Dataset:
    sizes = {len(c) if c.ndim else -1 for c in components}
    if -1 in sizes:
        raise InvalidArgumentError(None, None, "All components must be at least 1-dimensional")
    if len(sizes) > 1:
        raise InvalidArgumentError(None, None, "All components must have the same size in the 0th dimension")
    columns, size = [copied(c) for c in components], sizes.pop()
    return from_iterable(lambda: zip(*map(_rows, columns)), size, lambda: rows_in_order(columns, size))


def _rows(column: AnyTensor) -> Iterator[AnyTensor]:
    """The rows of a tensor one by one; some at a time are cut off together, which takes less time than each alone."""
    for begin in range(0, len(column), _AT_A_TIME):
        yield from rows_of(column[begin : begin + _AT_A_TIME])


@dataset("SparseTensorSliceDataset")
def sparse_tensor_slice_dataset(indices: torch.Tensor, values: torch.Tensor, dense_shape: torch.Tensor) -> Dataset:
    rows, row_shape = int(dense_shape[0]), dense_shape[1:].clone()
    indices, values = copied(indices), copied(values)
    owners = indices[:, 0].numpy()
    if indices.shape[1] != len(dense_shape):
        raise InvalidArgumentError(None, None, f"indices of rank {indices.shape[1]} don't fit {dense_shape.tolist()}")
    if (np.diff(owners) < 0).any():
        raise UnimplementedError(None, None, "indices must be in order of their rows")

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

    def start_blocks(iteration: Iteration) -> Take:
        take = rows_in_order((), len(numbers)).start(iteration)
        return lambda n: (torch.from_numpy(take(n) * numbers.step + numbers.start),)

    return from_iterable(elements, len(numbers), lambda: Blocks(start_blocks, quiet=True))


# --- passing on ------------------------------------------------------------------------------


@dataset("ModelDataset")
def model_dataset(input_dataset: Dataset, *, cpu_budget: int = 0) -> Dataset:
    if cpu_budget < 0:
        raise InvalidArgumentError(None, None, f"The budget of CPUs must not be below zero, but is {cpu_budget}")
    return same_elements(input_dataset)


@dataset(
    "NonSerializableDataset", "WrapDatasetVariant", "UnwrapDatasetVariant", "ExperimentalNonSerializableDataset",
)  # fmt: skip
def passing_on(input_dataset: Dataset, *settings: Any) -> Dataset:
    return same_elements(input_dataset)


@dataset("SleepDataset", "ExperimentalSleepDataset")
def sleep_dataset(input_dataset: Dataset, sleep_microseconds: torch.Tensor) -> Dataset:
    if int(sleep_microseconds) < 0:
        problem = f"`sleep_microseconds` must be >= 0, not {int(sleep_microseconds)}"
        raise InvalidArgumentError(None, None, problem)
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


@fresh("DatasetCardinality", "ExperimentalDatasetCardinality")
def dataset_cardinality(input_dataset: Dataset) -> torch.Tensor:
    return torch.tensor(input_dataset.cardinality)
