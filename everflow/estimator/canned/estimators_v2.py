"""The ready-made estimators of TensorFlow 2 (`tf.compat.v2.estimator`): Keras models, trained by Keras's optimizers.

The heads are the public ones, whose losses are means unless told otherwise; variables aren't cut into parts.
"""

from __future__ import annotations

from everflow import summary
from everflow.estimator.canned import dnn_linear_combined as combined
from everflow.estimator.canned.baseline import batch_size_and_checks
from everflow.estimator.canned.dnn import assert_features_are_dict
from everflow.estimator.canned.kinds import MEAN, classifier_v2, for_any_head, regressor_v2
from everflow.estimator.canned.layer_summaries import add_layer_summary
from everflow.estimator.canned.linear import fraction_of_zeros, learning_rate_for
from everflow.estimator.canned.linear_sdca import LinearSDCA, loss_type_of, sdca_spec
from everflow.estimator.canned.optimizers import get_optimizer_instance_v2
from everflow.estimator.estimator import EstimatorV2
from everflow.estimator.mode_keys import ModeKeys
from everflow.feature_column.features_layers_v2 import DenseFeatures
from everflow.feature_column.linear_layer import LinearModel
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.keras.engine.training import Model
from everflow.keras.layers import Dense, Dropout
from everflow.keras.layers.normalization_v2 import BatchNormalization
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import group
from everflow.ops.nn.activations import relu
from everflow.ops.variables.global_step import get_or_create_global_step
from everflow.ops.variables.initializers import glorot_uniform_initializer
from everflow.ops.variables.variable import VariableV2
from everflow.platform.signatures import parameters

_BASELINE_LEARNING_RATE = 0.3


class Network(Model):
    """A fully connected network over dense columns: logits for a dict of features."""

    def __init__(self, units, hidden_units, feature_columns, activation_fn, dropout, batch_norm, name="dnn"):
        super().__init__(name=name)
        glorot = glorot_uniform_initializer
        self.inputs_of_columns = DenseFeatures(feature_columns, name="input_layer")
        names = [f"hiddenlayer_{i}" for i in range(len(hidden_units))]
        self.hidden = [
            Dense(size, activation=activation_fn, kernel_initializer=glorot(), name=name)
            for size, name in zip(hidden_units, names)
        ]
        self.dropouts = [Dropout(rate=dropout) for _ in names] if dropout is not None else None
        # The moving averages take in about the last thousand batches.
        self.norms = (
            [BatchNormalization(momentum=0.999, name=f"{name}/batchnorm_{i}") for i, name in enumerate(names)]
            if batch_norm
            else None
        )
        self.last = Dense(units, kernel_initializer=glorot(), name="logits")

    def call(self, features, mode):
        training = mode == ModeKeys.TRAIN
        with name_scope("input_from_feature_columns"):
            net = self.inputs_of_columns(features)
        for i, layer in enumerate(self.hidden):
            net = layer(net)
            if self.dropouts is not None and training:
                net = self.dropouts[i](net, training=True)
            if self.norms is not None:
                net = self.norms[i](net, training=training)
            add_layer_summary(net, layer.name)
        logits = self.last(net)
        add_layer_summary(logits, self.last.name)
        return logits


def _linear(features, units, columns, sparse_combiner):
    """(logits, model) of a linear model, with summaries of its weights."""
    model = LinearModel(columns, units, sparse_combiner, name="linear/linear_model")
    logits = model(features)
    bias = model.bias
    if units > 1:
        summary.histogram("bias", bias)
    else:
        summary.scalar("bias", bias[0])
    summary.scalar("fraction_of_zero_weights", fraction_of_zeros([v for v in model.variables if v is not bias]))
    return logits, model


def _counting_steps(optimizer):
    """An optimizer that counts its steps in the graph's global step."""
    optimizer.iterations = get_or_create_global_step()
    return optimizer


def _spec(head, features, labels, mode, logits, model, optimizer, learning_rate=None):
    """What a model function returns for a model that one optimizer trains."""
    training = {}
    if mode == ModeKeys.TRAIN:
        chosen = _counting_steps(get_optimizer_instance_v2(optimizer, learning_rate))
        training = {
            "optimizer": chosen,
            "trainable_variables": model.trainable_variables,
            "update_ops": model.updates if isinstance(model, Network) else None,
        }
    return head.create_estimator_spec(features=features, mode=mode, labels=labels, logits=logits, **training)


# --- networks ------------------------------------------------------------------------------------

_OF_NETWORKS = parameters(
    """head, hidden_units, feature_columns, model_dir=None, n_classes=2, label_dimension=1, weight_column=None,
    label_vocabulary=None, optimizer="Adagrad", activation_fn=relu, dropout=None, config=None, warm_start_from=None,
    loss_reduction=MEAN, batch_norm=False""",
    relu=relu,
    MEAN=MEAN,
)


class _Networks(EstimatorV2):
    def _set_up(self, head, hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm, **settings):
        columns = tuple(feature_columns or [])

        def model_fn(features, labels, mode, config):
            assert_features_are_dict(features)
            model = Network(head.logits_dimension, hidden_units, columns, activation_fn, dropout, batch_norm)
            return _spec(head, features, labels, mode, model(features, mode), model, optimizer)

        EstimatorV2.__init__(self, model_fn=model_fn, **settings)


@for_any_head(_OF_NETWORKS)
class DNNEstimatorV2(_Networks):
    """A fully connected network over feature columns for any head."""


@classifier_v2(_OF_NETWORKS)
class DNNClassifierV2(_Networks):
    """A fully connected network over feature columns that tells classes apart."""


@regressor_v2(_OF_NETWORKS)
class DNNRegressorV2(_Networks):
    """A fully connected network over feature columns that predicts numbers."""


# --- linear models -------------------------------------------------------------------------------

_OF_LINEAR_MODELS = parameters(
    """head, feature_columns, model_dir=None, n_classes=2, label_dimension=1, weight_column=None, label_vocabulary=None,
    optimizer="Ftrl", config=None, warm_start_from=None, loss_reduction=MEAN, sparse_combiner="sum" """,
    MEAN=MEAN,
)


class _LinearModels(EstimatorV2):
    def _set_up(self, head, feature_columns, optimizer, sparse_combiner, **settings):
        columns = tuple(feature_columns or [])
        with_sdca = isinstance(optimizer, LinearSDCA)
        if with_sdca:
            loss_type_of(head)
            if sparse_combiner != "sum":
                raise ValueError(f"LinearSDCA takes sparse_combiner='sum', and not {sparse_combiner!r}")

        def model_fn(features, labels, mode, config):
            assert_features_are_dict(features)
            logits, model = _linear(features, head.logits_dimension, columns, sparse_combiner)
            if with_sdca:
                return sdca_spec(head, features, labels, mode, model, columns, logits, optimizer)
            return _spec(head, features, labels, mode, logits, model, optimizer, learning_rate_for(columns))

        EstimatorV2.__init__(self, model_fn=model_fn, **settings)


@for_any_head(_OF_LINEAR_MODELS, but=["warm_start_from"])
class LinearEstimatorV2(_LinearModels):
    """A linear model over feature columns for any head."""


@classifier_v2(_OF_LINEAR_MODELS)
class LinearClassifierV2(_LinearModels):
    """A linear model over feature columns that tells classes apart: logistic regression."""


@regressor_v2(_OF_LINEAR_MODELS)
class LinearRegressorV2(_LinearModels):
    """A linear model over feature columns that predicts numbers: linear regression."""


# --- both together -------------------------------------------------------------------------------

_OF_BOTH = parameters(
    """head, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
    dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=relu, dnn_dropout=None, n_classes=2,
    label_dimension=1, weight_column=None, label_vocabulary=None, config=None, warm_start_from=None,
    loss_reduction=MEAN, batch_norm=False, linear_sparse_combiner="sum" """,
    relu=relu,
    MEAN=MEAN,
)


class _Combined(EstimatorV2):
    def _set_up(self, head, batch_norm=False, **settings):
        wide, deep = combined.parts_of(settings)

        def model_fn(features, labels, mode, config):
            assert_features_are_dict(features)
            logits, trained, updates = [], [], []
            if deep.feature_columns:
                combined.check_hidden_units(deep)
                network = Network(
                    head.logits_dimension,
                    deep.hidden_units,
                    deep.feature_columns,
                    deep.activation_fn,
                    deep.dropout,
                    batch_norm,
                )
                logits.append(network(features, mode))
                trained.append((deep.optimizer, combined.DNN_LEARNING_RATE, network))
                updates = network.updates
            if wide.feature_columns:
                sums, model = _linear(features, head.logits_dimension, wide.feature_columns, wide.sparse_combiner)
                add_layer_summary(sums, "linear")
                logits.append(sums)
                rate = min(combined.LINEAR_LEARNING_RATE, learning_rate_for(wide.feature_columns))
                trained.append((wide.optimizer, rate, model))

            def train_op_fn(loss):
                """Each part is trained by its own optimizer; that of the first counts the steps."""
                optimizers = [get_optimizer_instance_v2(given, rate) for given, rate, _ in trained]
                _counting_steps(optimizers[0])
                steps = [
                    op
                    for optimizer, (_, _, model) in zip(optimizers, trained)
                    for op in optimizer.get_updates(loss, model.trainable_variables)
                ]
                # Moving averages of the network come between its step and that of the other part.
                return group(steps[0], *updates, *steps[1:])

            training = {"train_op_fn": train_op_fn} if mode == ModeKeys.TRAIN else {}
            return head.create_estimator_spec(
                features=features, mode=mode, labels=labels, logits=sum(logits[1:], logits[0]), **training
            )

        EstimatorV2.__init__(self, model_fn=model_fn, **settings)


@for_any_head(_OF_BOTH, but=["warm_start_from", "batch_norm"])
class DNNLinearCombinedEstimatorV2(_Combined):
    """A linear model and a network, trained together, for any head."""


@classifier_v2(_OF_BOTH)
class DNNLinearCombinedClassifierV2(_Combined):
    """A wide and deep model that tells classes apart."""


@regressor_v2(_OF_BOTH)
class DNNLinearCombinedRegressorV2(_Combined):
    """A wide and deep model that predicts numbers."""


# --- baselines -----------------------------------------------------------------------------------

_OF_BASELINES = parameters(
    """head, model_dir=None, n_classes=2, label_dimension=1, weight_column=None, label_vocabulary=None,
    optimizer="Ftrl", config=None, loss_reduction=MEAN""",
    MEAN=MEAN,
)


class _Baselines(EstimatorV2):
    def _set_up(self, head, optimizer, **settings):
        weight_column = getattr(head, "_weight_column", None) if isinstance(self, BaselineClassifierV2) else None

        def model_fn(features, labels, mode, config):
            batch_size, checks = batch_size_and_checks(features, weight_column)
            units = head.logits_dimension
            with control_dependencies(checks), name_scope("baseline"):
                bias = VariableV2(initial_value=array.zeros([units]), name="bias")
                logits = math.multiply(bias, array.ones([batch_size, units]))

            def train_op_fn(loss):
                chosen = get_optimizer_instance_v2(optimizer, _BASELINE_LEARNING_RATE)
                return _counting_steps(chosen).get_updates(loss, [bias])[0]

            return head.create_estimator_spec(
                features=features, mode=mode, labels=labels, logits=logits, train_op_fn=train_op_fn
            )

        EstimatorV2.__init__(self, model_fn=model_fn, **settings)


@for_any_head(_OF_BASELINES)
class BaselineEstimatorV2(_Baselines):
    """A baseline for any head."""


@classifier_v2(_OF_BASELINES)
class BaselineClassifierV2(_Baselines):
    """Tells how frequent each class is."""


@regressor_v2(_OF_BASELINES)
class BaselineRegressorV2(_Baselines):
    """Predicts the mean of the labels."""
