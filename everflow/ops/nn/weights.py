"""Weights of losses and metrics: checking that they fit the values they weigh, and spreading them over those."""

from __future__ import annotations

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.control_flow import Assert, cond, no_op
from everflow.ops.sparse import sets

_PREFIX = "weights can not be broadcast to values."


def assert_broadcastable(weights, values):
    """An op that fails where weights neither are a scalar nor have the values' rank with sides of 1 or the values'
    size.
    """
    with name_scope(None, "assert_broadcastable", (weights, values)) as scope:
        with name_scope(None, "weights", (weights,)) as weights_scope:
            weights = convert_to_tensor(weights, name=weights_scope)
            weights_shape = array.shape(weights, name="shape")
            weights_rank = array.rank(weights, name="rank")
        known_weights_rank = constant_value(weights_rank)
        with name_scope(None, "values", (values,)) as values_scope:
            values = convert_to_tensor(values, name=values_scope)
            values_shape = array.shape(values, name="shape")
            values_rank = array.rank(values, name="rank")
        known_values_rank = constant_value(values_rank)
        if known_weights_rank is not None and known_values_rank is not None:
            if known_weights_rank == 0:
                return no_op(name="static_scalar_check_success")
            if known_weights_rank != known_values_rank:
                raise ValueError(
                    f"{_PREFIX} Weights of shape {weights.shape} have another rank than values of shape {values.shape}"
                )
            static_weights, static_values = constant_value(weights_shape), constant_value(values_shape)
            if static_weights is not None and static_values is not None:
                for axis, (weight, value) in enumerate(zip(static_weights, static_values, strict=True)):
                    if weight not in (1, value):
                        raise ValueError(
                            f"{_PREFIX} Mismatch at dim {axis}. values.shape={static_values} weights.shape={static_weights}."
                        )
                return no_op(name="static_dims_check_success")
        is_scalar = math.equal(0, weights_rank, name="is_scalar")
        data = (
            _PREFIX,
            "weights.shape=",
            weights.name,
            weights_shape,
            "values.shape=",
            values.name,
            values_shape,
            "is_scalar=",
            is_scalar,
        )
        is_valid = cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _fits(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape",
        )
        return Assert(is_valid, data, name=scope)


def _fits(weights_rank, weights_shape, values_rank, values_shape):
    with name_scope(
        None, "has_valid_nonscalar_shape", (weights_rank, weights_shape, values_rank, values_shape)
    ) as scope:
        same_rank = math.equal(values_rank, weights_rank, name="is_same_rank")
        return cond(same_rank, lambda: _sides_fit(weights_shape, values_shape), lambda: same_rank, name=scope)


def _sides_fit(weights_shape, values_shape):
    """Whether each side of the weights is among 1 and the values' side: nothing is left when those are taken away."""
    with name_scope(None, "has_invalid_dims", (weights_shape, values_shape)) as scope:
        sides = array.expand_dims(values_shape, -1)
        allowed = array.concat((sides, array.ones_like(sides)), axis=1)
        weights_sides = array.expand_dims(weights_shape, -1)
        invalid = sets.set_difference(weights_sides, allowed)
        count = array.size(invalid.values, name="num_invalid_dims")
        return math.equal(0, count, name=scope)


def with_rank_of(values, weights, squeezable=True):
    """Weights with one axis less or more where that is what they need, by ranks that are known when it runs only.

    `squeezable`: whether the last axis may be of size 1, as one that is taken away has to be.
    """
    rank = array.rank(weights)
    difference = rank - array.rank(values)

    def expanded():
        return cond(math.equal(difference, -1), lambda: array.expand_dims(weights, [-1]), lambda: weights)

    def less():
        return array.squeeze(weights, [-1]) if squeezable else weights

    return cond(math.equal(rank, 0), lambda: weights, lambda: cond(math.equal(difference, 1), less, expanded))


def broadcast_weights(weights, values):
    """Weights of the values' shape."""
    with name_scope(None, "broadcast_weights", (weights, values)) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, dtype=values.dtype.base_dtype, name="weights")
        if (
            weights.shape.is_fully_defined()
            and values.shape.is_fully_defined()
            and weights.shape.is_compatible_with(values.shape)
        ):
            return weights
        with control_dependencies((assert_broadcastable(weights, values),)):
            return math.multiply(weights, array.ones_like(values), name=scope)
