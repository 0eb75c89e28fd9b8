"""The heads of tf.contrib.estimator, to build estimators of one's own on."""

from __future__ import annotations

from everflow.estimator.canned.classification_heads import BinaryHead, MultiClassHead
from everflow.estimator.canned.dnn import dnn_logit_fn_builder  # noqa: F401
from everflow.estimator.canned.linear import linear_logit_fn_builder  # noqa: F401
from everflow.estimator.canned.multi_head import MultiHead
from everflow.estimator.canned.multi_label_head import MultiLabelHead
from everflow.estimator.canned.regression_heads import RegressionHead, logistic_loss_and_link, poisson_loss_and_link
from everflow.losses import Reduction
from everflow.platform.signatures import inserted, takes

_BATCH_SIZE = Reduction.SUM_OVER_BATCH_SIZE
_LABELS = {"weight_column": None, "thresholds": None, "label_vocabulary": None}
_LOSS = {"loss_reduction": _BATCH_SIZE, "loss_fn": None, "name": None}


@takes({**_LABELS, **_LOSS})
def binary_classification_head(**given):
    """A head that tells two classes apart by one logit."""
    return BinaryHead(**given)


@takes({"weight_column": None, "label_vocabulary": None, **_LOSS})
def multi_class_head(n_classes, **given):
    """A head that tells one of more than two classes."""
    return MultiClassHead(n_classes, **given)


@takes({"weight_column": None, "label_dimension": 1, **inserted(_LOSS, loss_fn={"inverse_link_fn": None})})
def regression_head(**given):
    """A head that predicts numbers; squared errors, unless there is a `loss_fn`."""
    return RegressionHead(**given)


def poisson_regression_head(
    weight_column=None, label_dimension=1, loss_reduction=_BATCH_SIZE, compute_full_loss=True, name=None
):
    """A head that predicts counts."""
    loss_and_link = poisson_loss_and_link(compute_full_loss)
    return RegressionHead(label_dimension, weight_column, loss_reduction, *loss_and_link, name)


def logistic_regression_head(weight_column=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, name=None):
    """A head that predicts shares, from labels in [0, 1]."""
    return RegressionHead(1, weight_column, loss_reduction, *logistic_loss_and_link(), name)


@takes({**_LABELS, **inserted(_LOSS, loss_fn={"classes_for_class_based_metrics": None})})
def multi_label_head(n_classes, **given):
    """A head that tells for each class whether it holds."""
    return MultiLabelHead(n_classes, **given)


def multi_head(heads, head_weights=None):
    """A head of several heads with names; their losses are added up."""
    return MultiHead(heads, head_weights)
