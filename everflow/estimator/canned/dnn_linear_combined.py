"""Wide and deep models: a linear model and a network over feature columns, trained together."""

from __future__ import annotations

from types import SimpleNamespace

from everflow.estimator.canned import dnn, linear
from everflow.estimator.canned.kinds import SUM, classifier, for_any_head, regressor
from everflow.estimator.canned.layer_summaries import add_layer_summary
from everflow.estimator.canned.optimizers import get_optimizer_instance
from everflow.estimator.estimator import Estimator
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import control_dependencies, get_collection
from everflow.ops.control_flow.grouping import group
from everflow.ops.nn.activations import relu
from everflow.ops.variables.assign import assign_add
from everflow.ops.variables.global_step import get_global_step
from everflow.ops.variables.partitioned import min_max_variable_partitioner
from everflow.ops.variables.scope import variable_scope
from everflow.platform.signatures import parameters

# Of the optimizers they use by default; each part learns slower than it would alone.
DNN_LEARNING_RATE = 0.001
LINEAR_LEARNING_RATE = 0.005


def _trained(scope):
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=scope)


def _part(settings, prefix):
    """The settings of one part of the model, taken out of those of both; its columns are a list."""
    own = {name: settings.pop(name) for name in list(settings) if name.startswith(prefix)}
    columns = list(own.pop(f"{prefix}feature_columns") or [])
    return SimpleNamespace(feature_columns=columns, **{name.removeprefix(prefix): own[name] for name in own})


def parts_of(settings):
    """(wide, deep): the settings of both parts, taken out of those of a model."""
    wide, deep = _part(settings, "linear_"), _part(settings, "dnn_")
    if not wide.feature_columns and not deep.feature_columns:
        raise ValueError(
            "A model of both kinds has no columns: dnn_feature_columns, linear_feature_columns or both must be defined."
        )
    return wide, deep


def check_hidden_units(deep):
    """ValueError for a network without layers."""
    if not deep.hidden_units:
        raise ValueError(
            "dnn_hidden_units must be defined: dnn_feature_columns make a network, which has at least one layer."
        )


def combined_model_fn(features, labels, mode, config, head, wide, deep, input_layer_partitioner, batch_norm):
    """The model function of wide and deep models: the logits of both parts, added, for the head."""
    dnn.assert_features_are_dict(features)
    partitioner = input_layer_partitioner or dnn.default_partitioner(config)
    dnn_logits = linear_logits = None
    if deep.feature_columns:
        check_hidden_units(deep)
        dnn_optimizer = get_optimizer_instance(deep.optimizer, learning_rate=DNN_LEARNING_RATE)
        replicas = min_max_variable_partitioner(max_partitions=config.num_ps_replicas)
        with variable_scope("dnn", values=tuple(features.values()), partitioner=replicas):
            network = deep.hidden_units, deep.feature_columns, deep.activation_fn, deep.dropout, partitioner, batch_norm
            dnn_logits = dnn.dnn_logits(features, mode, head.logits_dimension, *network)
    if wide.feature_columns:
        rate = min(LINEAR_LEARNING_RATE, linear.learning_rate_for(wide.feature_columns))
        linear_optimizer = get_optimizer_instance(wide.optimizer, learning_rate=rate)
        with variable_scope("linear", values=tuple(features.values()), partitioner=partitioner):
            linear_logits = linear.linear_logits(
                features, head.logits_dimension, wide.feature_columns, wide.sparse_combiner
            )
            add_layer_summary(linear_logits, "linear")
    parts = [logits for logits in (dnn_logits, linear_logits) if logits is not None]
    logits = parts[0] + parts[1] if len(parts) == 2 else parts[0]

    def train_op_fn(loss):
        """Each part is trained by its own optimizer, on its own variables."""
        step = get_global_step()
        ops = []
        if dnn_logits is not None:
            ops.append(dnn_optimizer.minimize(loss, var_list=_trained("dnn")))
        if linear_logits is not None:
            ops.append(linear_optimizer.minimize(loss, var_list=_trained("linear")))
        both = group(*ops)
        with control_dependencies([both]):
            return assign_add(step, 1).op

    return head.create_estimator_spec(
        features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits
    )


_PARAMETERS = parameters(
    """head, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
    dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=relu, dnn_dropout=None, n_classes=2,
    label_dimension=1, weight_column=None, label_vocabulary=None, input_layer_partitioner=None, config=None,
    warm_start_from=None, loss_reduction=SUM, batch_norm=False, linear_sparse_combiner="sum" """,
    relu=relu,
    SUM=SUM,
)


@for_any_head(_PARAMETERS, but=["warm_start_from", "batch_norm"])
class DNNLinearCombinedEstimator(Estimator):
    """A linear model and a network, trained together, for any head.

    Args:
        head: What turns the model's result into predictions and a loss: a head of `tf.contrib.estimator`.
        model_dir: The folder of checkpoints and event files.
        linear_feature_columns: The feature columns that the linear part sees.
        linear_optimizer: The optimizer of the linear part.
        dnn_feature_columns: The feature columns that the deep part sees.
        dnn_optimizer: The optimizer of the deep part.
        dnn_hidden_units: How many units each hidden layer of the deep part has.
        dnn_activation_fn: The function applied to each hidden layer of the deep part.
        dnn_dropout: The part of the deep part's units that is dropped while training.
        input_layer_partitioner: A function that says into how many parts variables of the input layer are cut.
        config: A `tf.estimator.RunConfig`: where and how to run.
        linear_sparse_combiner: How the linear part joins several values: `sum`, `mean` or `sqrtn`.

    Example:
        >>> x = tf.feature_column.numeric_column("x")
        >>> head = tf.contrib.estimator.regression_head()
        >>> tf.estimator.DNNLinearCombinedEstimator(head, "model", linear_feature_columns=[x]).model_dir
        'model'
    """

    def _set_up(self, head, model_dir, config, warm_start_from=None, batch_norm=False, **settings):
        wide, deep = parts_of(settings)

        def model_fn(features, labels, mode, config):
            return combined_model_fn(
                features, labels, mode, config, head, wide, deep, **settings, batch_norm=batch_norm
            )

        Estimator.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


@classifier(_PARAMETERS)
class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator):
    """A wide and deep model that tells classes apart.

    Args:
        model_dir: The folder of checkpoints and event files.
        linear_feature_columns: The feature columns that the linear part sees.
        linear_optimizer: The optimizer of the linear part.
        dnn_feature_columns: The feature columns that the deep part sees.
        dnn_optimizer: The optimizer of the deep part.
        dnn_hidden_units: How many units each hidden layer of the deep part has.
        dnn_activation_fn: The function applied to each hidden layer of the deep part.
        dnn_dropout: The part of the deep part's units that is dropped while training.
        n_classes: How many classes there are.
        weight_column: The feature that says how much each example counts.
        label_vocabulary: The labels as strings; None for whole numbers from 0.
        input_layer_partitioner: A function that says into how many parts variables of the input layer are cut.
        config: A `tf.estimator.RunConfig`: where and how to run.
        warm_start_from: A checkpoint, or `tf.estimator.WarmStartSettings`, whose values variables start with.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.
        batch_norm: Whether hidden layers are normalized over the batch.
        linear_sparse_combiner: How the linear part joins several values: `sum`, `mean` or `sqrtn`.

    Example:
        >>> x = tf.feature_column.numeric_column("x")
        >>> model = tf.estimator.DNNLinearCombinedClassifier("model", linear_feature_columns=[x], dnn_feature_columns=[x], dnn_hidden_units=[10])
        >>> model.model_dir
        'model'
    """


@regressor(_PARAMETERS)
class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator):
    """A wide and deep model that predicts numbers.

    Args:
        model_dir: The folder of checkpoints and event files.
        linear_feature_columns: The feature columns that the linear part sees.
        linear_optimizer: The optimizer of the linear part.
        dnn_feature_columns: The feature columns that the deep part sees.
        dnn_optimizer: The optimizer of the deep part.
        dnn_hidden_units: How many units each hidden layer of the deep part has.
        dnn_activation_fn: The function applied to each hidden layer of the deep part.
        dnn_dropout: The part of the deep part's units that is dropped while training.
        label_dimension: How many numbers are to be predicted for each example.
        weight_column: The feature that says how much each example counts.
        input_layer_partitioner: A function that says into how many parts variables of the input layer are cut.
        config: A `tf.estimator.RunConfig`: where and how to run.
        warm_start_from: A checkpoint, or `tf.estimator.WarmStartSettings`, whose values variables start with.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.
        batch_norm: Whether hidden layers are normalized over the batch.
        linear_sparse_combiner: How the linear part joins several values: `sum`, `mean` or `sqrtn`.

    Example:
        >>> x = tf.feature_column.numeric_column("x")
        >>> model = tf.estimator.DNNLinearCombinedRegressor("model", linear_feature_columns=[x], dnn_feature_columns=[x], dnn_hidden_units=[10])
        >>> model.model_dir
        'model'
    """
