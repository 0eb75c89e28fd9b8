"""How trees of forests grow from what is collected at their leaves."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.kernels.forests.growth import at_depth
from everflow.protos import tensor_forest_pb2 as pb

NO_SPARSE = np.zeros([0, 2], np.int64), np.zeros(0, np.float32), np.zeros(0, np.int64)
NO_WEIGHTS = np.zeros(0, np.float32)
X = np.random.RandomState(0).rand(400, 2).astype(np.float32)


class Forest:
    """One tree with what is collected for it."""

    def __init__(self, session, **options):
        params = pb.TensorForestParams(num_features=2, num_trees=1, **{"max_nodes": 50, "num_outputs": 2, **options})
        params.num_splits_to_consider.constant_value = 10
        params.split_after_samples.constant_value = 50
        self.params, self.session = params.SerializeToString(), session
        self.tree = raw.DecisionTreeResourceHandleOp(shared_name="tree")
        self.stats = raw.FertileStatsResourceHandleOp(shared_name="stats")
        session.run(raw.CreateTreeVariable(self.tree, "", params=self.params))
        session.run(raw.CreateFertileStatsVariable(self.stats, "", params=self.params))

    def show(self, x, y, seed=1):
        """Let the tree see examples and grow; the nodes that had seen enough."""
        spec = {"input_spec": "", "params": self.params}
        leaves = raw.TraverseTreeV4(self.tree, x, *NO_SPARSE, **spec)
        finished = raw.ProcessInputV4(
            self.tree, self.stats, x, *NO_SPARSE, y, NO_WEIGHTS, leaves, random_seed=seed, **spec
        )
        grown = raw.GrowTreeV4(self.tree, self.stats, finished, params=self.params)
        nodes, _ = self.session.run([finished, grown])
        return nodes.tolist()

    def size(self):
        return self.session.run(raw.TreeSize(self.tree))

    def collected(self):
        return pb.FertileStats.FromString(self.session.run(raw.FertileStatsSerialize(self.stats, params=self.params)))


def test_a_leaf_splits_when_it_has_seen_enough(sess):
    forest = Forest(sess, checkpoint_stats=True)
    y = (X[:, 0] > 0.5).astype(np.float32)
    assert forest.show(X[:25], y[:25]) == []
    (slot,) = forest.collected().node_to_slot
    assert len(slot.candidates) == 10 and slot.post_init_leaf_stats.weight_sum == 15
    assert forest.show(X[25:50], y[25:50]) == [] and forest.size() == 1
    assert forest.show(X[50:75], y[50:75]) == [0] and forest.size() == 3
    assert sorted((slot.node_id, slot.depth) for slot in forest.collected().node_to_slot) == [(1, 1), (2, 1)]


def test_what_is_collected_goes_on_from_a_checkpoint(sess):
    forest = Forest(sess, checkpoint_stats=True)
    y = (X[:, 0] > 0.5).astype(np.float32)
    forest.show(X[:40], y[:40])
    before = forest.collected()
    sess.run(raw.FertileStatsDeserialize(forest.stats, before.SerializeToString(), params=forest.params))
    assert forest.collected() == before
    assert forest.show(X[40:60], y[40:60]) == [0]


def test_examples_of_one_class_do_not_split(sess):
    forest = Forest(sess)
    assert forest.show(X, np.ones(400, np.float32)) == [] and forest.size() == 1
    assert sess.run(raw.FertileStatsSerialize(forest.stats, params=forest.params)) == b""


def test_the_most_nodes(sess):
    forest = Forest(sess, max_nodes=5)
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(np.float32)
    for _ in range(6):
        forest.show(X, y)
    assert forest.size() == 5
    sess.run(raw.FinalizeTree(forest.tree, forest.stats, params=forest.params))
    assert forest.show(X, y) == []


def test_numbers(sess):
    forest = Forest(sess, num_outputs=1, is_regression=True)
    forest.show(X, X[:, 0] * 3)
    predictions, _ = sess.run(
        raw.TreePredictionsV4(
            forest.tree, np.float32([[0.01, 0.5], [0.99, 0.5]]), *NO_SPARSE, input_spec="", params=forest.params
        )
    )
    assert predictions[1] - predictions[0] > 1


def test_the_same_seed_grows_the_same_tree(sess):
    trees = []
    for _ in range(2):
        with tf.Graph().as_default(), tf.Session() as session:
            forest = Forest(session)
            for _ in range(3):
                forest.show(X, (X[:, 0] + X[:, 1] > 1).astype(np.float32), seed=7)
            trees.append(session.run(raw.TreeSerialize(forest.tree)))
    assert trees[0] == trees[1]


@pytest.mark.parametrize(
    "text, values",
    [
        ({"linear": pb.LinearParam(slope=2, y_intercept=1, min_val=2, max_val=6)}, [2, 3, 6]),
        ({"exponential": pb.ExponentialParam(bias=1, base=2, multiplier=3, depth_multiplier=1)}, [4, 7, 25]),
        ({"threshold": pb.ThresholdParam(on_value=1, off_value=9, threshold=1)}, [9, 1, 1]),
    ],
)
def test_settings_that_change_with_the_depth(text, values):
    assert [at_depth(pb.DepthDependentParam(**text), depth) for depth in (0, 1, 3)] == values
