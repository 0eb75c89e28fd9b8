"""How the trees of random forests grow: what is collected at leaves, and the splits that come of it.

At each leaf some splits are tried at once, by features and thresholds of the first examples that come there. When
enough examples were seen, the split that leaves the least disorder is made.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import NotFoundError
from everflow.framework.forking import renewed
from everflow.kernels.forests.trees import Tree, dense, parsed, targets, weights_of
from everflow.kernels.registry import acting, kernel, reading
from everflow.kernels.strings.text import scalar_string, strings
from everflow.protos import tensor_forest_pb2 as pb

if TYPE_CHECKING:
    from everflow.kernels.context import Node, Session
    from everflow.kernels.tensors import Strings


def at_depth(setting: pb.DepthDependentParam, depth: int) -> float:
    """The value of a setting for nodes at a depth."""
    kind = setting.WhichOneof("ParamType")
    if kind == "linear":
        line = setting.linear
        return min(max(line.slope * depth + line.y_intercept, line.min_val), line.max_val)
    if kind == "exponential":
        curve = setting.exponential
        return curve.bias + curve.multiplier * curve.base ** (curve.depth_multiplier * depth)
    if kind == "threshold":
        step = setting.threshold
        return step.on_value if depth >= step.threshold else step.off_value
    return setting.constant_value


@dataclass
class Slot:
    """What is collected at one leaf: splits to try, and sums of the labels, and of their squares, on their left sides."""

    depth: int
    outputs: int
    tried: list[tuple[int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.seen = 0.0
        self.all_sums, self.all_squares = np.zeros(self.outputs), np.zeros(self.outputs)
        self.weights = np.zeros(0)
        self.sums, self.squares = np.zeros([0, self.outputs]), np.zeros([0, self.outputs])

    def try_split(self, feature: int, threshold: float) -> None:
        self.tried.append((feature, threshold))
        self.weights = np.append(self.weights, 0.0)
        none = np.zeros([1, self.outputs])
        self.sums, self.squares = np.concatenate([self.sums, none]), np.concatenate([self.squares, none])

    def add(self, data: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> None:
        """Count examples on the sides of all splits."""
        features, thresholds = (np.array(part) for part in zip(*self.tried))
        left = (data[:, features.astype(np.int64)] <= thresholds.astype(np.float32)) * weights[:, None]
        self.seen += weights.sum()
        self.weights += left.sum(0)
        self.all_sums += weights @ labels
        self.all_squares += weights @ labels**2
        self.sums += left.T @ labels
        self.squares += left.T @ labels**2

    def best(self, regression: bool) -> int | None:
        """The split that leaves the least disorder, of those that have examples on both sides."""
        scores = np.full(len(self.tried), np.inf)
        for i, weight in enumerate(self.weights):
            other = self.seen - weight
            if weight <= 0 or other <= 0:
                continue
            parts = (
                (weight, self.sums[i], self.squares[i]),
                (other, self.all_sums - self.sums[i], self.all_squares - self.squares[i]),
            )
            scores[i] = sum(_disorder(*part, regression) for part in parts)
        return int(np.argmin(scores)) if np.isfinite(scores).any() else None


def _disorder(weight: float, sums: np.ndarray, squares: np.ndarray, regression: bool) -> float:
    """Squared distances from the mean, or Gini's impurity times the number of examples."""
    if regression:
        return float(np.sum(squares - sums**2 / weight))
    return float(weight - np.sum(sums**2) / weight)


class Stats:
    """The slots of a tree's leaves that may still split."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = renewed(threading.RLock())
        self.created = False

    def start(self, params: pb.TensorForestParams, config: bytes) -> None:
        self.params = params
        self.slots = {0: Slot(0, params.num_outputs)}
        self.random = np.random.default_rng()
        self.seed: int | None = None
        if config:
            message = pb.FertileStats.FromString(config)
            self.slots = {slot.node_id: _slot_of(slot, params) for slot in message.node_to_slot}
        self.created = True

    def existing(self) -> Stats:
        if not self.created:
            raise NotFoundError(
                None, None, f"The statistics {self.name} do not exist: they were not created in this session."
            )
        return self

    def seeded(self, seed: int) -> np.random.Generator:
        """Where splits are drawn from: the same for the same seed, unless it is 0."""
        if self.seed is None:
            self.seed = seed
            self.random = np.random.default_rng(seed or None)
        return self.random

    def process(self, node: int, data: np.ndarray, labels: np.ndarray, weights: np.ndarray, seed: int) -> bool:
        """Take examples that ended in a leaf; whether it has seen enough of them."""
        slot, draw = self.slots.get(node), self.seeded(seed)
        if slot is None:
            return False
        first, wanted = 0, int(at_depth(self.params.num_splits_to_consider, slot.depth))
        while len(slot.tried) < wanted and first < len(data):
            feature = int(draw.integers(data.shape[1]))
            slot.try_split(feature, float(data[first, feature]))
            first += 1
        if first < len(data):
            slot.add(data[first:], labels[first:], weights[first:])
        enough = at_depth(self.params.split_after_samples, slot.depth)
        mixed = self.params.is_regression or np.count_nonzero(slot.all_sums) > 1
        return len(slot.tried) == wanted and slot.seen >= enough and bool(mixed)

    def serialized(self) -> bytes:
        message = pb.FertileStats()
        for node, slot in self.slots.items():
            _write_slot(message.node_to_slot.add(node_id=node, depth=slot.depth), slot, self.params)
        return message.SerializeToString()


def _write_slot(message: pb.FertileSlot, slot: Slot, params: pb.TensorForestParams) -> None:
    _write_stat(message.post_init_leaf_stats, slot.seen, slot.all_sums, slot.all_squares, params)
    for (feature, threshold), weight, sums, squares in zip(slot.tried, slot.weights, slot.sums, slot.squares):
        candidate = message.candidates.add()
        test = candidate.split.inequality_left_child_test
        test.feature_id.id.value, test.threshold.float_value = str(feature), threshold
        _write_stat(candidate.left_stats, weight, sums, squares, params)


def _write_stat(
    message: pb.LeafStat, weight: float, sums: np.ndarray, squares: np.ndarray, params: pb.TensorForestParams
) -> None:
    message.weight_sum = weight
    vectors: tuple
    if not params.is_regression:
        vectors = ((message.classification.dense_counts, sums),)
    else:
        vectors = ((message.regression.mean_output, sums), (message.regression.mean_output_squares, squares))
    for vector, values in vectors:
        vector.SetInParent()
        for value in values:
            vector.value.add(float_value=value)


def _read_stat(message: pb.LeafStat, params: pb.TensorForestParams) -> tuple[float, np.ndarray, np.ndarray]:
    if params.is_regression:
        both = message.regression.mean_output, message.regression.mean_output_squares
    else:  # counts are the sums of ones, and of their squares
        both = message.classification.dense_counts, message.classification.dense_counts
    sums, squares = (np.array([v.float_value for v in part.value] or [0.0] * params.num_outputs) for part in both)
    return message.weight_sum, sums, squares


def _slot_of(message: pb.FertileSlot, params: pb.TensorForestParams) -> Slot:
    slot = Slot(message.depth, params.num_outputs)
    slot.seen, slot.all_sums, slot.all_squares = _read_stat(message.post_init_leaf_stats, params)
    for i, candidate in enumerate(message.candidates):
        test = candidate.split.inequality_left_child_test
        slot.try_split(int(test.feature_id.id.value), test.threshold.float_value)
        slot.weights[i], slot.sums[i], slot.squares[i] = _read_stat(candidate.left_stats, params)
    return slot


def grow(tree: Tree, stats: Stats, finished: list[int]) -> None:
    """Split the leaves that have seen enough, as long as the tree may have more nodes."""
    for node in finished:
        slot = stats.slots.get(node)
        if slot is None or tree.size + 2 > stats.params.max_nodes:
            continue
        chosen = slot.best(stats.params.is_regression)
        if chosen is None:  # no split had two sides: try others
            stats.slots[node] = Slot(slot.depth, slot.outputs)
            continue
        sides = slot.sums[chosen], slot.all_sums - slot.sums[chosen]
        weights = slot.weights[chosen], slot.seen - slot.weights[chosen]
        del stats.slots[node]
        for child in tree.split(node, *slot.tried[chosen], sides, weights):
            stats.slots[child] = Slot(slot.depth + 1, slot.outputs)


# --- kernels ----------------------------------------------------------------------------------


@kernel("FertileStatsResourceHandleOp", once=True)
def stats_handle(*, container: str, shared_name: str, node: Node, session: Session) -> Stats:
    name = shared_name or node.name
    return session.resources.lookup_or_create(container, "fertile_stats", name, lambda: Stats(name))


@acting("CreateFertileStatsVariable")
def create_stats(stats_handle: Stats, stats_config: Strings, *, params: str) -> None:
    with stats_handle.lock:
        if not stats_handle.created:
            stats_handle.start(parsed(params), scalar_string(stats_config, "stats_config"))


@acting("FertileStatsDeserialize")
def deserialize_stats(stats_handle: Stats, stats_config: Strings, *, params: str) -> None:
    with stats_handle.lock:
        stats_handle.start(parsed(params), scalar_string(stats_config, "stats_config"))


@reading("FertileStatsIsInitializedOp")
def is_stats_initialized(stats_handle: Stats) -> torch.Tensor:
    return torch.tensor(stats_handle.created)


@reading("FertileStatsSerialize")
def serialize_stats(stats_handle: Stats, *, params: str) -> Strings:
    """What is collected, if the forest wants that in checkpoints."""
    with stats_handle.lock:
        kept = parsed(params).checkpoint_stats
        return strings([stats_handle.existing().serialized() if kept else b""], ())


@acting("ProcessInputV4")
def process_input(
    tree_handle: Tree,
    stats_handle: Stats,
    input_data: torch.Tensor,
    sparse_input_indices: torch.Tensor,
    sparse_input_values: torch.Tensor,
    sparse_input_shape: torch.Tensor,
    input_labels: torch.Tensor,
    input_weights: torch.Tensor,
    leaf_ids: torch.Tensor,
    *,
    random_seed: int,
    params: str,
) -> torch.Tensor:
    with stats_handle.lock:
        stats = stats_handle.existing()
        data = dense(input_data, sparse_input_indices, sparse_input_values, sparse_input_shape)
        labels, leaves = targets(input_labels, parsed(params)), leaf_ids.numpy()
        weights = weights_of(input_weights, len(leaves))
        finished = []
        for node in np.unique(leaves).tolist():
            rows = leaves == node
            if stats.process(node, data[rows], labels[rows], weights[rows], random_seed):
                finished.append(node)
        return torch.tensor(finished, dtype=torch.int32)


@acting("GrowTreeV4")
def grow_tree(tree_handle: Tree, stats_handle: Stats, finished_nodes: torch.Tensor) -> None:
    with tree_handle.lock, stats_handle.lock:
        grow(tree_handle.existing(), stats_handle.existing(), finished_nodes.tolist())


@acting("FinalizeTree")
def finalize_tree(tree_handle: Tree, stats_handle: Stats) -> None:
    """What is collected is not needed any more."""
    with stats_handle.lock:
        stats_handle.existing().slots.clear()
