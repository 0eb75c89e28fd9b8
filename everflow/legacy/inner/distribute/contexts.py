"""Names that programs take from inside TensorFlow's module `python.distribute.distribution_strategy_context`: the default
strategy, and the stack of what is in force.
"""

from __future__ import annotations

from typing import Any

from everflow.distribute import context
from everflow.distribute.strategy import _default_frame, default_strategy
from everflow.framework import strategy_context


def _get_default_strategy() -> Any:
    return default_strategy()


def _get_default_replica_context() -> Any:
    return _default_frame().replica_context


def _get_default_replica_mode() -> context.Frame:
    return _default_frame()


def _get_per_thread_mode() -> context.Frame:
    return context.current()


def _push_per_thread_mode(context: context.Frame) -> None:
    strategy_context._stack.frames.append(context)


def _pop_per_thread_mode() -> None:
    strategy_context._stack.frames.pop()


def _CrossReplicaThreadMode(strategy: Any) -> context.Frame:
    return context.Frame(strategy)


def _InReplicaThreadMode(replica_ctx: Any) -> context.Frame:
    return context.Frame(replica_ctx.strategy, replica_ctx)


def get_strategy_and_replica_context() -> tuple[Any, Any]:
    """The strategy in force, and the replica that is being drawn."""
    frame = context.current()
    return frame.strategy, frame.replica_context
