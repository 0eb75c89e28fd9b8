"""tf.contrib.nn: alpha dropout, a scaled softplus, sampled losses, cross entropies with flipped arguments."""

from __future__ import annotations

import numbers

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.static_values import constant_value
from everflow.ops import array
from everflow.ops import math as math_ops
from everflow.ops.control_flow.conditionals import Assert
from everflow.ops.gradients.custom import custom_gradient
from everflow.ops.gradients.reverse import gradients
from everflow.ops.nn.activations import softplus
from everflow.ops.nn.candidate_sampling import learned_unigram_candidate_sampler, sampled_logits, sampled_softmax_loss
from everflow.ops.nn.convolution import conv1d_transpose
from everflow.ops.nn.embedding import embedding_lookup
from everflow.ops.nn.losses import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from everflow.ops.nn.top_k import nth_element, top_k
from everflow.ops.random.distributions import random_uniform

__all__ = [
    "alpha_dropout",
    "conv1d_transpose",
    "deprecated_flipped_sigmoid_cross_entropy_with_logits",
    "deprecated_flipped_softmax_cross_entropy_with_logits",
    "deprecated_flipped_sparse_softmax_cross_entropy_with_logits",
    "nth_element",
    "rank_sampled_softmax_loss",
    "sampled_sparse_softmax_loss",
    "scaled_softplus",
]
# What a selu unit tends to for very negative inputs: minus its scale times its alpha.
_SELU_FLOOR = -1.7580993408473766


def alpha_dropout(x, keep_prob, noise_shape=None, seed=None, name=None):
    """Dropout for selu networks: dropped entries become selu's lower bound, and mean and variance stay as they are."""
    with name_scope(name, "alpha_dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < keep_prob <= 1.0:
            raise ValueError(f"keep_prob is the share that is kept, above 0 and at most 1; got {keep_prob:g}")
        keep_prob = convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep_prob.shape.assert_has_rank(0)
        if constant_value(keep_prob) == 1:
            return x
        noise_shape = noise_shape if noise_shape is not None else array.shape(x)
        random = random_uniform(noise_shape, seed=seed, dtype=x.dtype)
        kept = math_ops.cast(random >= 1 - keep_prob, x.dtype)
        dropped = x * kept + _SELU_FLOOR * (1 - kept)
        scale = (keep_prob + keep_prob * (1 - keep_prob) * _SELU_FLOOR**2) ** -0.5
        offset = -scale * _SELU_FLOOR * (1 - keep_prob)
        result = scale * dropped + offset
        result.set_shape(x.shape)
        return result


def scaled_softplus(x, alpha, clip=None, name=None):
    """`alpha * softplus(x / alpha)`, at most `clip`. The gradient is computed from the output, so x need not be kept."""
    clips = () if clip is None else (clip,)

    @custom_gradient
    def compute(x, alpha, *clip):
        y = alpha * softplus(x / alpha)
        if clip:
            y = math_ops.minimum(y, clip[0])

        def grad(dy):
            grads = []
            if clip:
                below = math_ops.cast(y < clip[0], x.dtype)
                grads = [_summed_like(dy * (1 - below), clip[0])]
                dy = dy * below
            ratio = y / alpha
            by_x = 1 - math_ops.exp(-ratio)
            # x / alpha is log(by_x) plus the ratio, so x itself is not needed.
            by_alpha = ratio * (1 - by_x) - by_x * math_ops.log(by_x + 1e-8)
            return [_summed_like(dy * by_x, x), _summed_like(dy * by_alpha, alpha), *grads]

        return y, grad

    with name_scope(name, "scaled_softplus", [x, alpha]):
        x = convert_to_tensor(x, name="x")
        alpha = convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        return compute(x, alpha, *(convert_to_tensor(c, dtype=x.dtype, name="clip") for c in clips))


def _summed_like(grad, x):
    """A gradient summed over the dimensions along which x was broadcast."""
    axes, _ = raw.BroadcastGradientArgs(array.shape(x), array.shape(grad))
    return array.reshape(math_ops.reduce_sum(grad, axes), array.shape(x))


def deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels, dim=-1, name=None):
    """`softmax_cross_entropy_with_logits` with the logits first."""
    return softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, labels, name=None):
    """`sparse_softmax_cross_entropy_with_logits` with the logits first."""
    return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, targets, name=None):
    """`sigmoid_cross_entropy_with_logits` with the logits first."""
    return sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


def sampled_sparse_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes,
                                sampled_values=None, remove_accidental_hits=True,
                                partition_strategy="mod", name="sampled_sparse_softmax_loss"):  # fmt: skip
    """`sampled_softmax_loss` for one true class a row, with the sparse cross entropy."""
    logits, _ = sampled_logits(num_true=1, subtract_log_q=True, **locals())
    # The true class is the first of each row.
    labels = array.zeros([array.shape(logits)[0], 1], dtype=dtypes.int64)
    return sparse_softmax_cross_entropy_with_logits(labels=array.squeeze(labels), logits=logits)


def rank_sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_resampled, num_classes,
                              num_true, sampled_values, resampling_temperature, remove_accidental_hits,
                              partition_strategy, name=None):  # fmt: skip
    """`sampled_softmax_loss` over the hardest of sampled classes: those with the largest logits over the batch."""
    if num_sampled > num_classes:
        raise ValueError("num_sampled must not exceed num_classes")
    if num_resampled > num_sampled:
        raise ValueError("num_resampled must not exceed num_sampled")
    if partition_strategy not in ("mod", "div"):
        raise ValueError(f"unsupported partition_strategy: {partition_strategy}")
    with name_scope(name, "rank_sampled_softmax_loss", [weights, biases, labels, inputs]) as name:
        if sampled_values is None:
            counts = {"num_true": num_true, "num_sampled": num_sampled, "range_max": num_classes}
            sampled_values = learned_unigram_candidate_sampler(labels, unique=True, **counts)
        sampled, true_expected, sampled_expected = (array.stop_gradient(value) for value in sampled_values)
        inputs_cool = inputs / resampling_temperature
        chosen = embedding_lookup(weights, sampled, partition_strategy=partition_strategy)
        scores = math_ops.reduce_logsumexp(math_ops.matmul(chosen, inputs_cool, transpose_b=True), axis=1)
        sampled_biases = array.reshape(embedding_lookup(biases, sampled, partition_strategy=partition_strategy), [-1])
        scores = scores + sampled_biases / resampling_temperature
        hardest = top_k(scores, k=num_resampled, sorted=False).indices
        kept = array.gather(sampled, hardest), true_expected, array.gather(sampled_expected, hardest)
        counts = num_resampled, num_classes, num_true
        rest = kept, remove_accidental_hits, partition_strategy, name
        return sampled_softmax_loss(weights, biases, labels, inputs, *counts, *rest)


def fwd_gradients(ys, xs, grad_xs=None, assert_unused=False):
    """The derivatives of `ys` along a direction in which `xs` change, by two gradients, one of the other.

    Args:
      ys: Tensors.
      xs: The tensors that they depend on.
      grad_xs: How `xs` change, tensors of their shapes; ones where None.
      assert_unused: Whether to fail when the inner gradient's own direction has an influence, which it may not have.

    Returns:
      A list with the change of each of `ys`; None for those that depend on no `x`.

    Example:
      >>> from everflow.contrib.nn import fwd_gradients
      >>> x = tf.constant([1.0, 2.0])
      >>> (slope,) = fwd_gradients([x * x], [x], [tf.constant([1.0, 0.0])])
      >>> sess.run(slope)
      array([2., 0.], dtype=float32)
    """
    # The first gradient is linear in these, so what they are doesn't matter to the second.
    directions = [array.zeros_like(y) + 1.0 for y in ys] if not assert_unused else [_unusable(y) for y in ys]
    slopes = gradients(ys, xs, grad_ys=directions)
    if grad_xs is not None and len(grad_xs) != len(slopes):
        raise ValueError(f"{len(grad_xs)} directions were given for {len(slopes)} tensors")
    used = [(slope, None if grad_xs is None else grad_xs[i]) for i, slope in enumerate(slopes) if slope is not None]
    if not used:
        return [None] * len(ys)
    along = None if grad_xs is None else [direction for _, direction in used]
    return gradients([slope for slope, _ in used], directions, grad_ys=along)


def _unusable(y):
    """Ones in the shape of a tensor which no run may ask for."""
    with control_dependencies([Assert(False, ["A forward gradient used the direction of the gradient in it"])]):
        return array.ones_like(y)
