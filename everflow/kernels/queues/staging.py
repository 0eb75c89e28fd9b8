"""Staging areas at run time: tuples of tensors that wait between runs."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

import torch

from everflow.framework.errors import ResourceExhaustedError
from everflow.framework.forking import renewed
from everflow.kernels.facts import Waits
from everflow.kernels.queues.queues import copied
from everflow.kernels.registry import acting, kernel, reading

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session, Step
    from everflow.kernels.tensors import Value


def bytes_of(values: list[torch.Tensor]) -> int:
    return sum(v.numel() * v.element_size() if isinstance(v, torch.Tensor) else sum(map(len, v.flat)) for v in values)


class StagingArea:
    """Elements in order, up to a number and a size in bytes (0: any)."""

    def __init__(self, capacity: int, memory_limit: int) -> None:
        self.capacity, self.memory_limit = capacity, memory_limit
        self.items: deque = deque()
        self.condition = renewed(threading.Condition())

    def _has_room(self, size: int) -> bool:
        if self.capacity and len(self.items) >= self.capacity:
            return False
        return not self.memory_limit or sum(map(bytes_of, self.items)) + size <= self.memory_limit

    def put(self, values: list[torch.Tensor], step: Step) -> None:
        size = bytes_of(values)
        if self.memory_limit and size > self.memory_limit:
            raise ResourceExhaustedError(
                None,
                None,
                f"Attempted to insert tensors with combined size of '{size}' bytes into Staging Area with a memory limit of "
                f"'{self.memory_limit}'.",
            )
        with self.condition:
            step.wait_for(self.condition, lambda: self._has_room(size))
            self.items.append([copied(v) for v in values])
            self.condition.notify_all()

    def get(self, step: Step) -> list[Value]:
        with self.condition:
            step.wait_for(self.condition, lambda: bool(self.items))
            self.condition.notify_all()
            return self.items.popleft()

    def peek(self, index: int, step: Step) -> list[Value]:
        with self.condition:
            step.wait_for(self.condition, lambda: len(self.items) > index)
            return list(self.items[index])

    def clear(self) -> None:
        with self.condition:
            self.items.clear()
            self.condition.notify_all()


def _area(
    session: Session, container: str, shared_name: str, node: Node, capacity: int, memory_limit: int
) -> StagingArea:
    name = shared_name or node.name
    return session.resources.lookup_or_create(container, "staging", name, lambda: StagingArea(capacity, memory_limit))


@acting("Stage", waits=Waits.PUTS)
def stage(
    values: list[Value],
    *,
    container: str,
    shared_name: str,
    capacity: int,
    memory_limit: int,
    node: Node,
    session: Session,
    step: Step,
) -> None:
    _area(session, container, shared_name, node, capacity, memory_limit).put(values, step)


@acting("Unstage", waits=Waits.TAKES)
def unstage(
    *, container: str, shared_name: str, capacity: int, memory_limit: int, node: Node, session: Session, step: Step
) -> list[Value]:
    return _area(session, container, shared_name, node, capacity, memory_limit).get(step)


@kernel("StagePeek")
def stage_peek(
    index: torch.Tensor,
    *,
    container: str,
    shared_name: str,
    capacity: int,
    memory_limit: int,
    node: Node,
    session: Session,
    step: Step,
) -> list[Value]:
    return _area(session, container, shared_name, node, capacity, memory_limit).peek(int(index), step)


@reading("StageSize")
def stage_size(
    *, container: str, shared_name: str, capacity: int, memory_limit: int, node: Node, session: Session
) -> torch.Tensor:
    return torch.tensor(
        len(_area(session, container, shared_name, node, capacity, memory_limit).items), dtype=torch.int32
    )


@acting("StageClear")
def stage_clear(
    *, container: str, shared_name: str, capacity: int, memory_limit: int, node: Node, session: Session
) -> None:
    _area(session, container, shared_name, node, capacity, memory_limit).clear()
