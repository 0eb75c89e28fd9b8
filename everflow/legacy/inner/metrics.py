"""Names that programs take from inside TensorFlow's `metrics_impl` to write metrics of their own."""

from everflow.metrics.means import confusion_update as _streaming_confusion_matrix
from everflow.metrics.variables import aligned as _remove_squeezable_dimensions
from everflow.ops import array, math

__all__ = ["_remove_squeezable_dimensions", "_safe_div", "_streaming_confusion_matrix"]


def _safe_div(numerator, denominator, name):
    """numerator / denominator, zero where the denominator is not positive; there until TensorFlow 1.12."""
    quotient = math.truediv(numerator, denominator)
    zero = array.zeros_like(quotient, dtype=denominator.dtype)
    return array.where(math.greater(denominator, 0), quotient, zero, name=name)
