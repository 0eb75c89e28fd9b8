"""Trees of random forests: where examples end, what leaves say, and how trees are saved."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.protos import decision_trees_pb2 as trees_pb
from everflow.protos import tensor_forest_pb2 as pb

SPEC = {"input_spec": "dense_features_size: 2"}


def settings(**options):
    options = {"num_outputs": 2, "num_features": 2, "max_nodes": 9, "num_trees": 1, **options}
    return pb.TensorForestParams(**options).SerializeToString()


def config():
    """One split by feature 1 at 0.5, with leaves (3, 1) and (0, 4)."""
    model = trees_pb.Model()
    nodes = model.decision_tree.nodes
    root = nodes.add().binary_node
    root.left_child_id.value, root.right_child_id.value = 1, 2
    root.inequality_left_child_test.feature_id.id.value = "1"
    root.inequality_left_child_test.threshold.float_value = 0.5
    for number, counts in ((1, (3, 1)), (2, (0, 4))):
        node = nodes.add()
        node.node_id.value = number
        for count in counts:
            node.leaf.vector.value.add(float_value=count)
    return model.SerializeToString()


def test_children_keep_their_numbers(sess):
    model = trees_pb.Model.FromString(config())
    nodes = model.decision_tree.nodes
    nodes[2].binary_node.left_child_id.value, nodes[2].binary_node.right_child_id.value = 3, 4
    nodes[2].binary_node.inequality_left_child_test.feature_id.id.value = "0"
    nodes[1].binary_node.left_child_id.value, nodes[1].binary_node.right_child_id.value = 5, 6
    nodes[1].binary_node.inequality_left_child_test.feature_id.id.value = "0"
    for number in range(3, 7):
        node = nodes.add()
        node.node_id.value = number
        node.leaf.vector.value.add(float_value=number)
        node.leaf.vector.value.add(float_value=0)
    for number in (1, 2):
        nodes[number].binary_node.inequality_left_child_test.threshold.float_value = 0.5
    handle, create = tree(settings(), model.SerializeToString())
    sess.run(create)
    assert sess.run(raw.TreeSerialize(handle)) == model.SerializeToString()
    leaves = raw.TraverseTreeV4(handle, *of([[0, 0], [1, 0], [0, 1], [1, 1]]), params=settings(), **SPEC)
    assert sess.run(leaves).tolist() == [5, 6, 3, 4]


def tree(params, serialized=""):
    handle = raw.DecisionTreeResourceHandleOp(shared_name="tree")
    return handle, raw.CreateTreeVariable(handle, serialized, params=params)


def of(data):
    return np.float32(data), np.zeros([0, 2], np.int64), np.zeros(0, np.float32), np.zeros(0, np.int64)


def test_a_tree_of_a_checkpoint(sess):
    params = settings()
    handle, create = tree(params, config())
    assert not sess.run(raw.TreeIsInitializedOp(handle))
    with pytest.raises(tf.errors.NotFoundError):
        sess.run(raw.TreeSize(handle))
    sess.run(create)
    data = of([[9, 0.5], [9, 0.6]])
    leaves = raw.TraverseTreeV4(handle, *data, params=params, **SPEC)
    predictions, paths = raw.TreePredictionsV4(handle, *data, params=params, **SPEC)
    found = sess.run([leaves, predictions, paths, raw.TreeSize(handle), raw.FeatureUsageCounts(handle, params=params)])
    assert found[0].tolist() == [1, 2] and found[1].tolist() == [[0.75, 0.25], [0.0, 1.0]]
    assert found[2].tolist() == [b"", b""] and found[3] == 3 and found[4].tolist() == [0, 1]
    assert sess.run(raw.TreeSerialize(handle)) == config()


def test_labels_are_counted_at_leaves(sess):
    params = settings()
    handle, create = tree(params)
    sess.run(create)
    sess.run(raw.UpdateModelV4(handle, [0, 0, 0], [1.0, 0.0, 1.0], [1.0, 1.0, 2.0], params=params))
    assert sess.run(raw.TreePredictionsV4(handle, *of([[0, 0]]), params=params, **SPEC)[0]).tolist() == [[0.25, 0.75]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="label"):
        sess.run(raw.UpdateModelV4(handle, [0], [2.0], np.zeros(0, np.float32), params=params))


def test_means_and_paths(sess):
    params = settings(num_outputs=1, is_regression=True, inference_tree_paths=True)
    handle, create = tree(params)
    sess.run(create)
    sess.run(raw.UpdateModelV4(handle, [0, 0], [1.0, 2.0], np.zeros(0, np.float32), params=params))
    predictions, paths = sess.run(raw.TreePredictionsV4(handle, *of([[0, 0]]), params=params, **SPEC))
    assert predictions.tolist() == [[1.5]]
    (node,) = pb.TreePath.FromString(paths[0]).nodes_visited
    assert node.leaf.vector.value[0].float_value == 1.5


def test_sparse_features_come_after_dense_ones(sess):
    params = settings()
    handle, create = tree(params, config())
    sess.run(create)
    sparse = np.int64([[1, 0]]), np.float32([0.9]), np.int64([2, 1])
    leaves = raw.TraverseTreeV4(handle, np.zeros([2, 1], np.float32), *sparse, params=params, **SPEC)
    assert sess.run(leaves).tolist() == [1, 2]
