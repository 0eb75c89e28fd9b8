"""What machine code asks of a program's nodes and values."""

import pytest

import everflow as tf
from everflow.runtime.plan.native.edges import handles_of, is_number, origin, shape_of, taken, within
from everflow.runtime.plan.native.steps import NotNative
from everflow.runtime.plan.program import LOOP


@pytest.fixture
def loop():
    """A loop that reads an array, as a plan has it before rules change it."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    array = tf.TensorArray(tf.float32, 3).unstack(tf.ones([3, 2]))
    unknown = tf.placeholder_with_default(tf.ones([2]), [None])

    def body(i, x):
        return i + 1, tf.identity(array.read(i)) + x * unknown

    fetch = tf.while_loop(lambda i, x: i < 3, body, [0, tf.zeros([2])], [None, tf.TensorShape([None])])[1]
    with tf.Session(config=config) as sess:
        sess.run(fetch)
        program = sess._executor.prepare([fetch], []).plan.program
        yield next(node for node in program.top if node.type == LOOP)


def test_a_loop_takes_what_its_nodes_take(loop):
    inside = list(within(loop))
    assert {n.type for n in inside} >= {"TensorArrayReadV3", "Less", "Mul"}
    assert {edge[0].name for edge in taken(loop)} >= {"TensorArray", "PlaceholderWithDefault"}
    assert [handle[0].name for handle in handles_of(loop)] == ["TensorArray"]


def test_values_behind_other_names(loop):
    identity = next(n for n in within(loop) if n.type == "Identity" and n.inputs[0][0].type == "TensorArrayReadV3")
    assert origin((identity, 0)) == (identity.inputs[0][0], 0)


def test_a_shape_that_is_not_known(loop):
    product = next(n for n in within(loop) if n.type == "Mul")
    assert not is_number((product, 0)) and is_number(loop.inputs[1])
    assert shape_of(loop.inputs[1]) == (2,)
    with pytest.raises(NotNative):
        shape_of((product, 0))
