"""How branches and loops are drawn, and who decides it."""

import pytest

import everflow as tf
from everflow.ops.control_flow import switches


@pytest.fixture(autouse=True)
def as_before():
    yield
    tf.disable_control_flow_v2()


def drawn():
    with tf.Graph().as_default() as graph:
        tf.cond(tf.placeholder(tf.bool, []), lambda: 1, lambda: 2)
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        return {op.type for op in graph.get_operations()} & {"Switch", "Enter", "If", "StatelessIf", "While"}


def test_the_switch_is_thrown_and_thrown_back():
    assert drawn() == {"Switch", "Enter"} and not tf.control_flow_v2_enabled()
    tf.enable_control_flow_v2()
    assert drawn() == {"StatelessIf", "While"} and tf.control_flow_v2_enabled()
    tf.disable_control_flow_v2()
    assert drawn() == {"Switch", "Enter"}


def test_traced_functions_draw_functions():
    with tf.Graph().as_default():
        seen = []
        tf.function(lambda: seen.append(switches.draws_functions()))()
        assert seen == [True] and not switches.draws_functions()
