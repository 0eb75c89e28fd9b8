"""What array ops become for all iterations at once."""

import pytest

import everflow as tf
from tests.ops.parallel_for.agreement import MATRICES, ROWS, check_agreement

FUNCTIONS = [
    (lambda a: a[:, None] * a, ROWS),
    (lambda a: tf.concat([tf.transpose(a), tf.ones([2, 1])], -1), MATRICES),
    (lambda a: tf.stack([a, tf.zeros([2])], 1), ROWS),
    (lambda a: tf.split(tf.pad(a, [[1, 1]]), 2)[1], ROWS),
    (lambda a: tf.gather(a, [1, 0]), ROWS),
    (lambda a: tf.gather(tf.reshape(tf.range(12), [3, 4]), tf.cast(a[0], tf.int32) // 2, axis=1), ROWS),
    (lambda a: tf.where(a > 2.0, a, -a), ROWS),
    (lambda a: tf.where(tf.reduce_sum(a) > 2.0, a, -a), ROWS),
    (lambda a: tf.linalg.set_diag(a, [5.0, 6.0]), MATRICES),
    (lambda a: tf.one_hot(tf.cast(a, tf.int32), 6, axis=0), ROWS),
    (lambda a: tf.cast(tf.shape(tf.zeros_like(a)), tf.float32) + a, ROWS),
]


@pytest.mark.parametrize("known_size", [True, False])
@pytest.mark.parametrize(("fn", "elements"), FUNCTIONS)
def test_what_map_fn_computes(fn, elements, known_size):
    check_agreement(fn, elements, known_size)


@pytest.mark.parametrize(
    "fn",
    [
        lambda a: tf.identity_n([a, a * 2.0])[1],
        lambda a: tf.broadcast_to(a[:, None], [2, 3]),
        lambda a: tf.squeeze(a[None, :, None], [0, 2]),
        lambda a: tf.unstack(a)[1],
        lambda a: tf.split(a, [1, 1])[0],
        lambda a: tf.slice(a, [1], [1]),
        lambda a: a[::-1] + a[-1],
        lambda a: tf.cast(tf.size(a) + tf.rank(a), tf.float32) * a,
        lambda a: tf.matrix_diag(a),
        lambda a: tf.matrix_diag_part(a[:, None] * a),
        lambda a: tf.linalg.diag(a, k=1),
        lambda a: tf.linalg.diag_part(a[:, None] * a, k=(-1, 0)),
        lambda a: tf.linalg.set_diag(a[:, None] * a, a[:1], k=1),
        lambda a: tf.matrix_band_part(a[:, None] * a, 0, -1),
        lambda a: tf.where_v2(a > 2.0, a, 0.0),
        lambda a: tf.gradients(tf.reduce_sum(a[1:] * a[:-1]), a)[0],
        lambda a: tf.stop_gradient(a),
        lambda a: tf.shape_n([a, a[:1]])[1],
    ],
)
def test_more_of_them(fn):
    check_agreement(fn, ROWS)
