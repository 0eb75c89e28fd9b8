"""`Head`: what a canned model ends in: predictions, loss, metrics, the train op and exports from logits and labels.

The heads themselves are in `regression_heads`, `classification_heads`, `multi_label_head` and `multi_head`.
"""

from __future__ import annotations

import abc
import collections

from everflow.estimator.canned.head_inputs import call_loss_fn, check_loss_fn, weights_of
from everflow.estimator.canned.keys import MetricKeys
from everflow.estimator.export.outputs import PredictOutput
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import get_collection, name_scope
from everflow.losses import Reduction, compute_weighted_loss
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import group
from everflow.ops.io import summaries
from everflow.ops.variables.global_step import get_global_step
from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

LossSpec = collections.namedtuple("LossSpec", ["training_loss", "unreduced_loss", "weights", "processed_labels"])

CLASSIFY_SERVING_KEY = "classification"
REGRESS_SERVING_KEY = "regression"
PREDICT_SERVING_KEY = "predict"


class Head(abc.ABC):
    """The end of a model: kinds differ in the abstract methods below."""

    # Whether there are losses and weights for each logit, rather than for each example.
    _per_logit = False

    def __init__(self, loss_reduction, name, weight_column=None, loss_fn=None):
        self._check_reduction(loss_reduction)
        if loss_fn:
            check_loss_fn(loss_fn)
        self._loss_reduction = loss_reduction
        self._name = name
        self._weight_column = weight_column
        self._loss_fn = loss_fn

    def _check_reduction(self, loss_reduction):
        if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
            raise ValueError(f"Invalid loss_reduction: {loss_reduction}. See `tf.losses.Reduction` for valid options.")

    name = property(lambda self: self._name, doc="The name, which goes into scopes, metrics and summaries, or None.")

    @property
    @abc.abstractmethod
    def logits_dimension(self):
        """How many logits it wants for each example."""

    @abc.abstractmethod
    def _processed_labels(self, labels, logits):
        """Labels as the losses use them, checked."""

    @abc.abstractmethod
    def _losses(self, labels, logits):
        """The losses of examples, where the program has no function for them."""

    @abc.abstractmethod
    def _predictions(self, logits):
        """(logits, predictions by key)."""

    @abc.abstractmethod
    def _metrics(self, predictions, loss, labels, regularization_loss):
        """{key: (value, update op)}."""

    @abc.abstractmethod
    def _outputs(self, predictions):
        """(the default ExportOutput, {key: ExportOutput} of others)."""

    def create_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None, regularization_losses=None
    ):
        """The `EstimatorSpec` that a model function returns."""
        with name_scope(self._name, "head"):
            logits, predictions = self._predictions(logits)
            if mode == ModeKeys.PREDICT:
                default, others = self._outputs(predictions)
                outputs = {
                    DEFAULT_SERVING_SIGNATURE_DEF_KEY: default,
                    **others,
                    PREDICT_SERVING_KEY: PredictOutput(predictions),
                }
                return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            loss = self.create_loss(features=features, mode=mode, logits=logits, labels=labels)
            total, regularization_loss = loss.training_loss, None
            if regularization_losses:
                regularization_loss = math.add_n(regularization_losses)
                total = math.add_n([total, regularization_loss])
            if mode == ModeKeys.TRAIN:
                train_op = make_train_op(total, optimizer, train_op_fn)
                mean_loss = self._mean_loss(loss)
        if mode == ModeKeys.EVAL:
            metrics = self._metrics(predictions, loss, labels, regularization_loss)
            metrics = {summary_key(self._name, key): value for key, value in metrics.items()}
            return EstimatorSpec(mode, predictions=predictions, loss=total, eval_metric_ops=metrics)
        with name_scope(""):
            for key, value in (
                (MetricKeys.LOSS, total),
                (MetricKeys.LOSS_MEAN, mean_loss),
                (MetricKeys.LOSS_REGULARIZATION, regularization_loss),
            ):
                if value is not None:
                    summaries.scalar(summary_key(self._name, key), value)
        return EstimatorSpec(mode, predictions=predictions, loss=total, train_op=train_op)

    def _mean_loss(self, loss):
        """The mean of the losses of examples, for the summary, where the training loss is a sum."""
        if self._loss_reduction != Reduction.SUM:
            return None
        weight_sum = math.reduce_sum(loss.weights * array.ones_like(loss.unreduced_loss))
        return loss.training_loss / weight_sum

    def create_loss(self, features, mode, logits, labels):
        """A `LossSpec`: the training loss, the losses of examples, their weights, and labels as the losses use them."""
        logits = math.to_float(logits)
        labels = self._processed_labels(labels, logits)
        if self._loss_fn:
            dimension = self.logits_dimension if self._per_logit else 1
            unreduced = call_loss_fn(self._loss_fn, labels, logits, features, expected_dimension=dimension)
        else:
            unreduced = self._losses(labels, logits)
        weights = weights_of(features, self._weight_column, logits, per_logit=self._per_logit)
        return LossSpec(self._reduced(unreduced, weights), unreduced, weights, labels)

    def _reduced(self, losses, weights):
        return compute_weighted_loss(losses, weights=weights, reduction=self._loss_reduction)


def summary_key(name, key):
    """A metric's or summary's key, with the head's name behind it."""
    return f"{key}/{name}" if name else key


def make_train_op(loss, optimizer, train_op_fn):
    """The op of a training step, which the graph's update ops (of batch normalization) belong to."""
    train_op = either_train_op(
        loss, optimizer, lambda: optimizer.minimize(loss, global_step=get_global_step()), train_op_fn
    )
    updates = get_collection(GraphKeys.UPDATE_OPS)
    return group(train_op, *updates) if updates else train_op


def either_train_op(loss, optimizer, minimize, train_op_fn):
    """What `minimize` gives with an optimizer, else what `train_op_fn` does; ValueError for both or none."""
    if optimizer is not None:
        if train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        return minimize()
    if train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    return train_op_fn(loss)
