"""What tf.contrib.labeled_tensor has inside of its module `core`: orders of axes, and functions under longer names."""

from __future__ import annotations

from everflow.contrib.labeled_tensor.axes import Axis, AxisOrderError, current_order, merged_order, wanted_order
from everflow.contrib.labeled_tensor.core import ELEMENTWISE

__all__ = [
    "_find_consistent_ordering",
    "_get_valid_axis_order",
    "abs_function",
    "concat_axes",
    "get_axis_order",
    "pow_function",
    "round_function",
]

abs_function, pow_function, round_function = (ELEMENTWISE[name] for name in ("abs", "pow", "round"))
get_axis_order = current_order
_get_valid_axis_order = wanted_order


def _find_consistent_ordering(a, b):
    """An order of the names of both that keeps the order of each, or None."""
    try:
        return merged_order(a, b)
    except AxisOrderError:
        return None


def concat_axes(axes):
    """The axis of values that lie one behind the other along axes of one name: labels where all have them."""
    if not axes:
        raise ValueError("There is no axis to begin with")
    names = {axis.name for axis in axes}
    if len(names) > 1:
        raise ValueError(f"the axes have several names: {sorted(names)}")
    (name,) = names
    if all(axis.labels is not None for axis in axes):
        return Axis(name, [label for axis in axes for label in axis.labels])
    sizes = [axis.size for axis in axes]
    return Axis(name, None if None in sizes else sum(sizes))
