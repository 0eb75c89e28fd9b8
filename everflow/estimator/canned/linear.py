"""Ready-made linear models over feature columns: `LinearClassifier`, `LinearRegressor` and `LinearEstimator`."""

from __future__ import annotations

import math as python_math

from everflow import summary
from everflow.estimator.canned.dnn import assert_features_are_dict, default_partitioner
from everflow.estimator.canned.kinds import SUM, classifier, for_any_head, regressor
from everflow.estimator.canned.linear_sdca import LinearSDCA, loss_type_of, sdca_spec
from everflow.estimator.canned.optimizers import get_optimizer_instance
from everflow.estimator.estimator import Estimator
from everflow.feature_column.columns import FeatureColumn
from everflow.feature_column.linear_layer import LinearModel
from everflow.feature_column.linear_model import sums_of_weights
from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import cond
from everflow.ops.nn.activations import zero_fraction
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.scope import variable_scope
from everflow.platform.signatures import parameters

_LEARNING_RATE = 0.2


def learning_rate_for(columns):
    """Ftrl's default: the more columns, the smaller."""
    return min(_LEARNING_RATE, 1.0 / python_math.sqrt(len(columns)))


def linear_logits(features, units, feature_columns, sparse_combiner="sum"):
    """The sums of weights, made in the current variable scope, with summaries of the weights."""
    return linear_logits_and_model(features, units, feature_columns, sparse_combiner)[0]


def linear_logits_and_model(features, units, feature_columns, sparse_combiner):
    """The sums of weights and the layer that made them; None for columns that no layer takes."""
    columns, model = list(feature_columns), None
    if all(isinstance(column, FeatureColumn) and column.for_layers for column in columns):
        model = LinearModel(columns, units, sparse_combiner, name="linear_model")
        logits = model(features)
        bias = _parts(model.bias)
        weights = [part for weight in model.variables if weight is not model.bias for part in _parts(weight)]
    else:
        variables = {}
        logits = sums_of_weights(features, columns, units, sparse_combiner, cols_to_vars=variables, names_used=False)
        bias = variables.pop("bias")
        weights = [part for parts in variables.values() for part in parts]
    if units > 1:
        summary.histogram("bias", bias)
    else:
        summary.scalar("bias", bias[0][0])
    summary.scalar("fraction_of_zero_weights", fraction_of_zeros(weights))
    return logits, model


def _parts(variable):
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def fraction_of_zeros(variables):
    """The part of all weights that is zero."""
    with name_scope("zero_fraction"):
        with name_scope("total_size"):
            sizes = [array.size(variable, out_type=dtypes.int64) for variable in variables]
            total_size = math.add_n(sizes)
        with name_scope("total_zero"):
            zeros = [
                cond(
                    math.equal(size, constant(0, dtype=dtypes.int64)),
                    true_fn=lambda: constant(0, dtype=dtypes.float32),
                    false_fn=lambda variable=variable, size=size: zero_fraction(variable) * math.to_float(size),
                    name="zero_count",
                )
                for variable, size in zip(variables, sizes)
            ]
            total_zero = math.add_n(zeros)
        with name_scope("compute"):
            fraction = total_zero / math.cast(total_size, dtypes.float32, name="float32_size")
        return array.identity(fraction, name="zero_fraction_or_nan")


_PARAMETERS = parameters(
    """head, feature_columns, model_dir=None, n_classes=2, label_dimension=1, weight_column=None, label_vocabulary=None,
    optimizer="Ftrl", config=None, partitioner=None, warm_start_from=None, loss_reduction=SUM, sparse_combiner="sum" """,
    SUM=SUM,
)


@for_any_head(_PARAMETERS, but=["warm_start_from"])
class LinearEstimator(Estimator):
    """A linear model over feature columns for any head.

    Args:
        head: What turns the model's result into predictions and a loss: a head of `tf.contrib.estimator`.
        feature_columns: The feature columns that the model sees.
        model_dir: The folder of checkpoints and event files.
        optimizer: An optimizer, a function that makes one, or its name.
        config: A `tf.estimator.RunConfig`: where and how to run.
        partitioner: A function that says into how many parts variables are cut.
        sparse_combiner: How several values of a categorical feature are joined: `sum`, `mean` or `sqrtn`.

    Example:
        >>> x = tf.feature_column.numeric_column("x")
        >>> tf.estimator.LinearEstimator(tf.contrib.estimator.regression_head(), [x], model_dir="model").model_dir
        'model'
    """

    def _set_up(
        self, head, feature_columns, model_dir, optimizer, config, partitioner, sparse_combiner, warm_start_from=None
    ):
        columns = tuple(feature_columns or [])
        if isinstance(optimizer, LinearSDCA):
            loss_type_of(head)
            if sparse_combiner != "sum":
                raise ValueError(f"LinearSDCA takes sparse_combiner='sum', and not {sparse_combiner!r}")

        def model_fn(features, labels, mode, config):
            """Logits for the head, which makes of them what a mode needs."""
            assert_features_are_dict(features)
            with_sdca = isinstance(optimizer, LinearSDCA)
            if not with_sdca:
                chosen = get_optimizer_instance(optimizer, learning_rate=learning_rate_for(columns))
            with variable_scope(
                "linear", values=tuple(features.values()), partitioner=partitioner or default_partitioner(config)
            ):
                logits, model = linear_logits_and_model(features, head.logits_dimension, columns, sparse_combiner)
                if with_sdca:
                    return sdca_spec(head, features, labels, mode, model, columns, logits, optimizer)
                return head.create_estimator_spec(
                    features=features, mode=mode, labels=labels, optimizer=chosen, logits=logits
                )

        Estimator.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


@classifier(_PARAMETERS)
class LinearClassifier(LinearEstimator):
    """A linear model over feature columns that tells classes apart: logistic regression.

    Args:
        feature_columns: The feature columns that the model sees.
        model_dir: The folder of checkpoints and event files.
        n_classes: How many classes there are.
        weight_column: The feature that says how much each example counts.
        label_vocabulary: The labels as strings; None for whole numbers from 0.
        optimizer: An optimizer, a function that makes one, or its name.
        config: A `tf.estimator.RunConfig`: where and how to run.
        partitioner: A function that says into how many parts variables are cut.
        warm_start_from: A checkpoint, or `tf.estimator.WarmStartSettings`, whose values variables start with.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.
        sparse_combiner: How several values of a categorical feature are joined: `sum`, `mean` or `sqrtn`.

    Example:
        >>> x = tf.feature_column.numeric_column("x")
        >>> tf.estimator.LinearClassifier([x], model_dir="model").model_dir
        'model'
    """


@regressor(_PARAMETERS)
class LinearRegressor(LinearEstimator):
    """A linear model over feature columns that predicts numbers: linear regression.

    Args:
        feature_columns: The feature columns that the model sees.
        model_dir: The folder of checkpoints and event files.
        label_dimension: How many numbers are to be predicted for each example.
        weight_column: The feature that says how much each example counts.
        optimizer: An optimizer, a function that makes one, or its name.
        config: A `tf.estimator.RunConfig`: where and how to run.
        partitioner: A function that says into how many parts variables are cut.
        warm_start_from: A checkpoint, or `tf.estimator.WarmStartSettings`, whose values variables start with.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.
        sparse_combiner: How several values of a categorical feature are joined: `sum`, `mean` or `sqrtn`.

    Example:
        >>> x = tf.feature_column.numeric_column("x")
        >>> tf.estimator.LinearRegressor([x], model_dir="model").model_dir
        'model'
    """


def linear_logit_fn_builder(units, feature_columns, sparse_combiner="sum"):
    """A function of features that gives the logits of a linear model over the columns.

    Args:
        units: How many logits.
        feature_columns: The feature columns that the model sees.
        sparse_combiner: How several values of a categorical feature are joined: `sum`, `mean` or `sqrtn`.

    Returns:
        A function.

    Example:
        >>> logits = tf.estimator.experimental.linear_logit_fn_builder(2, [tf.feature_column.numeric_column("x")])
        >>> logits({"x": tf.ones([4, 1])}).shape.as_list()
        [4, 2]
    """

    def linear_logit_fn(features):
        return linear_logits(features, units, feature_columns, sparse_combiner)

    return linear_logit_fn
