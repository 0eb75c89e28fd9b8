"""Callbacks that are told of ops as they are made, and may put others in place of their outputs."""

import threading

import pytest

import everflow as tf
from everflow.eager.mode import eager_mode
from everflow.framework.op_callbacks import op_callback, should_invoke_op_callbacks


class Told:
    def __init__(self, returns=None):
        self.ops, self.returns = [], returns or {}

    def __call__(self, op_type, inputs, attrs, outputs, op_name=None, graph=None):
        self.ops.append((op_type, op_name))
        self.graph, self.attrs = graph, attrs
        return self.returns.get(op_type, lambda outputs: None)(outputs)


def test_build_functions_tell():
    told = Told()
    with tf.Graph().as_default() as graph:
        with op_callback(told):
            x = tf.constant([1.0, 2.0])  # made past the build functions, as in TensorFlow
            tf.split(tf.add(x, x, name="sum"), 2)
        tf.negative(x)
    assert told.ops == [("Add", "sum"), ("Split", "split")] and told.graph is graph
    assert told.attrs[0] == "num_split" and told.attrs[1].i == 2 and told.attrs[2] == "T"


def test_what_a_callback_returns_takes_the_outputs_place():
    told = Told({"Square": lambda outputs: [tf.negative(outputs[0])]})
    with tf.Graph().as_default(), op_callback(told):
        y = tf.square(tf.constant(3.0))
        with tf.Session() as sess:
            assert y.op.name == "Square/Neg" and sess.run(y) == -9.0
    assert told.ops == [("Square", "Square")]  # not of what it made itself


@pytest.mark.parametrize("returned, error", [((), ValueError), ((1, 2), ValueError)])
def test_as_many_outputs_as_there_are(returned, error):
    with tf.Graph().as_default(), op_callback(Told({"Exp": lambda outputs: returned})):
        with pytest.raises(error, match="Exp"):
            tf.exp(tf.constant(1.0))


def test_the_innermost_comes_first_and_each_thread_has_its_own():
    order, elsewhere = [], []
    with tf.Graph().as_default(), op_callback(lambda *a, **k: order.append("outer")):
        with op_callback(lambda *a, **k: order.append("inner")):
            tf.identity(tf.constant(1.0))
        other = threading.Thread(target=lambda: elsewhere.append(should_invoke_op_callbacks()))
        other.start()
        other.join()
        assert should_invoke_op_callbacks() and elsewhere == [False]
    assert order == ["inner", "outer"] and not should_invoke_op_callbacks()


def test_only_functions_can_be_told():
    with pytest.raises(ValueError, match="3"):
        op_callback(3)


def test_eager_ops_tell_after_they_have_run():
    told = Told()
    with eager_mode(), op_callback(told):
        assert tf.square(tf.constant(3.0)).numpy() == 9.0
        assert tf.square(tf.constant(4.0)).numpy() == 16.0
    assert told.ops == [("Square", None)] * 2 and told.graph is None
