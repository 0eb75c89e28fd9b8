"""A head that tells two classes apart by a margin, and one that is made of several heads."""

from __future__ import annotations

from everflow import losses, summary
from everflow import metrics as metrics_lib
from everflow.contrib.learn.heads import Head
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps, PredictionKey
from everflow.framework import dtypes
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import no_op


class BinarySvmHead(Head):
    """The hinge loss of two classes."""

    _default_name = "binary_svm_head"
    sdca_loss = "hinge_loss"  # type: ignore[assignment]

    def __init__(self, label_name, weight_column_name, head_name, thresholds):
        super().__init__(1, label_name, weight_column_name, head_name)
        self._thresholds = thresholds or (0.5,)

    def _losses(self, logits, labels):
        return losses.hinge_loss(labels, logits, reduction=losses.Reduction.NONE)

    def _predictions(self, logits):
        return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: _above_zero(logits)}

    def _metrics(self, loss, predictions, labels, weights):
        hits = array.expand_dims(predictions[PredictionKey.CLASSES], 1)
        return {
            "loss": metrics_lib.mean(loss),
            "accuracy": metrics_lib.accuracy(math.cast(labels, dtypes.int64), hits, weights=weights),
        }


def _above_zero(logits):
    return math.cast(math.greater(array.squeeze(logits, axis=[1]), 0), dtypes.int64)


def binary_svm_head(
    label_name=None, weight_column_name=None, enable_centered_bias=False, head_name=None, thresholds=None
):
    """A head for two classes with the hinge loss."""
    if enable_centered_bias:
        raise ValueError("enable_centered_bias is not supported: a model's own bias learns the same.")
    return BinarySvmHead(label_name, weight_column_name, head_name, thresholds)


class MultiHead(Head):
    """Several heads on logits side by side; the loss is the sum of theirs."""

    _default_name = "multi_head"

    def __init__(self, heads, loss_weights):
        super().__init__(sum(head.logits_dimension for head in heads), None, None, None)
        self._heads = heads
        self._loss_weights = loss_weights

    def _losses(self, logits, labels):
        raise NotImplementedError("The losses of a multi head are those of its heads")

    def _predictions(self, logits):
        raise NotImplementedError("The predictions of a multi head are those of its heads")

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        """What all heads make of their shares of the logits, by (head, key)."""
        if (logits is None) == (logits_input is None):
            raise ValueError("A multi head wants logits, or what to make them from: one of the two")
        shares = [None] * len(self._heads)
        if logits is not None:
            shares = array.split(logits, [head.logits_dimension for head in self._heads], axis=1)
        no_step = (lambda _: no_op()) if mode == ModeKeys.TRAIN else None
        made = [
            head.create_model_fn_ops(features, mode, labels, no_step, share, logits_input, scope)
            for head, share in zip(self._heads, shares)
        ]
        predictions, evaluated, outputs, total, train_op = {}, {}, {}, None, None
        for head, ops in zip(self._heads, made):
            predictions.update({(head.head_name, key): value for key, value in (ops.predictions or {}).items()})
            evaluated.update(ops.eval_metric_ops)
            outputs.update(ops.output_alternatives or {})
        if made[0].loss is not None:
            weights = self._loss_weights or [1.0] * len(made)
            total = math.add_n([ops.loss * weight for ops, weight in zip(made, weights)])
        if mode == ModeKeys.TRAIN:
            summary.scalar("loss", total)
            train_op = train_op_fn(total)
        return ModelFnOps(mode, predictions, total, train_op, evaluated, outputs or None)


def multi_head(heads, loss_weights=None):
    """A head made of several, each with a name of its own; losses are added up with `loss_weights`."""
    if loss_weights is not None and len(loss_weights) != len(heads):
        raise ValueError(f"{len(heads)} heads have {len(loss_weights)} loss_weights; there must be one for each")
    names = [head.head_name for head in heads]
    if None in names or len(set(names)) < len(names):
        raise ValueError(f"Each head of a multi head must have a head_name of its own; there are {names}")
    return MultiHead(heads, loss_weights)
