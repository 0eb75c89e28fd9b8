"""Pools over windows of uneven size."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.nn import fractional_pooling as nn_fractional_pooling


@pytest.mark.parametrize(
    "pseudo_random, rows", [(False, [0, 1, 3, 5, 7, 8, 9, 11, 12]), (True, [0, 1, 3, 4, 6, 7, 9, 10, 12])]
)
def test_fractional_pool_windows(pseudo_random, rows):
    x = torch.arange(12.0 * 13).view(1, 12, 13, 1)
    attrs = {
        "pooling_ratio": [1.0, 1.44, 1.73, 1.0],
        "pseudo_random": pseudo_random,
        "deterministic": True,
        "seed": 7,
        "seed2": 11,
    }
    pooled, row_bounds, column_bounds = nn_fractional_pooling.fractional_max_pool(x, overlapping=False, **attrs)
    assert row_bounds.tolist() == rows
    assert pooled[0, :, 0, 0].tolist() == [(end - 1) * 13 + column_bounds[1].item() - 1 for end in rows[1:]]


IMAGE = np.random.RandomState(0).rand(1, 7, 8, 2)
RATIOS = [1.0, 1.5, 1.44, 1.0]


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize(
    ("op", "reduce"), [(tf.raw_ops.FractionalMaxPool, np.max), (tf.raw_ops.FractionalAvgPool, np.mean)]
)
def test_what_is_pooled_is_what_the_bounds_say(sess, op, reduce, overlapping):
    pooled, rows, columns = sess.run(op(value=IMAGE, pooling_ratio=RATIOS, overlapping=overlapping))
    assert rows[0] == columns[0] == 0 and rows[-1] == 7 and columns[-1] == 8
    more = 1 if overlapping else 0
    for i, (top, bottom) in enumerate(zip(rows[:-1], rows[1:])):
        for j, (left, right) in enumerate(zip(columns[:-1], columns[1:])):
            window = IMAGE[:, top : bottom + more, left : right + more]
            np.testing.assert_allclose(pooled[:, i, j], reduce(window, (1, 2)))


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pool", [tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool])
def test_gradients(sess, pool, overlapping):
    x = tf.constant(IMAGE)
    y = pool(x, RATIOS, overlapping=overlapping, deterministic=True, seed=3, seed2=5)[0]
    shape = list(sess.run(y).shape)
    assert tf.test.compute_gradient_error(x, list(IMAGE.shape), y, shape) < 1e-6


@pytest.mark.parametrize(
    ("image", "options", "message"),
    [
        (IMAGE[0], {}, "must be 4-dimensional"),
        (IMAGE, {"pooling_ratio": [2.0, 1.5, 1.5, 1.0]}, "not yet supported on the batch nor channel dimension"),
        (IMAGE, {"seed": 5}, "Both seed and seed2 should be"),
    ],
)
def test_what_can_not_be(sess, image, options, message):
    pooled = tf.raw_ops.FractionalMaxPool(
        value=tf.placeholder_with_default(image, None), **{"pooling_ratio": RATIOS, **options}
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(pooled)
