"""tf.contrib.receptive_field: which part of the input a feature of a convolutional network sees.

The functions are in `receptive_field_api` and the modules it hands on, as in TensorFlow.
"""

from everflow.contrib.receptive_field import receptive_field_api
from everflow.contrib.receptive_field.fields import compute_receptive_field_from_graph_def
from everflow.contrib.receptive_field.order import get_compute_order

__all__ = ["compute_receptive_field_from_graph_def", "get_compute_order", "receptive_field_api"]
