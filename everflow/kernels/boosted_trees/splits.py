"""How good a split of a tree's node is: sums of gradients and hessians over buckets of a feature, and the best place to
cut.
"""

from __future__ import annotations

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh

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
