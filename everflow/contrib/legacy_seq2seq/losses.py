"""Losses over lists of steps, and models with buckets of lengths."""

from __future__ import annotations

from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.nn.losses import sparse_softmax_cross_entropy_with_logits
from everflow.ops.variables import scope as scopes


def sequence_loss_by_example(
    logits, targets, weights, average_across_timesteps=True, softmax_loss_function=None, name=None
):
    """The weighted cross entropy of each sequence, from lists with an entry for each step.

    Args:
        logits: A list of scores [batch, classes], one for each step.
        targets: A list of the right classes [batch].
        weights: A list of weights [batch].
        average_across_timesteps: Whether losses are divided by the sum of weights.
        softmax_loss_function: A function of `labels` and `logits` in place of the usual one.
        name: The name of the operation in the graph.

    Returns:
        A loss for each sequence.

    Raises:
        ValueError: If the lists have different lengths.

    Example:
        >>> losses = tf.contrib.legacy_seq2seq.sequence_loss_by_example(
        ...     [tf.constant([[0.0, 9.0]])], [tf.constant([1])], [tf.ones([1])])
        >>> sess.run(losses).shape
        (1,)
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        steps = f"{len(logits)} in logits, {len(targets)} in targets, {len(weights)} in weights"
        raise ValueError(f"The numbers of steps must be the same: {steps}")
    with name_scope(name, "sequence_loss_by_example", logits + targets + weights):
        losses = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                loss = sparse_softmax_cross_entropy_with_logits(labels=array.reshape(target, [-1]), logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total = math.add_n(losses)
        if average_across_timesteps:
            size = math.add_n(weights)
            size += 1e-12  # All weights may be zero.
            total /= size
    return total


def sequence_loss(
    logits,
    targets,
    weights,
    average_across_timesteps=True,
    average_across_batch=True,
    softmax_loss_function=None,
    name=None,
):
    """The weighted cross entropy of a batch of sequences, from lists with an entry for each step: a scalar."""
    with name_scope(name, "sequence_loss", logits + targets + weights):
        given = {"average_across_timesteps": average_across_timesteps, "softmax_loss_function": softmax_loss_function}
        cost = math.reduce_sum(sequence_loss_by_example(logits, targets, weights, **given))
        if not average_across_batch:
            return cost
        batch_size = array.shape(targets[0])[0]
        return cost / math.cast(batch_size, cost.dtype)


def model_with_buckets(encoder_inputs, decoder_inputs, targets, weights, buckets, seq2seq, softmax_loss_function=None,
                       per_example_loss=False, name=None):  # fmt: skip
    """(outputs, losses), lists with an entry for each bucket of (source, target) lengths; all share variables."""
    for what, values, longest in (
        ("encoder_inputs", encoder_inputs, buckets[-1][0]),
        ("targets", targets, buckets[-1][1]),
        ("weights", weights, buckets[-1][1]),
    ):
        if len(values) < longest:
            raise ValueError(f"The last bucket has {longest} steps: {what} has only {len(values)}")
    losses, outputs = [], []
    with name_scope(name, "model_with_buckets", encoder_inputs + decoder_inputs + targets + weights):
        for i, (source, target) in enumerate(buckets):
            with scopes.variable_scope(scopes.get_variable_scope(), reuse=True if i > 0 else None):
                bucket_outputs, _ = seq2seq(encoder_inputs[:source], decoder_inputs[:target])
                outputs.append(bucket_outputs)
                loss = sequence_loss_by_example if per_example_loss else sequence_loss
                given = outputs[-1], targets[:target], weights[:target]
                losses.append(loss(*given, softmax_loss_function=softmax_loss_function))
    return outputs, losses
