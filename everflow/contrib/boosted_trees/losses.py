"""Losses of each example for boosted trees, with an op beside each that updates nothing, as the trees want pairs."""

from __future__ import annotations

from everflow import losses
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import no_op
from everflow.ops.nn.losses import sigmoid_cross_entropy_with_logits


def _floats(*tensors):
    return [math.cast(convert_to_tensor(tensor), dtypes.float32) for tensor in tensors]


def _signs(labels):
    """Labels 0 and 1 as -1 and 1."""
    return 2.0 * labels - 1.0


def per_example_logistic_loss(labels, weights, predictions):
    """The logistic loss of logits."""
    labels, weights = _floats(labels, weights)
    return sigmoid_cross_entropy_with_logits(labels=labels, logits=predictions) * weights, no_op()


def per_example_maxent_loss(labels, weights, logits, num_classes, eps=1e-15):
    """Minus the logarithm of the class's probability, of logits for all classes."""
    weights, logits = _floats(weights, logits)
    classes = array.reshape(math.cast(labels, dtypes.int32), [-1])
    # The largest logit is taken away, so that no power is too large.
    shifted = math.exp(logits - math.reduce_max(logits, axis=1, keepdims=True))
    probability = math.reduce_sum(array.one_hot(classes, num_classes) * shifted, 1) / math.reduce_sum(shifted, 1)
    return array.expand_dims(-math.log(probability + eps), 1) * weights, no_op()


def per_example_squared_loss(labels, weights, predictions):
    """The squared error."""
    labels, weights = _floats(labels, weights)
    return weights * math.square(predictions - labels), no_op()


def per_example_squared_hinge_loss(labels, weights, predictions):
    """The square of the mean hinge loss."""
    return math.square(losses.hinge_loss(labels=labels, logits=predictions, weights=weights)), no_op()


def per_example_exp_loss(labels, weights, predictions, name=None, eps=0.1):
    """An exponential loss of probabilities: those further than `eps` from a half count as sure."""
    labels, weights = _floats(labels, weights)
    sure = math.minimum(math.maximum((math.sigmoid(predictions) - 0.5) / eps, -1.0), 1.0)
    return math.multiply(math.exp(-_signs(labels) * sure), weights, name=name), no_op()


def per_example_full_exp_loss(labels, weights, predictions, name=None):
    """The exponential loss of logits."""
    labels, weights = _floats(labels, weights)
    return math.multiply(math.exp(-_signs(labels) * predictions), weights, name=name), no_op()


def per_example_quantile_regression_loss(labels, weights, predictions, quantile):
    """The squared error, where too low and too high weigh as a quantile wants."""
    labels, weights = _floats(labels, weights)
    error = labels - predictions
    share = math.maximum(quantile * error, (quantile - 1.0) * error)
    return weights * math.square(share), no_op()
