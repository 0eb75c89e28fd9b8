"""Names that programs take from inside TensorFlow's module `estimator.canned.head`: the class that heads of people's own
derive from, and functions that make the heads of version 1.
"""

from __future__ import annotations

import abc
from typing import Any

from everflow.estimator.canned.classification_heads import BinaryHead, MultiClassHead
from everflow.estimator.canned.head import Head, LossSpec
from everflow.estimator.canned.head import summary_key as _summary_key
from everflow.estimator.canned.head_inputs import check_loss_fn as _validate_loss_fn_args
from everflow.estimator.canned.head_inputs import checked_labels as _check_dense_labels_match_logits_and_reshape
from everflow.estimator.canned.head_inputs import checked_logits as _check_logits_final_dim
from everflow.estimator.canned.head_inputs import weights_of
from everflow.estimator.canned.head_metrics import accuracy_baseline as _accuracy_baseline
from everflow.estimator.canned.regression_heads import RegressionHead
from everflow.losses import Reduction

__all__ = [
    "LossSpec",
    "_Head",
    "_accuracy_baseline",
    "_binary_logistic_head_with_sigmoid_cross_entropy_loss",
    "_check_dense_labels_match_logits_and_reshape",
    "_check_logits_final_dim",
    "_get_weights_and_check_match_logits",
    "_multi_class_head_with_softmax_cross_entropy_loss",
    "_regression_head",
    "_summary_key",
    "_validate_loss_fn_args",
]


class _Head(abc.ABC):
    """The end of a model: loss, metrics and predictions from logits and labels. Its kinds say what these are."""

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """The name, which goes into scopes, metrics and summaries, or None."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """How many logits it wants for each example."""

    @abc.abstractmethod
    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """The training loss, the losses of examples, their weights, and labels as the losses use them."""

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        """The EstimatorSpec that a model function returns; by itself, that of `_create_tpu_estimator_spec`."""
        spec = self._create_tpu_estimator_spec(
            features, mode, logits, labels, optimizer, train_op_fn, regularization_losses
        )
        return spec.as_estimator_spec()

    def _create_tpu_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} has neither create_estimator_spec nor _create_tpu_estimator_spec: write one."
        )


_Head.register(Head)
_BinaryLogisticHeadWithSigmoidCrossEntropyLoss = BinaryHead
_MultiClassHeadWithSoftmaxCrossEntropyLoss = MultiClassHead
_RegressionHeadWithMeanSquaredErrorLoss = RegressionHead


def _binary_logistic_head_with_sigmoid_cross_entropy_loss(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = Reduction.SUM,
    loss_fn: Any = None,
    name: str | None = None,
) -> Head:
    return BinaryHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


def _multi_class_head_with_softmax_cross_entropy_loss(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = Reduction.SUM,
    loss_fn: Any = None,
    name: str | None = None,
) -> Head:
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def _regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM,
    loss_fn: Any = None,
    inverse_link_fn: Any = None,
    name: str | None = None,
) -> Head:
    return RegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name)


def _binary_logistic_or_multi_class_head(
    n_classes: int, weight_column: Any, label_vocabulary: Any, loss_reduction: str
) -> Head:
    if n_classes == 2:
        return BinaryHead(weight_column, None, label_vocabulary, loss_reduction, None, None)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, None, None)


def _get_weights_and_check_match_logits(
    features: Any, weight_column: Any, logits: Any, allow_per_logit_weights: bool = False
) -> Any:
    return weights_of(features, weight_column, logits, per_logit=allow_per_logit_weights)
