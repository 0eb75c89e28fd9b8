"""The public heads: those of the canned estimators with Keras's ways of reducing losses, measuring and optimizing.

A head's loss, predictions and metrics can also be used alone, in training loops of one's own.
"""

from __future__ import annotations

import abc
import contextlib
import functools

from everflow.estimator.canned import classification_heads, head, multi_label_head, regression_heads
from everflow.estimator.canned.head_inputs import checked_logits
from everflow.estimator.canned.head_metrics import accuracy_baseline
from everflow.estimator.canned.keys import MetricKeys, PredictionKeys
from everflow.estimator.export.outputs import PredictOutput
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.framework.scopes import name_scope
from everflow.keras import metrics as keras_metrics
from everflow.keras.loss_reduction import Reduction, compute_weighted_loss
from everflow.ops import math
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.io import summaries
from everflow.ops.nn.weights import broadcast_weights
from everflow.platform.signatures import constructor, parameters, parameters_of, taking
from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class Head(abc.ABC):
    """What a model ends in: loss, metrics and predictions from logits.

    Example:
        >>> isinstance(tf.estimator.RegressionHead(), tf.estimator.Head)
        True
    """

    @property
    @abc.abstractmethod
    def name(self):
        """The name, or None."""

    @property
    @abc.abstractmethod
    def logits_dimension(self):
        """How many logits it wants for each example."""

    @property
    @abc.abstractmethod
    def loss_reduction(self):
        """How the losses of examples become one: a `tf.keras.losses.Reduction`."""

    @abc.abstractmethod
    def loss(self, labels, logits, features=None, mode=None, regularization_losses=None):
        """The loss of a batch, with regularization losses added."""

    @abc.abstractmethod
    def predictions(self, logits, keys=None):
        """Predictions by key, all or those in `keys`."""

    @abc.abstractmethod
    def metrics(self, regularization_losses=None):
        """New Keras metrics by key."""

    @abc.abstractmethod
    def update_metrics(self, eval_metrics, features, logits, labels, mode=None, regularization_losses=None):
        """Count a batch in metrics that `metrics` made; gives them."""

    @abc.abstractmethod
    def create_estimator_spec(
        self,
        features,
        mode,
        logits,
        labels=None,
        optimizer=None,
        trainable_variables=None,
        train_op_fn=None,
        update_ops=None,
        regularization_losses=None,
    ):
        """The `EstimatorSpec` that a model function returns."""


class SpecMaker:
    """How a public head makes an EstimatorSpec of its own predictions, loss and metrics."""

    _scope = "head"
    _counts_in_scope = False

    def _own_logits(self, logits):
        return logits

    def _create_estimator_spec(self, features, mode, logits, labels, regularization_losses, **training):
        with contextlib.ExitStack() as scopes:
            scopes.enter_context(name_scope(self.name, self._scope))
            logits = self._own_logits(logits)
            predictions, outputs = self._told(features, mode, logits, labels)
            if mode == ModeKeys.PREDICT:
                outputs = {**outputs, head.PREDICT_SERVING_KEY: PredictOutput(predictions)}
                return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            loss = self.loss(labels, logits, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self.metrics(regularization_losses)
                if not self._counts_in_scope:
                    scopes.close()
                metrics = self.update_metrics(metrics, features, logits, labels, regularization_losses)
                return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
        with name_scope(""):
            with name_scope("training"):
                train_op = make_train_op(loss, **training)
            summaries.scalar(self._key(MetricKeys.LOSS), loss)
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    create_estimator_spec = taking(parameters_of(Head.create_estimator_spec), _create_estimator_spec, "self")


class _CommonHead(SpecMaker):
    """What all kinds but MultiHead share. A kind adds `_metric_kinds` and `_update` to the canned head of its kind."""

    def _check_reduction(self, loss_reduction):
        check_reduction(loss_reduction)

    name = property(lambda self: self._name)
    loss_reduction = property(lambda self: self._loss_reduction)

    def _reduced(self, losses, weights):
        return compute_weighted_loss(losses, sample_weight=weights, reduction=self._loss_reduction)

    def loss(self, labels, logits, features=None, mode=None, regularization_losses=None):
        with name_scope(None, "losses", (logits, labels)):
            logits = checked_logits(logits, self.logits_dimension)
            loss = self.create_loss(features or {}, mode, logits, labels).training_loss
            return with_regularization(loss, regularization_losses)

    def predictions(self, logits, keys=None):
        _, found = self._predictions(logits)
        if not keys:
            return found
        check_prediction_keys(keys, found)
        return {key: found[key] for key in keys}

    def metrics(self, regularization_losses=None):
        kinds = self._metric_kinds()
        if regularization_losses is not None:
            kinds[MetricKeys.LOSS_REGULARIZATION] = keras_metrics.Mean
        with name_scope("metrics"):
            return {self._key(key): make(name=self._key(key)) for key, make in kinds.items()}

    def _key(self, key):
        return head.summary_key(self._name, key)

    def update_metrics(self, eval_metrics, features, logits, labels, regularization_losses=None):
        logits, predictions = self._predictions(logits)
        loss = self.create_loss(features or {}, ModeKeys.EVAL, logits, labels)
        found = {
            key: eval_metrics[self._key(key)] for key in self._metric_kinds() if key != MetricKeys.ACCURACY_BASELINE
        }
        found[MetricKeys.LOSS_MEAN].update_state(values=loss.unreduced_loss, sample_weight=loss.weights)
        self._update(found, predictions, loss)
        if regularization_losses is not None:
            eval_metrics[self._key(MetricKeys.LOSS_REGULARIZATION)].update_state(
                values=math.add_n(regularization_losses)
            )
        baseline = self._key(MetricKeys.ACCURACY_BASELINE)
        if baseline in eval_metrics:
            share = found[MetricKeys.LABEL_MEAN].result()
            eval_metrics[baseline] = (accuracy_baseline((share, share))[0], no_op())
        return eval_metrics

    def _told(self, features, mode, logits, labels):
        predictions = self.predictions(logits)
        if mode != ModeKeys.PREDICT:
            return predictions, {}
        default, others = self._outputs(predictions)
        return predictions, {DEFAULT_SERVING_SIGNATURE_DEF_KEY: default, **others}


def with_regularization(loss, regularization_losses):
    """A loss with the sum of others added."""
    return loss + math.add_n(regularization_losses) if regularization_losses else loss


def check_reduction(loss_reduction):
    """ValueError for something else than a way to make one loss of many."""
    if loss_reduction not in (Reduction.AUTO, Reduction.SUM, Reduction.SUM_OVER_BATCH_SIZE):
        raise ValueError(
            f"Invalid loss_reduction: {loss_reduction}. See `tf.keras.losses.Reduction` for valid options."
        )


def check_prediction_keys(keys, known):
    """ValueError for predictions that a head doesn't make."""
    unknown = [key for key in keys if key not in known]
    if unknown:
        raise ValueError(
            f"Prediction key must be in PredictionKeys, given: {unknown}. Valid prediction keys include {list(known)}."
        )


def check_keras_optimizer(optimizer):
    """ValueError for an optimizer that is none of Keras's."""
    if not hasattr(optimizer, "get_updates"):
        raise ValueError(f"The given optimizer is not a tf.keras.optimizers.Optimizer instance. Given: {optimizer}")


def check_trainable_variables(trainable_variables):
    """ValueError where a Keras optimizer isn't given a list of variables."""
    if not isinstance(trainable_variables, (list, tuple)):
        raise ValueError(f"trainable_variables must be a list of variables, not {trainable_variables}.")


def make_train_op(loss, optimizer, trainable_variables, train_op_fn, update_ops):
    """The op of a training step, by a Keras optimizer or a function, and the update ops with it."""

    def minimize():
        check_keras_optimizer(optimizer)
        check_trainable_variables(trainable_variables)
        return optimizer.get_updates(loss, trainable_variables)[0]

    train_op = head.either_train_op(loss, optimizer, minimize, train_op_fn)
    return train_op if update_ops is None else group(train_op, *update_ops)


def _takes(listed):
    """Class decorator: the head takes these parameters, which the canned head of its kind has without defaults."""

    def decorate(cls):
        def start(self, **given):
            super(cls, self).__init__(**given)

        cls.__init__ = constructor(parameters(listed, MEAN=Reduction.SUM_OVER_BATCH_SIZE), start)
        return cls

    return decorate


# --- the kinds -----------------------------------------------------------------------------------

_PRECISION_RECALL_AUC = functools.partial(keras_metrics.AUC, curve="PR")


@_takes("weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction=MEAN, loss_fn=None, name=None")
class BinaryClassHead(_CommonHead, classification_heads.BinaryHead, Head):
    """Tells two classes apart by one logit.

    Args:
        weight_column: The feature that says how much each example counts.
        thresholds: Thresholds at which metrics are taken, too.
        label_vocabulary: The labels as strings; None for whole numbers from 0.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.
        loss_fn: A function of labels and logits in place of the usual loss.
        name: Its name, which tells several of them apart in logs and summaries.

    Example:
        >>> head = tf.estimator.BinaryClassHead()
        >>> loss = head.loss(tf.constant([[1], [0]]), tf.constant([[2.0], [-2.0]]))
        >>> sess.run(loss)
        np.float32(0.12692802)
    """

    def _metric_kinds(self):
        return {
            MetricKeys.LOSS_MEAN: keras_metrics.Mean,
            MetricKeys.ACCURACY: keras_metrics.Accuracy,
            MetricKeys.PRECISION: keras_metrics.Precision,
            MetricKeys.RECALL: keras_metrics.Recall,
            MetricKeys.PREDICTION_MEAN: keras_metrics.Mean,
            MetricKeys.LABEL_MEAN: keras_metrics.Mean,
            MetricKeys.ACCURACY_BASELINE: keras_metrics.Mean,
            MetricKeys.AUC: keras_metrics.AUC,
            MetricKeys.AUC_PR: _PRECISION_RECALL_AUC,
            **_threshold_kinds(self._thresholds),
        }

    def _update(self, metrics, predictions, loss):
        logistic, told = predictions[PredictionKeys.LOGISTIC], predictions[PredictionKeys.CLASS_IDS]
        labels, weights = loss.processed_labels, loss.weights
        weights = None if self._weight_column is None else broadcast_weights(weights, labels)
        for key in (MetricKeys.ACCURACY, MetricKeys.PRECISION, MetricKeys.RECALL):
            metrics[key].update_state(y_true=labels, y_pred=told, sample_weight=weights)
        metrics[MetricKeys.PREDICTION_MEAN].update_state(values=logistic, sample_weight=weights)
        metrics[MetricKeys.LABEL_MEAN].update_state(values=labels, sample_weight=weights)
        for key in (MetricKeys.AUC, MetricKeys.AUC_PR, *_threshold_keys(self._thresholds)):
            metrics[key].update_state(y_true=labels, y_pred=logistic, sample_weight=weights)


class MultiClassHead(_CommonHead, classification_heads.MultiClassHead, Head):
    """Tells one of more than two classes, by a logit each.

    Args:
        n_classes: How many classes there are.
        weight_column: The feature that says how much each example counts.
        label_vocabulary: The labels as strings; None for whole numbers from 0.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.
        loss_fn: A function of labels and logits in place of the usual loss.
        name: Its name, which tells several of them apart in logs and summaries.

    Example:
        >>> head = tf.estimator.MultiClassHead(3)
        >>> sess.run(head.loss(tf.constant([[1]]), tf.constant([[0.0, 5.0, 0.0]])))
        np.float32(0.013385773)
    """

    def __init__(
        self,
        n_classes,
        weight_column=None,
        label_vocabulary=None,
        loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn=None,
        name=None,
    ):
        if label_vocabulary is not None and n_classes != len(label_vocabulary):
            raise ValueError(
                f'"label_vocabulary" does not have "n_classes" items. len(label_vocabulary)={len(label_vocabulary)}, '
                f"n_classes={n_classes}, label_vocabulary={label_vocabulary}"
            )
        super().__init__(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)

    def _metric_kinds(self):
        return {MetricKeys.LOSS_MEAN: keras_metrics.Mean, MetricKeys.ACCURACY: keras_metrics.SparseCategoricalAccuracy}

    def _update(self, metrics, predictions, loss):
        weights = None if self._weight_column is None else loss.weights
        metrics[MetricKeys.ACCURACY].update_state(
            y_true=loss.processed_labels, y_pred=predictions[PredictionKeys.LOGITS], sample_weight=weights
        )


@_takes("label_dimension=1, weight_column=None, loss_reduction=MEAN, loss_fn=None, inverse_link_fn=None, name=None")
class RegressionHead(_CommonHead, regression_heads.RegressionHead, Head):
    """Predicts `label_dimension` numbers; squared errors, unless there is a `loss_fn`.

    Args:
        label_dimension: How many numbers are to be predicted for each example.
        weight_column: The feature that says how much each example counts.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.
        loss_fn: A function of labels and logits in place of the usual loss.
        inverse_link_fn: A function of the logits that gives the predictions.
        name: Its name, which tells several of them apart in logs and summaries.

    Example:
        >>> head = tf.estimator.RegressionHead()
        >>> sess.run(head.loss(tf.constant([[1.0]]), tf.constant([[3.0]])))
        np.float32(4.0)
    """

    def predictions(self, logits):
        return super().predictions(logits)

    def _metric_kinds(self):
        return dict.fromkeys(
            (MetricKeys.LOSS_MEAN, MetricKeys.PREDICTION_MEAN, MetricKeys.LABEL_MEAN), keras_metrics.Mean
        )

    def _update(self, metrics, predictions, loss):
        metrics[MetricKeys.LABEL_MEAN].update_state(values=loss.processed_labels, sample_weight=loss.weights)
        metrics[MetricKeys.PREDICTION_MEAN].update_state(
            values=predictions[PredictionKeys.PREDICTIONS], sample_weight=loss.weights
        )


class PoissonRegressionHead(RegressionHead):
    """Predicts counts.

    Args:
        label_dimension: How many numbers are to be predicted for each example.
        weight_column: The feature that says how much each example counts.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.
        compute_full_loss: Whether Stirling's approximation of log z! is added.
        name: Its name, which tells several of them apart in logs and summaries.

    Example:
        >>> tf.estimator.PoissonRegressionHead().logits_dimension
        1
    """

    def __init__(
        self,
        label_dimension=1,
        weight_column=None,
        loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
        compute_full_loss=True,
        name=None,
    ):
        loss_fn, link = regression_heads.poisson_loss_and_link(compute_full_loss)
        super().__init__(label_dimension, weight_column, loss_reduction, loss_fn, link, name)


class LogisticRegressionHead(RegressionHead):
    """Predicts shares, from labels in [0, 1].

    Args:
        weight_column: The feature that says how much each example counts.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.
        name: Its name, which tells several of them apart in logs and summaries.

    Example:
        >>> tf.estimator.LogisticRegressionHead().logits_dimension
        1
    """

    def __init__(self, weight_column=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, name=None):
        loss_fn, link = regression_heads.logistic_loss_and_link()
        super().__init__(1, weight_column, loss_reduction, loss_fn, link, name)


@_takes(
    """n_classes, weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction=MEAN, loss_fn=None,
    classes_for_class_based_metrics=None, name=None"""
)
class MultiLabelHead(_CommonHead, multi_label_head.MultiLabelHead, Head):
    """Tells for each class whether it holds.

    Args:
        n_classes: How many classes there are.
        weight_column: The feature that says how much each example counts.
        thresholds: Thresholds at which metrics are taken, too.
        label_vocabulary: The labels as strings; None for whole numbers from 0.
        loss_reduction: How the losses of a batch become one: a value of `tf.losses.Reduction`.
        loss_fn: A function of labels and logits in place of the usual loss.
        classes_for_class_based_metrics: Classes of which metrics are taken, too.
        name: Its name, which tells several of them apart in logs and summaries.

    Example:
        >>> tf.estimator.MultiLabelHead(3).logits_dimension
        3
    """

    def _metric_kinds(self):
        kinds = {
            MetricKeys.LOSS_MEAN: keras_metrics.Mean,
            MetricKeys.AUC: keras_metrics.AUC,
            MetricKeys.AUC_PR: _PRECISION_RECALL_AUC,
            **_threshold_kinds(self._thresholds),
        }
        for class_id in self._classes_for_metrics:
            kinds.update(
                zip(self._class_keys(class_id), (keras_metrics.Mean, keras_metrics.AUC, _PRECISION_RECALL_AUC))
            )
        return kinds

    def _update(self, metrics, predictions, loss):
        probabilities, labels = predictions[PredictionKeys.PROBABILITIES], loss.processed_labels
        weights = None if self._weight_column is None else broadcast_weights(loss.weights, probabilities)
        for key in (MetricKeys.AUC, MetricKeys.AUC_PR, *_threshold_keys(self._thresholds)):
            metrics[key].update_state(y_true=labels, y_pred=probabilities, sample_weight=weights)
        for class_id in self._classes_for_metrics:
            column = [multi_label_head.column(tensor, class_id) for tensor in (labels, probabilities)]
            weight = None if weights is None else multi_label_head.column(weights, class_id)
            mean_key, auc_key, pr_key = self._class_keys(class_id)
            metrics[mean_key].update_state(values=column[1], sample_weight=weight)
            for key in (auc_key, pr_key):
                metrics[key].update_state(y_true=column[0], y_pred=column[1], sample_weight=weight)


def _threshold_keys(thresholds):
    keys = MetricKeys.ACCURACY_AT_THRESHOLD, MetricKeys.PRECISION_AT_THRESHOLD, MetricKeys.RECALL_AT_THRESHOLD
    return [key % threshold for threshold in thresholds for key in keys]


def _threshold_kinds(thresholds):
    """{key: what makes a metric} of accuracy, precision and recall at thresholds."""
    kinds = {}
    for threshold in thresholds:
        accuracy, precision, recall = _threshold_keys([threshold])
        kinds[accuracy] = functools.partial(keras_metrics.BinaryAccuracy, threshold=threshold)
        kinds[precision] = functools.partial(keras_metrics.Precision, thresholds=threshold)
        kinds[recall] = functools.partial(keras_metrics.Recall, thresholds=threshold)
    return kinds
