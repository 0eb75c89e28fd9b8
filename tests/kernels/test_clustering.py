"""Nearest centres, and points to begin with: far from each other, and drawn as their weights say."""

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.clustering import _Numbers
from tests.kernels.feeding import fed

POINTS = np.float32([[0, 0], [0, 1], [10, 0], [10, 1]])


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_nearest_in_order(sess, k):
    centers = np.float32([[9, 0], [0, 0.2], [5, 5], [100, 100]])
    places, distances = sess.run(tf.raw_ops.NearestNeighbors(points=fed(POINTS), centers=fed(centers), k=np.int64(k)))
    exact = ((POINTS[:, None] - centers) ** 2).sum(-1)
    wanted = np.argsort(exact, 1, kind="stable")[:, :k]
    np.testing.assert_array_equal(places, wanted)
    np.testing.assert_allclose(distances, np.take_along_axis(exact, wanted, 1), atol=1e-3)
    assert distances.min() >= 0


def test_points_and_centres_lie_in_one_space(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="point_dimensions == center_dimensions: 2 vs 3"):
        sess.run(
            tf.raw_ops.NearestNeighbors(points=fed(POINTS), centers=fed(np.zeros([1, 3], np.float32)), k=np.int64(1))
        )


def start(count, seed=0, retries=0, points=POINTS):
    return tf.raw_ops.KmeansPlusPlusInitialization(
        points=fed(points),
        num_to_sample=fed(np.int64(count)),
        seed=np.int64(seed),
        num_retries_per_sample=np.int64(retries),
    )


def test_beginnings_are_spread(sess):
    far = [sess.run(start(2, seed)) for seed in range(10)]
    assert sum(abs(a[0] - b[0]) == 10 for a, b in far) >= 9
    assert sorted(map(tuple, sess.run(start(4, 3)).tolist())) == sorted(map(tuple, POINTS.tolist()))


@pytest.mark.parametrize("count", [0, -1, 5])
def test_beginnings_that_can_not_be(sess, count):
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_to_sample"):
        sess.run(start(count))


def test_chains_end_where_they_always_move_on(sess):
    chain = tf.raw_ops.KMC2ChainInitialization
    assert sess.run(chain(distances=fed(np.float32([1, 0, 0, 0])), seed=np.int64(1))) == 0
    assert sess.run(chain(distances=fed(np.float32([0, 0, 5, 0])), seed=np.int64(1))) == 2
    assert sess.run(chain(distances=fed(np.float32([7])), seed=np.int64(1))) == 0


def test_numbers_are_even():
    numbers = _Numbers(5)
    counts = np.bincount([numbers.below(5) for _ in range(5000)], minlength=5)
    assert counts.min() > 850
    assert all(0 <= numbers.float32() < 1 for _ in range(100))


def test_retries_by_how_many_points_are_drawn(sess):
    points = np.random.RandomState(0).randn(60, 2).astype(np.float32)

    def drawn(retries):
        many = {"num_to_sample": np.int64(8), "seed": np.int64(5), "num_retries_per_sample": np.int64(retries)}
        return sess.run(tf.raw_ops.KmeansPlusPlusInitialization(points=fed(points), **many))

    np.testing.assert_array_equal(drawn(-1), drawn(4))
