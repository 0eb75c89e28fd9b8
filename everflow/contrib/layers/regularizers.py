"""Regularizers: functions from weights to a penalty, and their sum over a model."""

from __future__ import annotations

import numbers

from everflow import nn
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, get_collection, name_scope
from everflow.ops import math
from everflow.ops.array.constants import constant
from everflow.platform import logging


def _check_scale(scale, label):
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"{label} cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real):
        if scale < 0.0:
            raise ValueError(f"A regularizer's {label} must be 0 or more, not {scale}")
        if scale == 0.0:
            logging.info("Scale of 0 disables regularizer.")
            return False
    return True


def _scaled(scale, scope, default_name, penalty):
    def regularize(weights, name=None):
        with name_scope(scope, default_name, [weights]) as name:
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return math.multiply(factor, penalty(weights), name=name)

    return regularize


def _none(_):
    return None


def l1_regularizer(scale, scope=None):
    """`scale` times the sum of absolute values; no penalty at all for a scale of 0."""
    if not _check_scale(scale, "scale"):
        return _none
    return _named("l1", _scaled(scale, scope, "l1_regularizer", lambda weights: math.reduce_sum(math.abs(weights))))


def l2_regularizer(scale, scope=None):
    """`scale` times half the sum of squares; no penalty at all for a scale of 0.

    Args:
        scale: The factor.
        scope: The name scope of its operations.

    Returns:
        A function of a tensor.

    Raises:
        ValueError: If the factor is negative or no number.

    Example:
        >>> sess.run(tf.contrib.layers.l2_regularizer(0.1)(tf.constant([3.0, 4.0])))
        np.float32(1.25)
    """
    if not _check_scale(scale, "scale"):
        return _none
    return _named("l2", _scaled(scale, scope, "l2_regularizer", nn.l2_loss))


def _named(name, function):
    function.__name__ = name
    return function


def l1_l2_regularizer(scale_l1=1.0, scale_l2=1.0, scope=None):
    """The sum of `l1_regularizer` and `l2_regularizer`."""
    for label, scale in (("scale_l1", scale_l1), ("scale_l2", scale_l2)):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"{label} cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)


def sum_regularizer(regularizer_list, scope=None):
    """The sum of several regularizers; None for none."""
    regularizers = [regularizer for regularizer in regularizer_list if regularizer is not None]
    if not regularizers:
        return None

    def sum_reg(weights):
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            penalties = [p for p in (regularizer(weights) for regularizer in regularizers) if p is not None]
            return math.add_n(penalties, name=name) if penalties else None

    return sum_reg


def apply_regularization(regularizer, weights_list=None):
    """The sum of a regularizer over weights (those in the collection WEIGHTS, by default), also put among the losses."""
    weights_list = get_collection(GraphKeys.WEIGHTS) if not weights_list else weights_list
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with name_scope("get_regularization_penalty", values=weights_list) as scope:
        penalties = [regularizer(weights) for weights in weights_list]
        penalties = [penalty if penalty is not None else constant(0.0) for penalty in penalties]
        for penalty in penalties:
            if penalty.get_shape().ndims != 0:
                raise ValueError(f"A regularizer must return a scalar, not {penalty}")
        total = math.add_n(penalties, name=scope)
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
