"""Plans made again for the shapes that are fed."""

import numpy as np

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan import specialize


def model():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = raw.Mul(x=x, y=tf.constant(2.0))
    rows = raw.StridedSlice(
        input=raw.Shape(input=y), begin=tf.constant([0]), end=tf.constant([1]), strides=tf.constant([1]), shrink_axis_mask=1
    )
    return x, raw.Mul(x=y, y=raw.Cast(x=rows, DstT=tf.float32))


def test_shape_arithmetic_is_folded_for_shapes_that_come_again():
    x, y = model()
    with tf.Session() as sess:
        for rows in (2, 2, 3, 2, 3, 3):
            np.testing.assert_array_equal(sess.run(y, {x: np.ones((rows, 3))}), np.full((rows, 3), 2.0 * rows, np.float32))
        plan = sess._executor.prepare([y], [x]).plan
        assert isinstance(plan, specialize.ShapedPlans)
        assert len(plan._plans) == 2
        for special in plan._plans.values():
            assert "Shape" not in {n.type for n in special.program.nodes}
            assert "StridedSlice" not in {n.type for n in special.program.nodes}


def test_the_number_of_special_plans_is_bounded(monkeypatch):
    monkeypatch.setattr(specialize, "MOST_SPECIALIZED", 2)
    x, y = model()
    with tf.Session() as sess:
        for rows in (1, 2, 3, 4, 1, 2, 3, 4):
            assert sess.run(y, {x: np.ones((rows, 3))})[0, 0] == 2.0 * rows
        assert len(sess._executor.prepare([y], [x]).plan._plans) == 2


def test_sizes_that_depend_on_values_are_not_taken_for_constants():
    x = tf.placeholder(tf.float32, [None])
    chosen = raw.Where(input=raw.Greater(x=x, y=tf.constant(0.0)))
    size = raw.Size(input=chosen)
    with tf.Session() as sess:
        assert [int(sess.run(size, {x: value})) for value in ([1.0, -1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, 2.0])] == [1, 2, 0, 2]


def test_feeds_of_another_shape_for_an_intermediate():
    x, y = model()
    middle = y.op.inputs[0]
    with tf.Session() as sess:
        for rows in (2, 2, 5, 5):
            assert sess.run(y, {middle: np.ones((rows, 3))})[0, 0] == rows
