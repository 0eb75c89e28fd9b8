"""Gradients of Switch and Merge, of branches and of ones drawn by hand."""

import numpy as np
import pytest

import everflow as tf

R = tf.raw_ops


def slopes(sess, build, points):
    x = tf.placeholder(tf.float32, [])
    grad = tf.gradients(build(x), x)[0]
    return [float(sess.run(grad, {x: p})) for p in points]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: tf.cond(x > 0.0, lambda: x * x, lambda: -x), [4, -1]),
        (lambda x: tf.cond(x > 0.0, lambda: x * x, lambda: tf.constant(1.0)), [4, 0]),
        (lambda x: tf.cond(x > 0.0, lambda: tf.cond(x > 1.0, lambda: 5.0 * x, lambda: x), lambda: -x), [5, -1]),
        (lambda x: sum(tf.cond(x > 0.0, lambda: (x, 2.0 * x), lambda: (-x, x * x))), [3, -5]),
        (lambda x: tf.case([(x > 1.0, lambda: 7.0 * x)], default=lambda: x), [7, 1]),
    ],
)
def test_the_branch_that_was_taken(sess, build, expected):
    assert slopes(sess, build, [2.0, -2.0]) == expected


def test_a_switch_and_a_merge_by_hand(sess):
    def build(x):
        off, on = R.Switch(data=x * 3.0, pred=x > 0.0)
        return R.Merge(inputs=[off * 2.0, on * on]).output

    assert slopes(sess, build, [2.0, -2.0]) == [36, 6]


def test_one_side_of_a_switch(sess):
    def build(x):
        return R.Switch(data=x, pred=x > 0.0)[1] * 4.0

    assert slopes(sess, build, [2.0]) == [4]


def test_slices_through_branches(sess):
    table = tf.placeholder(tf.float32, [3])
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.gather(table, [0, 0]), lambda: tf.gather(table, [2, 1]))
    grad = tf.convert_to_tensor(tf.gradients(y, table)[0])
    for value, expected in ((True, [2, 0, 0]), (False, [0, 1, 1])):
        np.testing.assert_array_equal(sess.run(grad, {p: value, table: np.ones(3)}), expected)


def test_resource_variables_read_in_one_branch(sess):
    v = tf.get_variable("v", initializer=2.0, use_resource=True)
    p = tf.placeholder(tf.bool, [])
    grad = tf.gradients(tf.cond(p, lambda: v * 3.0, lambda: tf.constant(1.0)), v)[0]
    sess.run(v.initializer)
    assert [sess.run(grad, {p: value}) for value in (True, False)] == [3, 0]
