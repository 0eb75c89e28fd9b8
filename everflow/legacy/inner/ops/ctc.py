"""Names that programs take from inside tensorflow.python.ops.ctc_ops: the loss of dense labels in parts."""

from __future__ import annotations

from typing import Any

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.ops import array, math
from everflow.ops.gradients.tape import GradientTape
from everflow.ops.nn.ctc import ctc_loss_v2

__all__ = ["ctc_loss_and_grad", "ctc_loss_dense", "ctc_state_log_probs", "dense_labels_to_sparse"]

# The logarithm that stands for a probability of zero.
_LOG_ZERO = -706.8936235


def ctc_loss_dense(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int = 0,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.ctc_loss_v2` of dense labels."""
    return ctc_loss_v2(labels, logits, label_length, logit_length, logits_time_major, unique, blank_index, name)


def ctc_loss_and_grad(logits: Any, labels: Any, label_length: Any, logit_length: Any, unique: Any = None) -> tuple:
    """The loss of each sequence, and its gradient with respect to the logits."""
    logits = convert_to_tensor(logits)
    with GradientTape() as tape:
        tape.watch(logits)
        loss = ctc_loss_v2(labels, logits, label_length, logit_length, unique=unique)
    return loss, tape.gradient(loss, logits)


def ctc_state_log_probs(seq_lengths: Any, max_seq_length: int) -> tuple:
    """Logarithms of where a sequence may start and end, among states for each label and for the blank after it: it starts
    with the first, and ends with the last label of its length, or with the blank.
    """
    seq_lengths = convert_to_tensor(seq_lengths)
    count = max_seq_length + 1
    start = array.one_hot(array.zeros_like(seq_lengths), 2 * count, on_value=0.0, off_value=_LOG_ZERO)
    ends = array.one_hot(seq_lengths, count, on_value=0.0, off_value=_LOG_ZERO)
    return start, array.concat([ends, ends], axis=1)


def dense_labels_to_sparse(dense: Any, length: Any) -> SparseTensor:
    """Labels in rows of given lengths, as a sparse tensor as wide as the longest."""
    dense, length = convert_to_tensor(dense), convert_to_tensor(length)
    inside = raw.Where(input=array.sequence_mask(length, maxlen=array.shape(dense)[1]))
    widest = math.cast(math.reduce_max(length), dtypes.int64)
    shape = array.stack([array.shape(dense, out_type=dtypes.int64)[0], widest])
    return SparseTensor(inside, array.gather_nd(dense, inside), shape)
