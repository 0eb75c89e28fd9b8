"""The trees of random forests: where examples end, what leaves say, and how a tree is kept in checkpoints."""

from __future__ import annotations

import functools
import operator
import threading
from typing import TYPE_CHECKING

import numpy as np
import torch
from google.protobuf.message import DecodeError

from everflow.framework.errors import InvalidArgumentError, NotFoundError
from everflow.framework.forking import renewed
from everflow.kernels.registry import acting, kernel, reading
from everflow.kernels.strings.text import scalar_string, strings
from everflow.protos import decision_trees_pb2 as trees_pb
from everflow.protos import tensor_forest_pb2 as pb

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session
    from everflow.kernels.tensors import Strings

_LEAF = -1
_TESTS = (operator.le, operator.lt, operator.ge, operator.gt)  # in the order of InequalityTest.Type


@functools.lru_cache(maxsize=256)
def parsed(params: str) -> pb.TensorForestParams:
    """The settings that every op of a forest carries: a message in a string attribute."""
    return pb.TensorForestParams.FromString(params.encode("utf-8", "surrogateescape"))


class Tree:
    """Nodes in arrays: a split's feature, threshold and children, a leaf's sums of labels."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = renewed(threading.RLock())
        self.created = False

    def start(self, params: pb.TensorForestParams, config: bytes) -> None:
        """A tree of one leaf, or what a checkpoint says."""
        self.params = params
        self._make_room(1)
        if config:
            self._load(config)
        self.created = True

    def _make_room(self, size: int) -> None:
        """Leaves that have seen nothing."""
        self.features, self.thresholds = np.full(size, _LEAF), np.zeros(size, np.float32)
        self.children, self.depths = np.zeros([size, 2], np.int64), np.zeros(size, np.int64)
        self.kinds = np.zeros(size, np.int64)
        self.sums, self.weights = np.zeros([size, self.params.num_outputs]), np.zeros(size)

    def existing(self) -> Tree:
        if not self.created:
            raise NotFoundError(None, None, f"The tree {self.name} does not exist: it was not created in this session.")
        return self

    @property
    def size(self) -> int:
        return len(self.features)

    def leaves(self, data: np.ndarray) -> np.ndarray:
        """The leaf that each example ends in."""
        return self.paths(data)[-1]

    def paths(self, data: np.ndarray) -> list[np.ndarray]:
        """The nodes that examples pass, step by step; those that are in a leaf stay there."""
        steps = [np.zeros(len(data), np.int64)]
        while True:
            at = steps[-1]
            moving = np.flatnonzero(self.features[at] != _LEAF)
            if not moving.size:
                return steps
            nodes, following = at[moving], at.copy()
            values, limits = data[moving, self.features[nodes]], self.thresholds[nodes]
            left = np.zeros(len(nodes), bool)
            for kind in np.unique(self.kinds[nodes]):
                of_kind = self.kinds[nodes] == kind
                left[of_kind] = _TESTS[kind](values[of_kind], limits[of_kind])
            following[moving] = self.children[nodes, np.where(left, 0, 1)]
            steps.append(following)

    def add(self, leaves: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> None:
        """Count the labels of examples, or add them up, at the leaves they ended in."""
        np.add.at(self.sums, leaves, labels * weights[:, None])
        np.add.at(self.weights, leaves, weights)

    def predictions(self, leaves: np.ndarray) -> np.ndarray:
        """The shares of classes, or the mean of numbers."""
        totals = self.weights[leaves] if self.params.is_regression else self.sums[leaves].sum(1)
        return np.divide(
            self.sums[leaves], totals[:, None], out=np.zeros_like(self.sums[leaves]), where=totals[:, None] > 0
        )

    def split(self, node: int, feature: int, threshold: float, sides: tuple, weights: tuple) -> tuple[int, int]:
        """Turn a leaf into a split with two leaves, which begin with these sums; their numbers."""
        left, right = self.size, self.size + 1
        self.features[node], self.thresholds[node] = feature, threshold
        self.children[node], self.kinds[node] = (left, right), self.params.inequality_test_type
        self.features = np.append(self.features, [_LEAF, _LEAF])
        self.thresholds = np.append(self.thresholds, np.zeros(2, np.float32))
        self.children = np.concatenate([self.children, np.zeros([2, 2], np.int64)])
        self.depths = np.append(self.depths, [self.depths[node] + 1] * 2)
        self.kinds = np.append(self.kinds, [0, 0])
        self.sums = np.concatenate([self.sums, np.stack(sides)])
        self.weights = np.append(self.weights, weights)
        return left, right

    def usage(self) -> np.ndarray:
        """How many splits ask for each feature."""
        used = self.features[self.features != _LEAF]
        return np.bincount(used, minlength=self.params.num_features).astype(np.int32)

    # --- as messages

    def node(self, number: int) -> trees_pb.TreeNode:
        message = trees_pb.TreeNode()
        if number:  # the root has no number
            message.node_id.value = number
        if self.features[number] == _LEAF:
            message.leaf.vector.SetInParent()
            values = self.predictions(np.array([number]))[0] if self.params.is_regression else self.sums[number]
            for value in values:
                message.leaf.vector.value.add(float_value=value)
            return message
        left, right = self.children[number].tolist()
        message.binary_node.left_child_id.value, message.binary_node.right_child_id.value = left, right
        test = message.binary_node.inequality_left_child_test
        test.feature_id.id.value = str(self.features[number])
        test.type = trees_pb.InequalityTest.Type.Name(int(self.kinds[number]))
        test.threshold.float_value = float(self.thresholds[number])
        return message

    def serialized(self) -> bytes:
        tree = trees_pb.DecisionTree(nodes=[self.node(number) for number in range(self.size)])
        return trees_pb.Model(decision_tree=tree).SerializeToString()

    def _load(self, config: bytes) -> None:
        try:
            nodes = trees_pb.Model.FromString(config).decision_tree.nodes
        except DecodeError as error:
            raise InvalidArgumentError(None, None, "The tree's configuration is no decision tree") from error
        self._make_room(len(nodes))
        for node in nodes:
            number = node.node_id.value
            if node.WhichOneof("node_type") == "binary_node":
                test = node.binary_node.inequality_left_child_test
                self.features[number], self.kinds[number] = int(test.feature_id.id.value), test.type
                self.thresholds[number] = test.threshold.float_value
                children = [node.binary_node.left_child_id.value, node.binary_node.right_child_id.value]
                self.children[number], self.depths[children] = children, self.depths[number] + 1
            else:
                self.sums[number] = [value.float_value for value in node.leaf.vector.value]
                # A mean that was saved counts as one example.
                self.weights[number] = 1.0 if self.params.is_regression else self.sums[number].sum()


def dense(data: torch.Tensor, indices: torch.Tensor, values: torch.Tensor, shape: torch.Tensor) -> np.ndarray:
    """All features of examples side by side: dense ones, then sparse ones with zeros where nothing is."""
    matrix = data.numpy()
    if shape.numel() < 2 or not int(shape[1]):
        return matrix
    rows = int(shape[0])
    spread = np.zeros([rows, int(shape[1])], np.float32)
    spread[tuple(indices.numpy().T)] = values.numpy()
    return np.concatenate([matrix.reshape(rows, -1), spread], 1)


def targets(labels: torch.Tensor, params: pb.TensorForestParams) -> np.ndarray:
    """Labels as what leaves add up: a one for the class, or the numbers."""
    given = labels.numpy()
    if params.is_regression:
        return given.reshape(len(given), -1).astype(np.float64)
    classes = given.reshape(-1).astype(np.int64)
    if classes.size and not 0 <= classes.min() <= classes.max() < params.num_outputs:
        raise InvalidArgumentError(None, None, f"A label is not in [0, {params.num_outputs}): {classes.tolist()}")
    return np.eye(params.num_outputs)[classes]


def weights_of(input_weights: torch.Tensor, count: int) -> np.ndarray:
    return input_weights.numpy().reshape(-1).astype(np.float64) if input_weights.numel() else np.ones(count)


# --- kernels ----------------------------------------------------------------------------------


@kernel("DecisionTreeResourceHandleOp", once=True)
def tree_handle(*, container: str, shared_name: str, node: Node, session: Session) -> Tree:
    name = shared_name or node.name
    return session.resources.lookup_or_create(container, "decision_tree", name, lambda: Tree(name))


@acting("CreateTreeVariable")
def create_tree(tree_handle: Tree, tree_config: Strings, *, params: str) -> None:
    with tree_handle.lock:
        if not tree_handle.created:
            tree_handle.start(parsed(params), scalar_string(tree_config, "tree_config"))


@acting("TreeDeserialize")
def deserialize_tree(tree_handle: Tree, tree_config: Strings, *, params: str) -> None:
    with tree_handle.lock:
        tree_handle.start(parsed(params), scalar_string(tree_config, "tree_config"))


@reading("TreeIsInitializedOp")
def is_tree_initialized(tree_handle: Tree) -> torch.Tensor:
    return torch.tensor(tree_handle.created)


@reading("TreeSerialize")
def serialize_tree(tree_handle: Tree) -> Strings:
    with tree_handle.lock:
        return strings([tree_handle.existing().serialized()], ())


@reading("TreeSize")
def tree_size(tree_handle: Tree) -> torch.Tensor:
    return torch.tensor(tree_handle.existing().size, dtype=torch.int32)


@reading("FeatureUsageCounts")
def feature_usage_counts(tree_handle: Tree) -> torch.Tensor:
    return torch.from_numpy(tree_handle.existing().usage())


@reading("TraverseTreeV4")
def traverse_tree(
    tree_handle: Tree,
    input_data: torch.Tensor,
    sparse_input_indices: torch.Tensor,
    sparse_input_values: torch.Tensor,
    sparse_input_shape: torch.Tensor,
) -> torch.Tensor:
    with tree_handle.lock:
        data = dense(input_data, sparse_input_indices, sparse_input_values, sparse_input_shape)
        return torch.from_numpy(tree_handle.existing().leaves(data).astype(np.int32))


@reading("TreePredictionsV4")
def tree_predictions(
    tree_handle: Tree,
    input_data: torch.Tensor,
    sparse_input_indices: torch.Tensor,
    sparse_input_values: torch.Tensor,
    sparse_input_shape: torch.Tensor,
) -> tuple[torch.Tensor, Strings]:
    with tree_handle.lock:
        tree = tree_handle.existing()
        data = dense(input_data, sparse_input_indices, sparse_input_values, sparse_input_shape)
        steps = tree.paths(data)
        told = [b""] * len(data)
        if tree.params.inference_tree_paths:
            told = [_path(tree, [int(step[i]) for step in steps]) for i in range(len(data))]
        predictions = tree.predictions(steps[-1]).astype(np.float32)
        return torch.from_numpy(predictions), strings(told, (len(told),))


def _path(tree: Tree, nodes: list[int]) -> bytes:
    """The nodes that an example passed, each once."""
    passed = list(dict.fromkeys(nodes))
    return pb.TreePath(nodes_visited=[tree.node(number) for number in passed]).SerializeToString()


@acting("UpdateModelV4")
def update_model(
    tree_handle: Tree, leaf_ids: torch.Tensor, input_labels: torch.Tensor, input_weights: torch.Tensor, *, params: str
) -> None:
    with tree_handle.lock:
        leaves = leaf_ids.numpy()
        tree_handle.existing().add(
            leaves, targets(input_labels, parsed(params)), weights_of(input_weights, len(leaves))
        )
