"""The multi-class hinge loss of Crammer and Singer, for labels that are class numbers."""

from __future__ import annotations

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.losses import Reduction, compute_weighted_loss
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.nn import activations as nn


def sparse_multiclass_hinge_loss(
    labels,
    logits,
    weights=1.0,
    scope=None,
    loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):
    """How far the best wrong class comes within 1 of the right one: labels [n] or [n, 1], logits [n, classes]."""
    with name_scope(scope, "sparse_multiclass_hinge_loss", (logits, labels)) as scope:
        if logits.get_shape().ndims != 2:
            raise ValueError(f"logits should have rank 2. Given logits have rank {logits.get_shape().ndims}")
        if labels.get_shape().ndims not in (None, 1, 2):
            raise ValueError(f"labels should have rank 1 or 2. Given labels have rank {labels.get_shape().ndims}")
        if not labels.dtype.is_integer:
            raise ValueError(f"The labels are numbers of classes, int32 or int64; got {labels.dtype.name}")
        shape = array.shape(logits)
        batch_size, classes = shape[0], shape[1]
        with control_dependencies([check.assert_less(labels, math.cast(classes, labels.dtype))]):
            labels = array.reshape(labels, shape=[-1])
        weights = convert_to_tensor(weights)
        if weights.shape.ndims != 0:
            weights = array.reshape(weights, shape=[-1])
            weights.shape.assert_is_compatible_with(labels.shape)
        rows = array.reshape(math.range(0, batch_size), shape=[batch_size, 1])
        classes_of_rows = array.reshape(labels, shape=[batch_size, 1])
        of_label = array.gather_nd(logits, array.concat([rows, math.cast(classes_of_rows, rows.dtype)], axis=1))
        of_label = array.reshape(of_label, shape=[batch_size, 1])
        margins = array.one_hot(indices=labels, depth=classes, on_value=0.0, off_value=1.0)
        losses = math.reduce_max(nn.relu(logits - of_label + margins), axis=1)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)
