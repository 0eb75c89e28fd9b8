"""Gradients of functions of two inputs: summed back to shapes that were broadcast, and sane at the edges."""

import numpy as np
import pytest

import everflow as tf


def test_known_shapes_leave_no_reduction_for_the_side_that_was_not_broadcast():
    with tf.Graph().as_default() as graph:
        x, y = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [3])
        tf.gradients(x * y, [x, y])
        names = [op.name.removeprefix("gradients/mul_grad/") for op in graph.get_operations() if "mul_grad" in op.name]
        assert names == [
            "BroadcastGradientArgs/s0",
            "BroadcastGradientArgs/s1",
            "BroadcastGradientArgs",
            "Mul",
            "Mul_1",
            "Sum/reduction_indices",
            "Sum",
            "Reshape/shape",
            "Reshape",
        ]


def test_a_gradient_of_open_shape_is_summed_on_both_sides():
    with tf.Graph().as_default() as graph:
        x, y = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [3])
        tf.gradients(x + y, [x, y], grad_ys=tf.placeholder(tf.float32, [None]))
        assert [op.type for op in graph.get_operations()].count("Sum") == 2


def test_the_nodes_for_a_pair_of_shapes_are_made_once():
    with tf.Graph().as_default() as graph:
        x, y = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [3])
        tf.gradients(x * y + y, [x, y])
        tf.gradients(tf.reduce_sum(x, 1), x)
        tf.gradients(tf.reduce_sum(x, 1), x)
        types = [op.type for op in graph.get_operations()]
        assert types.count("BroadcastGradientArgs") == 1
        assert types.count("DynamicStitch") == 1


def slopes(sess, function, x, y):
    xs = [tf.constant(x, tf.float64), tf.constant(y, tf.float64)]
    return [None if g is None else sess.run(g).tolist() for g in tf.gradients(function(*xs), xs)]


@pytest.mark.parametrize(
    ("function", "x", "y", "expected"),
    [
        (tf.pow, [0.0, -2.0], [2.0, 3.0], [[0, 12], [0, 0]]),
        (tf.maximum, [1.0, 2.0], [1.0, 3.0], [[1, 0], [0, 1]]),
        (tf.minimum, [1.0, 2.0], [1.0, 3.0], [[1, 1], [0, 0]]),
        (tf.math.xlogy, [0.0, 2.0], [0.0, 1.0], [[0, 0], [0, 2]]),
        (tf.math.xdivy, [0.0, 2.0], [0.0, 1.0], [[0, 1], [0, -2]]),
        (tf.math.divide_no_nan, [1.0, 2.0], [0.0, 2.0], [[0, 0.5], [0, -0.5]]),
        (tf.math.multiply_no_nan, [np.inf, 2.0], [0.0, 3.0], [[0, 3], [np.inf, 2]]),
        (tf.floordiv, [1.0, 2.0], [2.0, 2.0], [None, None]),
        (tf.floormod, [5.0, -5.0], [3.0, 3.0], [[1, 1], [-1, 2]]),
        (tf.math.nextafter, [1.0, 2.0], [5.0, 6.0], [[1, 1], [0, 0]]),
        (tf.atan2, [0.0, 1.0], [1.0, 0.0], [[1, 0], [0, -1]]),
    ],
)
def test_slopes_at_the_edges(sess, function, x, y, expected):
    assert slopes(sess, function, x, y) == expected


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("function", [tf.add, tf.subtract, tf.multiply, tf.divide, tf.maximum, tf.squared_difference])
def test_gradients_have_the_shapes_of_their_inputs(sess, function, known):
    values = np.ones([2, 1, 3], np.float32), np.full([4, 1], 2, np.float32)
    xs = [tf.placeholder(tf.float32, v.shape if known else None) for v in values]
    for grad, value in zip(sess.run(tf.gradients(function(*xs), xs), dict(zip(xs, values))), values):
        assert grad.shape == value.shape


def test_conjugates_of_complex_factors(sess):
    x, y = tf.constant(1 + 2j), tf.constant(3 - 1j)
    one = tf.ones_like(x)
    np.testing.assert_allclose(sess.run(tf.gradients(x * y, [x, y], one)), [3 + 1j, 1 - 2j])
    np.testing.assert_allclose(sess.run(tf.gradients(x / y, [x], one)), [1 / (3 + 1j)])
    with pytest.raises(TypeError):
        tf.gradients(x * y, x)


def test_empty_inputs_have_empty_gradients(sess):
    x, y = tf.zeros([0, 3]), tf.ones([3])
    of_x, of_y = sess.run(tf.gradients(x * y, [x, y]))
    assert of_x.shape == (0, 3) and of_y.tolist() == [0, 0, 0]


def test_sums_of_many_pass_the_gradient_on(sess):
    x = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(sess.run(tf.gradients(tf.add_n([x, x, x]), x)[0]), [3, 3])
    np.testing.assert_array_equal(sess.run(tf.gradients(tf.accumulate_n([x, x]), x)[0]), [2, 2])


def test_the_order_of_a_polygamma_has_no_slope(sess):
    n, x = tf.constant(1.0), tf.constant(2.0)
    assert tf.gradients(tf.polygamma(n, x), [n])[0] is None
    assert tf.gradients(tf.zeta(x, x + 1.0), [x])[0] is not None
    assert tf.gradients(tf.betainc(n, n, n / 2), [n])[0] is not None
