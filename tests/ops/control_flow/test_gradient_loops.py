"""Backward loops: what they need of each round of the forward loop, in loops, branches and whatever is nested."""

import numpy as np
import pytest

import everflow as tf


def both(sess, y, x, value):
    return [float(np.sum(v)) for v in sess.run([y, tf.convert_to_tensor(tf.gradients(y, x)[0])], {x: value})]


def loop(body, *start, rounds=3):
    return tf.while_loop(lambda i, *_: i < rounds, lambda i, *v: (i + 1, *body(i, *v)), [0, *start])[1:]


@pytest.fixture
def x(sess):
    return tf.placeholder(tf.float32, [])


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: loop(lambda i, y: [y * x], 1.0)[0], (8.0, 12.0)),
        (lambda x: loop(lambda i, y: [y * y], x)[0], (256.0, 1024.0)),
        (lambda x: loop(lambda i, y: [y + x * tf.cast(i, tf.float32)], 0.0)[0], (6.0, 3.0)),
        (lambda x: loop(lambda i, y, z: [z, y * x], x, 1.0)[1], (8.0, 12.0)),
        (lambda x: loop(lambda i, y: [y * x], 1.0, rounds=0)[0] * x, (2.0, 1.0)),
        (lambda x: loop(lambda i, y: [tf.cond(i > 0, lambda: y * x, lambda: y + x)], 1.0)[0], (12.0, 16.0)),
        (lambda x: loop(lambda i, y: loop(lambda j, z: [z * x], y, rounds=2), 1.0, rounds=2)[0], (16.0, 32.0)),
        (lambda x: tf.cond(x > 1.0, lambda: loop(lambda i, y: [y * x], 1.0)[0], lambda: x), (8.0, 12.0)),
        (lambda x: loop(lambda i, y: [tf.stop_gradient(y) * x], 1.0)[0], (8.0, 4.0)),
    ],
)
def test_gradients_through_loops(sess, x, build, expected):
    assert both(sess, build(x), x, 2.0) == pytest.approx(expected)


def test_a_variable_that_nothing_flows_back_to(sess, x):
    y, _ = loop(lambda i, y, z: [y * x, z + 1.0], 1.0, x)
    assert both(sess, y, x, 2.0) == [8.0, 12.0]


def test_both_results_of_a_loop(sess, x):
    y, z = loop(lambda i, y, z: [y * x, z + y], 1.0, 0.0)
    assert both(sess, y + z, x, 2.0) == [15.0, 17.0]


def test_rows_of_a_table_are_gathered_up(sess):
    table = tf.placeholder(tf.float32, [4, 2])
    y = loop(lambda i, y: [y + tf.reduce_sum(tf.gather(table, [i, 0]))], 0.0)[0]
    grad = tf.gradients(y, table)[0]
    assert isinstance(grad, tf.IndexedSlices)
    found = sess.run(tf.convert_to_tensor(grad), {table: np.ones([4, 2])})
    assert found.tolist() == [[4, 4], [1, 1], [1, 1], [0, 0]]


def test_shapes_that_change_from_round_to_round(sess):
    x = tf.placeholder(tf.float32, [None])
    _, y = tf.while_loop(
        lambda i, y: i < 2, lambda i, y: (i + 1, tf.concat([y * y, x], 0)), [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )  # fmt: skip
    assert sess.run(tf.gradients(y, x)[0], {x: [1.0, 2.0]}).tolist() == [7.0, 37.0]


def test_a_loop_without_back_propagation_gives_no_gradient(sess, x):
    y = tf.while_loop(lambda y: y < 10.0, lambda y: y * x, [x], back_prop=False)
    assert tf.gradients(y, x) == [None]


def test_second_derivatives_are_refused(sess, x):
    y = loop(lambda i, y: [y * x], 1.0)[0]
    with pytest.raises(TypeError):
        tf.gradients(tf.gradients(y, x)[0], x)


def test_one_backward_loop_for_each_forward_one():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [])
        y, z = loop(lambda i, y, z: [y * x, z * x], 1.0, 2.0)
        tf.gradients([y, z], x)
        conditions = [op.name for op in graph.get_operations() if op.type == "LoopCond"]
        assert len(conditions) == 2
        stacks = [op for op in graph.get_operations() if op.type == "StackV2"]
        assert len(stacks) == 2  # y and z of each round; x is the same in all


@pytest.mark.parametrize("inner", [lambda x, y: y * x, lambda x, y: tf.cond(y > 0.0, lambda: y * x, lambda: x)])
def test_a_gradient_inside_a_body_ends_where_the_variables_come_in(sess, x, inner):
    with pytest.raises(ValueError, match="initial value of a loop variable"):
        loop(lambda i, y: [tf.gradients(inner(x, y), x)[0]], x)
