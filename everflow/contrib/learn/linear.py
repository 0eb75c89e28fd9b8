"""Linear models over the columns of tf.contrib.layers: those of tf.contrib.learn."""

from __future__ import annotations

import math as python_math

from everflow.contrib import layers
from everflow.contrib.learn.class_heads import CLASSIFIES, class_head
from everflow.contrib.learn.dnn import features_by_name
from everflow.contrib.learn.estimator import BaseEstimator
from everflow.contrib.learn.heads import REGRESSES, number_head
from everflow.contrib.learn.model_ops import ModeKeys
from everflow.contrib.learn.predictors import PredictsClasses, PredictsScores
from everflow.contrib.linear_optimizer.sdca_optimizer import BIAS, SDCAOptimizer, UpdateWeightsHook
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_collection
from everflow.ops.gradients.reverse import gradients
from everflow.ops.math.clip import clip_by_global_norm
from everflow.ops.variables.global_step import get_global_step
from everflow.ops.variables.partitioned import min_max_variable_partitioner
from everflow.ops.variables.scope import variable_scope
from everflow.platform.signatures import inserted, optional, takes
from everflow.train import FtrlOptimizer


def default_optimizer(feature_columns):
    """Ftrl, the slower the more columns there are."""
    return FtrlOptimizer(learning_rate=min(0.2, 1.0 / python_math.sqrt(len(feature_columns))))


def linear_logits(features, feature_columns, units, joint_weights, scope):
    """The sums of weights, made in `scope`, {column: its variables} and the bias."""
    sums = layers.joint_weighted_sum_from_feature_columns if joint_weights else layers.weighted_sum_from_feature_columns
    return sums(features, feature_columns, num_outputs=units, weight_collections=["linear"], scope=scope)


_LINEAR = optional(
    "model_dir optimizer gradient_clip_norm _joint_weights config feature_engineering_fn", _joint_weights=False
)


class _Linear(BaseEstimator):
    """A linear model and a head."""

    @takes(_LINEAR)
    def __init__(self, head, feature_columns, **given):
        if not feature_columns:
            raise ValueError("feature_columns must be given.")
        self.feature_columns, self.optimizer = tuple(feature_columns), given["optimizer"]
        self._head, self._gradient_clip_norm = head, given["gradient_clip_norm"]
        self._joint_weights = given["_joint_weights"]
        if isinstance(self.optimizer, SDCAOptimizer):
            if self._joint_weights:
                raise ValueError("_joint_weights is incompatible with SDCAOptimizer.")
            if head.sdca_loss is None or head.logits_dimension != 1:
                raise ValueError(f"SDCAOptimizer can't train {type(head).__name__}: it takes one number or two classes")
        self._feature_engineering_fn = given["feature_engineering_fn"]
        super().__init__(model_dir=given["model_dir"], config=given["config"])

    def _draw(self, features, labels, mode, config):
        features = features_by_name(features)
        partitioner = min_max_variable_partitioner(max_partitions=config.num_ps_replicas, min_slice_size=64 << 20)
        with variable_scope("linear", values=tuple(features.values()), partitioner=partitioner) as scope:
            units = self._head.logits_dimension
            logits, variables, bias = linear_logits(features, self.feature_columns, units, self._joint_weights, scope)
            if isinstance(self.optimizer, SDCAOptimizer):
                return self._draw_sdca(features, labels, mode, logits, {**variables, BIAS: bias})

            def train_op_fn(loss):
                variables = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope="linear")
                slopes = gradients(loss, variables)
                if self._gradient_clip_norm:
                    slopes, _ = clip_by_global_norm(slopes, self._gradient_clip_norm)
                optimizer = self.optimizer() if callable(self.optimizer) else self.optimizer
                optimizer = optimizer or default_optimizer(self.feature_columns)
                return optimizer.apply_gradients(zip(slopes, variables), global_step=get_global_step())

            return self._head.create_model_fn_ops(features, mode, labels, train_op_fn, logits)

    def _draw_sdca(self, features, labels, mode, logits, columns_to_variables):
        hook = UpdateWeightsHook()

        def train_op_fn(_):
            model, train_op = self.optimizer.get_train_step(
                columns_to_variables,
                self._head._weight_column_name,
                self._head.sdca_loss,
                features,
                self._head.dual_labels(labels),
                get_global_step(),
            )
            hook.set_parameters(model, train_op)
            return train_op

        ops = self._head.create_model_fn_ops(features, mode, labels, train_op_fn, logits)
        return ops._replace(training_hooks=[*ops.training_hooks, hook]) if mode == ModeKeys.TRAIN else ops


class LinearEstimator(_Linear):
    """A linear model over columns for any head of tf.contrib.learn."""

    @takes(inserted(_LINEAR, model_dir={"weight_column_name": None}))
    def __init__(self, feature_columns, head, **given):
        del given["weight_column_name"]  # the head has one
        super().__init__(head, feature_columns, **given)


_LINEAR_CLASSIFIER = {name.replace("weights", "weight"): default for name, default in _LINEAR.items()}


class LinearClassifier(PredictsClasses, _Linear):
    """A linear model over columns that tells classes apart."""

    @takes(inserted(_LINEAR_CLASSIFIER, **CLASSIFIES, feature_engineering_fn={"label_keys": None}))
    def __init__(self, feature_columns, **given):
        super().__init__(class_head(given), feature_columns, _joint_weights=given.pop("_joint_weight"), **given)


class LinearRegressor(PredictsScores, _Linear):
    """A linear model over columns that predicts numbers."""

    @takes(inserted(inserted(_LINEAR, **REGRESSES), enable_centered_bias={"label_dimension": 1}))
    def __init__(self, feature_columns, **given):
        super().__init__(number_head(given), feature_columns, **given)
