"""Ensembles of trees and quantiles of features, as resources that are initialized, changed, saved and restored."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops
from everflow.ops.boosted_trees import QuantileAccumulator, TreeEnsemble
from everflow.ops.variables.resources import initialize_resources, shared_resources

R = tf.raw_ops


def fill(sess, accumulator, values):
    sess.run(accumulator.add_summaries([tf.constant(values, tf.float32)], tf.ones([len(values)])))
    sess.run(accumulator.flush())
    return sess.run(accumulator.get_bucket_boundaries())


def test_an_ensemble_begins_empty(sess):
    ensemble = TreeEnsemble("trees", stamp_token=3)
    assert [t.shape.as_list() for t in ensemble.get_states()] == [[], [], [], [], [2]]
    with pytest.raises(tf.errors.OpError):
        sess.run(ensemble.get_states())
    sess.run(initialize_resources(shared_resources()))
    stamp, trees, finalized, layers, _ = sess.run(ensemble.get_states())
    assert (stamp, trees, finalized, layers) == (3, 0, 0, 0)


def test_boundaries_of_buckets_are_quantiles(sess):
    accumulator = QuantileAccumulator(0.01, num_streams=1, num_quantiles=4)
    sess.run(initialize_resources(shared_resources()))
    [boundaries] = fill(sess, accumulator, np.arange(101.0))
    np.testing.assert_allclose(boundaries, [0, 25, 50, 75, 100], atol=3)


def test_resources_are_saved_and_restored(tmp_path):
    def model():
        ensemble = TreeEnsemble("trees", stamp_token=5)
        accumulator = QuantileAccumulator(0.01, 1, 2, name="quantiles")
        init = initialize_resources(shared_resources())
        return ensemble, accumulator, init, tf.train.Saver()

    with tf.Graph().as_default(), tf.Session() as sess:
        ensemble, accumulator, init, saver = model()
        sess.run(init)
        [boundaries] = fill(sess, accumulator, [1.0, 2.0, 3.0])
        path = saver.save(sess, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as sess:
        ensemble, accumulator, init, saver = model()
        saver.restore(sess, path)
        assert sess.run(ensemble.get_states())[0] == 5
        np.testing.assert_array_equal(sess.run(accumulator.get_bucket_boundaries())[0], boundaries)


def test_shapes_that_are_known_before_a_run():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.int32, [7])
        handle = TreeEnsemble("trees").handle
        assert R.BoostedTreesPredict(
            tree_ensemble_handle=handle, bucketized_features=[x], logits_dimension=2
        ).shape.as_list() == [7, 2]
        stats = R.BoostedTreesMakeStatsSummary(
            node_ids=x, gradients=tf.ones([7, 1]), hessians=tf.ones([7, 1]), bucketized_features_list=[x, x],
            max_splits=3, num_buckets=4,
        )  # fmt: skip
        assert stats.shape.as_list() == [2, 3, 4, 2]
        values = tf.placeholder(tf.float32, [None])
        [buckets] = R.BoostedTreesBucketize(float_values=[values], bucket_boundaries=[tf.ones([2])])
        assert buckets.shape.as_list() == [None]


@pytest.mark.parametrize("sizes", [[[5, 1]], [[5], [7]], [[]]])
def test_features_are_vectors_of_one_size(sizes):
    features = [tf.placeholder(tf.int32, size) for size in sizes]
    with pytest.raises(ValueError):
        raw_ops.BoostedTreesPredict(
            tree_ensemble_handle=tf.placeholder(tf.resource), bucketized_features=features, logits_dimension=1
        )
