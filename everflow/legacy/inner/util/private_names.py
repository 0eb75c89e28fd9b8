"""Names that programs take from TensorFlow's modules `nest`, `tf_inspect` and `memory` of `python.util`, private ones among them."""

import inspect as _inspect

from everflow.framework.nest import _is_named_tuple as _is_namedtuple

__all__ = ["_inspect", "_is_namedtuple", "dismantle_ordered_dict"]


def dismantle_ordered_dict(ordered_dict):
    """Empty a dictionary, so that what it holds can go without a cycle in the way."""
    ordered_dict.clear()
