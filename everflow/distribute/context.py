"""Which strategy is in force, and on which side of it we are: in one replica, or across all of them."""

# ruff: noqa: F401  Some of the imports are names of tf.distribute.

from __future__ import annotations

import contextlib
from collections.abc import Callable

from everflow.distribute.reduce_ops import ReduceOp
from everflow.framework import strategy_context
from everflow.framework.strategy_context import Frame, entered, has_strategy, in_cross_replica_context

_make_default: list[Callable[[], Frame]] = []


def default_frame(make: Callable[[], Frame]) -> Callable[[], Frame]:
    """Decorator of what gives the frame in force where none was entered or set."""
    _make_default[:] = [make]
    return make


def current() -> Frame:
    """The frame in force, or the default one, which does nothing."""
    return strategy_context.current() or _make_default[0]()


def get_strategy():
    """The strategy whose scope or replica we are in; a default one, which does nothing, elsewhere.

    Returns:
        A `tf.distribute.Strategy`.

    Example:
        >>> tf.distribute.get_strategy().num_replicas_in_sync
        1
    """
    return current().strategy


def get_replica_context():
    """The replica that is being drawn; None in a strategy's scope outside of a replica function.

    Returns:
        A `tf.distribute.ReplicaContext`, or None.

    Example:
        >>> tf.distribute.get_replica_context().replica_id_in_sync_group is not None
        True
    """
    return current().replica_context


def experimental_set_strategy(strategy):
    """Make a strategy the one in force for the whole program, without a `with`; None takes it back.

    Args:
        strategy: The strategy, or None.

    Returns:
        None.

    Example:
        >>> tf.distribute.experimental_set_strategy(None)
    """
    strategy_context.set_for_all(None if strategy is None else Frame(strategy))


def get_loss_reduction():
    """How the losses of replicas are put together: by their sum, unless an Estimator scales them.

    Returns:
        A value of `tf.distribute.ReduceOp`.

    Example:
        >>> tf.distribute.get_loss_reduction().name
        'SUM'
    """
    return ReduceOp.MEAN if getattr(get_strategy(), "_scale_loss_for_estimator", False) else ReduceOp.SUM


@contextlib.contextmanager
def losses_are_means(strategy):
    """Under an Estimator, the loss of a replica is its part of a mean over all replicas."""
    before = getattr(strategy, "_scale_loss_for_estimator", False)
    strategy._scale_loss_for_estimator = True
    try:
        yield
    finally:
        strategy._scale_loss_for_estimator = before


def in_replica_function() -> bool:
    """Whether a replica is being drawn that somebody asked for; outside of all strategies none is."""
    frame = strategy_context.current()
    return frame is not None and frame.replica_context is not None


def require_cross_replica():
    """Raise inside of a replica function."""
    if in_replica_function():
        raise RuntimeError(
            "This is for cross-replica context; a replica gets there by tf.distribute.get_replica_context().merge_call(fn)"
        )
