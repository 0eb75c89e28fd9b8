"""`op_selector` of TensorFlow's tree: what operations depend on."""

import everflow as tf
import tests.served  # noqa: F401

# isort: split
from tensorflow.python.ops import math_ops, op_selector


def test_what_lies_behind_an_operation_without_a_gradient_is_not_walked_to():
    with tf.Graph().as_default():
        x = tf.constant(1.0, name="x")
        held = tf.stop_gradient(tf.square(x, name="square"), name="held")
        y = tf.add(x, held, name="y")
        walked = {op.name for op in op_selector.get_backward_walk_ops(y.op)}
        for_gradients = {op.name for op in op_selector.get_backward_walk_ops(y.op, only_differentiable=True)}
    assert walked == {"x", "square", "held", "y"}
    assert for_gradients == {"x", "held", "y"}
    assert op_selector.is_differentiable(y.op) and not op_selector.is_differentiable(held.op)


def test_counts_in_the_inner_module_take_a_name():
    with tf.Graph().as_default():
        assert math_ops.bincount([1, 2], name="counts").op.name == "counts/Bincount"
        assert tf.compat.v2.math.bincount([1, 2], name="more").op.name == "more/Bincount"
