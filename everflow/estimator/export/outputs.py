"""`ExportOutput` and its kinds: how the outputs of a model become the signatures of a SavedModel."""

from __future__ import annotations

import abc

from everflow.framework import dtypes
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import control_dependencies
from everflow.ops.array.constants import constant
from everflow.ops.variables.variable import Variable
from everflow.saved_model import signature_def_utils


class ExportOutput(abc.ABC):
    """An output of a model, for one signature.

    Example:
        >>> isinstance(tf.estimator.export.PredictOutput({"y": tf.constant(1.0)}), tf.estimator.export.ExportOutput)
        True
    """

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors):
        """The SignatureDef of this output and the tensors that a server feeds."""


def _named(outputs, what, default):
    """Outputs as a dict of tensors by text; tuples as keys are joined with slashes."""
    if not isinstance(outputs, dict):
        outputs = {default: outputs}
    named = {}
    for key, value in outputs.items():
        key = "/".join(key) if isinstance(key, tuple) else key
        if not isinstance(key, str):
            raise ValueError(f"{what} output key must be a string; got {key!r}.")
        if not isinstance(value, Tensor):
            raise ValueError(f"{what} output value must be a Tensor; got {value!r}.")
        named[key] = value
    return named


def _only_text_input(receiver_tensors, what):
    """The one string tensor that classify and regress signatures read serialized examples from."""
    if len(receiver_tensors) == 1:
        (examples,) = receiver_tensors.values()
        if dtypes.as_dtype(examples.dtype).base_dtype == dtypes.string:
            return examples
    raise ValueError(f"{what} takes serialized examples, one string Tensor, not {receiver_tensors}.")


def _check_tensor(name, value, kind, fits):
    if not (isinstance(value, Tensor) and fits(value.dtype)):
        raise ValueError(f"{name} of an output is to be a Tensor of {kind}, got {value!r}.")


class ClassificationOutput(ExportOutput):
    """Scores, names of classes, or both.

    Args:
        scores: Floats [batch, classes], or None.
        classes: Strings [batch, classes], or None.

    Example:
        >>> tf.estimator.export.ClassificationOutput(scores=tf.constant([[0.1, 0.9]])).scores.shape.as_list()
        [1, 2]
    """

    def __init__(self, scores=None, classes=None):
        if scores is None and classes is None:
            raise ValueError("ClassificationOutput has neither scores nor classes.")
        if scores is not None:
            _check_tensor("scores", scores, "floats", lambda dtype: dtype.is_floating)
        if classes is not None:
            _check_tensor("classes", classes, "strings", lambda dtype: dtype == dtypes.string)
        self._scores = scores
        self._classes = classes

    scores = property(lambda self: self._scores, doc="The scores, or None.")
    classes = property(lambda self: self._classes, doc="The names of classes, or None.")

    def as_signature_def(self, receiver_tensors):
        examples = _only_text_input(receiver_tensors, "Classification")
        return signature_def_utils.classification_signature_def(examples, self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """A number for each example.

    Args:
        value: Floats.

    Example:
        >>> tf.estimator.export.RegressionOutput(tf.constant([0.5])).value.shape.as_list()
        [1]
    """

    def __init__(self, value):
        _check_tensor("value", value, "floats", lambda dtype: dtype.is_floating)
        self._value = value

    value = property(lambda self: self._value, doc="The tensor.")

    def as_signature_def(self, receiver_tensors):
        return signature_def_utils.regression_signature_def(
            _only_text_input(receiver_tensors, "Regression"), self.value
        )


class PredictOutput(ExportOutput):
    """Any tensors by name; a single one is named "output".

    Args:
        outputs: A tensor, or tensors by name.

    Example:
        >>> sorted(tf.estimator.export.PredictOutput(tf.constant(1.0)).outputs)
        ['output']
    """

    def __init__(self, outputs):
        self._outputs = _named(outputs, "Prediction", "output")

    outputs = property(lambda self: self._outputs, doc="The tensors by name.")

    def as_signature_def(self, receiver_tensors):
        return signature_def_utils.predict_signature_def(receiver_tensors, self.outputs)


# --- models exported for training and evaluation -------------------------------------------------


class _SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics of a model that is exported with its labels as inputs.

    The names of all begin with what they are: "loss", "predictions/logits", "metrics/accuracy/value".
    """

    LOSS_NAME, PREDICTIONS_NAME, METRICS_NAME = "loss", "predictions", "metrics"
    METRIC_VALUE_SUFFIX, METRIC_UPDATE_SUFFIX = "value", "update_op"

    def __init__(self, loss=None, predictions=None, metrics=None):
        self._loss = None if loss is None else _named_below(loss, self.LOSS_NAME)
        self._predictions = None if predictions is None else _named_below(predictions, self.PREDICTIONS_NAME)
        self._metrics = None if metrics is None else _metric_outputs(metrics)

    loss = property(lambda self: self._loss, doc="{name: loss}.")
    predictions = property(lambda self: self._predictions, doc="{name: prediction}.")
    metrics = property(lambda self: self._metrics, doc="{name: a metric's value, or what updates it}.")

    @abc.abstractmethod
    def _get_signature_def_fn(self):
        """What makes the signature of inputs, loss, predictions and metrics."""

    def as_signature_def(self, receiver_tensors):
        return self._get_signature_def_fn()(receiver_tensors, self.loss, self.predictions, self.metrics)


def _named_below(outputs, what):
    """Outputs by names that begin with what they are; a single one is named that."""
    return {_below(key, what): value for key, value in _named(outputs, what, what).items()}


def _below(key, what):
    return key if key.startswith(what) else f"{what}/{key}"


def _metric_outputs(metrics):
    if not isinstance(metrics, dict):
        metrics = {"metrics": metrics}
    named = {}
    for key, metric in metrics.items():
        key = _below("/".join(key) if isinstance(key, tuple) else key, "metrics")
        value, update = metric if isinstance(metric, tuple) else (metric.result(), metric.updates[0])
        if not isinstance(value, (Tensor, Variable)):
            raise ValueError(f"metrics output value must be a Tensor; got {value!r} for {key}.")
        if not isinstance(update, (Tensor, Variable, Operation)):
            raise ValueError(f"The update_op of metric {key} must be a Tensor or Operation, not {update!r}.")
        named[f"{key}/value"] = value
        named[f"{key}/update_op"] = _after(update) if isinstance(update, Operation) else update
    return named


def _after(op):
    """A tensor, which a signature can name, that runs an op."""
    with control_dependencies([op]):
        return constant([], name="metric_op_wrapper")


class TrainOutput(_SupervisedOutput):
    """What a model exported for training gives."""

    def _get_signature_def_fn(self):
        return signature_def_utils.supervised_train_signature_def


class EvalOutput(_SupervisedOutput):
    """What a model exported for evaluation gives."""

    def _get_signature_def_fn(self):
        return signature_def_utils.supervised_eval_signature_def
