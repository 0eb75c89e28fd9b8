"""What all metrics share: their variables, collections, and inputs brought to one rank."""

from __future__ import annotations

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collections, executing_eagerly
from everflow.ops import array
from everflow.ops.math.confusion_matrix import remove_squeezable_dimensions
from everflow.ops.nn.weights import with_rank_of
from everflow.ops.variables.variable import Variable, VariableAggregation, VariableSynchronization


def metric_variable(shape, dtype, validate_shape=True, name=None):
    """A local variable of zeros that joins METRIC_VARIABLES."""
    if executing_eagerly():
        raise RuntimeError("tf.metrics are for graphs: with eager execution, use tf.keras.metrics")
    return Variable(
        lambda: array.zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
        name=name,
    )


def collected(value, update_op, metrics_collections, updates_collections):
    """(value, update op), put into collections where they are named."""
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update_op)
    return value, update_op


def named(name, doc):
    """A decorator for functions that are made: their name and what they say of themselves."""

    def decorate(metric):
        metric.__name__ = metric.__qualname__ = name
        metric.__doc__ = doc
        return metric

    return decorate


def as_vector(tensor):
    """A tensor as a vector."""
    return tensor if tensor.shape.rank in (0, 1) else array.reshape(tensor, [-1])


def aligned(predictions, labels, weights):
    """(predictions, labels, weights) without the one dimension of size 1 that one of them has more."""
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return predictions, labels, None
    weights = convert_to_tensor(weights)
    weights_rank, predictions_rank = weights.shape.rank, predictions.shape.rank
    if weights_rank == 0:
        return predictions, labels, weights
    if predictions_rank is not None and weights_rank is not None:
        if weights_rank - predictions_rank == 1:
            weights = array.squeeze(weights, [-1])
        elif predictions_rank - weights_rank == 1:
            weights = array.expand_dims(weights, [-1])
        return predictions, labels, weights
    squeezable = weights_rank is None or weights.shape.dims[-1].is_compatible_with(1)
    return predictions, labels, with_rank_of(predictions, weights, squeezable)
