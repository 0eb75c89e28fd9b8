"""The best split of each node, by what TensorFlow 1.15 gave for the same calls."""

import numpy as np

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
