"""Checks and small sums on tensors, and names with and without their scopes."""

from __future__ import annotations

import re

import numpy as np

from everflow.framework import dtypes, nest
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import control_dependencies, get_default_graph, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.framework.type_specs import TensorSpec
from everflow.ops import array, math
from everflow.ops.checks.shapes import assert_scalar
from everflow.ops.control_flow import Assert
from everflow.ops.functions.python import py_func as _py_func
from everflow.ops.math.confusion_matrix import remove_squeezable_dimensions as _squeezed
from everflow.platform.compat import as_text
from everflow.platform.deprecation import deprecated


def reduce_sum_n(tensors, name=None):
    """The sum over all elements of all tensors."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as name_scoped:
        sums = [math.reduce_sum(t, name=f"{t.op.name}/sum") for t in tensors]
        return sums[0] if len(sums) == 1 else math.add_n(sums, name=name_scoped)


@deprecated(
    None, "tf.confusion_matrix.remove_squeezable_dimensions has taken its place; it takes and gives the labels first."
)
def remove_squeezable_dimensions(predictions, labels, name=None):
    """(predictions, labels) with the last dimension of one dropped where it is 1 and the other lacks it."""
    with name_scope(name, "remove_squeezable_dimensions", [predictions, labels]) as scope:
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        labels, predictions = _squeezed(labels, predictions, name=scope)
    return predictions, labels


def assert_scalar_int(tensor, name=None):
    """The tensor, once it is known to be a scalar of an integer type."""
    with name_scope(name, "assert_scalar_int", [tensor]):
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(f"Expected integer type for {tensor.name}, received type: {tensor.dtype}.")
        return assert_scalar(tensor)


# --- shapes ----------------------------------------------------------------------------------


def with_same_shape(expected_tensor, tensor):
    """`tensor`, which fails when run where its shape is not that of the other."""
    with name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        shape = expected_tensor.get_shape()
        expected = shape.as_list() if shape.is_fully_defined() else array.shape(expected_tensor, name="expected_shape")
        return with_shape(expected, tensor)


def with_shape(expected_shape, tensor):
    """`tensor` with this shape known: checked at once where possible, else when run."""
    if isinstance(tensor, SparseTensor):
        raise ValueError("SparseTensor not supported.")
    if not isinstance(tensor, Tensor):
        raise ValueError(f"tensor {tensor} is not a Tensor.") from None

    def check(what, value, is_valid):
        if not is_valid:
            raise ValueError(f"Invalid {what} {value} for shape {expected_shape} expected of tensor {tensor.name}.")

    if isinstance(expected_shape, Tensor):
        rank = expected_shape.get_shape().ndims
        check("dtype", expected_shape.dtype, expected_shape.dtype.base_dtype == dtypes.int32)
        check("rank", rank, rank is None or rank <= 1)
        known = constant_value(expected_shape)
        if known is None:
            return _checked_when_run(expected_shape, tensor)
        expected_shape = [int(d) for d in known]
    expected = _sizes(expected_shape)
    check("dtype", expected.dtype, expected.dtype == np.int32)
    check("rank", expected.ndim, expected.ndim == 1)
    actual = tensor.get_shape()
    if not actual.is_fully_defined() or any(d < 0 for d in expected):
        result = _checked_when_run(expected, tensor)
        result.set_shape([None if d < 0 else int(d) for d in expected])
        return result
    if not actual.is_compatible_with(TensorShape(expected.tolist())):
        raise ValueError(f"Invalid shape for tensor {tensor.name}, expected {expected}, got {actual}.")
    return tensor


def _sizes(shape):
    """A shape given as Python numbers or an array, as an array; Python's whole numbers are int32 here."""
    if isinstance(shape, np.ndarray):
        return shape
    sizes = np.array(shape if len(shape) else np.array([], np.int32))
    return sizes.astype(np.int32) if sizes.dtype == np.int64 else sizes


def _checked_when_run(expected, tensor):
    with name_scope(f"{tensor.op.name}/", values=[tensor]):
        with name_scope("assert_shape", values=[tensor]) as scope:
            actual = array.shape(tensor, name="actual")
            fits = _is_shape(expected, tensor, actual)
            check = Assert(fits, [f"Wrong shape for {tensor.name} [expected] [actual].", expected, actual], name=scope)
        with control_dependencies([check]):
            return array.identity(tensor)


def _is_shape(expected, tensor, actual):
    with name_scope("is_shape") as scope:
        rank_fits = _is_rank(array.size(expected), tensor)
        with name_scope("shape_tensor_equal") as inner:
            any_size = math.equal(expected, -1)
            same = math.equal(expected, actual, name="equal")
            fits = math.reduce_all(math.logical_or(any_size, same, name="exclude_partial_shape"), name=inner)
        return math.logical_and(rank_fits, fits, name=scope)


def _is_rank(expected_rank, tensor):
    with name_scope("is_rank") as scope:
        return math.equal(expected_rank, array.rank(tensor, name="actual"), name=scope)


# --- functions and names ---------------------------------------------------------------------


def py_func(func, args=(), kwargs=None, output_types=None, output_shapes=None, stateful=True, name=None):
    """As `tf.py_func`, for arguments and results in nested structures, whose shapes can be given.

    >>> total = py_func(lambda a, b: {"sum": a + b}, [x], {"b": y}, output_types={"sum": tf.float32}, output_shapes={"sum": ()})
    """
    if not callable(func):
        raise ValueError(f"func has to be a callable, got {func!r}") from None
    kwargs = kwargs or {}
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be list and not a {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be a dict and not a {type(args)}. args: {kwargs}")
    flat_args = nest.flatten([list(args), kwargs])
    flat_types = nest.flatten(output_types)

    def flat_func(*given):
        call_args, call_kwargs = nest.pack_sequence_as([list(args), kwargs], given)
        result = func(*call_args, **call_kwargs)
        nest.assert_same_structure(output_types, result)
        return nest.flatten(result)

    results = _py_func(flat_func, flat_args, flat_types, stateful=stateful, name=name)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    if output_shapes is not None:
        nest.assert_shallow_structure(output_types, output_shapes)
        for result, shape in zip(results, nest.flatten_up_to(output_types, output_shapes)):
            result.set_shape(shape)
    return nest.pack_sequence_as(output_types, results)


def get_name_scope():
    """The name scope that ops are made in here, without its final slash."""
    return get_default_graph().get_name_scope()


def get_placeholders(graph):
    """The tensors of all placeholders in a graph."""
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


def get_graph_from_inputs(op_input_list, graph=None):
    """The graph that the inputs are in; ValueError where they differ."""
    if graph is None:
        inputs = [x for x in op_input_list if hasattr(x, "graph")]
        graph = inputs[0].graph if inputs else get_default_graph()
    for item in op_input_list:
        if getattr(item, "graph", graph) is not graph:
            raise ValueError(f"{item} is not from the passed-in graph.")
    return graph


_MARKED = re.compile(r"(\^|loc:@|)(.*)", re.DOTALL)


def prepend_name_scope(name, import_scope):
    """A node's name as it is inside a scope; control inputs and colocations keep their marks."""
    if not import_scope:
        return name
    mark, rest = _MARKED.match(as_text(name)).groups()
    return f"{mark}{import_scope.rstrip('/')}/{rest}"


def strip_name_scope(name, export_scope):
    """A node's name without the scope it is in."""
    if not export_scope:
        return name
    mark, rest = _MARKED.match(as_text(name)).groups()
    return mark + rest.removeprefix(export_scope.rstrip("/") + "/")


class BoundedTensorSpec(TensorSpec):
    """A `TensorSpec` whose values lie between two bounds."""

    def __init__(self, shape, dtype, minimum, maximum, name=None):
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError(f"A BoundedTensorSpec wants both bounds, got minimum={minimum} and maximum={maximum}")
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, name, value):
        bound = np.array(value, dtype=self.dtype.as_numpy_dtype)
        try:
            np.broadcast_to(bound, [d or 1 for d in self.shape.as_list()])
        except ValueError as e:
            raise ValueError(f"{name} is not compatible with shape. Message: {e!r}.") from None
        bound.setflags(write=False)
        return bound

    minimum = property(lambda self: self._minimum, doc="The smallest values, inclusive.")
    maximum = property(lambda self: self._maximum, doc="The largest values, inclusive.")

    @classmethod
    def from_spec(cls, spec):
        """A spec with the bounds of `spec`, or where it has none those of its dtype."""
        dtype = dtypes.as_dtype(spec.dtype)
        bounds = getattr(spec, "minimum", dtype.min), getattr(spec, "maximum", dtype.max)
        return cls(spec.shape, spec.dtype, *bounds, spec.name)

    def _serialize(self):
        return (self.shape, self.dtype, self.minimum, self.maximum, self.name)

    def __repr__(self):
        return f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, minimum={self.minimum!r}, maximum={self.maximum!r})"

    def __eq__(self, other):
        if not isinstance(other, BoundedTensorSpec):
            return False
        same_bounds = np.allclose(self.minimum, other.minimum) and np.allclose(self.maximum, other.maximum)
        return (self.shape, self.dtype, self.name) == (other.shape, other.dtype, other.name) and same_bounds

    def __hash__(self):
        return hash((self.shape.sizes, self.dtype, self.name))
