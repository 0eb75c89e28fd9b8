"""Models that ignore their features: they learn the mean of the labels, which others have to do better than."""

from __future__ import annotations

from everflow.estimator.canned.classification_heads import binary_or_multi_class_head
from everflow.estimator.canned.dnn import assert_features_are_dict
from everflow.estimator.canned.optimizers import get_optimizer_instance
from everflow.estimator.canned.regression_heads import RegressionHead
from everflow.estimator.estimator import Estimator
from everflow.losses import Reduction
from everflow.ops import array, math
from everflow.ops.variables.global_step import get_global_step
from everflow.ops.variables.initializers import zeros_initializer
from everflow.ops.variables.scope import get_variable, variable_scope

_LEARNING_RATE = 0.3


def _batch_size(features):
    """How many examples there are, by the first feature."""
    assert_features_are_dict(features)
    if not features:
        raise ValueError(
            "The features should not be an empty dictionary: a baseline model needs one to count examples."
        )
    return array.shape(next(iter(features.values())))[0]


def _logits(features, units):
    batch_size = _batch_size(features)
    with variable_scope("baseline", values=tuple(features.values())):
        bias = get_variable("bias", shape=[units], initializer=zeros_initializer())
        return math.multiply(bias, array.ones([batch_size, units]))


class BaselineEstimator(Estimator):
    """A baseline for any head."""

    def __init__(self, head, model_dir=None, optimizer="Ftrl", config=None):
        def model_fn(features, labels, mode, config):
            logits = _logits(features, head.logits_dimension)
            return head.create_estimator_spec(
                features=features, mode=mode, logits=logits, labels=labels, train_op_fn=train_op_fn
            )

        def train_op_fn(loss):
            return get_optimizer_instance(optimizer, learning_rate=_LEARNING_RATE).minimize(
                loss, global_step=get_global_step()
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)


class BaselineClassifier(BaselineEstimator):
    """Tells how frequent each class is.

    >>> classifier = tf.estimator.BaselineClassifier(n_classes=3)
    """

    def __init__(
        self,
        model_dir=None,
        n_classes=2,
        weight_column=None,
        label_vocabulary=None,
        optimizer="Ftrl",
        config=None,
        loss_reduction=Reduction.SUM,
    ):
        head = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, model_dir=model_dir, optimizer=optimizer, config=config)


class BaselineRegressor(BaselineEstimator):
    """Predicts the mean of the labels."""

    def __init__(
        self,
        model_dir=None,
        label_dimension=1,
        weight_column=None,
        optimizer="Ftrl",
        config=None,
        loss_reduction=Reduction.SUM,
    ):
        head = RegressionHead(
            label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction
        )
        super().__init__(head, model_dir=model_dir, optimizer=optimizer, config=config)
