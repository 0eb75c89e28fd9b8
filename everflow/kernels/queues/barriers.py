"""Barriers at run time: keyed elements whose components come one by one."""

from __future__ import annotations

import heapq
import itertools
import threading
from typing import TYPE_CHECKING

import torch

from everflow.framework.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from everflow.framework.forking import renewed
from everflow.framework.shapes import TensorShape
from everflow.kernels.facts import Waits
from everflow.kernels.old_handles import OldHandle
from everflow.kernels.queues.queues import copied, rows_of, shape_text, shared_resource, stacked
from everflow.kernels.registry import acting, kernel, reading
from everflow.kernels.strings.text import strings

if TYPE_CHECKING:
    import numpy as np

    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Node, Session, Step
    from everflow.kernels.tensors import AnyTensor, Strings

_FIRST_INDEX = -(2**63)


class Barrier(OldHandle):
    """Incomplete elements by key, and complete ones in the order in which their keys first came."""

    def __init__(self, name: str, component_types: list[DType], shapes: list[TensorShape]) -> None:
        self.name, self.types = name, tuple(component_types)
        self.shapes = [
            s.as_list() if s.ndims is not None else None for s in shapes or [TensorShape(None)] * len(self.types)
        ]
        self.condition = renewed(threading.Condition())
        self.closed = self.cancelled = False
        self.incomplete: dict = {}  # key → (index of the insertion, components)
        self.ready: list = []
        self.inserted = 0
        self._order = itertools.count()

    def insert(self, component: int, keys: list, values: list) -> None:
        with self.condition:
            if self.cancelled or (self.closed and keys and not self.incomplete):
                raise CancelledError(None, None, f"Barrier {self.name} is closed.")
            index, new = _FIRST_INDEX + self.inserted, False
            for key, value in zip(keys, values, strict=True):
                if key not in self.incomplete:
                    if self.closed:
                        raise CancelledError(
                            None,
                            None,
                            f"Barrier {self.name} is closed, but attempted to insert a brand new key: {key.decode()}.",
                        )
                    self.incomplete[key] = index, [None] * len(self.types)
                    new = True
                at, parts = self.incomplete[key]
                if parts[component] is not None:
                    raise InvalidArgumentError(
                        None,
                        None,
                        f"Key {key.decode()} already has a value for component {component} in barrier {self.name}",
                    )
                parts[component] = value
                if all(part is not None for part in parts):
                    del self.incomplete[key]
                    heapq.heappush(self.ready, (at, next(self._order), key, parts))
            self.inserted += new
            self.condition.notify_all()

    def take(self, count: int, allow_small: bool, step: Step) -> list:
        with self.condition:
            # Once closed, a small batch takes what is there. Others wait for incomplete elements, which still can be
            # completed, unless even with all of them there are too few.
            def decided() -> bool:
                too_few = len(self.ready) + len(self.incomplete) < count
                return len(self.ready) >= count or (self.closed and (allow_small or too_few))

            step.wait_for(self.condition, decided)
            if len(self.ready) < count and not (allow_small and self.ready):
                wanted = 0 if allow_small else count
                raise OutOfRangeError(
                    None,
                    None,
                    f"Barrier '{self.name}' is closed and has insufficient elements (requested {wanted}, total size {len(self.ready)})",
                )
            return [heapq.heappop(self.ready) for _ in range(min(count, len(self.ready)))]

    def close(self, cancel: bool) -> None:
        with self.condition:
            if self.closed and (self.cancelled or not cancel):
                raise CancelledError(None, None, f"Barrier '{self.name}' is already closed.")
            self.closed, self.cancelled = True, self.cancelled or cancel
            if cancel:
                self.incomplete.clear()
            self.condition.notify_all()


@kernel("Barrier", once=True)
def barrier(
    *,
    component_types: list[DType],
    shapes: list[TensorShape],
    container: str,
    shared_name: str,
    node: Node,
    session: Session,
) -> Barrier:
    if shapes and len(shapes) != len(component_types):
        raise InvalidArgumentError(
            None, None, f"A barrier of {len(component_types)} components was given {len(shapes)} shapes"
        )

    def agree(found: Barrier) -> None:
        mine = Barrier(shared_name, component_types, shapes)
        for what, wanted, has in (("types", mine.types, found.types), ("shapes", mine.shapes, found.shapes)):
            if wanted != has:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Shared barrier '{shared_name}' has component {what} {has}, but the requested component {what} are {wanted}",
                )

    return shared_resource(
        "barrier", node, session, container, shared_name, lambda name: Barrier(name, component_types, shapes), agree
    )


@acting("BarrierInsertMany", waits=Waits.PUTS)
def insert_many(handle: Barrier, keys: Strings, values: AnyTensor, *, component_index: int) -> None:
    if not 0 <= component_index < len(handle.types):
        raise InvalidArgumentError(
            None, None, f"The component ID is out of range {component_index} > num_components (= {len(handle.types)})"
        )
    if values.ndim < 1 or len(values) != len(keys):
        raise InvalidArgumentError(
            None, None, f"Expected {len(keys)} values, one for each key, got {shape_text(values.shape)}"
        )
    if 0 in values.shape[1:]:
        raise InvalidArgumentError(None, None, f"Empty tensors are not supported, but got {shape_text(values.shape)}")
    expected = handle.shapes[component_index]
    if expected is not None and list(values.shape[1:]) != expected:
        raise InvalidArgumentError(
            None,
            None,
            f"Shape mismatch in component {component_index}: expected {shape_text(expected)}, "
            f"got {shape_text(values.shape[1:])}",
        )
    handle.insert(component_index, list(keys), rows_of(copied(values)))


@acting("BarrierTakeMany", waits=Waits.TAKES)
def take_many(
    handle: Barrier, num_elements: torch.Tensor, *, allow_small_batch: bool, step: Step
) -> tuple[torch.Tensor, np.ndarray, list[AnyTensor]]:
    taken = handle.take(int(num_elements), allow_small_batch, step)
    indices = torch.tensor([item[0] for item in taken], dtype=torch.int64)
    values = [stacked([item[3][i] for item in taken], dtype, ()) for i, dtype in enumerate(handle.types)]
    return indices, strings([item[2] for item in taken], (len(taken),)), values


@acting("BarrierClose")
def close(handle: Barrier, *, cancel_pending_enqueues: bool) -> None:
    handle.close(cancel_pending_enqueues)


@reading("BarrierReadySize")
def ready_size(handle: Barrier) -> torch.Tensor:
    return torch.tensor(len(handle.ready), dtype=torch.int32)


@reading("BarrierIncompleteSize")
def incomplete_size(handle: Barrier) -> torch.Tensor:
    return torch.tensor(len(handle.incomplete), dtype=torch.int32)
