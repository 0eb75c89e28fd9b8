"""Turning eager execution on for a process, once, before any graph is drawn."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager

from everflow.framework import scopes
from everflow.framework.graph import Graph
from everflow.protos import config_pb2

SYNC = 0
ASYNC = 1
# How values that are on another device than an operation are treated; there is one kind of memory here, so all are the
# same.
DEVICE_PLACEMENT_EXPLICIT = 0
DEVICE_PLACEMENT_WARN = 1
DEVICE_PLACEMENT_SILENT = 2
DEVICE_PLACEMENT_SILENT_FOR_INT32 = 3


def enable_eager_execution(
    config: config_pb2.ConfigProto | None = None, device_policy: int | None = None, execution_mode: int | None = None
) -> None:
    """Run operations at once from now on, in the whole process. Call it at the start of the program.

    Args:
        config: A `tf.ConfigProto` with settings.
        device_policy: What to do with inputs on another device: a value of `tf.contrib.eager`; all are on one here.
        execution_mode: `tf.contrib.eager.SYNC` or `ASYNC`; both run at once here.

    Returns:
        None.

    Raises:
        TypeError: If `config` is no ConfigProto.
        ValueError: If a graph was drawn before, or a policy or mode isn't known.

    Example:
        >>> tf.enable_eager_execution()
        >>> tf.constant(2) + 3
        <tf.Tensor: id=2, shape=(), dtype=int32, numpy=5>
    """
    if config is not None and not isinstance(config, config_pb2.ConfigProto):
        raise TypeError(f"config must be a ConfigProto, not {type(config)}")
    if device_policy not in (None, *range(4)):
        raise ValueError("device_policy must be None or a tf.contrib.eager.DEVICE_PLACEMENT_ constant")
    if execution_mode not in (None, SYNC, ASYNC):
        raise ValueError("execution_mode must be None, or SYNC or ASYNC of tf.contrib.eager")
    if scopes.executing_eagerly():
        return
    if scopes.has_default_graph() or scopes.get_default_graph().version > 0:
        raise ValueError(
            "tf.enable_eager_execution comes too late: call it at program startup, before anything is drawn in a graph."
        )
    from everflow.eager.graph import EagerGraph  # builds on this module

    scopes._DefaultGraphs.make_bottom = EagerGraph
    scopes.default_graphs.reset()
    scopes.get_default_graph().seed = None  # one that was set in `eager_mode` lasts as long as that program


@contextlib.contextmanager
def eager_mode() -> Iterator[None]:
    """A context in which operations run at once, in a process that draws graphs otherwise. The default graph and its
    collections stay what they were.
    """
    from everflow.eager.graph import EagerGraph  # builds on this module

    with EagerGraph(beside=scopes.drawn_graph()).as_default():
        yield


def graph_mode() -> AbstractContextManager[Graph]:
    """A context that draws the default graph, in a process that executes eagerly."""
    return scopes.default_graphs.drawing(scopes.drawn_graph())


def disable_eager_execution() -> None:
    """Draw graphs, as is done anyway, also where eager execution was enabled before.

    Returns:
        None.

    Raises:
        ValueError: If something was run eagerly, or a graph drawn eagerly, before.

    Example:
        >>> tf.disable_eager_execution()
        >>> tf.executing_eagerly()
        False
    """
    if scopes._DefaultGraphs.make_bottom is Graph:
        return
    if not scopes.executing_eagerly() and scopes.has_default_graph():
        raise ValueError("tf.disable_eager_execution can only be called outside of graphs.")
    scopes._DefaultGraphs.make_bottom = Graph
    scopes.default_graphs.reset()
