"""Stochastic dual coordinate ascent: a step of the dual variables of a batch of examples, and what belongs to it.

Every example has a dual variable; moving it moves the weights of the example's features. A loss says where the variable
goes, and how large the primal and the dual objective are. TensorFlow takes examples in a random order that no seed
fixes; here they come as they stand, `adaptive` or not. As there, one step is one pass, however many inner iterations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import Effect
from everflow.kernels.registry import fresh, kernel
from everflow.kernels.strings.hashing import fingerprint128

if TYPE_CHECKING:
    from everflow.kernels.state import Ref
    from everflow.kernels.tensors import Strings

_DUAL, _PRIMAL_LOSS, _DUAL_LOSS, _WEIGHT = range(4)
_NEWTON_STEPS = 100


@dataclass(frozen=True)
class _Loss:
    """A loss of one example: label y, prediction wx, dual variable a, and how fast wx grows with a."""

    dual: Callable[[float, float, float, float], float]  # y, a, wx, growth
    primal_loss: Callable[[float, float], float]  # y, wx
    dual_loss: Callable[[float, float], float]  # y, a
    labels: Callable[[np.ndarray], np.ndarray]


def _any_label(labels: np.ndarray) -> np.ndarray:
    return labels


def _signs(labels: np.ndarray) -> np.ndarray:
    """Labels 0 and 1 as -1 and 1."""
    bad = labels[(labels != 0) & (labels != 1)]
    if bad.size:
        raise InvalidArgumentError(None, None, f"Labels must be 0.0 or 1.0; there is an example with label {bad[0]}")
    return 2 * labels - 1


def _counts(labels: np.ndarray) -> np.ndarray:
    bad = labels[labels < 0]
    if bad.size:
        raise InvalidArgumentError(None, None, f"The Poisson loss takes labels of 0 and more; there is one of {bad[0]}")
    return labels


def _root(f: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Where a falling function, given with its derivative, is zero: Newton's steps, halving where they leave the range."""
    x = (low + high) / 2
    for _ in range(_NEWTON_STEPS):
        value, slope = f(x)
        low, high = (x, high) if value > 0 else (low, x)
        nearer = x - value / slope
        if not low <= nearer <= high:
            nearer = (low + high) / 2
        if abs(nearer - x) <= 1e-12 * max(1.0, abs(x)):
            return nearer
        x = nearer
    return x


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _logistic_dual(y: float, a: float, wx: float, growth: float) -> float:
    def excess(p: float) -> tuple[float, float]:
        s = _sigmoid(-y * wx - growth * (p - y * a))
        return s - p, -growth * s * (1 - s) - 1

    return y * _root(excess, 0.0, 1.0)


def _logistic_loss(y: float, wx: float) -> float:
    return max(0.0, -y * wx) + math.log1p(math.exp(-abs(wx)))


def _entropy(p: float) -> float:
    return p * math.log(p) if p > 0 else 0.0


def _poisson_dual(y: float, a: float, wx: float, growth: float) -> float:
    """With u for the new prediction, a is y - exp(u); u falls short of what a brings by nothing."""

    def excess(u: float) -> tuple[float, float]:
        return wx + growth * (y - math.exp(u) - a) - u, -growth * math.exp(u) - 1

    highest = wx + growth * (y - a)
    lowest = min(wx, math.log(y - a)) if y > a else min(wx, highest) - 1
    while excess(lowest)[0] < 0:
        lowest -= 1 + abs(lowest)
    return y - math.exp(_root(excess, lowest, max(highest, lowest)))


def _poisson_dual_loss(y: float, a: float) -> float:
    return _entropy(y - a) - (y - a) if y > a else 0.0


def _hinge_dual(y: float, a: float, wx: float, growth: float) -> float:
    if growth == 0:
        return y * float(y * wx < 1)
    return y * min(1.0, max(0.0, (1 - y * wx) / growth + y * a))


def _smooth_hinge_dual(y: float, a: float, wx: float, growth: float) -> float:
    return y * min(1.0, max(0.0, (1 - y * wx - y * a) / (growth + 1) + y * a))


def _smooth_hinge_loss(y: float, wx: float) -> float:
    short = 1 - y * wx
    return 0.0 if short <= 0 else short - 0.5 if short >= 1 else short * short / 2


_LOSSES = {
    "squared_loss": _Loss(
        lambda y, a, wx, growth: a + (y - a - wx) / (1 + growth),
        lambda y, wx: (y - wx) ** 2 / 2,
        lambda y, a: a * (a / 2 - y),
        _any_label,
    ),
    "logistic_loss": _Loss(_logistic_dual, _logistic_loss, lambda y, a: _entropy(y * a) + _entropy(1 - y * a), _signs),
    "hinge_loss": _Loss(_hinge_dual, lambda y, wx: max(0.0, 1 - y * wx), lambda y, a: -y * a, _signs),
    "smooth_hinge_loss": _Loss(_smooth_hinge_dual, _smooth_hinge_loss, lambda y, a: y * a * (y * a / 2 - 1), _signs),
    "poisson_loss": _Loss(_poisson_dual, lambda y, wx: math.exp(wx) - y * wx, _poisson_dual_loss, _counts),
}


@dataclass(frozen=True)
class _Entries:
    """The features of a batch as one sparse matrix: entries by row, and columns for all weights one after the other."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    def row(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        part = slice(self.starts[number], self.starts[number + 1])
        return self.columns[part], self.values[part]

    def sums(self, entries: np.ndarray) -> np.ndarray:
        """The sum of each row's entries."""
        rows = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return np.bincount(rows, entries, minlength=len(self.starts) - 1)


def _columns_of(features: np.ndarray, known: np.ndarray, size: int) -> np.ndarray:
    """Where the weights of features are, among those that were given; all of them in order where `known` is empty."""
    if known.size:
        order = np.argsort(known, kind="stable")
        places = np.minimum(np.searchsorted(known, features, sorter=order), known.size - 1)
        places = order[places]
        missing = known[places] != features
    else:
        places, missing = features, (features < 0) | (features >= size)
    if missing.any() or (places.size and places.max() >= size):
        bad = features[missing][:1] if missing.any() else features[:1]
        raise InvalidArgumentError(None, None, f"There is no weight for the sparse feature {bad.tolist()}")
    return places


def _entries(
    count: int,
    sparse: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]],
    dense: list[np.ndarray],
) -> _Entries:
    """The matrix of sparse features (examples, features, values, known features, number of weights), then dense ones."""
    rows, columns, values, before = [], [], [], 0
    for examples, features, given, known, size in sparse:
        if examples.size != features.size or examples.size != given.size:
            sizes = (examples.size, features.size, given.size)
            raise InvalidArgumentError(None, None, f"A sparse feature has {sizes} examples, indices and values")
        if examples.size and not 0 <= examples.min() <= examples.max() < count:
            raise InvalidArgumentError(None, None, f"A sparse feature is of an example outside [0, {count})")
        rows.append(examples)
        columns.append(before + _columns_of(features, known, size))
        values.append(given)
        before += size
    for matrix in dense:
        if matrix.ndim != 2 or len(matrix) != count:
            raise InvalidArgumentError(
                None, None, f"A dense feature is [{count}, width], and not {list(matrix.shape)}, for {count} examples"
            )
        width = matrix.shape[1]
        rows.append(np.repeat(np.arange(count), width))
        columns.append(before + np.tile(np.arange(width), count))
        values.append(matrix.reshape(-1))
        before += width
    row = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    order = np.argsort(row, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=count))])
    empty = np.zeros(0, np.int64)
    return _Entries(
        starts,
        np.concatenate([empty, *columns])[order].astype(np.int64),
        np.concatenate([empty, *values])[order].astype(np.float64),
    )


def _shrunk(weights: np.ndarray, by: float) -> np.ndarray:
    return np.sign(weights) * np.maximum(np.abs(weights) - by, 0)


def _ascend(
    loss: _Loss,
    entries: _Entries,
    labels: np.ndarray,
    importance: np.ndarray,
    weights: np.ndarray,
    state: np.ndarray,
    l1: float,
    l2: float,
    partitions: int,
) -> np.ndarray:
    """Move all dual variables in `state`; what that adds to the weights."""
    shrinkage = l1 / l2
    added = np.zeros_like(weights)
    before = entries.sums(entries.values * _shrunk(weights, shrinkage)[entries.columns])
    growth = partitions * importance * entries.sums(entries.values**2) / l2
    duals = state[:, _DUAL].copy()
    for i, (y, a) in enumerate(zip(labels.tolist(), duals.tolist())):
        columns, values = entries.row(i)
        wx = float(np.sum(values * _shrunk(weights[columns] + partitions * added[columns], shrinkage)))
        duals[i] = loss.dual(y, a, wx, float(growth[i]))
        np.add.at(added, columns, (duals[i] - a) * importance[i] / l2 * values)
    for i, (y, a, wx) in enumerate(zip(labels.tolist(), state[:, _DUAL].tolist(), before.tolist())):
        state[i, _PRIMAL_LOSS] = loss.primal_loss(y, wx) * importance[i]
        state[i, _DUAL_LOSS] = loss.dual_loss(y, a) * importance[i]
    state[:, _DUAL], state[:, _WEIGHT] = duals, importance
    return added


@fresh("SdcaOptimizer")
@fresh("SdcaOptimizerV2")
def sdca_optimizer(
    sparse_example_indices: list[torch.Tensor],
    sparse_feature_indices: list[torch.Tensor],
    sparse_feature_values: list[torch.Tensor],
    dense_features: list[torch.Tensor],
    example_weights: torch.Tensor,
    example_labels: torch.Tensor,
    sparse_indices: list[torch.Tensor],
    sparse_weights: list[torch.Tensor],
    dense_weights: list[torch.Tensor],
    example_state_data: torch.Tensor,
    *,
    loss_type: str,
    l1: float,
    l2: float,
    num_loss_partitions: int,
) -> tuple[torch.Tensor, list[torch.Tensor], list[torch.Tensor]]:
    count = example_weights.numel()
    if list(example_state_data.shape) != [count, 4] or example_labels.numel() != count:
        raise InvalidArgumentError(
            None,
            None,
            f"{count} example_weights want example_state_data of shape [{count}, 4], not "
            f"{list(example_state_data.shape)}, and as many labels, not {example_labels.numel()}",
        )
    loss = _LOSSES[loss_type]
    # Features from some place on have no values: each entry is 1.
    given = [v.numpy() for v in sparse_feature_values]
    given += [np.ones(i.numel()) for i in sparse_example_indices[len(given) :]]
    indices = (sparse_example_indices, sparse_feature_indices)
    sparse = [
        (examples.numpy(), features.numpy(), values, known.numpy(), weights.numel())
        for examples, features, values, known, weights in zip(*indices, given, sparse_indices, sparse_weights)
    ]
    entries = _entries(count, sparse, [m.numpy() for m in dense_features])
    parts = [*sparse_weights, *dense_weights]
    weights = np.concatenate([np.zeros(0), *(w.numpy().reshape(-1) for w in parts)])
    state = example_state_data.numpy().astype(np.float64)
    labels = loss.labels(example_labels.numpy().reshape(-1).astype(np.float64))
    importance = example_weights.numpy().reshape(-1).astype(np.float64)
    added = _ascend(loss, entries, labels, importance, weights, state, l1, l2, num_loss_partitions)
    cut = np.split(added, np.cumsum([w.numel() for w in parts])[:-1]) if parts else []
    deltas = [torch.from_numpy(c).to(torch.float32).reshape(w.shape) for c, w in zip(cut, parts)]
    return torch.from_numpy(state).to(torch.float32), deltas[: len(sparse_weights)], deltas[len(sparse_weights) :]


@kernel("SdcaShrinkL1", effect=Effect.ACTS, writes=(0,))
def sdca_shrink_l1(weights: list[Ref], *, l1: float, l2: float) -> None:
    """Move weights towards zero by l1 / l2, not past it."""
    for ref in weights:
        value = ref.value
        value.copy_(torch.sign(value) * torch.clamp(value.abs() - l1 / l2, min=0))


@fresh("SdcaFprint")
def sdca_fprint(input: Strings) -> torch.Tensor:
    """FarmHash's 128-bit fingerprints, the low half first."""
    pairs = [fingerprint128(s) for s in input.reshape(-1)]
    return torch.from_numpy(np.array(pairs, np.uint64).reshape(-1, 2).view(np.int64))
