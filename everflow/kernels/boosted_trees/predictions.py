"""What ensembles of trees say of examples. Trees are laid out as arrays, which all examples walk at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.kernels.boosted_trees.ensembles import Ensemble, node_values, split_of
from everflow.kernels.facts import view
from everflow.kernels.registry import reading
from everflow.kernels.strings.text import strings
from everflow.protos import boosted_trees_pb2 as pb

if TYPE_CHECKING:
    from everflow.kernels.tensors import Strings

_NOT_CACHED = -1


@dataclass(frozen=True)
class _Tree:
    """A tree with an entry for each node in every array."""

    is_leaf: np.ndarray
    feature: np.ndarray
    dimension: np.ndarray
    threshold: np.ndarray
    by_equality: np.ndarray
    children: np.ndarray  # [node, (left, right)]
    values: np.ndarray  # [node, logit]; of splits what they had as leaves


def _tree(ensemble: Ensemble, index: int, logits_dimension: int) -> _Tree:
    key = logits_dimension
    known = ensemble.laid_out.setdefault(index, {})
    if key not in known:
        known[key] = _laid_out(ensemble.proto.trees[index].nodes, logits_dimension)
    return known[key]


def _laid_out(nodes: Sequence[pb.Node], logits_dimension: int) -> _Tree:
    splits = [split_of(node) for node in nodes]
    values = np.zeros([len(nodes), logits_dimension], np.float32)
    for row, node in zip(values, nodes):
        logits = node_values(node)[:logits_dimension]
        row[: len(logits)] = logits

    def column(name: str, dtype: type = np.int64) -> np.ndarray:
        return np.array([getattr(at, name, 0) for at in splits], dtype)

    by_equality = np.array([node.WhichOneof("node") == "categorical_split" for node in nodes])
    return _Tree(
        is_leaf=np.array([at is None for at in splits]),
        feature=column("feature_id"),
        dimension=column("dimension_id"),
        threshold=np.where(by_equality, column("value"), column("threshold", np.float32)),
        by_equality=by_equality,
        children=np.stack([column("left_id"), column("right_id")], axis=1),
        values=values,
    )


class _Examples:
    """Buckets of features: [example, dimension] each."""

    def __init__(self, features: list[torch.Tensor]) -> None:
        self.count = len(features[0])
        columns = [feature.numpy().reshape(self.count, -1) for feature in features]
        self._offsets = np.cumsum([0] + [column.shape[1] for column in columns])
        self._buckets = np.concatenate(columns, axis=1)

    def step(self, tree: _Tree, rows: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """The nodes that these examples go to from these splits."""
        buckets = self._buckets[rows, self._offsets[tree.feature[nodes]] + tree.dimension[nodes]]
        # A missing value is bucket -1: not above any threshold, whatever direction the split has for it.
        right = np.where(tree.by_equality[nodes], buckets != tree.threshold[nodes], buckets > tree.threshold[nodes])
        return tree.children[nodes, right.astype(np.int64)]

    def fall(self, tree: _Tree, rows: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """The leaves that these examples end in, from these nodes."""
        nodes = nodes.copy()
        moving = np.flatnonzero(~tree.is_leaf[nodes])
        while moving.size:
            nodes[moving] = self.step(tree, rows[moving], nodes[moving])
            moving = moving[~tree.is_leaf[nodes[moving]]]
        return nodes


@reading("BoostedTreesPredict")
def predict(
    tree_ensemble_handle: Ensemble, bucketized_features: list[torch.Tensor], *, logits_dimension: int
) -> torch.Tensor:
    examples = _Examples(bucketized_features)
    rows = np.arange(examples.count)
    logits = np.zeros([examples.count, logits_dimension], np.float32)
    with tree_ensemble_handle.lock:
        ensemble = tree_ensemble_handle.existing()
        for index, weight in enumerate(ensemble.proto.tree_weights):
            tree = _tree(ensemble, index, logits_dimension)
            leaves = examples.fall(tree, rows, np.zeros(examples.count, np.int64))
            logits += np.float32(weight) * tree.values[leaves]
    return torch.from_numpy(logits)


@reading("BoostedTreesTrainingPredict", result=view(1))
def training_predict(
    tree_ensemble_handle: Ensemble,
    cached_tree_ids: torch.Tensor,
    cached_node_ids: torch.Tensor,
    bucketized_features: list[torch.Tensor],
    *,
    logits_dimension: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """How much logits change from where the examples were left: from the trees that are new and the layers that grew."""
    examples = _Examples(bucketized_features)
    trees, nodes = cached_tree_ids.numpy().astype(np.int64), cached_node_ids.numpy().astype(np.int64)
    logits = np.zeros([examples.count, logits_dimension], np.float32)
    with tree_ensemble_handle.lock:
        ensemble = tree_ensemble_handle.existing()
        count = len(ensemble.proto.trees)
        if not count:
            return torch.from_numpy(logits), cached_tree_ids, torch.zeros_like(cached_node_ids)
        fresh = nodes == _NOT_CACHED
        trees, nodes = np.where(fresh, 0, trees), np.where(fresh, 0, nodes)
        for index in range(int(trees.min(initial=count)), count):
            tree = _tree(ensemble, index, logits_dimension)
            partial = np.zeros_like(logits)
            began_here = np.flatnonzero((trees == index) & ~fresh)
            if began_here.size:
                partial[began_here], nodes[began_here] = _taken_back(ensemble, index, tree, nodes[began_here])
            rows = np.flatnonzero(trees <= index)
            nodes[rows[trees[rows] < index]] = 0
            nodes[rows] = examples.fall(tree, rows, nodes[rows])
            logits[rows] += np.float32(ensemble.proto.tree_weights[index]) * (partial[rows] + tree.values[nodes[rows]])
    last = torch.full_like(cached_tree_ids, count - 1)
    return torch.from_numpy(logits), last, torch.from_numpy(nodes.astype(np.int32))


def _taken_back(ensemble: Ensemble, index: int, tree: _Tree, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(what examples that were in these nodes have to give back, where they are now that the tree may have been
    pruned).
    """
    notes = (
        ensemble.proto.tree_metadata[index].post_pruned_nodes_meta if index < len(ensemble.proto.tree_metadata) else ()
    )
    corrections = np.zeros([len(nodes), tree.values.shape[1]], np.float32)
    if notes:
        corrections = np.array([list(notes[node].logit_change) for node in nodes], np.float32)
        nodes = np.array([notes[node].new_node_id for node in nodes], np.int64)
    return corrections - tree.values[nodes], nodes


@reading("BoostedTreesExampleDebugOutputs")
def example_debug_outputs(
    tree_ensemble_handle: Ensemble, bucketized_features: list[torch.Tensor], *, logits_dimension: int
) -> Strings:
    """For each example the features that it was asked for on its way, and the logits after each answer."""
    examples = _Examples(bucketized_features)
    with tree_ensemble_handle.lock:
        ensemble = tree_ensemble_handle.existing()
        layouts = [_tree(ensemble, index, logits_dimension) for index in range(len(ensemble.proto.trees))]
        weights = np.asarray(ensemble.proto.tree_weights, np.float32)
    outputs = []
    for row in range(examples.count):
        path = pb.DebugOutput()
        # The first tree's root is the bias.
        if layouts:
            path.logits_path.append(weights[0] * layouts[0].values[0, 0])
        before = np.float32(0)
        for tree, weight in zip(layouts, weights):
            node, at = 0, np.array([row])
            while not tree.is_leaf[node]:
                path.feature_ids.append(tree.feature[node])
                node = int(examples.step(tree, at, np.array([node]))[0])
                path.logits_path.append(before + weight * tree.values[node, 0])
            before += weight * tree.values[node, 0]
        outputs.append(path.SerializeToString())
    return strings(outputs, (len(outputs),))
