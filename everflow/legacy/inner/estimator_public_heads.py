"""Names that tests and heads of one's own take from inside TensorFlow's modules of public heads, base_head and head_utils."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from everflow.estimator.canned.classification_heads import all_class_ids, all_classes, check_n_classes
from everflow.estimator.canned.head import summary_key
from everflow.estimator.canned.head_inputs import call_loss_fn as _call_loss_fn
from everflow.estimator.canned.head_inputs import check_loss_fn as validate_loss_fn_args
from everflow.estimator.canned.head_inputs import checked_labels as check_dense_labels_match_logits_and_reshape
from everflow.estimator.canned.head_inputs import checked_logits as check_logits_final_dim
from everflow.estimator.canned.head_inputs import checked_range as check_label_range
from everflow.estimator.canned.keys import MetricKeys
from everflow.estimator.export.outputs import ClassificationOutput
from everflow.estimator.head import BinaryClassHead, MultiClassHead, check_prediction_keys, make_train_op
from everflow.estimator.head import check_keras_optimizer as validate_v2_optimizer
from everflow.estimator.head import check_reduction as validate_loss_reduction
from everflow.estimator.head import check_trainable_variables as _check_trainable_variables
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_default_session, name_scope
from everflow.legacy.inner.estimator_heads import (
    _get_weights_and_check_match_logits as get_weights_and_check_match_logits,
)
from everflow.ops import math
from everflow.ops.io import summaries
from everflow.ops.nn.weights import broadcast_weights
from everflow.protos.summary_pb2 import Summary
from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_KEY
from everflow.train.saver import Saver

__all__ = [
    "DEFAULT_SERVING_KEY",
    "all_class_ids",
    "all_classes",
    "binary_or_multi_class_head",
    "call_loss_fn",
    "check_dense_labels_match_logits_and_reshape",
    "check_label_range",
    "check_logits_final_dim",
    "check_prediction_keys",
    "classification_output",
    "create_estimator_spec_summary",
    "create_estimator_spec_train_op",
    "create_eval_metrics_tuple",
    "get_weights_and_check_match_logits",
    "update_metric_with_broadcast_weights",
    "validate_loss_fn_args",
    "validate_loss_reduction",
    "validate_n_classes",
    "validate_trainable_variables",
    "validate_update_ops",
    "validate_v2_optimizer",
]


# --- base_head ------------------------------------------------------------------------------------


def call_loss_fn(loss_fn: Callable, labels: Any, logits: Any, features: Any, expected_loss_dim: int = 1) -> Any:
    """What a program's loss function gives, its shape checked."""
    return _call_loss_fn(loss_fn, labels, logits, features, expected_loss_dim)


def classification_output(scores: Any, n_classes: int, label_vocabulary: Any = None) -> ClassificationOutput:
    """What a classifier exports."""
    return ClassificationOutput(scores=scores, classes=all_classes(scores, n_classes, label_vocabulary))


def validate_n_classes(n_classes: int) -> int:
    """A number of classes, of which a head with a logit each has at least three."""
    check_n_classes(n_classes)
    return n_classes


def validate_trainable_variables(trainable_variables: Any = None) -> None:
    """ValueError where a Keras optimizer isn't given a list of variables."""
    _check_trainable_variables(trainable_variables)


def validate_update_ops(update_ops: Any = None) -> None:
    """ValueError for something else than a list of ops, or None."""
    if update_ops is not None and not isinstance(update_ops, (list, tuple)):
        raise ValueError(f"update_ops must be a list of ops, not {update_ops}")


def create_estimator_spec_train_op(
    head_name: str | None,
    optimizer: Any = None,
    trainable_variables: Any = None,
    train_op_fn: Callable | None = None,
    update_ops: Any = None,
    regularized_training_loss: Any = None,
    loss_reduction: str | None = None,
) -> Any:
    """The op of a training step, under `training`."""
    validate_update_ops(update_ops)
    with name_scope(""), name_scope("training"):
        return make_train_op(regularized_training_loss, optimizer, trainable_variables, train_op_fn, update_ops)


def create_estimator_spec_summary(
    regularized_training_loss: Any,
    regularization_losses: Any = None,
    summary_key_fn: Callable[[str], str] | None = None,
) -> None:
    """Summaries of the loss, and of the sum of regularization losses where there are any."""
    name = summary_key_fn or (lambda key: summary_key(None, key))
    with name_scope(""):
        summaries.scalar(name(MetricKeys.LOSS), regularized_training_loss)
        if regularization_losses:
            summaries.scalar(name(MetricKeys.LOSS_REGULARIZATION), math.add_n(regularization_losses))


def create_eval_metrics_tuple(fn: Callable, kwargs: dict) -> tuple[Callable, dict]:
    """(a function of tensors by name, the tensors): metrics as TPUs want them; other arguments are as they are here."""
    tensors = {name: value for name, value in kwargs.items() if isinstance(value, Tensor)}
    return functools.partial(fn, **{name: value for name, value in kwargs.items() if name not in tensors}), tensors


def update_metric_with_broadcast_weights(eval_metric: Any, values: Any, weights: Any) -> None:
    """Count values in a Keras metric, each with its weight."""
    eval_metric.update_state(
        values=values, sample_weight=None if weights is None else broadcast_weights(weights, values)
    )


# --- head_utils -----------------------------------------------------------------------------------


def binary_or_multi_class_head(
    n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> BinaryClassHead | MultiClassHead:
    """The head of a classifier with so many classes."""
    given = {"weight_column": weight_column, "label_vocabulary": label_vocabulary, "loss_reduction": loss_reduction}
    return BinaryClassHead(**given) if n_classes == 2 else MultiClassHead(n_classes, **given)


def _initialize_variables(test_case: Any, scaffold: Any) -> None:
    """Run what a scaffold has for a new session, in the test's."""
    scaffold.finalize()
    test_case.assertEqual((None, None), (scaffold.init_feed_dict, scaffold.init_fn))
    session = get_default_session()
    for part in ("init_op", "ready_for_local_init_op", "local_init_op", "ready_op"):
        session.run(getattr(scaffold, part))
    test_case.assertIsInstance(scaffold.saver, Saver)


def _assert_simple_summaries(
    test_case: Any, expected_summaries: dict[str, float], summary_str: bytes, tol: float = 1e-6
) -> None:
    """A serialized summary has these numbers by these tags, and no others."""
    found = Summary.FromString(summary_str)
    test_case.assertAllClose(
        expected_summaries, {value.tag: value.simple_value for value in found.value}, rtol=tol, atol=tol
    )


def _assert_no_hooks(test_case: Any, spec: Any) -> None:
    """A spec brings no hooks."""
    test_case.assertAllEqual([], spec.training_chief_hooks)
    test_case.assertAllEqual([], spec.training_hooks)
