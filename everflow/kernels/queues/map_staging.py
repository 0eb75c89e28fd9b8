"""Staging areas with keys at run time: tuples of tensors that come in parts and are taken by key, or any of them."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from everflow.framework.errors import InvalidArgumentError, ResourceExhaustedError
from everflow.framework.forking import renewed
from everflow.kernels.facts import Waits
from everflow.kernels.queues.queues import copied
from everflow.kernels.queues.staging import bytes_of
from everflow.kernels.registry import acting, kernel, reading

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session, Step
    from everflow.kernels.tensors import Value


class MapStagingArea:
    """Elements by key, up to a number and a size in bytes (0: any); those that lack parts wait for them."""

    def __init__(self, components: int, capacity: int, memory_limit: int, ordered: bool) -> None:
        self.components, self.capacity, self.memory_limit, self.ordered = components, capacity, memory_limit, ordered
        self.complete: dict[int, dict[int, Value]] = {}
        self.incomplete: dict[int, dict[int, Value]] = {}
        self.condition = renewed(threading.Condition())

    def _has_room(self, size: int) -> bool:
        if self.capacity and len(self.complete) >= self.capacity:
            return False
        held = [v for each in (*self.complete.values(), *self.incomplete.values()) for v in each.values()]
        return not self.memory_limit or bytes_of(held) + size <= self.memory_limit

    def put(self, key: int, indices: list[int], values: list[Value], step: Step) -> None:
        size = bytes_of(values)
        if self.memory_limit and size > self.memory_limit:
            raise ResourceExhaustedError(
                None, None, f"{size} bytes don't fit into a staging area with a memory limit of {self.memory_limit}"
            )
        with self.condition:
            step.wait_for(self.condition, lambda: self._has_room(size))
            parts = self.incomplete.setdefault(key, {})
            for index, value in zip(indices, values, strict=True):
                self._check(index)
                if index in parts:
                    raise InvalidArgumentError(None, None, f"Component {index} of key {key} was put in before")
                parts[index] = copied(value)
            if len(parts) == self.components:
                self.complete.setdefault(key, self.incomplete.pop(key))
                self.condition.notify_all()

    def _check(self, index: int) -> None:
        if not 0 <= index < self.components:
            raise InvalidArgumentError(None, None, f"Index {index} is not below the {self.components} components")

    def peek(self, key: int, indices: list[int], step: Step) -> list[Value]:
        """Components of the element of a key, which stays inside."""
        with self.condition:
            step.wait_for(self.condition, lambda: key in self.complete)
            return self._chosen(key, indices)

    def get(self, key: int, indices: list[int], step: Step) -> list[Value]:
        """Components of the element of a key, which are taken out."""
        with self.condition:
            step.wait_for(self.condition, lambda: key in self.complete)
            return self._taken(key, indices)

    def get_any(self, indices: list[int], step: Step) -> tuple[int, list[Value]]:
        """A key, the least one where keys are ordered, and components of its element, which are taken out."""
        with self.condition:
            step.wait_for(self.condition, lambda: bool(self.complete))
            key = min(self.complete) if self.ordered else next(iter(self.complete))
            return key, self._taken(key, indices)

    def _chosen(self, key: int, indices: list[int]) -> list[Value]:
        for index in indices:
            self._check(index)
            if index not in self.complete[key]:
                raise InvalidArgumentError(None, None, f"Component {index} of key {key} was taken out before")
        return [self.complete[key][index] for index in indices]

    def _taken(self, key: int, indices: list[int]) -> list[Value]:
        values = self._chosen(key, indices)
        for index in indices:
            del self.complete[key][index]
        if not self.complete[key]:
            del self.complete[key]
        self.condition.notify_all()
        return values

    def clear(self) -> None:
        with self.condition:
            self.complete.clear()
            self.incomplete.clear()
            self.condition.notify_all()


def _area(node: Node, session: Session) -> MapStagingArea:
    attribute = node.attribute
    name = attribute("shared_name") or node.name

    def make() -> MapStagingArea:
        ordered = node.type.startswith("Ordered")
        return MapStagingArea(len(attribute("dtypes")), attribute("capacity"), attribute("memory_limit"), ordered)

    return session.resources.lookup_or_create(attribute("container"), "map staging", name, make)


def _both(register: Callable, name: str, **facts: object) -> Callable:
    return functools.partial(register, **facts)(f"Map{name}", f"OrderedMap{name}")


@_both(acting, "Stage", waits=Waits.PUTS)
def map_stage(
    key: torch.Tensor, indices: torch.Tensor, values: list[Value], *, node: Node, session: Session, step: Step
) -> None:
    _area(node, session).put(int(key), indices.tolist(), values, step)


@_both(kernel, "Peek")
def map_peek(key: torch.Tensor, indices: torch.Tensor, *, node: Node, session: Session, step: Step) -> list[Value]:
    return _area(node, session).peek(int(key), indices.tolist(), step)


@_both(acting, "Unstage", waits=Waits.TAKES)
def map_unstage(key: torch.Tensor, indices: torch.Tensor, *, node: Node, session: Session, step: Step) -> list[Value]:
    return _area(node, session).get(int(key), indices.tolist(), step)


@_both(acting, "UnstageNoKey", waits=Waits.TAKES)
def map_unstage_no_key(
    indices: torch.Tensor, *, node: Node, session: Session, step: Step
) -> tuple[torch.Tensor, list[Value]]:
    key, values = _area(node, session).get_any(indices.tolist(), step)
    return torch.tensor(key, dtype=torch.int64), values


@_both(reading, "Size")
def map_size(*, node: Node, session: Session) -> torch.Tensor:
    return torch.tensor(len(_area(node, session).complete), dtype=torch.int32)


@_both(reading, "IncompleteSize")
def map_incomplete_size(*, node: Node, session: Session) -> torch.Tensor:
    return torch.tensor(len(_area(node, session).incomplete), dtype=torch.int32)


@_both(acting, "Clear")
def map_clear(*, node: Node, session: Session) -> None:
    _area(node, session).clear()
