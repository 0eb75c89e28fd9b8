"""Ensembles of trees and how they grow, by what TensorFlow 1.15 gave for the same calls."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops
from everflow.protos import boosted_trees_pb2 as pb

F = np.float32


class Ensemble:
    def __init__(self, sess, name="e", serialized=b"", stamp=0):
        self.sess = sess
        self.handle = raw_ops.BoostedTreesEnsembleResourceHandleOp(container="", shared_name=name)
        sess.run(raw_ops.BoostedTreesCreateEnsemble(self.handle, tf.constant(stamp, tf.int64), serialized))

    def states(self):
        return [x.tolist() for x in self.sess.run(raw_ops.BoostedTreesGetEnsembleStates(self.handle))]

    def proto(self):
        return pb.TreeEnsemble.FromString(self.sess.run(raw_ops.BoostedTreesSerializeEnsemble(self.handle))[1])

    def center(self, gradient, hessian, l1=0.0, l2=0.0):
        return self.sess.run(raw_ops.BoostedTreesCenterBias(self.handle, [[gradient]], [[hessian]], l1, l2))

    def update(self, features, nodes, gains, thresholds, left, right, max_depth=2, pruning_mode=0):
        def columns(values, dtype, shape=(-1,)):
            return [tf.constant(np.array(v, dtype).reshape(shape)) for v in values]

        self.sess.run(
            raw_ops.BoostedTreesUpdateEnsemble(
                self.handle,
                tf.constant(features, tf.int32),
                columns(nodes, np.int32),
                columns(gains, F),
                columns(thresholds, np.int32),
                columns(left, F, (-1, 1)),
                columns(right, F, (-1, 1)),
                max_depth=max_depth,
                learning_rate=0.1,
                pruning_mode=pruning_mode,
            )
        )

    features = [np.array([0, 1, 2, 3], np.int32), np.array([3, 1, 1, 0], np.int32)]

    def predict(self):
        return self.sess.run(raw_ops.BoostedTreesPredict(self.handle, self.features, logits_dimension=1)).ravel()

    def training_predict(self, trees=(0,) * 4, nodes=(-1,) * 4):
        op = raw_ops.BoostedTreesTrainingPredict(
            self.handle, tf.constant(trees, tf.int32), tf.constant(nodes, tf.int32), self.features, logits_dimension=1
        )
        logits, trees, nodes = self.sess.run(op)
        return logits.ravel(), trees.tolist(), nodes.tolist()


def test_bias_is_moved_until_it_hardly_changes(sess):
    e = Ensemble(sess)
    assert e.states() == [0, 0, 0, 0, [0, 1]]
    assert e.center(0.3, 0.2)
    assert e.center(-0.1, 0.25, 0.05, 0.1)
    assert e.proto().trees[0].nodes[0].leaf.scalar == F(-1.3571428)
    assert not e.center(-0.0001, 0.25)
    assert e.states() == [3, 1, 0, 0, [0, 1]]


def test_layers_grow_and_a_full_tree_is_followed_by_another(sess):
    e = Ensemble(sess, stamp=3)
    e.update([1, 0], [[0], [0]], [[0.5], [0.5]], [[1], [2]], [[0.3], [0.4]], [[-0.5], [-0.6]])
    assert e.states() == [4, 1, 0, 1, [1, 3]]
    assert e.proto().trees[0].nodes[0].bucketized_split.feature_id == 0  # of equal gains the lower feature
    np.testing.assert_allclose(e.predict(), [0.04, 0.04, 0.04, -0.06], rtol=1e-6)
    e.update(
        [0, 1], [[1, 2], [1]], [[-0.5, 0.7], [-0.4]], [[1, 0], [2]], [[0.31, 0.41], [0.2]], [[-0.51, -0.61], [0.3]]
    )
    assert e.states() == [5, 2, 1, 2, [0, 1]]
    np.testing.assert_allclose(e.predict(), [0.07, 0.06, 0.06, -0.121], rtol=1e-6)
    logits, trees, nodes = e.training_predict(nodes=(1, 1, 2, 2))
    np.testing.assert_allclose(logits, [0.03, 0.02, -0.061, -0.061], rtol=1e-6)
    assert trees == [1] * 4 and nodes == [0] * 4


def test_pruned_before_only_gains_are_kept(sess):
    e = Ensemble(sess)
    e.update([0], [[0]], [[-0.5]], [[1]], [[0.1]], [[0.1]], pruning_mode=1)
    assert e.states() == [1, 1, 0, 1, [0, 1]]
    e.update([0], [[0]], [[0.0]], [[1]], [[0.1]], [[0.1]], pruning_mode=1)
    assert e.states() == [2, 1, 0, 2, [1, 3]]


def test_pruned_after_says_where_examples_went(sess):
    e = Ensemble(sess)
    e.update([0], [[0]], [[0.5]], [[2]], [[0.4]], [[-0.6]], pruning_mode=2)
    e.update(
        [0, 1],
        [[1, 2], [1]],
        [[-0.5, 0.7], [-0.4]],
        [[1, 0], [2]],
        [[0.31, 0.41], [0.2]],
        [[-0.51, -0.61], [0.3]],
        pruning_mode=2,
    )
    notes = e.proto().tree_metadata[0].post_pruned_nodes_meta
    assert [note.new_node_id for note in notes] == [0, 1, 2, 1, 1, 3, 4]
    np.testing.assert_allclose([note.logit_change[0] for note in notes], [0, 0, 0, -0.02, -0.03, 0, 0], atol=1e-7)
    logits, _, _ = e.training_predict(nodes=(3, 4, 5, 1))
    np.testing.assert_allclose(logits, [-0.02, -0.03, 0, 0], atol=1e-7)


def test_an_ensemble_that_was_not_created_is_not_found(sess):
    handle = raw_ops.BoostedTreesEnsembleResourceHandleOp(container="", shared_name="none")
    with pytest.raises(tf.errors.NotFoundError, match="not created"):
        sess.run(raw_ops.BoostedTreesGetEnsembleStates(handle))


@pytest.mark.parametrize(
    ("kind", "split"),
    [
        ("INEQUALITY_DEFAULT_RIGHT", pb.Node(bucketized_split=pb.BucketizedSplit(threshold=5, default_direction=1))),
        ("INEQUALITY_DEFAULT_LEFT", pb.Node(bucketized_split=pb.BucketizedSplit(threshold=5))),
        ("EQUALITY_DEFAULT_RIGHT", pb.Node(categorical_split=pb.CategoricalSplit(value=5))),
    ],
)
def test_splits_of_all_kinds(sess, kind, split):
    ensemble = Ensemble(sess)
    sess.run(
        raw_ops.BoostedTreesUpdateEnsembleV2(
            tree_ensemble_handle=ensemble.handle,
            feature_ids=[4, 7],
            dimension_ids=[[0], [2]],
            node_ids=[[0], [0]],
            gains=[[0.5], [0.75]],
            thresholds=[[3], [5]],
            left_node_contribs=[[[0.1]], [[0.25]]],
            right_node_contribs=[[[0.3]], [[0.5]]],
            split_types=[["INEQUALITY_DEFAULT_LEFT"], [kind]],
            max_depth=3,
            learning_rate=1.0,
            pruning_mode=0,
        )
    )
    root, left, right = ensemble.proto().trees[0].nodes
    wanted = split.bucketized_split if split.WhichOneof("node") == "bucketized_split" else split.categorical_split
    wanted.feature_id, wanted.dimension_id, wanted.left_id, wanted.right_id = 7, 2, 1, 2
    split.metadata.gain = 0.75
    assert root == split and (left.leaf.scalar, right.leaf.scalar) == (0.25, 0.5)
