"""Staging areas at run time: tuples of tensors that wait between runs."""

from __future__ import annotations

import threading
from collections import deque

import torch

from everflow.framework.errors import ResourceExhaustedError
from everflow.framework.forking import renewed
from everflow.kernels.facts import Waits
from everflow.kernels.queues import copied
from everflow.kernels.registry import acting, kernel, reading


def _bytes_of(values) -> int:
    return sum(v.numel() * v.element_size() if isinstance(v, torch.Tensor) else sum(map(len, v.flat)) for v in values)


class StagingArea:
    """Elements in order, up to a number and a size in bytes (0: any)."""

    def __init__(self, capacity, memory_limit):
        self.capacity, self.memory_limit = capacity, memory_limit
        self.items: deque = deque()
        self.condition = renewed(threading.Condition())

    def _has_room(self, size) -> bool:
        if self.capacity and len(self.items) >= self.capacity:
            return False
        return not self.memory_limit or sum(map(_bytes_of, self.items)) + size <= self.memory_limit

    def put(self, values, step):
        size = _bytes_of(values)
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

    def get(self, step):
        with self.condition:
            step.wait_for(self.condition, lambda: bool(self.items))
            self.condition.notify_all()
            return self.items.popleft()

    def peek(self, index, step):
        with self.condition:
            step.wait_for(self.condition, lambda: len(self.items) > index)
            return list(self.items[index])

    def clear(self):
        with self.condition:
            self.items.clear()
            self.condition.notify_all()


def _area(session, container, shared_name, node, capacity, memory_limit) -> StagingArea:
    name = shared_name or node.name
    return session.resources.lookup_or_create(container, "staging", name, lambda: StagingArea(capacity, memory_limit))


@acting("Stage", waits=Waits.PUTS)
def stage(values, *, container, shared_name, capacity, memory_limit, node, session, step):
    _area(session, container, shared_name, node, capacity, memory_limit).put(values, step)


@acting("Unstage", waits=Waits.TAKES)
def unstage(*, container, shared_name, capacity, memory_limit, node, session, step):
    return _area(session, container, shared_name, node, capacity, memory_limit).get(step)


@kernel("StagePeek")
def stage_peek(index, *, container, shared_name, capacity, memory_limit, node, session, step):
    return _area(session, container, shared_name, node, capacity, memory_limit).peek(int(index), step)


@reading("StageSize")
def stage_size(*, container, shared_name, capacity, memory_limit, node, session):
    return torch.tensor(len(_area(session, container, shared_name, node, capacity, memory_limit).items), dtype=torch.int32)


@acting("StageClear")
def stage_clear(*, container, shared_name, capacity, memory_limit, node, session):
    _area(session, container, shared_name, node, capacity, memory_limit).clear()
