"""`MultiHead`: several public heads over one model, each with its own labels."""

from __future__ import annotations

from everflow.estimator.canned.keys import MetricKeys
from everflow.estimator.canned.multi_head import by_name, check_heads, merged_outputs, split_logits, weighted
from everflow.estimator.head import Head, SpecMaker, with_regularization
from everflow.estimator.mode_keys import ModeKeys
from everflow.framework.scopes import name_scope
from everflow.keras import metrics as keras_metrics
from everflow.ops import math
from everflow.ops.control_flow.grouping import no_op


class MultiHead(SpecMaker, Head):
    """Heads with names; labels and, if they are not to be cut from one tensor, logits are dicts by those names.

    Args:
        heads: The heads.
        head_weights: How much each head's loss counts; all alike if None.

    Example:
        >>> heads = [tf.estimator.RegressionHead(name="a"), tf.estimator.RegressionHead(name="b")]
        >>> tf.estimator.MultiHead(heads).logits_dimension
        2
    """

    _scope = "multi_head"
    _counts_in_scope = True

    def __init__(self, heads, head_weights=None):
        check_heads(heads, head_weights)
        reductions = [head.loss_reduction for head in heads]
        if len(set(reductions)) > 1:
            raise ValueError(f"The loss_reduction must be the same for different heads. Given: {reductions}")
        self._heads = tuple(heads)
        self._head_weights = tuple(head_weights) if head_weights else ()

    name = property(lambda self: "_".join(head.name for head in self._heads))
    logits_dimension = property(lambda self: sum(head.logits_dimension for head in self._heads))
    loss_reduction = property(lambda self: self._heads[0].loss_reduction)

    def _each(self, logits, labels):
        """(head, its logits, its labels)."""
        logits = split_logits(logits, self._heads)
        labels = by_name(labels, self._heads, "labels")
        return [(head, logits[head.name], labels[head.name]) for head in self._heads]

    def loss(self, labels, logits, features=None, mode=None, regularization_losses=None):
        losses = [
            head.loss(its_labels, its_logits, features, mode)
            for head, its_logits, its_labels in self._each(logits, labels)
        ]
        with name_scope(None, "merge_losses", losses):
            return with_regularization(math.add_n(weighted(losses, self._head_weights)), regularization_losses)

    def predictions(self, logits, keys=None):
        logits = split_logits(logits, self._heads)
        by_head = [(head, head.predictions(logits[head.name])) for head in self._heads]
        found = {(head.name, key): value for head, told in by_head for key, value in told.items()}
        return {key: found[key] for key in keys} if keys else found

    def metrics(self, regularization_losses=None):
        keys = [f"{MetricKeys.LOSS}/{head.name}" for head in self._heads]
        if regularization_losses is not None:
            keys.insert(0, self._regularization_key)
        with name_scope("merge_eval"):
            return {key: keras_metrics.Mean(name=key) for key in keys}

    _regularization_key = property(lambda self: f"{MetricKeys.LOSS_REGULARIZATION}/{self.name}")

    def update_metrics(self, eval_metrics, features, logits, labels, regularization_losses=None):
        if regularization_losses is not None:
            eval_metrics[self._regularization_key].update_state(values=math.add_n(regularization_losses))
        for head, its_logits, its_labels in self._each(logits, labels):
            loss = head.loss(its_labels, its_logits, features, ModeKeys.EVAL)
            eval_metrics[f"{MetricKeys.LOSS}/{head.name}"].update_state(values=loss)
            its_metrics = head.metrics()
            head.update_metrics(its_metrics, features, its_logits, its_labels)
            eval_metrics.update(its_metrics)
        return eval_metrics

    def _own_logits(self, logits):
        return split_logits(logits, self._heads)

    def _told(self, features, mode, logits, labels):
        labels = {} if labels is None else by_name(labels, self._heads, "labels")
        training = {"train_op_fn": lambda loss: no_op()} if mode == ModeKeys.TRAIN else {}
        specs = [
            head.create_estimator_spec(features, mode, logits[head.name], labels.get(head.name), **training)
            for head in self._heads
        ]
        with name_scope("merge_pred"):
            predictions = self.predictions(logits)
        return predictions, merged_outputs(self._heads, specs) if mode == ModeKeys.PREDICT else {}

    def _key(self, key):
        return key
