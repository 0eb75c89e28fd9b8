"""tf.contrib.receptive_field.receptive_field_api: the functions that users call."""

from everflow.contrib.receptive_field.fields import compute_receptive_field_from_graph_def
from everflow.contrib.receptive_field.order import get_compute_order

__all__ = ["compute_receptive_field_from_graph_def", "get_compute_order"]
