"""Several heads over one model, each with its own labels: their losses are added up, with weights."""

from __future__ import annotations

from everflow.estimator.canned.head import PREDICT_SERVING_KEY, Head, LossSpec, make_train_op, summary_key
from everflow.estimator.canned.keys import MetricKeys
from everflow.estimator.export.outputs import PredictOutput
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.framework.scopes import name_scope
from everflow.losses import Reduction
from everflow.metrics import mean
from everflow.ops import array, math
from everflow.ops.array.slicing import slice_
from everflow.ops.control_flow.grouping import no_op
from everflow.ops.io import summaries
from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class MultiHead(Head):
    """Heads with names; labels and, if they are not to be cut from one tensor, logits are dicts by those names."""

    def __init__(self, heads, head_weights=None):
        check_heads(heads, head_weights)
        super().__init__(Reduction.SUM, "_".join(head.name for head in heads))
        self._heads = tuple(heads)
        self._head_weights = tuple(head_weights) if head_weights else ()

    logits_dimension = property(lambda self: sum(head.logits_dimension for head in self._heads))

    def create_loss(self, features, mode, logits, labels):
        logits, labels = split_logits(logits, self._heads), by_name(labels, self._heads, "labels")
        specs = {
            head.name: head.create_loss(
                features=features, mode=mode, logits=logits[head.name], labels=labels[head.name]
            )
            for head in self._heads
        }
        return LossSpec(
            self._merged_loss([specs[head.name].training_loss for head in self._heads]),
            {name: spec.unreduced_loss for name, spec in specs.items()},
            {name: spec.weights for name, spec in specs.items()},
            {name: spec.processed_labels for name, spec in specs.items()},
        )

    def create_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None, regularization_losses=None
    ):
        logits = split_logits(logits, self._heads)
        if labels and not isinstance(labels, dict):
            raise ValueError("labels must be a dict of the heads' labels by name.")
        labels = labels or dict.fromkeys(head.name for head in self._heads)
        common = {"features": features, "mode": mode, "train_op_fn": lambda loss: no_op()}
        specs = [
            head.create_estimator_spec(logits=logits[head.name], labels=labels[head.name], **common)
            for head in self._heads
        ]
        predictions = {
            (head.name, key): value for head, spec in zip(self._heads, specs) for key, value in spec.predictions.items()
        }
        if mode == ModeKeys.PREDICT:
            outputs = {**merged_outputs(self._heads, specs), PREDICT_SERVING_KEY: PredictOutput(predictions)}
            return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
        if mode == ModeKeys.EVAL:
            with name_scope("merge_eval"):
                metrics = {}
                for head, spec in zip(self._heads, specs):
                    key = summary_key(head.name, MetricKeys.LOSS)
                    metrics[key] = mean(spec.loss, name=key)
                    metrics.update(spec.eval_metric_ops)
                loss, metrics = self._with_regularization([spec.loss for spec in specs], regularization_losses, metrics)
            return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
        loss = self._merged_loss([spec.loss for spec in specs], regularization_losses)
        train_op = make_train_op(loss, optimizer, train_op_fn)
        with name_scope(""):
            summaries.scalar(MetricKeys.LOSS, loss)
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _with_regularization(self, losses, regularization_losses, metrics):
        if regularization_losses:
            regularization = math.add_n(regularization_losses)
            metrics[MetricKeys.LOSS_REGULARIZATION] = mean(regularization, name=MetricKeys.LOSS_REGULARIZATION)
            return self._merged_loss(losses, [regularization]), metrics
        return self._merged_loss(losses), metrics

    def _merged_loss(self, losses, regularization_losses=None):
        return merged_loss(losses, self._head_weights, regularization_losses)

    def _predictions(self, logits):
        raise NotImplementedError("Each head makes its own predictions.")

    _processed_labels = _losses = _metrics = _outputs = _predictions


def check_heads(heads, head_weights):
    """ValueError where there is none, one without a name, or not a weight for each."""
    if not heads:
        raise ValueError(f"Must specify heads. Given: {heads}")
    if head_weights and len(head_weights) != len(heads):
        raise ValueError(
            f"heads and head_weights must have the same size. Given len(heads): {len(heads)}. Given len(head_weights): {len(head_weights)}."
        )
    for head in heads:
        if not head.name:
            raise ValueError(f"All given heads must have name specified. Given: {head}")


def merged_loss(losses, head_weights, regularization_losses):
    """The sum of the heads' losses, each by its weight where there are weights, and of regularization losses."""
    with name_scope(None, "merge_losses", losses):
        return math.add_n([*weighted(losses, head_weights), *(regularization_losses or ())])


def weighted(losses, head_weights):
    """The heads' losses, each by its weight where there are weights."""
    if not head_weights:
        return losses
    return [math.multiply(loss, weight) for loss, weight in zip(losses, head_weights, strict=True)]


def merged_outputs(heads, specs):
    """What several heads export: the first one's default is that of all, and outputs are named after heads."""
    outputs = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: specs[0].export_outputs[DEFAULT_SERVING_SIGNATURE_DEF_KEY]}
    for head, spec in zip(heads, specs, strict=True):
        for key, output in spec.export_outputs.items():
            outputs[head.name if key == DEFAULT_SERVING_SIGNATURE_DEF_KEY else f"{head.name}/{key}"] = output
    return outputs


def split_logits(logits, heads):
    """Logits by head: as given, or one tensor cut into the heads' widths."""
    if isinstance(logits, dict):
        return by_name(logits, heads, "logits")
    with name_scope(None, "split_logits", (logits,)):
        batch_shape = array.shape(logits)[:-1]
        zeros = array.zeros_like(batch_shape)
        minus_ones = -1 * array.ones_like(batch_shape)
        cut, begin = {}, 0
        for head in heads:
            width = head.logits_dimension
            start = array.concat([zeros, [begin]], axis=0)
            size = array.concat([minus_ones, [width]], axis=0)
            cut[head.name] = slice_(logits, start, size)
            begin += width
        return cut


def by_name(values, heads, what):
    """A dict that has an entry for each head; ValueError for another."""
    if not isinstance(values, dict):
        raise ValueError(f"{what} must be a dict by the heads' names. Given: {values}")
    for head in heads:
        if head.name not in values:
            raise ValueError(f"{what} has no entry for head {head.name!r}; it has {list(values)}.")
    return values
