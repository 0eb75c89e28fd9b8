"""Which distribution strategy is in force, and on which side of it we are: in one replica, or across all of them.

Strategies themselves are far above (`distribute/`); what is trained under one asks here whether there is one.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any


class Frame:
    """A strategy with the replica that is being drawn, or None where all are looked at together."""

    def __init__(
        self,
        strategy: Any,
        replica_context: Any = None,
        update_device: str | None = None,
        update_index: int | None = None,
    ):
        self.strategy = strategy
        self.replica_context = replica_context
        self.update_device = update_device  # inside `extended.update`, the device whose copy is updated
        self.update_index = update_index  # and its number, as several may be on one device


class _Stack(threading.local):
    def __init__(self) -> None:
        self.frames: list[Frame | None] = []


_stack = _Stack()
_workers: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # graph → the strategy of its workers
_for_all: list[Frame] = []  # the strategy of `experimental_set_strategy`


def current() -> Frame | None:
    """The frame in force: the innermost one entered, else the one set for all, else None."""
    if _stack.frames:
        return _stack.frames[-1]
    return _for_all[0] if _for_all else None


@contextlib.contextmanager
def entered(frame: Frame | None) -> Iterator[None]:
    """A context in which `frame` is in force; None is for what is drawn without a strategy inside of another's scope."""
    _stack.frames.append(frame)
    try:
        yield
    finally:
        _stack.frames.pop()


@contextlib.contextmanager
def left() -> Iterator[None]:
    """A context in which no strategy is in force, whatever was entered."""
    saved, _stack.frames = _stack.frames, []
    saved_for_all, _for_all[:] = list(_for_all), []
    try:
        yield
    finally:
        _stack.frames = saved
        _for_all[:] = saved_for_all


def set_for_all(frame: Frame | None) -> None:
    """Make a frame the one in force wherever none is entered; None takes it back."""
    if _stack.frames:
        raise RuntimeError(
            "A strategy for the whole program can't be set inside of a `strategy.scope()`: leave the scope first."
        )
    _for_all[:] = [] if frame is None else [frame]


def has_strategy() -> bool:
    """Whether a strategy other than the default one is in force.

    Returns:
        A bool.

    Example:
        >>> tf.distribute.has_strategy()
        False
    """
    frame = current()
    return frame is not None and not frame.strategy._is_default


def in_cross_replica_context() -> bool:
    """Whether all replicas are looked at together.

    Returns:
        A bool.

    Example:
        >>> tf.distribute.in_cross_replica_context()
        False
    """
    frame = current()
    return frame is not None and frame.replica_context is None


def scaled_for_replicas(loss: Any) -> Any:
    """A replica's loss as the part of the total that it is: gradients are summed over replicas."""
    frame = current()
    if frame is None or not getattr(frame.strategy, "_scale_loss_for_estimator", False):
        return loss
    replicas = frame.strategy.num_replicas_in_sync
    return loss * (1.0 / replicas) if replicas > 1 else loss


def part_of_replica(mean: Any) -> Any:
    """What a replica's mean over its rows adds to the mean over those of all replicas; elsewhere the mean itself."""
    frame = current()
    if frame is None or frame.replica_context is None or frame.strategy.num_replicas_in_sync == 1:
        return mean
    return mean * (1.0 / frame.strategy.num_replicas_in_sync)


def current_worker() -> Any:
    """The strategy in force, if other processes draw graphs for it as well; else None."""
    frame = current()
    return frame.strategy if frame is not None and frame.strategy.extended._has_replicas_elsewhere else None


def worker_of(graph: Any) -> Any:
    """The strategy for which other processes draw the same graph, if there is one; else None."""
    return _workers.get(graph)


def belongs_to_worker(graph: Any, strategy: Any) -> None:
    """Note that a graph has variables that other processes have, too."""
    _workers[graph] = strategy
