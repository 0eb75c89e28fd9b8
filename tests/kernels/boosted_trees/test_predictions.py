"""What ensembles say: weights of trees, examples without a value, splits by equality, and the way there."""

import numpy as np
import pytest

import everflow as tf
from everflow.protos import boosted_trees_pb2 as pb


def leaf(value):
    return pb.Node(leaf=pb.Leaf(scalar=value))


def threshold(feature, at, left, right, missing=pb.DEFAULT_LEFT, value=0.0):
    return pb.Node(
        bucketized_split=pb.BucketizedSplit(
            feature_id=feature, threshold=at, left_id=left, right_id=right, default_direction=missing
        ),
        metadata=pb.NodeMetadata(original_leaf=pb.Leaf(scalar=value)),
    )


def equality(feature, value, left, right):
    return pb.Node(categorical_split=pb.CategoricalSplit(feature_id=feature, value=value, left_id=left, right_id=right))


@pytest.fixture
def ensemble(sess):
    """Two trees: by a threshold whose left side splits again, and by equality; the second counts half."""
    proto = pb.TreeEnsemble(
        trees=[
            pb.Tree(
                nodes=[
                    threshold(0, 1, 1, 2, pb.DEFAULT_RIGHT, 0.5), threshold(1, 0, 3, 4), leaf(10.0), leaf(1.0), leaf(2.0)
                ]
            ),
            pb.Tree(nodes=[equality(0, 2, 1, 2), leaf(100.0), leaf(200.0)]),
        ],
        tree_weights=[1.0, 0.5],
        tree_metadata=[pb.TreeMetadata(is_finalized=True, num_layers_grown=2), pb.TreeMetadata(num_layers_grown=1)],
    )  # fmt: skip
    handle = tf.raw_ops.BoostedTreesEnsembleResourceHandleOp(container="", shared_name="e")
    sess.run(
        tf.raw_ops.BoostedTreesCreateEnsemble(
            tree_ensemble_handle=handle, stamp_token=np.int64(0), tree_ensemble_serialized=proto.SerializeToString()
        )
    )
    return handle


FEATURES = [np.int32([0, 1, 2, -1]), np.int32([0, 1, 0, 0])]


def test_trees_add_up_by_their_weights(sess, ensemble):
    found = tf.raw_ops.BoostedTreesPredict(
        tree_ensemble_handle=ensemble, bucketized_features=FEATURES, logits_dimension=1
    )
    assert sess.run(found).ravel().tolist() == [1 + 100, 2 + 100, 10 + 50, 1 + 100]


def test_training_goes_on_from_where_examples_were_left(sess, ensemble):
    def grown(trees, nodes):
        found = tf.raw_ops.BoostedTreesTrainingPredict(
            tree_ensemble_handle=ensemble,
            cached_tree_ids=np.int32(trees),
            cached_node_ids=np.int32(nodes),
            bucketized_features=FEATURES,
            logits_dimension=1,
        )
        return [np.ravel(v).tolist() for v in sess.run(list(found))]

    logits, trees, nodes = grown([0] * 4, [-1] * 4)
    assert logits == [101, 102, 60, 101] and trees == [1] * 4 and nodes == [2, 2, 1, 2]
    logits, trees, nodes = grown(trees, nodes)
    assert logits == [0, 0, 0, 0] and nodes == [2, 2, 1, 2]
    assert grown([0] * 4, [3, 4, 2, 3])[0] == [100, 100, 50, 100]


def test_the_way_of_each_example(sess, ensemble):
    found = tf.raw_ops.BoostedTreesExampleDebugOutputs(
        tree_ensemble_handle=ensemble, bucketized_features=FEATURES, logits_dimension=1
    )
    paths = [pb.DebugOutput.FromString(text) for text in sess.run(found)]
    assert [list(p.feature_ids) for p in paths] == [[0, 1, 0], [0, 1, 0], [0, 0], [0, 1, 0]]
    assert paths[0].logits_path[0] == 0.5 and [p.logits_path[-1] for p in paths] == [101, 102, 60, 101]
