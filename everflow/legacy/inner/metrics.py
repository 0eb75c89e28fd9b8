"""Names that programs take from inside TensorFlow's `metrics_impl` to write metrics of their own."""

from everflow.framework.scopes import add_to_collections
from everflow.metrics.at_k import average_precision_at_top_k
from everflow.metrics.means import confusion_update as _streaming_confusion_matrix
from everflow.metrics.thresholds import counts_at_thresholds
from everflow.metrics.variables import aligned as _remove_squeezable_dimensions
from everflow.ops import array, math

__all__ = [
    "_aggregate_variable",
    "_confusion_matrix_at_thresholds",
    "_remove_squeezable_dimensions",
    "_safe_div",
    "_safe_scalar_div",
    "_streaming_confusion_matrix",
    "_streaming_sparse_average_precision_at_top_k",
]


def _safe_div(numerator, denominator, name):
    """numerator / denominator, zero where the denominator is not positive; there until TensorFlow 1.12."""
    quotient = math.truediv(numerator, denominator)
    zero = array.zeros_like(quotient, dtype=denominator.dtype)
    return array.where(math.greater(denominator, 0), quotient, zero, name=name)


def _safe_scalar_div(numerator, denominator, name):
    """numerator / denominator of scalars, zero where the denominator is zero."""
    numerator.shape.with_rank_at_most(1)
    denominator.shape.with_rank_at_most(1)
    return math.div_no_nan(numerator, denominator, name=name)


def _aggregate_variable(v, collections):
    """The value of a metric's variable, noted in collections."""
    value = array.identity(v)
    if collections:
        add_to_collections(collections, value)
    return value


def _confusion_matrix_at_thresholds(labels, predictions, thresholds, weights=None, includes=None):
    """({kind: variable}, {kind: update op}) of true and false positives and negatives at each threshold."""
    kinds = {} if includes is None else {"includes": includes}
    return counts_at_thresholds(labels, predictions, thresholds, weights, **kinds)


def _streaming_sparse_average_precision_at_top_k(
    labels, predictions_idx, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The average precision of predictions that are sorted already."""
    return average_precision_at_top_k(labels, predictions_idx, weights, metrics_collections, updates_collections, name)
