"""Which strategy is in force, and on which side of it we are."""

import threading
import types

import pytest

from everflow.framework import strategy_context
from everflow.framework.strategy_context import Frame


@pytest.fixture
def for_all():
    yield
    strategy_context.set_for_all(None)


def test_the_innermost_frame_counts():
    strategy = types.SimpleNamespace(_is_default=False)
    across, inside = Frame(strategy), Frame(strategy, replica_context="r")
    assert strategy_context.current() is None and not strategy_context.has_strategy()
    assert not strategy_context.in_cross_replica_context()
    with strategy_context.entered(across):
        assert strategy_context.current() is across and strategy_context.in_cross_replica_context()
        with strategy_context.entered(inside):
            assert strategy_context.has_strategy() and not strategy_context.in_cross_replica_context()
        assert strategy_context.current() is across
    assert strategy_context.current() is None


def test_an_error_inside_leaves_the_frame():
    with pytest.raises(ZeroDivisionError), strategy_context.entered(Frame("s")):
        1 / 0  # noqa: B018
    assert strategy_context.current() is None


def test_one_for_all_holds_where_none_is_entered_and_in_other_threads(for_all):
    everywhere, here = Frame("all"), Frame("here")
    strategy_context.set_for_all(everywhere)
    found = []
    with strategy_context.entered(here):
        assert strategy_context.current() is here
        thread = threading.Thread(target=lambda: found.append(strategy_context.current()))
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="leave the scope first"):
            strategy_context.set_for_all(None)
    assert found == [everywhere] and strategy_context.current() is everywhere


@pytest.mark.parametrize(("scales", "replicas", "loss"), [(True, 4, 2.0), (True, 1, 8.0), (False, 4, 8.0)])
def test_a_replicas_part_of_a_loss(scales, replicas, loss):
    strategy = types.SimpleNamespace(_scale_loss_for_estimator=scales, num_replicas_in_sync=replicas)
    assert strategy_context.scaled_for_replicas(8.0) == 8.0
    with strategy_context.entered(Frame(strategy)):
        assert strategy_context.scaled_for_replicas(8.0) == loss
