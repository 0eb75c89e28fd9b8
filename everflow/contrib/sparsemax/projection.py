"""Sparsemax (Martins and Astudillo, 2016): the closest point of the simplex, and the loss with it as gradient."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.nn.top_k import top_k


def sparsemax(logits, name=None):
    """Rows of logits [batch, classes] as probabilities, many of them exactly zero.

    Rows with NaN, or with nothing but -inf, become NaN.
    """
    with name_scope(name, "sparsemax", [logits]) as name:
        logits = convert_to_tensor(logits, name="logits")
        batch = array.shape(logits)[0]
        classes = array.shape(logits)[1]
        descending, _ = top_k(logits, k=classes)
        sums = math.cumsum(descending, axis=1)
        k = math.range(1, math.cast(classes, logits.dtype) + 1, dtype=logits.dtype)
        # The support is the longest beginning of the sorted row that stays above its own threshold.
        in_support = 1 + k * descending > sums
        support_size = math.reduce_sum(math.cast(in_support, dtypes.int32), axis=1)
        # A row of NaN has no support; look at its first column all the same, its result is replaced below.
        last = math.maximum(support_size, 1)
        sum_of_support = array.gather_nd(sums, array.stack([math.range(0, batch), last - 1], axis=1))
        threshold = (sum_of_support - 1) / math.cast(support_size, logits.dtype)
        p = math.maximum(math.cast(0, logits.dtype), logits - threshold[:, None])
        broken = math.logical_or(math.equal(support_size, 0), math.is_nan(sums[:, -1]))
        return array.where(broken, array.fill([batch, classes], math.cast(float("nan"), logits.dtype)), p)


def sparsemax_loss(logits, sparsemax, labels, name=None):
    """The loss of each row, given logits, their `sparsemax` and the distribution they should have."""
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        sparsemax = convert_to_tensor(sparsemax, name="sparsemax")
        labels = convert_to_tensor(labels, name="labels")
        # -inf where the probability is 0, and inf logits of labels that are 0, must count as 0 rather than NaN.
        counted = math.logical_or(sparsemax > 0, math.is_nan(sparsemax))
        predicted = array.where(counted, sparsemax * (logits - 0.5 * sparsemax), array.zeros_like(sparsemax))
        wanted = labels * (0.5 * labels - logits)
        ignored = math.logical_and(math.equal(labels, 0), math.is_inf(logits))
        wanted = array.where(ignored, array.zeros_like(logits), wanted)
        return math.reduce_sum(predicted + wanted, axis=1)
