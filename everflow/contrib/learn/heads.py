"""Heads of tf.contrib.learn: what logits mean, and so loss, predictions and metrics. Here what all heads share, and those
that predict numbers; heads of classes are in class_heads.py and svm_head.py.
"""

from __future__ import annotations

import abc

from everflow import metrics as metrics_lib
from everflow import summary
from everflow.contrib.layers.dense import fully_connected
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps, PredictionKey, ProblemType
from everflow.framework import dtypes
from everflow.framework.composites import is_sparse
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.control_flow import no_op
from everflow.ops.control_flow.grouping import group
from everflow.ops.nn.activations import bias_add
from everflow.ops.nn.losses import log_poisson_loss
from everflow.ops.nn.weights import broadcast_weights
from everflow.ops.variables.scope import variable_scope
from everflow.ops.variables.variable import Variable
from everflow.platform.logging import warning
from everflow.train.adaptive import AdagradOptimizer


class Head(abc.ABC):
    """Makes of logits what a mode needs."""

    # The name of the loss in dual coordinate ascent, where it has one.
    sdca_loss = None
    # What a saved model serves.
    _problem = ProblemType.UNSPECIFIED

    def __init__(self, logits_dimension, label_name, weight_column_name, head_name, enable_centered_bias=False):
        self._logits_dimension = logits_dimension
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._enable_centered_bias = enable_centered_bias
        self.head_name = head_name

    logits_dimension = property(lambda self: self._logits_dimension, doc="How many logits it takes for an example.")

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        """A `ModelFnOps` of the logits, or of logits that are made from `logits_input` here."""
        ModeKeys.validate(mode)
        given = tuple(value for value in (*(features or {}).values(), labels, logits) if value is not None)
        with variable_scope(scope, self.head_name or self._default_name, given):
            labels = raw = self._raw_labels(labels) if labels is not None and mode != ModeKeys.INFER else None
            if labels is not None:
                labels = self._labels(raw)
            logits = self._checked_logits(logits, logits_input)
            bias = None
            if self._enable_centered_bias:
                bias = self._centered_bias()
                logits = bias_add(logits, bias)
            with name_scope(None, "predictions", (logits,)):
                predictions = self._predictions(logits)
            loss = train_op = None
            evaluated = {}
            if labels is not None:
                weights = self._weights(features)
                loss, average = self._loss(labels, logits, weights)
                with name_scope(""):
                    # The name of the summary tells heads apart, wherever they were made.
                    summary.scalar(self._name("loss"), array.identity(average))
                if mode == ModeKeys.TRAIN:
                    train_op = self._train_op(loss, train_op_fn, labels, bias, weights)
                with name_scope("metrics", None, (*predictions.values(), raw)):
                    computed = self._metrics(average, predictions, raw, weights)
                evaluated = {self._name(key): value for key, value in computed.items()}
            outputs = {self.head_name: self._output(predictions)}
            return ModelFnOps(mode, predictions, loss, train_op, evaluated, outputs)

    def _name(self, key):
        return f"{key}/{self.head_name}" if self.head_name else key

    def _checked_logits(self, logits, logits_input):
        if (logits is None) == (logits_input is None):
            given = "Both" if logits is not None else "Neither"
            raise ValueError(f"{given} of logits and logits_input are given; a head wants one of them")
        if logits is None:
            return fully_connected(logits_input, self.logits_dimension, activation_fn=None, scope="logits")
        logits = convert_to_tensor(logits, name="logits")
        dims = logits.shape.with_rank(2)
        dims.dims[1].assert_is_compatible_with(self.logits_dimension)
        return logits

    def _labels(self, labels):
        """The labels as the loss takes them."""
        return labels

    def dual_labels(self, labels):
        """The labels as dual coordinate ascent takes them: a column."""
        labels = self._labels(self._raw_labels(labels))
        return array.expand_dims(labels, 1) if labels.shape.rank == 1 else labels

    def _raw_labels(self, labels):
        if isinstance(labels, dict):
            if self._label_name is None:
                raise ValueError("Labels are a dict, but the head was given no label_name.")
            if self._label_name not in labels:
                raise ValueError(f"There are no labels named {self._label_name!r}; there are {sorted(labels)}")
            labels = labels[self._label_name]
        return self._dense_labels(labels) if is_sparse(labels) else convert_to_tensor(labels, name="labels")

    def _dense_labels(self, labels):
        raise ValueError(f"{type(self).__name__} takes dense labels: a SparseTensor is not supported")

    def _weights(self, features):
        if not self._weight_column_name:
            return None
        if self._weight_column_name not in (features or {}):
            raise ValueError(f"There is no feature {self._weight_column_name!r}, which is to hold the weights")
        with name_scope(None, "weight_tensor", tuple(features.values())):
            weights = math.cast(features[self._weight_column_name], dtypes.float32)
            if weights.shape.rank == 1:
                name = self._weight_column_name
                warning("Weights %s are a vector of shape %s; they are taken for a column.", name, weights.shape)
                return array.reshape(weights, (-1, 1))
            return weights

    def _loss(self, labels, logits, weights):
        """(the loss that is trained, the one that is shown): means over examples, and with respect to weights."""
        with name_scope(None, self._loss_name, (logits, labels)) as scope:
            return weighted_loss(self._losses(logits, labels, scope), weights)

    @abc.abstractmethod
    def _losses(self, logits, labels, name):
        """The loss of each example, as an op of this name where it is a single one."""

    @abc.abstractmethod
    def _predictions(self, logits):
        """{key: predictions}."""

    def _output(self, predictions):
        """What a saved model serves: the kind of problem, and tensors by name."""
        return self._problem, predictions

    def _metrics(self, loss, predictions, labels, weights):
        return {"loss": metrics_lib.mean(loss)}

    def _train_op(self, loss, train_op_fn, labels, bias, weights):
        if train_op_fn is None:
            raise ValueError("To train, a head needs train_op_fn: a function from the loss to the train op")
        batch_size = array.shape(labels)[0]
        step = None if bias is None else self._centered_bias_step(bias, batch_size, labels, weights)
        with name_scope(None, "train_op", (loss, labels)):
            train_op = train_op_fn(loss)
            return train_op if step is None else group(train_op, step)

    # A bias of the head's own, which learns the mean of the labels apart from the model.

    def _centered_bias(self):
        size = self.logits_dimension
        bias = Variable(array.zeros((size,)), collections=None, name="centered_bias_weight")
        for i in range(size):
            summary.scalar(self._name(f"centered_bias/bias_{i}"), bias[i])
        return bias

    def _centered_bias_step(self, bias, batch_size, labels, weights):
        with name_scope(None, "centered_bias_step", (labels,)) as scope:
            size = array.shape(bias)[0]
            logits = array.reshape(array.tile(bias, [batch_size]), [batch_size, size])
            with name_scope(None, "centered_bias", (labels, logits)):
                loss = math.reduce_mean(self._loss(labels, logits, weights), name="training_loss")
        return AdagradOptimizer(0.1).minimize(loss, var_list=(bias,), name=scope)


def weighted_loss(losses, weights):
    """(the mean of weighted losses, their sum by the sum of weights); without weights the mean twice."""
    with name_scope(None, "loss", (losses,) if weights is None else (losses, weights)) as name:
        if weights is None:
            loss = math.reduce_mean(losses, name=name)
            return loss, loss
        weights = broadcast_weights(weights, losses)
        weighted = math.multiply(losses, weights, name="weighted_loss")
        loss = math.reduce_mean(weighted, name=name)
        average = math.div(math.reduce_sum(weighted), math.reduce_sum(weights), name="weighted_average_loss")
        return loss, average


class RegressionHead(Head):
    """Predicts numbers; squared errors, unless there is another loss."""

    _default_name = "regression_head"
    _loss_name = "mean_squared_loss"
    _problem = ProblemType.LINEAR_REGRESSION
    sdca_loss = "squared_loss"  # type: ignore[assignment]

    def __init__(
        self,
        label_dimension,
        label_name,
        weight_column_name,
        head_name,
        link_fn=None,
        enable_centered_bias=False,
    ):
        super().__init__(label_dimension, label_name, weight_column_name, head_name, enable_centered_bias)
        self._link_fn = link_fn or array.identity

    def _losses(self, logits, labels, name):
        return math.squared_difference(logits, _column_like(labels, logits), name=name)

    def _predictions(self, logits):
        if self.logits_dimension == 1:
            logits = array.squeeze(logits, axis=[1], name=PredictionKey.SCORES)
        return {PredictionKey.SCORES: self._link_fn(logits)}


def _column_like(labels, logits):
    """Numbers in the shape of logits: one for each example becomes a column."""
    if labels.shape.rank == 1:
        labels = array.expand_dims(labels, axis=(1,))
    logits.shape.assert_is_compatible_with(labels.shape)
    return math.cast(labels, dtypes.float32)


class PoissonHead(RegressionHead):
    """Predicts counts."""

    _loss_name = "_poisson_loss"
    sdca_loss = "poisson_loss"  # type: ignore[assignment]

    def _losses(self, logits, labels, name):
        targets = _column_like(labels, logits)
        return log_poisson_loss(targets=targets, log_input=logits, compute_full_loss=True, name=name)


def regression_head(
    label_name=None,
    weight_column_name=None,
    label_dimension=1,
    enable_centered_bias=False,
    head_name=None,
    link_fn=None,
):
    """A head that predicts numbers."""
    return RegressionHead(label_dimension, label_name, weight_column_name, head_name, link_fn, enable_centered_bias)


def poisson_regression_head(
    label_name=None, weight_column_name=None, label_dimension=1, enable_centered_bias=False, head_name=None
):
    """A head that predicts counts."""
    return PoissonHead(label_dimension, label_name, weight_column_name, head_name, math.exp, enable_centered_bias)


# What the ready-made regressors take for their heads, by the parameter of estimators that it follows.
REGRESSES = {"model_dir": {"weight_column_name": None}, "gradient_clip_norm": {"enable_centered_bias": False}}


def number_head(given):
    """The head of a ready-made regressor, by what is taken for it out of the regressor's arguments."""
    names = ("weight_column_name", "label_dimension", "enable_centered_bias")
    return regression_head(**{name: given.pop(name) for name in names})


def no_op_train_fn(loss):
    """A train op that does nothing, for heads that only evaluate."""
    return no_op()
