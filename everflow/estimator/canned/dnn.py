"""Ready-made networks over feature columns: `DNNClassifier`, `DNNRegressor` and `DNNEstimator`."""

from __future__ import annotations

from everflow.estimator.canned.classification_heads import binary_or_multi_class_head
from everflow.estimator.canned.layer_summaries import add_layer_summary
from everflow.estimator.canned.optimizers import get_optimizer_instance
from everflow.estimator.canned.regression_heads import RegressionHead
from everflow.estimator.estimator import Estimator
from everflow.estimator.mode_keys import ModeKeys
from everflow.feature_column.columns import FeatureColumn
from everflow.feature_column.features_layers import DenseFeatures
from everflow.feature_column.input_layer import input_layer
from everflow.layers.core import Dense, Dropout
from everflow.layers.normalization import BatchNormalization
from everflow.losses import Reduction
from everflow.ops.nn.activations import relu
from everflow.ops.variables.initializers import glorot_uniform_initializer
from everflow.ops.variables.partitioned import min_max_variable_partitioner
from everflow.ops.variables.scope import get_variable_scope, variable_scope

# Of Adagrad, which networks use unless they are told otherwise.
_LEARNING_RATE = 0.05


def dnn_logits(features, mode, units, hidden_units, feature_columns, activation_fn=relu, dropout=None, input_layer_partitioner=None,
               batch_norm=False):  # fmt: skip
    """The outputs of a fully connected network over the columns, before any squashing; made in the current variable
    scope.
    """
    training = mode == ModeKeys.TRAIN
    with variable_scope(
        "input_from_feature_columns", values=tuple(features.values()), partitioner=input_layer_partitioner
    ):
        columns = list(feature_columns)
        if all(isinstance(column, FeatureColumn) and column.for_layers for column in columns):
            net = DenseFeatures(columns, name="input_layer")(features)
        else:
            net = input_layer(features, columns)
    with variable_scope(get_variable_scope(), use_resource=True, auxiliary_name_scope=False):
        for i, hidden in enumerate(hidden_units):
            name = f"hiddenlayer_{i}"
            net = Dense(hidden, activation=activation_fn, kernel_initializer=glorot_uniform_initializer(), name=name)(
                net
            )
            if dropout is not None and training:
                net = Dropout(rate=dropout)(net, training=True)
            if batch_norm:
                # The moving averages take in about the last thousand batches.
                net = BatchNormalization(momentum=0.999, name=f"{name}/batchnorm_{i}")(net, training=training)
            add_layer_summary(net, f"dnn/{name}")
        logits = Dense(units, kernel_initializer=glorot_uniform_initializer(), name="logits")(net)
        add_layer_summary(logits, "dnn/logits")
    return logits


def default_partitioner(config):
    """Big variables are cut into one part for each parameter server; parts are of 64 MB at least."""
    return min_max_variable_partitioner(max_partitions=config.num_ps_replicas if config else 0, min_slice_size=64 << 20)


def assert_features_are_dict(features):
    """Raise ValueError for features that columns can't be given."""
    if not isinstance(features, dict):
        raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")


class DNNEstimator(Estimator):
    """A fully connected network over feature columns for any head.

    >>> estimator = tf.estimator.DNNEstimator(
    ...     head=tf.contrib.estimator.multi_label_head(n_classes=3), hidden_units=[64, 32], feature_columns=columns)
    """

    def __init__(self, head, hidden_units, feature_columns, model_dir=None, optimizer="Adagrad", activation_fn=relu, dropout=None,
                 input_layer_partitioner=None, config=None, warm_start_from=None, batch_norm=False):  # fmt: skip
        layers, columns = tuple(hidden_units or []), tuple(feature_columns or [])

        def model_fn(features, labels, mode, config):
            """Logits for the head, which makes of them what a mode needs."""
            assert_features_are_dict(features)
            chosen = get_optimizer_instance(optimizer, learning_rate=_LEARNING_RATE)
            partitioner = min_max_variable_partitioner(max_partitions=config.num_ps_replicas if config else 0)
            with variable_scope("dnn", values=tuple(features.values()), partitioner=partitioner):
                inputs = input_layer_partitioner or default_partitioner(config)
                logits = dnn_logits(
                    features, mode, head.logits_dimension, layers, columns, activation_fn, dropout, inputs, batch_norm
                )
                return head.create_estimator_spec(
                    features=features, mode=mode, labels=labels, optimizer=chosen, logits=logits
                )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


class DNNClassifier(DNNEstimator):
    """A fully connected network over feature columns that tells classes apart.

    >>> classifier = tf.estimator.DNNClassifier([10, 10], [tf.feature_column.numeric_column("x", shape=4)], n_classes=3)
    >>> classifier.train(input_fn, steps=1000)
    """

    def __init__(self, hidden_units, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
                 optimizer="Adagrad", activation_fn=relu, dropout=None, input_layer_partitioner=None, config=None, warm_start_from=None,
                 loss_reduction=Reduction.SUM, batch_norm=False):  # fmt: skip
        head = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout, input_layer_partitioner, config,
                         warm_start_from, batch_norm)  # fmt: skip


class DNNRegressor(DNNEstimator):
    """A fully connected network over feature columns that predicts numbers."""

    def __init__(self, hidden_units, feature_columns, model_dir=None, label_dimension=1, weight_column=None, optimizer="Adagrad",
                 activation_fn=relu, dropout=None, input_layer_partitioner=None, config=None, warm_start_from=None,
                 loss_reduction=Reduction.SUM, batch_norm=False):  # fmt: skip
        head = RegressionHead(
            label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction
        )
        super().__init__(head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout, input_layer_partitioner, config,
                         warm_start_from, batch_norm)  # fmt: skip


def dnn_logit_fn_builder(
    units, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm
):
    """A function of features and mode that gives the logits of a network over the columns."""
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def dnn_logit_fn(features, mode):
        return dnn_logits(
            features,
            mode,
            units,
            hidden_units,
            feature_columns,
            activation_fn,
            dropout,
            input_layer_partitioner,
            batch_norm,
        )

    return dnn_logit_fn
