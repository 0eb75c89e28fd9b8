"""`tf.vectorized_map`, `pfor` and Jacobians: what is computed at once is what a loop computes."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.parallel_for.jacobians import batch_jacobian, jacobian
from everflow.ops.parallel_for.loops import for_loop, pfor

ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)
MATRICES = np.arange(12, dtype=np.float32).reshape(3, 2, 2)


def evaluated(fetches, feed=None):
    with tf.Session() as session:
        return session.run(fetches, feed)


@pytest.mark.parametrize("known_size", [True, False])
@pytest.mark.parametrize(
    "fn, elements",
    [
        (lambda a: a * tf.constant([1.0, 2.0]) + tf.reduce_sum(a), ROWS),
        (lambda a: 1.0 - tf.nn.relu(a - 2.0), ROWS),
        (lambda a: a[:, None] * a, ROWS),
        (lambda a: tf.matmul(a, a, transpose_b=True), MATRICES),
        (lambda a: tf.matmul(a, tf.ones([2, 3]), transpose_a=True), MATRICES),
        (lambda a: tf.matmul(tf.ones([3, 2]), a), MATRICES),
        (lambda a: tf.matmul(tf.ones([3, 2]), a, transpose_b=True), MATRICES),
        (lambda a: tf.concat([tf.transpose(a), tf.ones([2, 1])], -1), MATRICES),
        (lambda a: tf.stack([a, tf.zeros([2])], 1), ROWS),
        (lambda a: tf.split(tf.pad(a, [[1, 1]]), 2)[1], ROWS),
        (lambda a: tf.gather(a, [1, 0]), ROWS),
        (lambda a: tf.gather(tf.reshape(tf.range(12), [3, 4]), tf.cast(a[0], tf.int32) // 2, axis=1), ROWS),
        (lambda a: tf.where(a > 2.0, a, -a), ROWS),
        (lambda a: tf.where(tf.reduce_sum(a) > 2.0, a, -a), ROWS),
        (lambda a: tf.cumsum(tf.tile(a, [2]), exclusive=True), ROWS),
        (lambda a: tf.nn.softmax(tf.reshape(a, [4])), MATRICES),
        (lambda a: tf.nn.bias_add(a, [1.0, 2.0]), MATRICES),
        (lambda a: tf.linalg.set_diag(a, [5.0, 6.0]), MATRICES),
        (lambda a: tf.one_hot(tf.cast(a, tf.int32), 6, axis=0), ROWS),
        (lambda a: tf.unsorted_segment_sum(a, [1, 0], 3), ROWS),
        (lambda a: tf.gradients(tf.reduce_prod(a * a[0]), a)[0], ROWS),
        (lambda a: tf.cast(tf.shape(tf.zeros_like(a)), tf.float32) + a, ROWS),
        (lambda a: tf.map_fn(lambda b: b * 2.0, a), ROWS),
        (lambda a: tf.vectorized_map(lambda b: b * 2.0, a), ROWS),
        (tf.function(lambda a: a * 2.0), ROWS),
    ],
)
def test_what_map_fn_computes(fn, elements, known_size):
    with tf.Graph().as_default():
        fed = tf.placeholder(tf.float32, elements.shape if known_size else [None, *elements.shape[1:]])
        at_once = tf.vectorized_map(fn, fed)
        one_by_one = tf.map_fn(fn, fed, dtype=at_once.dtype)
        at_once, one_by_one = evaluated([at_once, one_by_one], {fed: elements})
    np.testing.assert_allclose(at_once, one_by_one, rtol=1e-6)


def test_structures():
    with tf.Graph().as_default():
        made = tf.vectorized_map(
            lambda e: {"sum": e[0] + e[1][0], "second": e[1], "one": tf.constant(1)},
            (tf.constant(ROWS), tf.constant(ROWS)),
        )
        made = evaluated(made)
    np.testing.assert_array_equal(made["sum"], ROWS + ROWS[:, :1])
    np.testing.assert_array_equal(made["second"], ROWS)
    np.testing.assert_array_equal(made["one"], [1, 1, 1])


def test_each_iteration_has_its_own_random_numbers():
    with tf.Graph().as_default():
        drawn = evaluated(pfor(lambda i: tf.random.uniform([3]), 4))
    assert drawn.shape == (4, 3)
    assert len(np.unique(drawn)) == 12


def test_no_loop_is_drawn():
    with tf.Graph().as_default() as graph:
        tf.vectorized_map(lambda a: a * a, tf.constant(ROWS))
        assert "loop_body/mul/pfor/Mul" in [op.name for op in graph.get_operations()]
        assert not any(op.type == "Enter" for op in graph.get_operations())


def test_some_iterations_at_a_time():
    with tf.Graph().as_default():
        outputs = [pfor(lambda i: (i * i, tf.constant(2.0)), n, parallel_iterations=2) for n in (5, 4)]
        five, four = evaluated(outputs)
    np.testing.assert_array_equal(five[0], [0, 1, 4, 9, 16])
    np.testing.assert_array_equal(five[1], [2.0] * 5)
    np.testing.assert_array_equal(four[0], [0, 1, 4, 9])
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Use for_loop instead"):
            pfor(lambda i: i, 4, parallel_iterations=1)
        with pytest.raises(ValueError, match="positive integer"):
            pfor(lambda i: i, 4, parallel_iterations=0)


def test_for_loop():
    with tf.Graph().as_default():
        made = evaluated(
            for_loop(lambda i: (i * 2, [tf.cast(i, tf.float32)]), (tf.int32, [tf.float32]), 3, parallel_iterations=1)
        )
    np.testing.assert_array_equal(made[0], [0, 2, 4])
    np.testing.assert_array_equal(made[1][0], [0.0, 1.0, 2.0])


def test_what_cannot_be_converted():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="No converter defined for TopKV2"):
            tf.vectorized_map(lambda a: tf.nn.top_k(a)[0], tf.constant(ROWS))
        with pytest.raises(ValueError, match="No converter defined for Switch"):
            tf.vectorized_map(lambda a: tf.cond(tf.reduce_sum(a) > 4.0, lambda: a, lambda: -a), tf.constant(ROWS))
        with pytest.raises(ValueError, match='Input "filter" of op "Conv2D" expected to be loop invariant'):
            tf.vectorized_map(lambda f: tf.nn.conv2d(tf.ones([1, 4, 4, 1]), f, 1, "SAME"), tf.ones([3, 2, 2, 1, 1]))


def test_jacobians():
    with tf.Graph().as_default():
        x, w = tf.placeholder(tf.float32, [None, 2]), tf.constant([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]])
        y = tf.square(tf.matmul(x, w))
        fetches = [
            jacobian(y, x),
            jacobian(y, [x], use_pfor=False)[0],
            batch_jacobian(y, x),
            batch_jacobian(y, x, use_pfor=False),
        ]
        whole, whole_by_loop, batch, batch_by_loop = evaluated(fetches, {x: ROWS})
        assert jacobian(x, [x, w])[1] is None
    expected = (
        2 * (ROWS @ [[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]])[:, :, None] * np.array([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]]).T
    )
    np.testing.assert_allclose(batch, expected)
    np.testing.assert_allclose(batch_by_loop, expected)
    np.testing.assert_allclose(whole, whole_by_loop)
    np.testing.assert_allclose(np.einsum("bibj->bij", whole), expected)
