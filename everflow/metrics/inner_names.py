"""Names that programs take from inside TensorFlow's `metrics_impl` to write metrics of their own."""

from everflow.metrics.means import confusion_update as _streaming_confusion_matrix
from everflow.metrics.variables import aligned as _remove_squeezable_dimensions
from everflow.metrics.variables import safe_div as _safe_div

__all__ = ["_remove_squeezable_dimensions", "_safe_div", "_streaming_confusion_matrix"]
