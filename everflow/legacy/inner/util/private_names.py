"""Names that programs take from TensorFlow's modules `nest`, `tf_inspect`, `tf_decorator`, `function_utils`, `memory` and
`is_in_graph_mode` of `python.util`, private ones among them.
"""

import inspect as _inspect

from everflow.framework.nest import _is_named_tuple, _same_named_tuple_type
from everflow.framework.nest import _items as _yield_sorted_items
from everflow.framework.nest import _sorted_keys as _sorted
from everflow.framework.nest import parts_of as _yield_value
from everflow.framework.nest import rebuilt as _sequence_like
from everflow.framework.scopes import executing_eagerly
from everflow.protos.config_pb2 import ConfigProto

__all__ = [
    "IS_IN_GRAPH_MODE",
    "_has_tf_decorator_attr",
    "_inspect",
    "_is_namedtuple",
    "_same_namedtuples",
    "_sequence_like",
    "_sorted",
    "_yield_sorted_items",
    "_yield_value",
    "dismantle_ordered_dict",
    "get_disabled_rewriter_config",
]


def IS_IN_GRAPH_MODE():
    """Whether operations are drawn rather than run."""
    return not executing_eagerly()


def _is_namedtuple(instance, strict=False):
    """Whether it is a named tuple; strictly, one whose class is derived from tuple only."""
    return _is_named_tuple(instance) and (not strict or type(instance).__bases__ == (tuple,))


def _same_namedtuples(nest1, nest2):
    """Whether two named tuples have the same name and fields."""
    return _same_named_tuple_type(nest1, nest2)


def _has_tf_decorator_attr(obj):
    """Whether a function says what it decorates."""
    return hasattr(obj, "_tf_decorator")


def get_disabled_rewriter_config():
    """The configuration, as bytes, in which no graph is rewritten."""
    config = ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config.SerializeToString()


def dismantle_ordered_dict(ordered_dict):
    """Empty a dictionary, so that what it holds can go without a cycle in the way."""
    ordered_dict.clear()
