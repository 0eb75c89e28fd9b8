"""Which strategy is in force, and on which side of it we are: in one replica, or across all of them."""

from __future__ import annotations

import contextlib
import functools
import threading


class _Stack(threading.local):
    def __init__(self):
        self.frames: list[Frame] = []


class Frame:
    """A strategy with the replica that is being drawn, or None where all are looked at together."""

    def __init__(self, strategy, replica_context=None, update_device: str | None = None):
        self.strategy = strategy
        self.replica_context = replica_context
        self.update_device = update_device  # inside `extended.update`, the device whose copy is updated


_stack = _Stack()
_for_all: list = []  # the strategy of `experimental_set_strategy`


@functools.cache
def _default_frame() -> Frame:
    from everflow.distribute.strategy import ReplicaContext, default_strategy

    strategy = default_strategy()
    return Frame(strategy, ReplicaContext(strategy, 0))


def current() -> Frame:
    """The frame in force: the innermost one entered, else the one set for all, else the default."""
    if _stack.frames:
        return _stack.frames[-1]
    return _for_all[0] if _for_all else _default_frame()


@contextlib.contextmanager
def entered(frame: Frame):
    """A context in which `frame` is in force."""
    _stack.frames.append(frame)
    try:
        yield
    finally:
        _stack.frames.pop()


def get_strategy():
    """The strategy whose scope or replica we are in; a default one, which does nothing, elsewhere."""
    return current().strategy


def has_strategy():
    """Whether a strategy other than the default one is in force."""
    return current() is not _default_frame()


def get_replica_context():
    """The replica that is being drawn; None in a strategy's scope outside of a replica function."""
    return current().replica_context


def in_cross_replica_context():
    """Whether all replicas are looked at together."""
    return current().replica_context is None


def experimental_set_strategy(strategy):
    """Make a strategy the one in force for the whole program, without a `with`; None takes it back."""
    if _stack.frames:
        raise RuntimeError("Must not be called inside a `strategy.scope()`.")
    _for_all[:] = [] if strategy is None else [Frame(strategy)]


def get_loss_reduction():
    """How the losses of replicas are put together: by their sum, unless an Estimator scales them."""
    from everflow.distribute.reduction import ReduceOp

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


def scaled_for_replicas(loss):
    """A replica's loss as the part of the total that it is: gradients are summed over replicas."""
    from everflow.distribute.reduction import ReduceOp

    replicas = get_strategy().num_replicas_in_sync if has_strategy() else 1
    return loss * (1.0 / replicas) if replicas > 1 and get_loss_reduction() is ReduceOp.MEAN else loss


def require_cross_replica():
    """Raise inside of a replica function."""
    if has_strategy() and not in_cross_replica_context():
        raise RuntimeError("This is for cross-replica context; a replica gets there by tf.distribute.get_replica_context().merge_call(fn)")
