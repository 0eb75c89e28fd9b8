"""Networks over the columns of tf.contrib.layers: those of tf.contrib.learn."""

from __future__ import annotations

from everflow.contrib import layers
from everflow.contrib.learn.class_heads import CLASSIFIES, class_head
from everflow.contrib.learn.estimator import BaseEstimator
from everflow.contrib.learn.heads import REGRESSES, number_head
from everflow.contrib.learn.model_ops import ModeKeys
from everflow.contrib.learn.predictors import PredictsClasses, PredictsScores
from everflow.estimator.canned.layer_summaries import add_layer_summary
from everflow.ops.nn.activations import relu
from everflow.ops.variables.global_step import get_global_step
from everflow.ops.variables.partitioned import min_max_variable_partitioner
from everflow.ops.variables.scope import variable_scope
from everflow.platform.signatures import inserted, optional, takes
from everflow.train import AdagradOptimizer

LEARNING_RATE = 0.05


def features_by_name(features):
    """Features as a dict; a tensor has the empty name."""
    return dict(features) if isinstance(features, dict) else {"": features}


def dnn_logits(features, mode, feature_columns, hidden_units, units, activation_fn, dropout, config, min_slice_size):
    """The outputs of a fully connected network, made in the current variable scope."""
    values = tuple(features.values())
    least = min_slice_size or 64 << 20
    partitioner = min_max_variable_partitioner(max_partitions=config.num_ps_replicas, min_slice_size=least)
    with variable_scope("input_from_feature_columns", values=values, partitioner=partitioner) as scope:
        net = layers.input_from_feature_columns(features, feature_columns, weight_collections=["dnn"], scope=scope)
    for i, hidden in enumerate(hidden_units):
        with variable_scope(f"hiddenlayer_{i}", values=(net,)) as scope:
            options = {"activation_fn": activation_fn, "variables_collections": ["dnn"], "scope": scope}
            net = layers.fully_connected(net, hidden, **options)
            if dropout is not None and mode == ModeKeys.TRAIN:
                net = layers.dropout(net, keep_prob=1.0 - dropout)
        add_layer_summary(net, f"dnn/hiddenlayer_{i}")
    with variable_scope("logits", values=(net,)) as scope:
        logits = layers.fully_connected(net, units, activation_fn=None, variables_collections=["dnn"], scope=scope)
    add_layer_summary(logits, "dnn/logits")
    return logits


def refuse_embedding_rates(embedding_lr_multipliers):
    """ValueError where rates were given for single embeddings."""
    if embedding_lr_multipliers:
        raise ValueError("embedding_lr_multipliers is not supported.")


_NETWORK = optional(
    """model_dir optimizer activation_fn dropout gradient_clip_norm config feature_engineering_fn
    embedding_lr_multipliers input_layer_min_slice_size""",
    activation_fn=relu,
)


class _DNN(BaseEstimator):
    """A network and a head."""

    @takes(_NETWORK)
    def __init__(self, head, hidden_units, feature_columns, **given):
        refuse_embedding_rates(given["embedding_lr_multipliers"])
        self.feature_columns = tuple(feature_columns or [])
        if not self.feature_columns:
            raise ValueError("feature_columns must be given.")
        self.hidden_units, self.optimizer = tuple(hidden_units), given["optimizer"]
        self._head, self._gradient_clip_norm = head, given["gradient_clip_norm"]
        self._feature_engineering_fn = given["feature_engineering_fn"]
        self._activation_fn, self._dropout = given["activation_fn"], given["dropout"]
        self._min_slice_size = given["input_layer_min_slice_size"]
        super().__init__(model_dir=given["model_dir"], config=given["config"])

    def _draw(self, features, labels, mode, config):
        features = features_by_name(features)
        partitioner = min_max_variable_partitioner(max_partitions=config.num_ps_replicas)
        with variable_scope("dnn", values=tuple(features.values()), partitioner=partitioner):
            shape = self.feature_columns, self.hidden_units, self._head.logits_dimension
            options = self._activation_fn, self._dropout, config, self._min_slice_size
            logits = dnn_logits(features, mode, *shape, *options)

            def train_op_fn(loss):
                settings = {"clip_gradients": self._gradient_clip_norm, "name": "dnn", "summaries": []}
                optimizer = self.optimizer or AdagradOptimizer
                return layers.optimize_loss(loss, get_global_step(), LEARNING_RATE, optimizer, **settings)

            return self._head.create_model_fn_ops(features, mode, labels, train_op_fn, logits)


class DNNEstimator(_DNN):
    """A network over columns for any head of tf.contrib.learn."""


class DNNClassifier(PredictsClasses, _DNN):
    """A network over columns that tells classes apart.

    >>> columns = [tf.contrib.layers.real_valued_column("", dimension=4)]
    >>> classifier = tf.contrib.learn.DNNClassifier(feature_columns=columns, hidden_units=[10, 20, 10], n_classes=3)
    >>> classifier.fit(x=data, y=labels, steps=2000)
    >>> classifier.evaluate(x=data, y=labels)["accuracy"]
    """

    @takes(inserted(_NETWORK, **CLASSIFIES, input_layer_min_slice_size={"label_keys": None}))
    def __init__(self, hidden_units, feature_columns, **given):
        super().__init__(class_head(given), hidden_units, feature_columns, **given)


class DNNRegressor(PredictsScores, _DNN):
    """A network over columns that predicts numbers."""

    @takes(inserted(_NETWORK, **REGRESSES, feature_engineering_fn={"label_dimension": 1}))
    def __init__(self, hidden_units, feature_columns, **given):
        super().__init__(number_head(given), hidden_units, feature_columns, **given)
