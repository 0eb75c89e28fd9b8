"""How good a split of a tree's node is: sums of gradients and hessians over buckets of a feature, and the best place to
cut.
"""

from __future__ import annotations

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import Strings

_TINY = 1e-15


def weight_and_gain(gradients: np.ndarray, hessians: np.ndarray, l1: float, l2: float) -> tuple[np.ndarray, np.ndarray]:
    """The best weight of a leaf with these sums, and what it gains: w minimizes (h + l2)/2 w² + g w + l1 |w|. For
    float32 arrays.
    """
    gradients, hessians = np.asarray(gradients, np.float32), np.asarray(hessians, np.float32)
    if l1 > 0:
        shrunk = np.where(gradients > 0, gradients - np.float32(l1), gradients + np.float32(l1))
        gradients = np.where(np.abs(gradients) > np.float32(l1), shrunk, np.float32(0))
    curvature = hessians + np.float32(l2)
    flat = curvature <= _TINY
    weight = np.where(flat, np.float32(0), -gradients / np.where(flat, np.float32(1), curvature))
    if l1 > 0:
        weight = np.where(gradients == 0, np.float32(0), weight)
    return weight, -gradients * weight


@fresh("BoostedTreesMakeStatsSummary")
def make_stats_summary(
    node_ids: torch.Tensor,
    gradients: torch.Tensor,
    hessians: torch.Tensor,
    bucketized_features_list: list[torch.Tensor],
    *,
    max_splits: int,
    num_buckets: int,
) -> torch.Tensor:
    values = torch.cat([gradients, hessians], dim=1).to(torch.float64)
    summaries = []
    for buckets in bucketized_features_list:
        buckets = buckets.reshape(-1)
        if buckets.numel() and not 0 <= int(buckets.min()) <= int(buckets.max()) < num_buckets:
            raise InvalidArgumentError(None, None, f"Buckets must be in [0, {num_buckets}), got {buckets.tolist()}")
        cells = torch.zeros(max_splits * num_buckets, values.shape[1], dtype=torch.float64)
        cells.index_add_(0, node_ids.reshape(-1) * num_buckets + buckets, values)
        summaries.append(cells.to(torch.float32).reshape(max_splits, num_buckets, -1))
    return torch.stack(summaries)


@fresh("BoostedTreesCalculateBestGainsPerFeature")
def calculate_best_gains(
    node_id_range: torch.Tensor,
    stats_summary_list: list[torch.Tensor],
    l1: torch.Tensor,
    l2: torch.Tensor,
    tree_complexity: torch.Tensor,
    min_node_weight: torch.Tensor,
) -> tuple[list[torch.Tensor], ...]:
    first, last = node_id_range.tolist()
    found = [
        _best(stats[first:last].numpy(), first, float(l1), float(l2), tree_complexity, float(min_node_weight))
        for stats in stats_summary_list
    ]
    return tuple(list(outputs) for outputs in zip(*found))


def _best(
    stats: np.ndarray, first: int, l1: float, l2: float, tree_complexity: torch.Tensor, min_node_weight: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """For each node that is heavy enough (number, gain, bucket, left weight, right weight), of stats [node, bucket,
    gradient and hessian].
    """
    sums = np.cumsum(stats, axis=1, dtype=np.float32)
    totals = sums[:, -1:]
    heavy = np.flatnonzero(totals[:, 0, 1] >= np.float32(min_node_weight))
    sums, totals = sums[heavy], totals[heavy]
    left, left_gain = weight_and_gain(sums[..., 0], sums[..., 1], l1, l2)
    right, right_gain = weight_and_gain(totals[..., 0] - sums[..., 0], totals[..., 1] - sums[..., 1], l1, l2)
    _, whole_gain = weight_and_gain(totals[..., 0], totals[..., 1], l1, l2)
    gains = left_gain + right_gain
    bucket = gains.argmax(axis=1)
    at = np.arange(len(heavy)), bucket
    gain = gains[at] - whole_gain[:, 0] - np.float32(tree_complexity)
    return (
        torch.from_numpy((heavy + first).astype(np.int32)),
        torch.from_numpy(gain.astype(np.float32)),
        torch.from_numpy(bucket.astype(np.int32)),
        torch.from_numpy(left[at].reshape(-1, 1)),
        torch.from_numpy(right[at].reshape(-1, 1)),
    )


@fresh("BoostedTreesAggregateStats")
def aggregate_stats(
    node_ids: torch.Tensor,
    gradients: torch.Tensor,
    hessians: torch.Tensor,
    feature: torch.Tensor,
    *,
    max_splits: int,
    num_buckets: int,
) -> torch.Tensor:
    """Sums for each node, dimension of the feature and bucket; one more bucket is for examples without a value."""
    values = torch.cat([gradients, hessians], dim=1)
    dims, buckets = feature.shape[1], num_buckets + 1
    cells = torch.zeros(max_splits * dims * buckets, values.shape[1])
    places = torch.where(feature < 0, num_buckets, feature).to(torch.int64)
    for dim in range(dims):
        cells.index_add_(0, (node_ids.to(torch.int64) * dims + dim) * buckets + places[:, dim], values)
    return cells.reshape(max_splits, dims, buckets, -1)


@fresh("BoostedTreesSparseAggregateStats")
def sparse_aggregate_stats(
    node_ids: torch.Tensor,
    gradients: torch.Tensor,
    hessians: torch.Tensor,
    feature_indices: torch.Tensor,
    feature_values: torch.Tensor,
    feature_shape: torch.Tensor,
    *,
    max_splits: int,
    num_buckets: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The sums of cells that have examples; those without a value are the last bucket's."""
    feature = torch.full(tuple(feature_shape.tolist()), -1, dtype=torch.int32)
    feature[tuple(feature_indices.to(torch.int64).unbind(1))] = feature_values
    options = {"max_splits": max_splits, "num_buckets": num_buckets}
    sums = aggregate_stats(node_ids, gradients, hessians, feature, **options)
    ones = torch.ones_like(gradients[:, :1])
    counts = aggregate_stats(node_ids, ones, hessians[:, :0], feature, **options)
    places = (counts > 0).expand(sums.shape).nonzero()
    return places.to(torch.int32), sums[tuple(places.unbind(1))], torch.tensor(sums.shape, dtype=torch.int32)


_SPLIT_COLUMNS = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, Strings]


@fresh("BoostedTreesCalculateBestFeatureSplit")
def calculate_best_feature_split(
    node_id_range: torch.Tensor,
    stats_summary: torch.Tensor,
    l1: torch.Tensor,
    l2: torch.Tensor,
    tree_complexity: torch.Tensor,
    min_node_weight: torch.Tensor,
    *,
    logits_dimension: int,
    split_type: str,
) -> _SPLIT_COLUMNS:
    everywhere = np.ones(stats_summary.shape[:3], bool)
    limits = l1, l2, tree_complexity, min_node_weight
    return _best_splits(node_id_range, stats_summary, everywhere, *limits, logits_dimension, split_type)


def _best_splits(
    node_id_range: torch.Tensor,
    stats_summary: torch.Tensor,
    places: np.ndarray,
    l1: torch.Tensor,
    l2: torch.Tensor,
    tree_complexity: torch.Tensor,
    min_node_weight: torch.Tensor,
    logits_dimension: int,
    split_type: str,
) -> _SPLIT_COLUMNS:
    """For each node that is heavy enough its best split (number, gain, dimension, bucket, left and right weight, kind), of
    stats [node, dimension, bucket, gradients and hessians]; the last bucket has the examples without a value.
    Only at `places` [node, dimension, bucket] may be cut.
    """
    given = stats_summary.shape[-1] - logits_dimension
    if logits_dimension > 1 and given not in (logits_dimension, logits_dimension**2):
        wanted = f"{logits_dimension} or {logits_dimension**2} hessians, got {given}"
        raise InvalidArgumentError(None, None, f"Splits for {logits_dimension} logits need {wanted}")
    first, last = node_id_range.tolist()
    stats = stats_summary[first:last].numpy()
    totals = stats.sum(axis=2, keepdims=True, dtype=np.float32)
    cuts = places[first:last, :, :-1]
    heavy = np.flatnonzero(
        (_mass(totals[:, 0, 0], logits_dimension) >= np.float32(min_node_weight)) & cuts.any(axis=(1, 2))
    )
    stats, totals = stats[heavy], totals[heavy]
    kinds = _partitions(stats, totals, split_type)
    lefts, rights = (np.stack(sides, axis=3) for sides in zip(*kinds.values()))
    left, left_gain = _leaf(lefts, logits_dimension, float(l1), float(l2))
    right, right_gain = _leaf(rights, logits_dimension, float(l1), float(l2))
    _, whole = _leaf(totals[:, 0, 0], logits_dimension, float(l1), float(l2))
    gains = np.where(cuts[heavy][..., None], left_gain + right_gain, -np.inf)
    best = gains.reshape(len(heavy), -1).argmax(axis=1)
    dim, bucket, kind = np.unravel_index(best, gains.shape[1:])
    at = np.arange(len(heavy)), dim, bucket, kind
    names = np.array([name.encode() for name in kinds] + [None], object)[:-1]
    return (
        torch.from_numpy((heavy + first).astype(np.int32)),
        torch.from_numpy((gains[at] - whole - np.float32(tree_complexity)).astype(np.float32)),
        torch.from_numpy(dim.astype(np.int32)),
        torch.from_numpy(bucket.astype(np.int32)),
        torch.from_numpy(left[at].astype(np.float32)),
        torch.from_numpy(right[at].astype(np.float32)),
        names[kind],
    )


def _mass(sums: np.ndarray, logits: int) -> np.ndarray:
    """What is compared with the least weight of a node: the length of its hessians."""
    hessians = sums[..., logits:]
    return hessians[..., 0] if logits == 1 else np.sqrt(np.square(hessians).sum(axis=-1))


def _leaf(sums: np.ndarray, logits: int, l1: float, l2: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights of leaves [..., logit] and their gains, of sums [..., gradients and hessians].

    Several logits have hessians that are diagonals or whole matrices, and there l1 isn't looked at.
    """
    gradients, hessians = sums[..., :logits], sums[..., logits:]
    if logits == 1:
        weight, gain = weight_and_gain(gradients[..., 0], hessians[..., 0], l1, l2)
        return weight[..., None], gain
    if hessians.shape[-1] == logits:
        matrices = hessians[..., None] * np.eye(logits, dtype=np.float32)
    else:
        matrices = hessians.reshape(*hessians.shape[:-1], logits, logits).swapaxes(-1, -2)  # they come column by column
    empty = _mass(sums, logits) < _TINY
    matrices = matrices + np.float32(l2) * np.eye(logits, dtype=np.float32)
    matrices = np.where(empty[..., None, None], np.eye(logits, dtype=np.float32), matrices)
    weight = -np.linalg.solve(matrices, gradients[..., None])[..., 0]
    weight = np.where(empty[..., None], np.float32(0), weight)
    return weight, -(gradients * weight).sum(axis=-1)


def _partitions(stats: np.ndarray, totals: np.ndarray, split_type: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What goes to the left and to the right at each bucket, by kind of split; of equal gains the first counts."""
    valued = stats[:, :, :-1]
    if split_type == "equality":
        return {"EQUALITY_DEFAULT_RIGHT": (valued, totals[:, :1] - valued)}
    below = np.cumsum(valued, axis=2, dtype=np.float32)
    low = below + stats[:, :, -1:]
    return {
        "INEQUALITY_DEFAULT_LEFT": (low, totals - low),
        "INEQUALITY_DEFAULT_RIGHT": (below, totals - below),
    }


@fresh("BoostedTreesSparseCalculateBestFeatureSplit")
def sparse_calculate_best_feature_split(
    node_id_range: torch.Tensor,
    stats_summary_indices: torch.Tensor,
    stats_summary_values: torch.Tensor,
    stats_summary_shape: torch.Tensor,
    l1: torch.Tensor,
    l2: torch.Tensor,
    tree_complexity: torch.Tensor,
    min_node_weight: torch.Tensor,
    *,
    logits_dimension: int,
    split_type: str,
) -> _SPLIT_COLUMNS:
    dense = torch.zeros(tuple(stats_summary_shape.tolist()))
    at = stats_summary_indices.to(torch.int64).unbind(1)
    dense[at] = stats_summary_values
    places = torch.zeros(dense.shape[:3], dtype=torch.bool)
    places[at[:3]] = True
    limits = l1, l2, tree_complexity, min_node_weight
    return _best_splits(node_id_range, dense, places.numpy(), *limits, logits_dimension, split_type)
