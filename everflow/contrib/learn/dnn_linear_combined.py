"""Wide and deep models over the columns of tf.contrib.layers: those of tf.contrib.learn."""

from __future__ import annotations

from everflow.contrib import layers
from everflow.contrib.learn import dnn, linear
from everflow.contrib.learn.class_heads import CLASSIFIES, class_head
from everflow.contrib.learn.estimator import BaseEstimator
from everflow.contrib.learn.heads import REGRESSES, number_head
from everflow.contrib.learn.predictors import PredictsClasses, PredictsScores
from everflow.estimator.canned.layer_summaries import add_layer_summary
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import control_dependencies, get_collection
from everflow.ops.control_flow.grouping import group
from everflow.ops.nn.activations import relu
from everflow.ops.variables.assign import assign_add
from everflow.ops.variables.global_step import get_global_step
from everflow.ops.variables.partitioned import min_max_variable_partitioner
from everflow.ops.variables.scope import variable_scope
from everflow.platform.signatures import inserted, optional, takes
from everflow.train import AdagradOptimizer

_COMBINED = optional(
    """model_dir linear_feature_columns linear_optimizer _joint_linear_weights dnn_feature_columns dnn_optimizer
    dnn_hidden_units dnn_activation_fn dnn_dropout gradient_clip_norm config feature_engineering_fn
    embedding_lr_multipliers input_layer_min_slice_size fix_global_step_increment_bug""",
    _joint_linear_weights=False,
    dnn_activation_fn=relu,
    fix_global_step_increment_bug=False,
)


class _Combined(BaseEstimator):
    """A linear model, a network and a head."""

    @takes(_COMBINED)
    def __init__(self, head, **given):
        dnn.refuse_embedding_rates(given["embedding_lr_multipliers"])
        self._linear_columns = tuple(given["linear_feature_columns"] or [])
        self._dnn_columns = tuple(given["dnn_feature_columns"] or [])
        if not self._linear_columns and not self._dnn_columns:
            raise ValueError("A model needs columns: give linear_feature_columns, dnn_feature_columns, or both")
        self._head, self._gradient_clip_norm = head, given["gradient_clip_norm"]
        self._feature_engineering_fn = given["feature_engineering_fn"]
        self._linear_optimizer, self._dnn_optimizer = given["linear_optimizer"], given["dnn_optimizer"]
        self._joint_linear_weights = given["_joint_linear_weights"]
        self._dnn_hidden_units, self._dnn_dropout = given["dnn_hidden_units"], given["dnn_dropout"]
        self._dnn_activation_fn = given["dnn_activation_fn"] or relu
        self._min_slice_size = given["input_layer_min_slice_size"]
        self._counts_once = given["fix_global_step_increment_bug"]
        super().__init__(model_dir=given["model_dir"], config=given["config"])

    def _draw(self, features, labels, mode, config):
        features = dnn.features_by_name(features)
        values = tuple(features.values())
        parts, units = [], self._head.logits_dimension
        if self._dnn_columns:
            if not self._dnn_hidden_units:
                raise ValueError("With dnn_feature_columns, say by dnn_hidden_units how wide the layers are")
            partitioner = min_max_variable_partitioner(max_partitions=config.num_ps_replicas)
            with variable_scope("dnn", values=values, partitioner=partitioner):
                shape = self._dnn_columns, self._dnn_hidden_units, units
                options = self._dnn_activation_fn, self._dnn_dropout, config, self._min_slice_size
                parts.append(dnn.dnn_logits(features, mode, *shape, *options))
        if self._linear_columns:
            partitioner = min_max_variable_partitioner(max_partitions=config.num_ps_replicas, min_slice_size=64 << 20)
            with variable_scope("linear", values=values, partitioner=partitioner) as scope:
                columns, joint = self._linear_columns, self._joint_linear_weights
                parts.append(linear.linear_logits(features, columns, units, joint, scope)[0])
                add_layer_summary(parts[-1], "linear")
        logits = parts[0] + parts[1] if len(parts) == 2 else parts[0]
        return self._head.create_model_fn_ops(features, mode, labels, self._train_op, logits)

    def _train_op(self, loss):
        """One step of both optimizers. Each counts a step of its own unless it was asked to be counted once."""
        ops = []
        if self._dnn_columns:
            ops.append(self._step(loss, "dnn", dnn.LEARNING_RATE, self._dnn_optimizer or AdagradOptimizer))
        if self._linear_columns:
            default = linear.default_optimizer(self._linear_columns)
            ops.append(self._step(loss, "linear", default._learning_rate, self._linear_optimizer or default))
        both = group(*ops)
        if not self._counts_once:
            return both
        with control_dependencies([both]):
            return assign_add(get_global_step(), 1).op

    def _step(self, loss, scope, learning_rate, optimizer):
        return layers.optimize_loss(
            loss=loss,
            global_step=get_global_step(),
            learning_rate=learning_rate,
            optimizer=optimizer,
            clip_gradients=self._gradient_clip_norm,
            variables=get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=scope),
            name=scope,
            summaries=[],
            increment_global_step=not self._counts_once,
        )


_OF_A_HEAD = {name: default for name, default in _COMBINED.items() if name != "input_layer_min_slice_size"}


class DNNLinearCombinedEstimator(_Combined):
    """A linear model and a network over columns, for any head of tf.contrib.learn."""

    @takes({**_OF_A_HEAD, "dnn_activation_fn": None, "input_layer_partitioner": None})
    def __init__(self, head, **given):
        if given.pop("input_layer_partitioner") is not None:
            raise ValueError("input_layer_partitioner is not supported.")
        super().__init__(head, **given)


class DNNLinearCombinedClassifier(PredictsClasses, _Combined):
    """A wide and deep model that tells classes apart."""

    @takes(inserted(_COMBINED, **CLASSIFIES, input_layer_min_slice_size={"label_keys": None}))
    def __init__(self, **given):
        super().__init__(class_head(given), **given)


class DNNLinearCombinedRegressor(PredictsScores, _Combined):
    """A wide and deep model that predicts numbers."""

    @takes(inserted(inserted(_COMBINED, **REGRESSES), enable_centered_bias={"label_dimension": 1}))
    def __init__(self, **given):
        super().__init__(number_head(given), **given)
