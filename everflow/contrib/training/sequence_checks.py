"""Checks of ranks, shapes and dimensions: made while drawing where that is possible, and by assertions in each run."""

from __future__ import annotations

from everflow.framework.scopes import control_dependencies
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.control_flow import Assert
from everflow.ops.strings.text import as_string, string_join


def _checked(value, checks, name):
    with control_dependencies(checks):
        return array.identity(value, name=name)


def check_rank(value, rank):
    """The value, of this rank."""
    static_rank = rank if isinstance(rank, int) else constant_value(rank)
    if static_rank is not None:
        if value.shape.rank not in (None, static_rank):
            raise ValueError(f"Rank check failed for {value.name}: Shape {value.shape} must have rank {static_rank}")
    is_rank = math.equal(rank, array.rank(value))
    message = string_join([f"Rank of tensor {value.name} should be: ", as_string(rank), ", shape received:"])
    checked = _checked(value, [Assert(is_rank, [message, array.shape(value)])], "rank_checked")
    if static_rank is not None:
        checked.set_shape(TensorShape(None).with_rank(int(static_rank)))
    return checked


def check_shape(value, sizes):
    """The value, of a shape given as a list, or as a tensor where it isn't known yet."""
    if isinstance(sizes, list) and not value.shape.is_compatible_with(sizes):
        raise ValueError(
            f"Shape check failed for {value.name}: Shapes {value.shape} and {TensorShape(sizes)} are not compatible"
        )
    is_shape = math.reduce_all(math.equal(sizes, array.shape(value)))
    wanted = f"Shape of tensor {value.name} should be: "
    message = string_join([wanted, as_string(sizes), ", shape received: ", as_string(array.shape(value))])
    checked = _checked(value, [Assert(is_shape, [message])], "shape_checked")
    if isinstance(sizes, list):
        checked.set_shape(sizes)
    return checked


def check_dimensions(value, sizes, label):
    """The value, whose first dimensions have these sizes."""
    checks = []
    for dimension, size in enumerate(sizes):
        is_size = math.equal(size, array.shape(value)[dimension])
        wanted = f"Dimension {dimension} of tensor labeled {label} should be: "
        message = string_join([wanted, as_string(size), ", shape received: ", as_string(array.shape(value))])
        checks.append(Assert(is_size, [message]))
    return _checked(value, checks, f"dims_checked_{label}")


def assert_multiple_of(number, size, remainder, described):
    """An assertion that a size, whose remainder this is, is a multiple of a number and not zero."""
    is_multiple = math.logical_and(math.equal(remainder, 0), math.not_equal(size, 0))
    wanted = f"{described} should be a multiple of: "
    parts = [wanted, as_string(number), ", but saw value: ", as_string(size), ". Consider setting pad=True."]
    message = string_join(parts)
    return Assert(is_multiple, [message])
