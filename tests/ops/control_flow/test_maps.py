"""A function applied along the first dimension: map_fn, scan, foldl, foldr."""

import numpy as np
import pytest

import everflow as tf

X = np.array([1, 2, 3, 4])


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: tf.map_fn(lambda a: a * a, x), X * X),
        (lambda x: tf.map_fn(lambda a: tf.cast(a, tf.float32) / 2, x, dtype=tf.float32), X / 2),
        (lambda x: tf.map_fn(lambda a: a[0] * a[1], (x, x), dtype=tf.int64), X * X),
        (lambda x: tf.map_fn(lambda a: (a, -a), x, dtype=(tf.int64, tf.int64))[1], -X),
        (lambda x: tf.map_fn(lambda a: tf.fill([2], a), x), np.stack([X, X], 1)),
        (lambda x: tf.scan(lambda a, e: a + e, x), np.cumsum(X)),
        (lambda x: tf.scan(lambda a, e: a + e, x, reverse=True), np.cumsum(X[::-1])[::-1]),
        (lambda x: tf.scan(lambda a, e: a * 2 + e, x, initializer=np.int64(1)), [3, 8, 19, 42]),
        (lambda x: tf.scan(lambda a, e: (a[1], a[0] + e), x, initializer=(np.int64(0), np.int64(1)))[0], [1, 1, 3, 4]),
        (lambda x: tf.foldl(lambda a, e: a * 10 + e, x), 1234),
        (lambda x: tf.foldr(lambda a, e: a * 10 + e, x), 4321),
        (lambda x: tf.foldl(lambda a, e: a * 10 + e, x, initializer=np.int64(9)), 91234),
        (lambda x: tf.foldr(lambda a, e: a * 10 + e, x, initializer=np.int64(9)), 94321),
    ],
)
def test_values(sess, build, expected, known):
    x = tf.placeholder(tf.int64, [4 if known else None])
    made = build(x)
    np.testing.assert_array_equal(sess.run(made, {x: X}), expected)
    assert not known or made.shape.as_list() == list(np.shape(expected))


def test_nothing_to_go_along(sess):
    empty = tf.placeholder(tf.float32, [None, 2])
    feed = {empty: np.zeros([0, 2])}
    assert sess.run(tf.map_fn(lambda a: a + 1.0, empty), feed).shape == (0, 2)
    assert sess.run(tf.foldl(lambda a, e: a + e, empty, initializer=tf.ones([2])), feed).tolist() == [1, 1]
    assert sess.run(tf.scan(lambda a, e: a + e, empty, initializer=tf.ones([2])), feed).shape == (0, 2)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.map_fn(3, X), TypeError),
        (lambda: tf.map_fn(lambda a: a, 5), ValueError),
        (lambda: tf.map_fn(lambda a: a, tf.SparseTensor([[0]], [1], [2])), TypeError),
        (lambda: tf.map_fn(lambda a: (a, a), X), ValueError),
        (lambda: tf.scan(lambda a, e: (a, e), X), ValueError),
        (lambda: tf.scan(None, X), TypeError),
        (lambda: tf.foldl(None, X), TypeError),
    ],
)
def test_what_cannot_be_mapped(build, error):
    with tf.Graph().as_default(), pytest.raises(error):
        build()


def test_results_of_other_shapes_than_the_first(sess):
    ragged = tf.map_fn(lambda a: tf.range(a), X, infer_shape=False)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(ragged)


def test_gradients_flow_to_elements_and_to_what_is_outside(sess):
    x, w = tf.constant([1.0, 2.0, 3.0]), tf.constant(2.0)
    for build, of_x, of_w in (
        (lambda: tf.map_fn(lambda a: a * a * w, x), [4, 8, 12], 14),
        (lambda: tf.scan(lambda a, e: a * w + e, x)[-1], [4, 2, 1], 6),
        (lambda: tf.foldr(lambda a, e: a * w + e, x), [1, 2, 4], 14),
    ):
        found = sess.run(tf.gradients(build(), [x, w]))
        np.testing.assert_allclose(found[0], of_x)
        np.testing.assert_allclose(found[1], of_w)


def test_variables_are_read_once(sess):
    v = tf.get_variable("v", initializer=2)
    made = tf.map_fn(lambda a: a * tf.get_variable("inside", initializer=3), X.astype(np.int32))
    sess.run(tf.global_variables_initializer())
    assert sess.run(made * v).tolist() == (X * 6).tolist()
    assert tf.get_variable_scope().caching_device is None
