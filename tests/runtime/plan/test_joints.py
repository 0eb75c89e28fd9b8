"""What is made piece by piece is made at once, and comes to the same."""

import numpy as np
import pytest

import everflow as tf
from tests.runtime.plan.sessions import compiled, plain, types

R = np.random.RandomState(0)


def feed(*shape):
    return tf.placeholder(tf.float32, shape), R.randn(*shape).astype("f")


def assert_same(fetches, feeds):
    with tf.Session() as on, plain() as off:
        for one, other in zip(on.run(fetches, feeds), off.run(fetches, feeds), strict=True):
            np.testing.assert_allclose(one, other, 1e-5, 1e-5)


@pytest.mark.parametrize(
    "cut",
    [
        lambda x: [x[:, 4:], x[:, :1], x[:, 1:4]],
        lambda x: [x[2:], x[:1], x[1:2]],
        lambda x: [x[0:1, :], x[1:2, 0:6], x[2:3]],
    ],
)
def test_gradients_of_slices_that_are_a_whole(cut):
    x, value = feed(3, 6)
    slope = tf.gradients([part**2 * (i + 2.0) for i, part in enumerate(cut(x))], x)
    plan = compiled(slope, [x])
    assert plan.changes["slices that are a whole"] == 1 and "StridedSliceGrad" not in types(plan)
    assert_same(slope, {x: value})


@pytest.mark.parametrize(
    "cut",
    [
        lambda x: [x[:, 4:], x[:, :1], x[:, 2:4]],  # a gap
        lambda x: [x[:, 3:], x[:, :2], x[:, 1:3]],  # twice the same
        lambda x: [x[:, ::2], x[:, 1::2], x[:1, :1]],
        lambda x: [x[:1, :3], x[1:, :3], x[:, 3:]],  # along two axes
        lambda x: [x[0], x[1], x[2]],  # which are vectors
    ],
)
def test_gradients_of_other_slices(cut):
    x, value = feed(3, 6)
    slope = tf.gradients([part**2 * (i + 2.0) for i, part in enumerate(cut(x))], x)
    assert not compiled(slope, [x]).changes.get("slices that are a whole")
    assert_same(slope, {x: value})


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products_of_one_matrix(turned):
    a, value = feed(*((5, 4) if turned[0] else (4, 5)))
    feeds = {a: value}
    others = []
    for columns in (3, 2, 6):
        b, value = feed(*((columns, 5) if turned[1] else (5, columns)))
        feeds[b] = value
        others.append(b)
    product = tf.concat([tf.matmul(a, b, *turned) for b in others], 1)
    plan = compiled([product], list(feeds))
    assert plan.changes["products of one matrix"] == 1 and types(plan).count("MatMul") == 1
    assert_same([product], feeds)


def test_products_that_stay():
    (a, one), (b, other), (c, third) = feed(4, 4), feed(4, 4), feed(4, 4)
    ab = tf.matmul(a, b)
    stay = {
        "two left matrices": [tf.concat([ab, tf.matmul(c, b)], 1)],
        "one below the other": [tf.concat([ab, tf.matmul(a, c)], 0)],
        "one that others take": [tf.concat([ab, tf.matmul(a, c)], 1), ab],
        "turned round or not": [tf.concat([ab, tf.matmul(a, c, transpose_b=True)], 1)],
        "the same twice": [tf.concat([ab, ab], 1)],
    }
    for name, fetches in stay.items():
        assert not compiled(fetches, [a, b, c]).changes.get("products of one matrix"), name
        assert_same(fetches, {a: one, b: other, c: third})


def test_sums_of_rows_side_by_side():
    (a, one), (b, other) = feed(4, 3), feed(4, 2)
    biases = tf.split(tf.get_variable("b", initializer=np.ones(5, "f")), [3, 2])
    total = tf.nn.bias_add(a, biases[0]) ** 2, tf.nn.bias_add(b, biases[1]) ** 3
    slope = tf.gradients(total, tf.trainable_variables())
    plan = compiled(slope, [a, b])
    assert plan.changes["sums of rows side by side"] == 1 and types(plan).count("BiasAddGrad") == 1
    shown = []
    for make in (tf.Session, plain):
        with make() as sess:
            sess.run(tf.global_variables_initializer())
            shown.append(sess.run(slope, {a: one, b: other}))
    np.testing.assert_allclose(*shown, 1e-5)
