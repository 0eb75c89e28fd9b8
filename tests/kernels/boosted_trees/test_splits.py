"""The best split of each node, by what TensorFlow 1.15 gave for the same calls."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops

F = np.float32


def test_best_gains_look_at_every_bucket(sess):
    stats = np.array([[[0, 0], [1, 1], [0, 0], [-2, 1]], [[0, 0]] * 4], F)
    found = sess.run(
        raw_ops.BoostedTreesCalculateBestGainsPerFeature(
            tf.constant([0, 2]), [stats], l1=0.0, l2=0.0, tree_complexity=0.5, min_node_weight=1.0, max_splits=2
        )
    )
    assert found.node_ids_list[0].tolist() == [0] and found.thresholds_list[0].tolist() == [1]
    assert found.gains_list[0].tolist() == [4.0]
    assert found.left_node_contribs_list[0].tolist() == [[-1.0]] and found.right_node_contribs_list[0].tolist() == [
        [2.0]
    ]


def test_sums_with_a_bucket_for_missing_values(sess):
    nodes, gradients, hessians = [0, 1, 0], [[1.0], [2.0], [4.0]], [[0.5], [0.25], [0.125]]
    given = {"node_ids": nodes, "gradients": gradients, "hessians": hessians, "max_splits": 2, "num_buckets": 2}
    sums = sess.run(raw_ops.BoostedTreesAggregateStats(feature=[[0], [1], [-1]], **given))
    assert sums.shape == (2, 1, 3, 2)
    assert sums[0, 0].tolist() == [[1.0, 0.5], [0.0, 0.0], [4.0, 0.125]] and sums[1, 0, 1].tolist() == [2.0, 0.25]
    sparse = raw_ops.BoostedTreesSparseAggregateStats(
        feature_indices=[[0, 0], [1, 0]], feature_values=[0, 1], feature_shape=[3, 1], **given
    )
    places, values, shape = sess.run(sparse)
    assert shape.tolist() == [2, 1, 3, 2] and values.tolist() == [1.0, 0.5, 4.0, 0.125, 2.0, 0.25]
    assert places[::2].tolist() == [[0, 0, 0, 0], [0, 0, 2, 0], [1, 0, 1, 0]]


STATS = np.array(
    [[[[-1, 1], [1, 1], [1, 1], [-2, 2]]], [[[-1, 1], [1, 1], [1, 1], [2, 2]]], [[[-1, 1], [-1, 1], [1, 1], [-3, 1]]]],
    np.float32,
)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_missing_values_go_to_the_better_side(sess, is_sparse):
    settings = {"l1": 0.0, "l2": 0.1, "tree_complexity": 0.0, "min_node_weight": 0.0, "logits_dimension": 1}
    if is_sparse:
        places = np.argwhere(np.ones_like(STATS)).astype(np.int32)
        found = raw_ops.BoostedTreesSparseCalculateBestFeatureSplit(
            node_id_range=[0, 3],
            stats_summary_indices=places,
            stats_summary_values=STATS.reshape(-1),
            stats_summary_shape=STATS.shape,
            **settings,
        )
    else:
        found = raw_ops.BoostedTreesCalculateBestFeatureSplit(node_id_range=[0, 3], stats_summary=STATS, **settings)
    nodes, gains, dims, buckets, left, right, kinds = sess.run(found)
    assert (nodes.tolist(), dims.tolist(), buckets.tolist()) == ([0, 1, 2], [0, 0, 0], [0, 0, 1])
    np.testing.assert_allclose(gains, [4.6119, 3.0468, 5.0712], rtol=1e-4)
    np.testing.assert_allclose(np.hstack([left, right])[0], [0.9677, -0.9524], rtol=1e-4)
    assert kinds.tolist() == [b"INEQUALITY_DEFAULT_LEFT", b"INEQUALITY_DEFAULT_RIGHT", b"INEQUALITY_DEFAULT_LEFT"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 or 4 hessians, got 0"):
        sess.run(
            raw_ops.BoostedTreesCalculateBestFeatureSplit(
                node_id_range=[0, 3], stats_summary=STATS, **settings | {"logits_dimension": 2}
            )
        )


def splits_of(sess, stats, **changed):
    settings = {"l1": 0.0, "l2": 0.1, "tree_complexity": 0.0, "min_node_weight": 0.0, "logits_dimension": 1}
    stats = np.array(stats, F)
    return sess.run(
        raw_ops.BoostedTreesCalculateBestFeatureSplit(
            node_id_range=[0, len(stats)], stats_summary=stats, **(settings | changed)
        )
    )


def test_each_dimension_has_sums_of_its_own(sess):
    found = splits_of(sess, [[[[1, 1], [1, 1], [0, 0]], [[4, 1], [-4, 2], [0, 0]]]])
    assert found.feature_dimensions.tolist() == [1] and found.thresholds.tolist() == [0]
    np.testing.assert_allclose(found.left_node_contribs, [[-4 / 1.1]], rtol=1e-5)
    np.testing.assert_allclose(found.right_node_contribs, [[4 / 2.1]], rtol=1e-5)


@pytest.mark.parametrize("is_diagonal", [True, False])
def test_several_logits(sess, is_diagonal):
    rows = [[1, 2, 1, 1], [-3, 1, 1, 2]] if is_diagonal else [[1, 2, 1, 0, 0, 1], [-3, 1, 1, 0, 0, 2]]
    found = splits_of(sess, [[[*rows, [0] * len(rows[0])]]], logits_dimension=2, l1=0.5)
    np.testing.assert_allclose(found.left_node_contribs, [[-1 / 1.1, -2 / 1.1]], rtol=1e-5)
    np.testing.assert_allclose(found.right_node_contribs, [[3 / 1.1, -1 / 2.1]], rtol=1e-5)
    assert found.thresholds.tolist() == [0]


@pytest.mark.parametrize("is_sparse", [False, True])
def test_where_nothing_is_missing_the_left_is_named(sess, is_sparse):
    """Of a sparse feature only buckets that have examples are cut, and nodes without any are left out."""
    stats = np.zeros((2, 1, 4, 2), F)
    stats[0, 0, 1:3] = [[0.5, 0.25], [-0.75, 0.5]]
    settings = {"l1": 0.0, "l2": 0.0, "tree_complexity": 0.0, "min_node_weight": 0.0, "logits_dimension": 1}
    if is_sparse:
        places = np.argwhere(stats).astype(np.int32)
        found = raw_ops.BoostedTreesSparseCalculateBestFeatureSplit(
            node_id_range=[0, 2],
            stats_summary_indices=places,
            stats_summary_values=stats[stats != 0],
            stats_summary_shape=stats.shape,
            **settings,
        )
    else:
        found = raw_ops.BoostedTreesCalculateBestFeatureSplit(node_id_range=[0, 2], stats_summary=stats, **settings)
    nodes, _, _, buckets, left, right, kinds = sess.run(found)
    assert nodes.tolist() == ([0] if is_sparse else [0, 1])
    assert (buckets[0], left[0, 0], right[0, 0]) == (1, -2.0, 1.5)
    assert set(kinds.tolist()) == {b"INEQUALITY_DEFAULT_LEFT"}
