"""Ready-made networks over feature columns: `DNNClassifier`, `DNNRegressor` and `DNNEstimator`."""

from __future__ import annotations

from everflow.estimator.canned.kinds import SUM, classifier, for_any_head, regressor
from everflow.estimator.canned.layer_summaries import add_layer_summary
from everflow.estimator.canned.optimizers import get_optimizer_instance
from everflow.estimator.estimator import Estimator
from everflow.estimator.mode_keys import ModeKeys
from everflow.feature_column.columns import FeatureColumn
from everflow.feature_column.features_layers import DenseFeatures
from everflow.feature_column.input_layer import input_layer
from everflow.layers.core import Dense, Dropout
from everflow.layers.normalization import BatchNormalization
from everflow.ops.nn.activations import relu
from everflow.ops.variables.initializers import glorot_uniform_initializer
from everflow.ops.variables.partitioned import min_max_variable_partitioner
from everflow.ops.variables.scope import get_variable_scope, variable_scope
from everflow.platform.signatures import parameters

# Of Adagrad, which networks use unless they are told otherwise.
_LEARNING_RATE = 0.05


def dnn_logits(
    features,
    mode,
    units,
    hidden_units,
    feature_columns,
    activation_fn,
    dropout,
    input_layer_partitioner,
    batch_norm,
    note_inputs=None,
):
    """The outputs of a fully connected network over the columns, as logits; made in the current variable scope.

    `note_inputs(features, {column: tensor})` is told of columns of the older kind.
    """
    training = mode == ModeKeys.TRAIN
    with variable_scope(
        "input_from_feature_columns", values=tuple(features.values()), partitioner=input_layer_partitioner
    ):
        columns = list(feature_columns)
        if all(isinstance(column, FeatureColumn) and column.for_layers for column in columns):
            net = DenseFeatures(columns, name="input_layer")(features)
        else:
            outputs = {}
            net = input_layer(features, columns, cols_to_output_tensors=outputs)
            if note_inputs is not None:
                note_inputs(features, outputs)
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


_PARAMETERS = parameters(
    """head, hidden_units, feature_columns, model_dir=None, n_classes=2, label_dimension=1, weight_column=None,
    label_vocabulary=None, optimizer="Adagrad", activation_fn=relu, dropout=None, input_layer_partitioner=None,
    config=None, warm_start_from=None, loss_reduction=SUM, batch_norm=False""",
    relu=relu,
    SUM=SUM,
)


@for_any_head(_PARAMETERS)
class DNNEstimator(Estimator):
    """A fully connected network over feature columns for any head.

    Args:
        head: What turns the model's result into predictions and a loss: a head of `tf.contrib.estimator`.
        hidden_units: How many units each hidden layer has.
        feature_columns: The feature columns that the model sees.
        model_dir: The folder of checkpoints and event files.
        optimizer: An optimizer, a function that makes one, or its name.
        activation_fn: The function applied to each hidden layer.
        dropout: The part of the units that is dropped while training.
        input_layer_partitioner: A function that says into how many parts variables of the input layer are cut.
        config: A `tf.estimator.RunConfig`: where and how to run.
        warm_start_from: A checkpoint, or `tf.estimator.WarmStartSettings`, whose values variables start with.
        batch_norm: Whether hidden layers are normalized over the batch.

    Example:
        >>> x = tf.feature_column.numeric_column("x")
        >>> tf.estimator.DNNEstimator(tf.contrib.estimator.regression_head(), [10], [x], model_dir="model").model_dir
        'model'
    """

    # What is told of the inputs of the network; see `dnn_logits`.
    _note_inputs = None

    def _set_up(self, head, hidden_units, feature_columns, model_dir, optimizer, config, warm_start_from, **settings):
        layers, columns = tuple(hidden_units or []), tuple(feature_columns or [])
        partitioner_given = settings.pop("input_layer_partitioner")

        def model_fn(features, labels, mode, config):
            """Logits for the head, which makes of them what a mode needs."""
            assert_features_are_dict(features)
            chosen = get_optimizer_instance(optimizer, learning_rate=_LEARNING_RATE)
            partitioner = min_max_variable_partitioner(max_partitions=config.num_ps_replicas if config else 0)
            with variable_scope("dnn", values=tuple(features.values()), partitioner=partitioner):
                inputs = partitioner_given or default_partitioner(config)
                shape = head.logits_dimension, layers, columns
                more = {"input_layer_partitioner": inputs, "note_inputs": self._note_inputs}
                logits = dnn_logits(features, mode, *shape, **more, **settings)
                return head.create_estimator_spec(
                    features=features, mode=mode, labels=labels, optimizer=chosen, logits=logits
                )

        Estimator.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


@classifier(_PARAMETERS)
class DNNClassifier(DNNEstimator):
    """A fully connected network over feature columns that tells classes apart.

    Args:
        hidden_units: How many units each hidden layer has.
        feature_columns: The feature columns that the model sees.
        model_dir: The folder of checkpoints and event files.
        n_classes: How many classes there are.
        weight_column: The feature that says how much each example counts.
        label_vocabulary: The labels as strings; None for whole numbers from 0.
        optimizer: An optimizer, a function that makes one, or its name.
        activation_fn: The function applied to each hidden layer.
        dropout: The part of the units that is dropped while training.
        input_layer_partitioner: A function that says into how many parts variables of the input layer are cut.
        config: A `tf.estimator.RunConfig`: where and how to run.
        warm_start_from: A checkpoint, or `tf.estimator.WarmStartSettings`, whose values variables start with.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.
        batch_norm: Whether hidden layers are normalized over the batch.

    Example:
        >>> x = tf.feature_column.numeric_column("x", shape=[2])
        >>> classifier = tf.estimator.DNNClassifier([10], [x], n_classes=3, model_dir="model")
        >>> data = tf.estimator.inputs.numpy_input_fn({"x": np.ones([4, 2])}, np.array([0, 1, 2, 1]), shuffle=False)
        >>> _ = classifier.train(data)
        >>> next(classifier.predict(data))["probabilities"].shape
        (3,)
    """


@regressor(_PARAMETERS)
class DNNRegressor(DNNEstimator):
    """A fully connected network over feature columns that predicts numbers.

    Args:
        hidden_units: How many units each hidden layer has.
        feature_columns: The feature columns that the model sees.
        model_dir: The folder of checkpoints and event files.
        label_dimension: How many numbers are to be predicted for each example.
        weight_column: The feature that says how much each example counts.
        optimizer: An optimizer, a function that makes one, or its name.
        activation_fn: The function applied to each hidden layer.
        dropout: The part of the units that is dropped while training.
        input_layer_partitioner: A function that says into how many parts variables of the input layer are cut.
        config: A `tf.estimator.RunConfig`: where and how to run.
        warm_start_from: A checkpoint, or `tf.estimator.WarmStartSettings`, whose values variables start with.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.
        batch_norm: Whether hidden layers are normalized over the batch.

    Example:
        >>> x = tf.feature_column.numeric_column("x")
        >>> tf.estimator.DNNRegressor([10], [x], model_dir="model").model_dir
        'model'
    """


def dnn_logit_fn_builder(
    units, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm
):
    """A function of features and mode that gives the logits of a network over the columns.

    Args:
        units: How many logits.
        hidden_units: How many units each hidden layer has.
        feature_columns: The feature columns that the model sees.
        activation_fn: The function applied to each hidden layer.
        dropout: The part of the units that is dropped while training.
        input_layer_partitioner: A function that says into how many parts variables of the input layer are cut.
        batch_norm: Whether hidden layers are normalized over the batch.

    Returns:
        A function.

    Raises:
        ValueError: If `units` is no whole number.

    Example:
        >>> x = tf.feature_column.numeric_column("x")
        >>> logits = tf.estimator.experimental.dnn_logit_fn_builder(2, [10], [x], tf.nn.relu, None, None, False)
        >>> logits({"x": tf.ones([4, 1])}, tf.estimator.ModeKeys.TRAIN).shape.as_list()
        [4, 2]
    """
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")
    settings = hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm

    def dnn_logit_fn(features, mode):
        return dnn_logits(features, mode, units, *settings)

    return dnn_logit_fn
