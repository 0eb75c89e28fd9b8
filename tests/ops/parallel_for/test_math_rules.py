"""What math ops become for all iterations at once."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.parallel_for.loops import pfor
from tests.ops.parallel_for.agreement import MATRICES, ROWS, check_agreement, evaluated


def test_each_iteration_has_its_own_random_numbers():
    with tf.Graph().as_default():
        drawn = evaluated(pfor(lambda i: tf.random.uniform([3]), 4))
    assert drawn.shape == (4, 3)
    assert len(np.unique(drawn)) == 12


FUNCTIONS = [
    (lambda a: a * tf.constant([1.0, 2.0]) + tf.reduce_sum(a), ROWS),
    (lambda a: 1.0 - tf.nn.relu(a - 2.0), ROWS),
    (lambda a: tf.matmul(a, a, transpose_b=True), MATRICES),
    (lambda a: tf.matmul(a, tf.ones([2, 3]), transpose_a=True), MATRICES),
    (lambda a: tf.matmul(tf.ones([3, 2]), a), MATRICES),
    (lambda a: tf.matmul(tf.ones([3, 2]), a, transpose_b=True), MATRICES),
    (lambda a: tf.cumsum(tf.tile(a, [2]), exclusive=True), ROWS),
    (lambda a: tf.unsorted_segment_sum(a, [1, 0], 3), ROWS),
    (lambda a: tf.gradients(tf.reduce_prod(a * a[0]), a)[0], ROWS),
]


@pytest.mark.parametrize("known_size", [True, False])
@pytest.mark.parametrize(("fn", "elements"), FUNCTIONS)
def test_what_map_fn_computes(fn, elements, known_size):
    check_agreement(fn, elements, known_size)


@pytest.mark.parametrize(
    "fn",
    [
        lambda a: tf.add_n([a, a, tf.ones([2])]),
        lambda a: tf.cast(a, tf.int32) % 2,
        lambda a: tf.reduce_max(a, keepdims=True) - tf.reduce_mean(a),
        lambda a: tf.cast(tf.reduce_any(a > 4.0), tf.int32),
        lambda a: tf.cumprod(a + 1.0, reverse=True),
        lambda a: tf.cross(tf.concat([a, [1.0]], 0), tf.constant([1.0, 0.0, 0.0])),
        lambda a: tf.linalg.cholesky(a[:, None] * a + 5.0 * tf.eye(2)),
        lambda a: tf.matmul(tf.tile((a[:, None] * a)[None], [3, 1, 1]), tf.ones([3, 2, 2])),
        lambda a: tf.gradients(tf.sigmoid(a) * tf.tanh(a), a)[0],
        lambda a: tf.linalg.triangular_solve(tf.eye(2) * (1.0 + a[0]), a[:, None]),
    ],
)
def test_more_of_them(fn):
    check_agreement(fn, ROWS)


def test_what_is_the_same_for_all_is_computed_once():
    with tf.Graph().as_default() as graph:
        w = tf.ones([2, 2])
        tf.vectorized_map(lambda a: a * tf.reduce_sum(tf.exp(w)), tf.constant(ROWS))
        assert [op.name for op in graph.get_operations() if op.type == "Exp"] == ["loop_body/Exp"]


@pytest.mark.parametrize(
    "one, shape",
    [
        (lambda i: tf.random_gamma([2], tf.gather([1.0, 2.0, 3.0], i)), [3, 2]),
        (lambda i: tf.random_gamma([2], [1.0, 2.0]), [3, 2, 2]),
        (lambda i: tf.random_poisson(tf.gather([[1.0, 500.0]] * 3, i), [4]), [3, 4, 2]),
        (lambda i: tf.multinomial(tf.gather(tf.zeros((3, 1, 4)), i), 5), [3, 1, 5]),
    ],
)
def test_samples_of_parameters(one, shape):
    drawn = pfor(one, 3)
    with tf.Session() as session:
        assert list(session.run(drawn).shape) == shape
