"""Ensembles of trees at run time: how they are kept, and how a layer is grown.

An ensemble is a `TreeEnsemble` message, as checkpoints hold it. What examples do with it is in
`boosted_trees_predictions`, how the best splits are found in `boosted_trees_splits`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from google.protobuf.message import DecodeError

from everflow.framework.errors import InvalidArgumentError, NotFoundError
from everflow.framework.forking import renewed
from everflow.kernels.boosted_trees.splits import weight_and_gain
from everflow.kernels.registry import acting, kernel, reading
from everflow.kernels.strings.text import scalar_string, strings
from everflow.protos import boosted_trees_pb2 as pb

if TYPE_CHECKING:
    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer

    from everflow.kernels.context import Node, Session
    from everflow.kernels.tensors import Strings
    from everflow.protos.boosted_trees_pb2 import Leaf, Tree, TreeMetadata

_PRE_PRUNING, _POST_PRUNING = 1, 2
# A bias is good enough when a step changes it by less than this part of it.
_CENTERED = 0.01


class Ensemble:
    """Trees, how far the last of them has grown, and a stamp that counts changes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = renewed(threading.RLock())
        self.created = False
        self.stamp = 0
        self.proto = pb.TreeEnsemble()
        # What predictions remember of trees, by their index: a tree that changes is forgotten.
        self.laid_out: dict = {}

    def load(self, stamp: int, serialized: bytes) -> None:
        """Become what a checkpoint says."""
        try:
            self.proto = pb.TreeEnsemble.FromString(serialized)
        except DecodeError as error:
            raise InvalidArgumentError(None, None, "Unable to parse tree ensemble proto.") from error
        self.stamp, self.created = stamp, True
        self.laid_out.clear()

    def existing(self) -> Ensemble:
        """Itself, if it was created."""
        if not self.created:
            raise NotFoundError(
                None, None, f"The tree ensemble {self.name} does not exist: it was not created in this session."
            )
        return self

    def add_tree(self, logits: Sequence[float] | np.ndarray = (0.0,)) -> int:
        """A further tree of one leaf; its index."""
        _add_leaf(self.proto.trees.add().nodes, logits)
        self.proto.tree_weights.append(1.0)
        self.proto.tree_metadata.add()
        return len(self.proto.trees) - 1

    def split(self, index: int, best: Split) -> int:
        """Turn a leaf into a split with two leaves; the number of the second."""
        nodes = self.proto.trees[index].nodes
        node = nodes[best.node_id]
        before = pb.Leaf()
        before.CopyFrom(node.leaf)
        value = np.asarray(leaf_values(before), np.float32)
        if best.kind == "EQUALITY_DEFAULT_RIGHT":
            at = node.categorical_split
            at.value = best.threshold
        else:
            at = node.bucketized_split
            at.threshold = best.threshold
            at.default_direction = pb.DEFAULT_RIGHT if best.kind == "INEQUALITY_DEFAULT_RIGHT" else pb.DEFAULT_LEFT
        at.feature_id, at.dimension_id, at.left_id, at.right_id = (
            best.feature_id,
            best.dimension_id,
            len(nodes),
            len(nodes) + 1,
        )
        node.metadata.gain = best.gain
        # A root that stood for nothing yet has nothing to remember.
        if best.node_id != 0 or value.any():
            node.metadata.original_leaf.CopyFrom(before)
        for contribution in (best.left, best.right):
            _add_leaf(nodes, value + contribution)
        self.laid_out.pop(index, None)
        return len(nodes) - 1

    def grow(self, best: list[Split], max_depth: int, learning_rate: float, pruning_mode: int) -> None:
        """Add a layer of splits to the tree that grows."""
        index = len(self.proto.trees) - 1
        if index < 0 or self.proto.tree_metadata[index].is_finalized:
            index = self.add_tree()
        metadata, growing = self.proto.tree_metadata[index], self.proto.growing_metadata
        growing.num_layers_attempted += 1
        growing.num_trees_attempted += metadata.num_layers_grown == 0
        start = end = len(self.proto.trees[index].nodes)
        for split in best:
            if pruning_mode != _PRE_PRUNING or split.gain >= 0:
                end = self.split(index, split.scaled(learning_rate)) + 1
        if end == start:
            return
        metadata.num_layers_grown += 1
        growing.last_layer_node_start, growing.last_layer_node_end = start, end
        if metadata.num_layers_grown >= max_depth:
            metadata.is_finalized = True
            if pruning_mode == _POST_PRUNING:
                _prune(self.proto.trees[index], metadata)
                self.laid_out.pop(index, None)
            self.add_tree()
            growing.last_layer_node_start, growing.last_layer_node_end = 0, 1

    def center(self, logits: np.ndarray) -> bool:
        """Move the bias, which is the root of the first tree, by this; whether it is still far from where it ends."""
        if not self.proto.trees:
            self.add_tree(logits)
            return True
        node = self.proto.trees[0].nodes[0]
        before = np.asarray(leaf_values(node.leaf), np.float32)
        node.ClearField("leaf")
        set_leaf(node.leaf, before + logits)
        self.laid_out.pop(0, None)
        return bool((np.abs(logits) > np.float32(_CENTERED) * np.abs(before)).any())


@dataclass(frozen=True)
class Split:
    """The best way found to split a node."""

    node_id: int
    feature_id: int
    threshold: int
    gain: float
    left: np.ndarray
    right: np.ndarray
    dimension_id: int = 0
    kind: str = "INEQUALITY_DEFAULT_LEFT"

    def scaled(self, learning_rate: float) -> Split:
        return replace(self, left=learning_rate * self.left, right=learning_rate * self.right)


def leaf_values(leaf: Leaf) -> list[float]:
    """The logits of a leaf."""
    return list(leaf.vector.value) if leaf.WhichOneof("leaf") == "vector" else [leaf.scalar]


def node_values(node: pb.Node) -> list[float]:
    """The logits of a node; those of a split are what it had as a leaf."""
    return leaf_values(node.leaf if node.WhichOneof("node") == "leaf" else node.metadata.original_leaf)


def split_of(node: pb.Node) -> Any:
    """The part of a node that says how it splits; None for a leaf."""
    kind = node.WhichOneof("node")
    return None if kind in (None, "leaf") else getattr(node, kind)


def set_leaf(leaf: Leaf, logits: Sequence[float] | np.ndarray) -> None:
    """Give a leaf its logits: one as a scalar, several as a vector."""
    leaf.SetInParent()
    if len(logits) == 1:
        leaf.scalar = logits[0]
    else:
        leaf.vector.value.extend(float(x) for x in logits)


def _add_leaf(nodes: RepeatedCompositeFieldContainer[pb.Node], logits: Sequence[float] | np.ndarray) -> None:
    set_leaf(nodes.add().leaf, logits)


def _prune(tree: Tree, metadata: TreeMetadata) -> None:
    """Undo splits that lost, from the leaves up, and note what became of each node for those who remember where
    examples were.
    """
    nodes = tree.nodes
    before = [np.asarray(node_values(node), np.float32) for node in nodes]
    parents = {}  # Of pruned nodes.
    for number in reversed(range(len(nodes))):
        node, at = nodes[number], split_of(nodes[number])
        if at is None or node.metadata.gain >= 0 or split_of(nodes[at.left_id]) or split_of(nodes[at.right_id]):
            continue
        parents[at.left_id] = parents[at.right_id] = number
        leaf = pb.Leaf()
        leaf.CopyFrom(node.metadata.original_leaf)
        node.ClearField("metadata")
        node.leaf.CopyFrom(leaf)
    if not parents:
        return
    kept = [number for number in range(len(nodes)) if number not in parents]
    new_ids = {old: new for new, old in enumerate(kept)}
    changes: list = []
    for number, value in enumerate(before):
        parent = parents.get(number)
        if parent is not None:
            new_ids[number] = new_ids[parent]
        changes.append(np.zeros_like(value) if parent is None else changes[parent] - (value - before[parent]))
        metadata.post_pruned_nodes_meta.add(new_node_id=new_ids[number], logit_change=changes[-1].tolist())
    remaining = [nodes[number] for number in kept]
    for node in remaining:
        at = split_of(node)
        if at is not None:
            at.left_id, at.right_id = new_ids[at.left_id], new_ids[at.right_id]
    pruned = pb.Tree(nodes=remaining)
    tree.CopyFrom(pruned)


# --- kernels ----------------------------------------------------------------------------------


@kernel("BoostedTreesEnsembleResourceHandleOp", once=True)
def ensemble_handle(*, container: str, shared_name: str, node: Node, session: Session) -> Ensemble:
    name = shared_name or node.name
    return session.resources.lookup_or_create(container, "boosted_trees_ensemble", name, lambda: Ensemble(name))


@acting("BoostedTreesCreateEnsemble")
def create_ensemble(
    tree_ensemble_handle: Ensemble, stamp_token: torch.Tensor, tree_ensemble_serialized: Strings
) -> None:
    with tree_ensemble_handle.lock:
        if not tree_ensemble_handle.created:
            tree_ensemble_handle.load(
                int(stamp_token), scalar_string(tree_ensemble_serialized, "tree_ensemble_serialized")
            )


@acting("BoostedTreesDeserializeEnsemble")
def deserialize_ensemble(
    tree_ensemble_handle: Ensemble, stamp_token: torch.Tensor, tree_ensemble_serialized: Strings
) -> None:
    with tree_ensemble_handle.lock:
        tree_ensemble_handle.existing().load(
            int(stamp_token), scalar_string(tree_ensemble_serialized, "tree_ensemble_serialized")
        )


@reading("BoostedTreesSerializeEnsemble")
def serialize_ensemble(tree_ensemble_handle: Ensemble) -> tuple[torch.Tensor, Strings]:
    with tree_ensemble_handle.lock:
        ensemble = tree_ensemble_handle.existing()
        return torch.tensor(ensemble.stamp), strings([ensemble.proto.SerializeToString()], ())


@reading("IsBoostedTreesEnsembleInitialized")
def is_ensemble_initialized(tree_ensemble_handle: Ensemble) -> torch.Tensor:
    return torch.tensor(tree_ensemble_handle.created)


@reading("BoostedTreesGetEnsembleStates")
def get_ensemble_states(tree_ensemble_handle: Ensemble) -> tuple[torch.Tensor, ...]:
    with tree_ensemble_handle.lock:
        ensemble = tree_ensemble_handle.existing()
        trees, growing = len(ensemble.proto.trees), ensemble.proto.growing_metadata
        unfinished = trees > 0 and not ensemble.proto.tree_metadata[-1].is_finalized
        # The newest layer of a fresh tree is its root.
        newest = [growing.last_layer_node_start, growing.last_layer_node_end or 1]
        counts = (trees, trees - unfinished, growing.num_layers_attempted, newest)
        return torch.tensor(ensemble.stamp), *(torch.tensor(count, dtype=torch.int32) for count in counts)


@acting("BoostedTreesCenterBias")
def center_bias(
    tree_ensemble_handle: Ensemble,
    mean_gradients: torch.Tensor,
    mean_hessians: torch.Tensor,
    l1: torch.Tensor,
    l2: torch.Tensor,
) -> torch.Tensor:
    with tree_ensemble_handle.lock:
        ensemble = tree_ensemble_handle.existing()
        weights, _ = weight_and_gain(mean_gradients[0].numpy(), mean_hessians[0].numpy(), float(l1), float(l2))
        far = ensemble.center(weights)
        ensemble.stamp += 1
        return torch.tensor(far)


@acting("BoostedTreesUpdateEnsemble")
def update_ensemble(tree_ensemble_handle: Ensemble, feature_ids: torch.Tensor, node_ids: list[torch.Tensor], gains: list[torch.Tensor], thresholds: list[torch.Tensor], left_node_contribs: list[torch.Tensor], right_node_contribs: list[torch.Tensor], max_depth: torch.Tensor,
                    learning_rate: torch.Tensor, *, pruning_mode: int) -> None:  # fmt: skip
    columns = (node_ids, gains, thresholds, left_node_contribs, right_node_contribs)
    splits = []
    for feature_id, *rows in zip(feature_ids.tolist(), *columns):
        for node_id, gain, threshold, left, right in zip(*rows, strict=True):
            splits.append(Split(int(node_id), feature_id, int(threshold), float(gain), left.numpy(), right.numpy()))
    _grow(tree_ensemble_handle, splits, max_depth, learning_rate, pruning_mode)


def _grow(
    handle: Ensemble, splits: list[Split], max_depth: torch.Tensor, learning_rate: torch.Tensor, pruning_mode: int
) -> None:
    """Add the best split of each node; of equal gains the lower feature's counts, whatever the order."""
    best: dict[int, Split] = {}
    for split in splits:
        held = best.get(split.node_id)
        if held is None or (split.gain, -split.feature_id) > (held.gain, -held.feature_id):
            best[split.node_id] = split
    with handle.lock:
        ensemble = handle.existing()
        ensemble.grow(
            [best[node_id] for node_id in sorted(best)], int(max_depth), np.float32(learning_rate), pruning_mode
        )
        ensemble.stamp += 1


@acting("BoostedTreesUpdateEnsembleV2")
def update_ensemble_v2(
    tree_ensemble_handle: Ensemble,
    feature_ids: torch.Tensor,
    dimension_ids: list[torch.Tensor],
    node_ids: list[torch.Tensor],
    gains: list[torch.Tensor],
    thresholds: list[torch.Tensor],
    left_node_contribs: list[torch.Tensor],
    right_node_contribs: list[torch.Tensor],
    split_types: list[Strings],
    max_depth: torch.Tensor,
    learning_rate: torch.Tensor,
    pruning_mode: torch.Tensor,
) -> None:
    columns = (node_ids, thresholds, gains, left_node_contribs, right_node_contribs, dimension_ids, split_types)
    splits = []
    for feature_id, *rows in zip(feature_ids.tolist(), *columns):
        for node, threshold, gain, left, right, dimension, kind in zip(*rows, strict=True):
            contributions = left.numpy(), right.numpy()
            where = int(node), feature_id, int(threshold), float(gain)
            splits.append(Split(*where, *contributions, int(dimension), kind.decode()))
    _grow(tree_ensemble_handle, splits, max_depth, learning_rate, int(pruning_mode))
