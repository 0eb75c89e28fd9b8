"""How losses of single samples meet weights and become one number; shared by losses, metrics and training."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.control_flow.conditionals import cond
from everflow.ops.math.confusion_matrix import remove_squeezable_dimensions
from everflow.ops.nn.weights import broadcast_weights, with_rank_of


class Reduction:
    """How the losses of single samples become one: AUTO leaves it to where the loss is used."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls):
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key):
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


# Its name where programs import it from inside TensorFlow.
ReductionV2 = Reduction


def squeeze_or_expand_dimensions(y_pred, y_true=None, sample_weight=None):
    """Predictions, labels and weights whose ranks differ by one, brought together by their last axis of size one."""
    pred_rank = y_pred.shape.ndims
    if y_true is not None:
        true_rank = y_true.shape.ndims
        if true_rank is not None and pred_rank is not None:
            # One more dimension in the predictions may be that of classes.
            if pred_rank - true_rank != 1 or y_pred.shape.as_list()[-1] == 1:
                y_true, y_pred = remove_squeezable_dimensions(y_true, y_pred)
        else:
            y_true, y_pred = _squeeze_when_run(y_true, y_pred)
    if sample_weight is None:
        return y_pred, y_true
    weights_rank = sample_weight.shape.ndims
    if weights_rank == 0:
        return y_pred, y_true, sample_weight
    if pred_rank is not None and weights_rank is not None:
        if weights_rank - pred_rank == 1:
            sample_weight = array.squeeze(sample_weight, [-1])
        elif pred_rank - weights_rank == 1:
            sample_weight = array.expand_dims(sample_weight, [-1])
        return y_pred, y_true, sample_weight
    return y_pred, y_true, with_rank_of(y_pred, sample_weight)


def _squeeze_when_run(y_true, y_pred):
    """As `remove_squeezable_dimensions`, where ranks are known when it runs only."""
    difference = array.rank(y_pred) - array.rank(y_true)

    def squeezed():
        return remove_squeezable_dimensions(y_true, y_pred)

    last_is_one = math.equal(1, array.shape(y_pred)[-1])

    def squeezed_if_one():
        return cond(last_is_one, squeezed, lambda: (y_true, y_pred))

    return cond(math.equal(1, difference), squeezed_if_one, squeezed)


def scale_losses_by_sample_weight(losses, sample_weight):
    """Losses times weights, both in float32."""
    losses = math.cast(losses, dtypes.float32)
    sample_weight = math.cast(sample_weight, dtypes.float32)
    losses, _, sample_weight = squeeze_or_expand_dimensions(losses, None, sample_weight)
    return math.multiply(losses, broadcast_weights(sample_weight, losses))


def _count(losses):
    with name_scope("num_elements") as scope:
        return math.cast(array.size(losses, name=scope), losses.dtype)


def reduce_weighted_loss(weighted_losses, reduction=Reduction.SUM_OVER_BATCH_SIZE):
    """Weighted losses as one number, or as they are."""
    if reduction == Reduction.NONE:
        return weighted_losses
    loss = math.reduce_sum(weighted_losses)
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        loss = math.div_no_nan(*_sum_and_count(loss, weighted_losses), name="value")
    return loss


def _sum_and_count(loss, weighted_losses):
    count = _count(weighted_losses)
    return math.reduce_sum(loss), count


def compute_weighted_loss(losses, sample_weight=None, reduction=Reduction.SUM_OVER_BATCH_SIZE, name=None):
    """Losses times weights, reduced."""
    Reduction.validate(reduction)
    if reduction == Reduction.AUTO:
        reduction = Reduction.SUM_OVER_BATCH_SIZE
    if sample_weight is None:
        sample_weight = 1.0
    with name_scope(name, "weighted_loss", (losses, sample_weight)):
        losses = convert_to_tensor(losses)
        weighted = scale_losses_by_sample_weight(losses, sample_weight)
        return math.cast(reduce_weighted_loss(weighted, reduction), losses.dtype)
