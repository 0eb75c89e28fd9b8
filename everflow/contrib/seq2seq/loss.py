"""`sequence_loss`: cross entropy of a batch of sequences, weighted step by step."""

from __future__ import annotations

from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.nn.losses import sparse_softmax_cross_entropy_with_logits


def sequence_loss(logits, targets, weights, average_across_timesteps=True, average_across_batch=True, sum_over_timesteps=False,
                  sum_over_batch=False, softmax_loss_function=None, name=None):  # fmt: skip
    """The weighted cross entropy of logits [batch, time, classes] and targets [batch, time].

    Averages divide by the weights' sum; sums divide by how many weights are not zero. By default a scalar.

    >>> loss = tf.contrib.seq2seq.sequence_loss(logits, targets, tf.sequence_mask(lengths, dtype=tf.float32))
    """
    for what, tensor, axes in (
        ("logits", logits, "[batch, time, classes]"),
        ("targets", targets, "[batch, time]"),
        ("weights", weights, "[batch, time]"),
    ):
        if len(tensor.get_shape()) != axes.count(",") + 1:
            raise ValueError(f"{what} must be {axes}, not of shape {tensor.get_shape()}")
    if (average_across_timesteps and sum_over_timesteps) or (average_across_batch and sum_over_batch):
        raise ValueError("Losses are averaged or summed, not both: over time steps, and over the batch")
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = array.shape(logits)[2]
        flat_logits = array.reshape(logits, [-1, classes])
        flat_targets = array.reshape(targets, [-1])
        if softmax_loss_function is None:
            losses = sparse_softmax_cross_entropy_with_logits(labels=flat_targets, logits=flat_logits)
        else:
            losses = softmax_loss_function(labels=flat_targets, logits=flat_logits)
        losses *= array.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return math.div_no_nan(math.reduce_sum(losses), math.reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            total = math.reduce_sum(losses)
            return math.div_no_nan(total, math.cast(math.count_nonzero(weights), total.dtype))
        losses = array.reshape(losses, array.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            axis = [1] if average_across_timesteps else [0]
            return math.div_no_nan(math.reduce_sum(losses, axis=axis), math.reduce_sum(weights, axis=axis))
        if sum_over_timesteps or sum_over_batch:
            axis = [1] if sum_over_timesteps else [0]
            total = math.reduce_sum(losses, axis=axis)
            return math.div_no_nan(total, math.cast(math.count_nonzero(weights, axis=axis), total.dtype))
        return losses
