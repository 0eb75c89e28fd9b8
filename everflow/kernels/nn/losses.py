"""Losses that are one op: cross entropies with their gradients, and half the sum of squares."""

from __future__ import annotations

import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.facts import SHARE
from everflow.kernels.registry import by_shares, fresh, safe
from everflow.native.lowering import lowers
from everflow.native.values import Checked, Value, apply, index, select


def _softmax_and_log_sum(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """softmax(logits), and of each row as columns the largest logit and log(sum(exp(logits - largest))).

    The largest probability of a row is 1 / sum(exp(logits - largest)), so the last costs no further pass with exp. The
    largest is not added to it: beside large logits the bits of a small loss would be lost.
    """
    softmax = torch.softmax(logits, 1)
    return softmax, logits.amax(1, keepdim=True), softmax.amax(1, keepdim=True).log_().neg_()


@by_shares("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy_with_logits(
    features: torch.Tensor, labels: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    if features.shape != labels.shape:
        try:
            features, labels = torch.broadcast_tensors(features, labels)
        except RuntimeError as error:
            raise InvalidArgumentError(
                None,
                None,
                f"logits and labels must be broadcastable: logits_size={list(features.shape)} labels_size={list(labels.shape)}",
            ) from error
    if features.dim() != 2:
        raise InvalidArgumentError(
            None, None, "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional"
        )
    if features.numel() == 0:
        return features.new_zeros((features.shape[0],)), torch.empty_like(features)
    softmax, largest, log_sum = _softmax_and_log_sum(features)
    shifted = features - largest
    return torch.sub(log_sum, shifted, out=shifted).mul_(labels).sum(1), softmax.sub_(labels)


@fresh("SparseSoftmaxCrossEntropyWithLogits", threads_matter_from=SHARE)
def sparse_softmax_cross_entropy_with_logits(
    features: torch.Tensor, labels: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    if features.dim() != 2:
        raise InvalidArgumentError(None, None, f"logits must be 2-D, but got shape {list(features.shape)}")
    if labels.dim() != 1:
        raise InvalidArgumentError(None, None, f"labels must be 1-D, but got shape {list(labels.shape)}")
    if features.shape[0] != labels.shape[0]:
        raise InvalidArgumentError(
            None,
            None,
            "logits and labels must have the same first dimension, "
            f"got logits shape {list(features.shape)} and labels shape {list(labels.shape)}",
        )
    classes = features.shape[1]
    if classes == 0:
        raise InvalidArgumentError(
            None, None, f"Must have at least one class, but got logits shape {list(features.shape)}"
        )
    if labels.numel() == 0:
        return features.new_zeros((0,)), torch.empty_like(features)
    low, high = torch.aminmax(labels)
    if low < 0 or high >= classes:
        wrong = int(low if low < 0 else high)
        shown = " ".join(map(str, labels[:100].tolist()))
        raise InvalidArgumentError(
            None,
            None,
            f"Received a label value of {wrong} which is outside the valid range of [0, {classes}).  Label values: {shown}",
        )
    column = labels.long().unsqueeze(1)
    backprop, largest, log_sum = _softmax_and_log_sum(features)
    loss = (log_sum - (features.gather(1, column) - largest)).squeeze(1)
    backprop.scatter_add_(1, column, backprop.new_full((), -1).expand(column.shape))
    return loss, backprop


@safe("L2Loss", threads_matter_from=1 << 13)  # of a product of vectors MKL gives a thread less
def l2_loss(x: torch.Tensor) -> torch.Tensor:
    flat = x.reshape(-1)
    return torch.dot(flat, flat) / 2


# --- as expressions -------------------------------------------------------------------------------


@lowers("SoftmaxCrossEntropyWithLogits")
def _lower_softmax_cross_entropy(features: Value, labels: Value) -> tuple[Value, Value] | None:
    if features.shape != labels.shape or len(features.shape) != 2:
        return None
    shifted = features - features.reduce("peak", [1], keep=True)
    power = apply("exp", shifted)
    total = power.reduce("sum", [1], keep=True)
    return ((apply("log", total) - shifted) * labels).reduce("sum", [1]), power / total - labels


@lowers("SparseSoftmaxCrossEntropyWithLogits", checks=True)
def _lower_sparse_softmax_cross_entropy(features: Value, labels: Value) -> tuple[Value, Value] | None:
    if len(features.shape) != 2 or labels.shape != features.shape[:1]:
        return None
    shifted = features - features.reduce("peak", [1], keep=True)
    power = apply("exp", shifted)
    total = power.reduce("sum", [1], keep=True)
    classes = features.shape[1]
    column = labels.reshape([labels.size, 1])
    is_right = column.equals(index(classes, labels.dtype).reshape([1, classes]))
    chosen = select(is_right, shifted, 0.0).reduce("sum", [1], keep=True)
    loss = (apply("log", total) - chosen).reshape(labels.shape)
    backprop = power / total - is_right.cast(features.dtype)
    return Checked((loss, backprop), (labels >= 0) & (labels < classes))


@lowers("L2Loss")
def _lower_l2_loss(t: Value) -> Value:
    return (t * t).reduce("sum", list(range(len(t.shape)))) * 0.5
