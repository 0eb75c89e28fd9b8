"""Estimators of nothing but a bias: how often labels come, or their mean. What a real model has to beat."""

from __future__ import annotations

from everflow.contrib import layers
from everflow.contrib.learn.class_heads import multi_class_head
from everflow.contrib.learn.dnn import features_by_name
from everflow.contrib.learn.estimator import BaseEstimator
from everflow.contrib.learn.heads import regression_head
from everflow.contrib.learn.predictors import TellsClasses, TellsScores
from everflow.framework.composites import is_sparse
from everflow.ops import array
from everflow.ops.variables.global_step import get_global_step


def debug_model_fn(features, labels, mode, params, config=None):
    """The model: zeros, to which the head, which is `params["head"]`, adds the bias that it learns."""
    features = features_by_name(features)
    first = next(iter(features.values()))
    batch_size = first.dense_shape[0] if is_sparse(first) else array.shape(first)[0]
    head = params["head"]
    logits = array.zeros([batch_size, head.logits_dimension])

    def train_op_fn(loss):
        return layers.optimize_loss(loss, get_global_step(), learning_rate=0.3, optimizer="Adagrad")

    return head.create_model_fn_ops(features, mode, labels, train_op_fn, logits)


class _Debug(BaseEstimator):
    def __init__(self, head, model_dir, config, feature_engineering_fn):
        self.params = {"head": head}
        self._feature_engineering_fn = feature_engineering_fn
        super().__init__(model_dir=model_dir, config=config)

    def _draw(self, features, labels, mode, config):
        return debug_model_fn(features, labels, mode, self.params, config)


class DebugClassifier(TellsClasses, _Debug):
    """Predicts for each example how often classes came while it was fitted."""

    def __init__(
        self,
        model_dir=None,
        n_classes=2,
        weight_column_name=None,
        config=None,
        feature_engineering_fn=None,
        label_keys=None,
    ):
        head = multi_class_head(
            n_classes, weight_column_name=weight_column_name, enable_centered_bias=True, label_keys=label_keys
        )
        super().__init__(head, model_dir, config, feature_engineering_fn)

    def predict_classes(self, input_fn=None, batch_size=None):
        """The class of each example."""
        return super().predict_classes(input_fn=input_fn, batch_size=batch_size)

    def predict_proba(self, input_fn=None, batch_size=None):
        """The probabilities of classes for each example."""
        return super().predict_proba(input_fn=input_fn, batch_size=batch_size)


class DebugRegressor(TellsScores, _Debug):
    """Predicts for each example the mean of the labels that came while it was fitted."""

    def __init__(
        self, model_dir=None, label_dimension=1, weight_column_name=None, config=None, feature_engineering_fn=None
    ):
        head = regression_head(
            weight_column_name=weight_column_name, label_dimension=label_dimension, enable_centered_bias=True
        )
        super().__init__(head, model_dir, config, feature_engineering_fn)

    def predict_scores(self, input_fn=None, batch_size=None):
        """The number for each example."""
        return super().predict_scores(input_fn=input_fn, batch_size=batch_size)
