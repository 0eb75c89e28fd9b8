"""Queues at run time: first in first out, padded, shuffled, by priority; what waits in them, and what closing them
means.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from sys import getrefcount
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
import torch

from everflow.framework import dtypes
from everflow.framework.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from everflow.framework.forking import renewed
from everflow.framework.shapes import TensorShape
from everflow.kernels.facts import Effect, Waits
from everflow.kernels.old_handles import OldHandle
from everflow.kernels.queues.stages import watched_queue
from everflow.kernels.random.philox import Philox
from everflow.kernels.registry import acting, kernel, reading
from everflow.kernels.tensors import AnyTensor, Value, has_memory_alone, torch_dtype

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Session, Step

KIND = "queue"


def shape_text(shape: Sequence[int | None]) -> str:
    """A shape as messages show it."""
    return "[" + ",".join("?" if d is None else str(int(d)) for d in shape) + "]"


def copied(value: Value) -> Value:
    """A tensor of its own: what waits outside a run must not change with the buffers of one."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    return value.copy() if isinstance(value, np.ndarray) else value


def stacked(values: list, dtype: DType, shape: Sequence[int]) -> Value:
    """Elements as one tensor along a new first axis; `shape` is that of an element, for when there are none."""
    if values and not isinstance(values[0], (torch.Tensor, np.ndarray)):
        return values
    if dtype is dtypes.string:
        out = np.empty((len(values), *(values[0].shape if values else shape)), object)
        for i, value in enumerate(values):
            out[i] = value[()] if value.ndim == 0 else value
        return out
    return torch.stack(values) if values else torch.empty((0, *shape), dtype=torch_dtype(dtype))


def rows_of(tensor: AnyTensor) -> list:
    """The elements along the first axis, each a tensor."""
    if isinstance(tensor, np.ndarray):
        return [np.array(row, object) if not isinstance(row, np.ndarray) else row for row in tensor]
    return list(tensor.unbind(0)) if tensor.shape[0] else []


class Turns:
    """Those who wait, in the order in which they came."""

    def __init__(self) -> None:
        self._waiting = deque()
        renewed(self)

    def _at_fork_reinit(self) -> None:
        self._waiting.clear()

    def __len__(self) -> int:
        return len(self._waiting)

    def join(self, turn: Any = None) -> Any:
        turn = object() if turn is None else turn
        self._waiting.append(turn)
        return turn

    def leave(self, turn: object) -> None:
        self._waiting.remove(turn)

    def first(self, turn: object) -> bool:
        return self._waiting[0] is turn

    def __iter__(self) -> Iterator:
        return iter(self._waiting)


class _Wanted:
    """How many elements somebody waits for, and those that are there."""

    def __init__(self, count: int) -> None:
        self.count, self.taken = count, []

    @property
    def missing(self) -> int:
        return self.count - len(self.taken)


Item: TypeAlias = tuple[Value, ...]


class Queue(OldHandle):
    """What all queues share: elements are tuples of tensors, one for each component; this one gives the oldest first."""

    least_left = 0  # elements that stay while the queue is open
    seeds = 0, 0

    def __init__(self, name: str, component_types: list[DType], shapes: list[TensorShape], capacity: int) -> None:
        self.name, self.component_types = name, tuple(component_types)
        # Of each component; None where nothing is known of it.
        self.shapes: Any = [s.as_list() if s.ndims is not None else None for s in shapes] if shapes else None
        self.capacity = capacity if capacity >= 0 else float("inf")
        self.condition = renewed(threading.Condition())
        self.closed = False
        self.putting, self.taking = Turns(), Turns()
        self.items: Any = self.make_store()

    # --- the store: subclasses order it differently

    def make_store(self) -> deque | list:
        return deque()

    def push(self, item: Item) -> None:
        self.items.append(item)

    def pop(self) -> Item:
        return self.items.popleft()

    def push_back(self, items: list[Item]) -> None:
        """Return what was taken and can't be handed out."""
        self.items.extendleft(reversed(items))

    # --- checks

    def check_put(self, components: list[Value], batched: bool) -> None:
        if len(components) != len(self.component_types):
            raise InvalidArgumentError(
                None,
                None,
                f"An element of this queue has {len(self.component_types)} components, but {len(components)} came",
            )
        if self.shapes is None:
            return
        for i, (component, shape) in enumerate(zip(components, self.shapes, strict=True)):
            got = list(component.shape)
            if batched:
                expected = [len(components[0]) if components[0].ndim else 0, *shape]
            else:
                expected = shape
            if not self.fits(got, expected):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Shape mismatch in tuple component {i}. Expected {shape_text(expected)}, got {shape_text(got)}",
                )

    def fits(self, got: list[int], expected: list) -> bool:
        return got == expected

    # --- putting

    def put(self, items: list[Item], step: Step) -> None:
        """Put elements in, one by one as there is room."""
        with self.condition:
            if self.closed:
                raise CancelledError(None, None, f"{type(self).__name__} '{self.name}' is closed.")
            turn = self.putting.join()
            try:
                for item in items:
                    step.wait_for(
                        self.condition,
                        lambda: self.closed or (self.putting.first(turn) and len(self.items) < self.capacity),
                    )
                    if self.closed:
                        raise CancelledError(None, None, f"{type(self).__name__} '{self.name}' is closed.")
                    self.push(item)
                    self._serve()
            finally:
                self.putting.leave(turn)
                if self.putting:
                    self.condition.notify_all()

    # --- taking

    def _can_take(self) -> bool:
        return bool(self.items) and (self.closed or len(self.items) > self.least_left)

    def _refuse(self, wanted: int, had: int) -> NoReturn:
        raise OutOfRangeError(
            None,
            None,
            f"{type(self).__name__} '{self.name}' is closed and has insufficient elements (requested {wanted}, current size {had})",
        )

    def _serve(self) -> None:
        """Give elements to those who wait for them, in the order in which they came. They are woken once they have all
        they want, not for each element.
        """
        for wanted in self.taking:
            while wanted.missing and self._can_take() and not (self.closed and len(self.items) < wanted.missing):
                wanted.taken.append(self.pop())
            if wanted.missing:
                return
            self.condition.notify_all()

    def take(self, count: int, step: Step, up_to: bool = False) -> list:
        """Take `count` elements, waiting for them; fewer only with `up_to`, once the queue is closed.

        Elements are taken as they come, so others don't get them; a run that is given up loses them.
        """
        wanted = _Wanted(count)
        with self.condition:
            self.taking.join(wanted)
            try:
                self._serve()
                if self.putting:
                    self.condition.notify_all()  # there may be room now
                while wanted.missing:
                    step.wait_for(
                        self.condition, lambda: not wanted.missing or (self.closed and self.taking.first(wanted))
                    )
                    if wanted.missing and len(self.items) < wanted.missing:
                        if not up_to or not (wanted.taken or self.items):
                            self.push_back(wanted.taken)
                            self._refuse(wanted.count, len(self.items))
                        wanted.count = len(wanted.taken) + len(self.items)
                    self._serve()
                return wanted.taken
            finally:
                self.taking.leave(wanted)
                self.condition.notify_all()

    # --- the rest

    def close(self, cancel_pending: bool, step: Step) -> None:
        """Take no more elements. Unless they are to be cancelled, those who wait to put theirs in go first."""
        with self.condition:
            turn = self.putting.join()
            try:
                if not cancel_pending:
                    step.wait_for(self.condition, lambda: self.closed or self.putting.first(turn))
                if self.closed and not cancel_pending:
                    raise CancelledError(None, None, f"Queue '{self.name}' is already closed.")
                self.closed = True
            finally:
                self.putting.leave(turn)
                self.condition.notify_all()

    def agrees_on(self, what: str, other: Queue) -> bool:
        """Whether a queue that is shared is in one respect what this one would be."""
        return bool(getattr(self, what) == getattr(other, what))

    def batch(self, items: list[Item]) -> list[Value]:
        """Elements as one tensor for each component."""
        columns = zip(*items, strict=True) if items else [()] * len(self.component_types)
        return [
            stacked(list(column), t, s) for column, t, s in zip(columns, self.component_types, self.shapes, strict=True)
        ]


class FIFOQueue(Queue):
    """The oldest element first."""


class PaddingFIFOQueue(Queue):
    """Elements of different sizes; those taken together are filled up with zeros to the largest."""

    def fits(self, got: list[int], expected: list) -> bool:
        return len(got) == len(expected) and all(e is None or g == e for g, e in zip(got, expected, strict=True))

    def agrees_on(self, what: str, other: Queue) -> bool:
        if what != "shapes":
            return super().agrees_on(what, other)
        return len(self.shapes) == len(other.shapes) and all(
            TensorShape(mine).is_compatible_with(TensorShape(its))
            for mine, its in zip(self.shapes, other.shapes, strict=True)
        )

    def batch(self, items: list[Item]) -> list[Value]:
        out = []
        for i, (dtype, shape) in enumerate(zip(self.component_types, self.shapes, strict=True)):
            column = [item[i] for item in items]
            size = [
                max((v.shape[d] for v in column), default=0) if known is None else known
                for d, known in enumerate(shape)
            ]
            out.append(stacked([self._padded(v, size, dtype) for v in column], dtype, size))
        return out

    @staticmethod
    def _padded(value: Value, size: list[int], dtype: DType) -> Value:
        if list(value.shape) == size:
            return value
        if dtype is dtypes.string:
            padded: Value = np.full(size, b"", object)
        else:
            padded = torch.zeros(size, dtype=value.dtype)
        padded[tuple(slice(0, n) for n in value.shape)] = value
        return padded


class RandomShuffleQueue(Queue):
    """A random element each time; at least `min_after_dequeue` stay while it is open."""

    def __init__(
        self,
        name: str,
        component_types: list[DType],
        shapes: list[TensorShape],
        capacity: int,
        min_after_dequeue: int,
        seed: int,
        seed2: int,
    ) -> None:
        super().__init__(name, component_types, shapes, capacity)
        if min_after_dequeue < 0:
            raise InvalidArgumentError(None, None, f"min_after_dequeue must not be below zero: {min_after_dequeue}")
        if capacity >= 0 and min_after_dequeue >= capacity:
            raise InvalidArgumentError(
                None, None, f"min_after_dequeue {min_after_dequeue} must be < capacity {capacity}"
            )
        self.least_left = min_after_dequeue
        self.seeds = seed, seed2
        self._place = Philox.from_seeds(seed, seed2)
        self._words: list = []

    def agrees_on(self, what: str, other: Queue) -> bool:
        # Without a seed of its own, any will do.
        return super().agrees_on(what, other) or (what == "seeds" and not any(self.seeds))

    def make_store(self) -> list:
        return []

    def _random(self) -> int:
        if not self._words:
            self._words = self._place.words(1)[0].tolist()[::-1]
            self._place = self._place.skipped(1)
        return self._words.pop()

    def pop(self) -> Item:
        # The last one takes the place of the one drawn.
        at = self._random() % len(self.items)
        self.items[at], self.items[-1] = self.items[-1], self.items[at]
        return self.items.pop()

    def push_back(self, items: list[Item]) -> None:
        self.items.extend(items)


class PriorityQueue(Queue):
    """The element with the lowest first component first."""

    def __init__(self, *args: Any) -> None:
        self._order = itertools.count()
        super().__init__(*args)

    def make_store(self) -> list:
        return []

    def push(self, item: Item) -> None:
        heapq.heappush(self.items, (int(item[0]), next(self._order), item))

    def pop(self) -> Item:
        return heapq.heappop(self.items)[2]

    def push_back(self, items: list[Item]) -> None:
        for item in items:
            self.push(item)


# --- kernels ----------------------------------------------------------------------------------


def shared_resource(
    kind: str,
    node: Node,
    session: Session,
    container: str,
    shared_name: str,
    make: type | Callable[..., Value],
    agree: Callable | None = None,
) -> Value:
    """The object behind a node: one of its own in this session, or the one of all nodes with this `shared_name`.

    `make(name)` makes it; `agree(found)` raises where a shared one is not what the node describes.
    """
    if not shared_name:
        return session.own(kind, node.name, lambda: make(f"_{len(session.private)}_{node.name}"))
    found = session.resources.lookup_or_create(container, kind, shared_name, lambda: make(shared_name))
    if agree is not None:
        agree(found)
    return found


def _queue(
    cls: type[Queue],
    node: Node,
    session: Session,
    container: str,
    shared_name: str,
    component_types: list[DType],
    shapes: list[TensorShape],
    capacity: int,
    *more: int,
) -> Value:
    def make(name: str) -> Value:
        return cls(name, component_types, shapes, capacity, *more)

    def agree(found: Any) -> None:
        mine = make(shared_name)
        for what in ("capacity", "component_types", "shapes", "least_left", "seeds"):
            if type(found) is not cls or not mine.agrees_on(what, found):
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Shared queue '{shared_name}' is a {type(found).__name__} with another {what} than node {node.name} has.",
                )

    return shared_resource(
        KIND, node, session, container, shared_name, lambda name: watched_queue(make(name), node.name), agree
    )


@kernel("FIFOQueue", "FIFOQueueV2", once=True)
def fifo_queue(
    *,
    component_types: list[DType],
    shapes: list[TensorShape],
    capacity: int,
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
) -> FIFOQueue:
    return _queue(FIFOQueue, node, session, container, shared_name, component_types, shapes, capacity)


@kernel("PaddingFIFOQueue", "PaddingFIFOQueueV2", once=True)
def padding_fifo_queue(
    *,
    component_types: list[DType],
    shapes: list[TensorShape],
    capacity: int,
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
) -> PaddingFIFOQueue:
    return _queue(PaddingFIFOQueue, node, session, container, shared_name, component_types, shapes, capacity)


@kernel("PriorityQueue", "PriorityQueueV2", once=True)
def priority_queue(
    *,
    component_types: list[DType],
    shapes: list[TensorShape],
    capacity: int,
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
) -> PriorityQueue:
    # The priority is a component that the attributes leave out.
    types, known = [dtypes.int64, *component_types], [TensorShape([]), *shapes] if shapes else []
    return _queue(PriorityQueue, node, session, container, shared_name, types, known, capacity)


@kernel("RandomShuffleQueue", "RandomShuffleQueueV2", once=True)
def random_shuffle_queue(
    *,
    component_types: list[DType],
    shapes: list[TensorShape],
    capacity: int,
    min_after_dequeue: int,
    seed: int,
    seed2: int,
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
) -> RandomShuffleQueue:
    more = min_after_dequeue, seed, seed2
    return _queue(RandomShuffleQueue, node, session, container, shared_name, component_types, shapes, capacity, *more)


def _two_forms(name: str) -> tuple[str, str]:
    """The op types of an op on handles: by reference and by resource."""
    return name, name + "V2"


# References to a value that was made for the call alone: the run's variable, the list of components, and who asks.
_OWN_REFERENCES = 4


def _own(components: list[Value]) -> Item:
    """Values as they are where nobody else holds them, such as an image that was just decoded, and copies of others."""
    own = []
    for value in components:
        is_alone = isinstance(value, torch.Tensor) and getrefcount(value) <= _OWN_REFERENCES and has_memory_alone(value)
        own.append(value if is_alone else copied(value))
    return tuple(own)


@acting(*_two_forms("QueueEnqueue"), waits=Waits.PUTS, keeps=(1,))
def enqueue(handle: Queue, components: list[Value], *, step: Step) -> None:
    handle.check_put(components, batched=False)
    handle.put([_own(components)], step)


@acting(*_two_forms("QueueEnqueueMany"), waits=Waits.PUTS)
def enqueue_many(handle: Queue, components: list[Value], *, step: Step) -> None:
    handle.check_put(components, batched=True)
    handle.put(list(zip(*(rows_of(copied(c)) for c in components), strict=True)), step)


# What is taken may still be looked at by the run that put it in.
@kernel(*_two_forms("QueueDequeue"), effect=Effect.ACTS, writes=(), waits=Waits.TAKES)
def dequeue(handle: Queue, *, step: Step) -> list[Value]:
    return list(handle.take(1, step)[0])


def _take_many(queue: Queue, n: torch.Tensor, step: Step, up_to: bool, what: str) -> list[Value]:
    count = int(n)
    if count < 0:
        raise InvalidArgumentError(None, None, f"{what}Op requested {count} < 0 elements")
    if queue.shapes is None:
        raise InvalidArgumentError(None, None, f"{what} requires the components to have specified shapes.")
    return queue.batch(queue.take(count, step, up_to=up_to))


@acting(*_two_forms("QueueDequeueMany"), waits=Waits.TAKES)
def dequeue_many(handle: Queue, n: torch.Tensor, *, step: Step) -> list[Value]:
    return _take_many(handle, n, step, False, "DequeueMany")


@acting(*_two_forms("QueueDequeueUpTo"), waits=Waits.TAKES)
def dequeue_up_to(handle: Queue, n: torch.Tensor, *, step: Step) -> list[Value]:
    return _take_many(handle, n, step, True, "DequeueUpTo")


@acting(*_two_forms("QueueClose"), waits=Waits.PUTS)
def close(handle: Queue, *, cancel_pending_enqueues: bool, step: Step) -> None:
    handle.close(cancel_pending_enqueues, step)


@reading(*_two_forms("QueueSize"))
def size(handle: Queue) -> torch.Tensor:
    with handle.condition:
        return torch.tensor(len(handle.items), dtype=torch.int32)


@reading(*_two_forms("QueueIsClosed"))
def is_closed(handle: Queue) -> torch.Tensor:
    return torch.tensor(handle.closed)


@kernel("FakeQueue", once=True)
def fake_queue(resource: Queue) -> Queue:
    return resource
