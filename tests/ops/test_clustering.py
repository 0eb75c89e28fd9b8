"""k-means: its ops by TensorFlow 1.15's numbers, and its graph."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops

POINTS = np.random.RandomState(0).randn(50, 2).astype("f")


@pytest.mark.parametrize(
    ("seed", "retries", "chosen"),
    [(0, 0, [29, 33, 0, 42, 16, 12]), (0, 5, [39, 18, 9, 31, 33, 36]), (5, 1, [39, 36, 5, 16, 10, 44]), (123456789012, 2, [29, 3, 49, 21, 20, 42])],
)  # fmt: skip
def test_kmeans_plus_plus_draws_what_tensorflow_draws(sess, seed, retries, chosen):
    drawn = sess.run(raw_ops.KmeansPlusPlusInitialization(POINTS, 6, seed, retries))
    np.testing.assert_array_equal(drawn, POINTS[chosen])


def test_nearest_neighbors_come_in_order(sess):
    indices, distances = sess.run(raw_ops.NearestNeighbors(POINTS[:5], POINTS[10:16], 3))
    expected = ((POINTS[:5, None] - POINTS[None, 10:16]) ** 2).sum(2)
    np.testing.assert_array_equal(indices, expected.argsort(1)[:, :3])
    np.testing.assert_allclose(distances, np.sort(expected, 1)[:, :3], rtol=1e-4, atol=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="point_dimensions == center_dimensions"):
        sess.run(raw_ops.NearestNeighbors(POINTS, np.ones([2, 3], "f"), 1))


def blobs():
    rs = np.random.RandomState(0)
    return np.concatenate([rs.randn(30, 3) + c for c in (0, 5, -5)]).astype("f")


@pytest.mark.parametrize(
    "options",
    [
        {"use_mini_batch": True, "initial_clusters": "kmeans_plus_plus"},
        {"use_mini_batch": False, "initial_clusters": "kmeans_plus_plus"},
        {"use_mini_batch": True, "mini_batch_steps_per_iteration": 2, "initial_clusters": blobs()[[0, 40, 80]]},
        {"use_mini_batch": False, "distance_metric": "cosine", "initial_clusters": "kmeans_plus_plus"},
    ],
)
def test_centres_move_to_the_points(sess, options):
    x = tf.placeholder(tf.float32, [None, 3])
    _, indices, scores, initialized, init_op, train_op = tf.contrib.factorization.KMeans(
        x, 3, random_seed=5, **options
    ).training_graph()
    mean = tf.reduce_mean(scores)
    sess.run(tf.global_variables_initializer())
    assert not sess.run(initialized)
    sess.run(init_op, {x: blobs()})
    assert sess.run(initialized)
    first = sess.run(mean, {x: blobs()})
    for _ in range(6):
        sess.run(train_op, {x: blobs()})
    assert sess.run(mean, {x: blobs()}) < first
    if options.get("distance_metric") != "cosine":
        assert sorted(np.bincount(sess.run(indices[0], {x: blobs()}))) == [30, 30, 30]


def test_a_branch_that_assigns_a_ref_variable_gives_its_value(sess):
    v = tf.Variable(False)
    p = tf.placeholder(tf.bool, [])
    chosen = tf.cond(p, lambda: tf.assign(v, True), tf.no_op)
    sess.run(v.initializer)
    assert sess.run(chosen, {p: True}) and sess.run(v)
