"""Constants and placeholders, and how Python values turn into constants."""

from __future__ import annotations

import math

import numpy as np

from everflow.framework import dtypes, errors, nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import internal_convert_to_tensor, register_tensor_conversion_function
from everflow.framework.op_defs import get
from everflow.framework.operation import Tensor
from everflow.framework.registry import gradient, not_differentiable, shape_rule
from everflow.framework.scopes import get_default_graph, name_scope
from everflow.framework.shapes import Dimension, TensorShape
from everflow.framework.tensor_values import TensorValue, constant_array, make_tensor_proto
from everflow.ops.array.refusals import refused
from everflow.ops.shape_rules import attribute_shape
from everflow.protos.tensor_pb2 import TensorProto


def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    """A tensor with a fixed value. Fewer values than `shape` takes repeat the last one.

    Args:
        value: A number, string, list or array.
        dtype: The type; that of the value if None.
        shape: The shape; that of the value if None.
        name: The name of the operation in the graph.
        verify_shape: Whether the value must have exactly `shape`.

    Returns:
        A tensor. In a graph, the value is kept in the GraphDef.

    Raises:
        TypeError: If the value doesn't fit the type.
        ValueError: If the value has more elements than the shape.

    Example:
        >>> sess.run(tf.constant([1, 2, 3]) * 2)
        array([2, 4, 6], dtype=int32)
        >>> sess.run(tf.constant(7, shape=[2, 2]))
        array([[7, 7],
               [7, 7]], dtype=int32)
    """
    return _constant(value, dtype, shape, name, verify_shape)


def constant_v2(value, dtype=None, shape=None, name="Const"):
    """A tensor with a fixed value: as many values as `shape` takes, or one for all places.

    Args:
        value: A number, string, list or array.
        dtype: The type; that of the value if None.
        shape: The shape; that of the value if None.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Raises:
        TypeError: If the values don't fit the type, or are neither one nor as many as the shape takes.

    Example:
        >>> sess.run(tf.compat.v2.constant([1, 2, 3, 4], shape=[2, 2]))
        array([[1, 2],
               [3, 4]], dtype=int32)
    """
    return _constant(value, dtype, shape, name, allow_broadcast=True)


def _constant(value, dtype=None, shape=None, name="Const", verify_shape=False, allow_broadcast=False):
    graph = get_default_graph()
    if graph.executes and shape is None:
        if isinstance(value, Tensor) and dtype is not None and value.dtype != dtype:
            raise TypeError(
                f"tf.constant makes no {dtypes.as_dtype(dtype).name} of a tensor of {value.dtype.name}: cast it"
            )
        return graph.constant(
            value, dtype, lambda: _make(graph, value, dtype, None, name, verify_shape, allow_broadcast)
        )
    return _make(graph, value, dtype, shape, name, verify_shape, allow_broadcast)


def _make(graph, value, dtype, shape, name, verify_shape, allow_broadcast):
    if isinstance(value, TensorProto) and not graph.executes:
        return _held(graph, TensorValue(proto=value), name)
    if graph.executes:
        value = _plain(value)
    asked = dtype
    if graph.executes and dtype is None and isinstance(value, (list, tuple)):
        dtype = _type_of_first(value)
    if graph.executes:
        try:
            array, found, _ = constant_array(value, dtype, arrays=True)
        except (TypeError, ValueError) as e:
            raise refused(value, asked, e, _holds_one_kind(value)) from None
        if asked is None and _overflows(array, value):
            raise ValueError(f"{value!r} has numbers too large for a {found.name}: give a dtype")
        array = array if shape is None else _in_shape(array, shape, verify_shape)
        shape = array.shape
    else:
        array, found, shape = constant_array(value, dtype, shape, verify_shape, allow_broadcast)
    if array.shape == shape:
        held = TensorValue(array=_own(array), dtype=found)
    else:
        held = TensorValue(proto=make_tensor_proto(array, found, shape, allow_broadcast=allow_broadcast))
    return _held(graph, held, name)


def _held(graph, value, name):
    attrs = {"value": value, "dtype": value.dtype}
    return graph.add_op(get("Const"), [], [value.dtype], attrs, "Const" if name is None else name).outputs[0]


def _in_shape(array, shape, verify_shape):
    """An array as a constant of a shape when executing eagerly: as many values as that takes, or a scalar for all."""
    shape = tuple(TensorShape(shape).as_list())
    if None in shape:
        raise ValueError(f"A constant's shape must be known: {shape}")
    if verify_shape and array.shape != shape or array.size not in (1, math.prod(shape)):
        raise TypeError(f"A constant of shape {shape} can't be made of values of shape {array.shape}")
    if array.size == math.prod(shape):
        return array.reshape(shape)
    if array.ndim:
        raise errors.InvalidArgumentError(
            None, None, f"Only a scalar fills a constant of shape {shape}, not values of shape {array.shape}"
        )
    return np.broadcast_to(array, shape)


def _type_of_first(values):
    """The type that the first number in lists decides on when executing eagerly, where it is one of numpy's: a float
    keeps its width, a whole number never does; None leaves it to the values.
    """
    leaves = nest.flatten(values)
    if any(isinstance(x, Tensor) for x in leaves):
        return None
    types = {type(x) for x in leaves}
    if (complex in types or (leaves and type(leaves[0]) is bool)) and len(types & _PYTHON_NUMBERS) > 1:
        raise ValueError(f"{values!r} mixes kinds of numbers, so it can't become a tensor: give a dtype")
    first = leaves[0] if leaves and np.size(leaves[0]) else None
    kind = first.dtype if isinstance(first, (np.generic, np.ndarray)) else np.dtype(np.float32)
    if kind in (np.float64, np.float16):
        return dtypes.as_dtype(kind)
    if kind == np.complex64:
        return dtypes.complex128
    whole = all(isinstance(x, (int, np.integer)) or isinstance(x, np.ndarray) and x.dtype.kind in "iu" for x in leaves)
    return dtypes.int32 if kind.kind in "iu" and kind.itemsize < 8 and whole else None


def _plain(value):
    """A value as numbers, where it is one of those that stand for them."""
    if isinstance(value, Dimension):
        return value.value
    return list(value) if isinstance(value, range) else value.as_list() if isinstance(value, TensorShape) else value


_PYTHON_NUMBERS = {bool, int, float, complex}


def _overflows(array, value):
    """Whether numbers of Python are too large for the type that such numbers get."""
    if type(value) is int:
        return not -(2**63) <= value < 2**63
    if array.dtype != np.float32 or not isinstance(value, (float, list, tuple)) or not np.isinf(array).any():
        return False
    return any(type(x) is float and math.isfinite(x) and abs(x) > _FLOAT32_MAX for x in nest.flatten(value))


_FLOAT32_MAX = float(np.finfo(np.float32).max)


def _holds_one_kind(value):
    """Whether a value holds only text or only numbers, none of them too large."""
    leaves = nest.flatten(value) if isinstance(value, (list, tuple)) else [value]
    if all(isinstance(x, (str, bytes, bytearray)) for x in leaves):
        return True
    numbers = (bool, int, float, complex, np.generic, np.ndarray, Tensor, Dimension)
    return all(isinstance(x, numbers) and not (type(x) is int and abs(x) >= 2**64) for x in leaves)


def _own(array):
    """A copy that nobody else can change, unless it is one already."""
    return np.array(array, order="C", copy=True)


def _from_python_value(value, dtype=None, name=None, as_ref=False):
    return _constant(value, dtype, name=name or "Const")


def _from_shape(value, dtype=None, name=None, as_ref=False):
    if not value.is_fully_defined():
        raise ValueError(
            f"The shape {value} is not fully known, so it is no tensor: use tf.shape() for the sizes of a run"
        )
    sizes = value.as_list()
    large = any(s >= 2**31 for s in sizes)
    if dtype is None:
        dtype = dtypes.int64 if large else dtypes.int32
    elif dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    elif large and dtype == dtypes.int32:
        raise ValueError(f"The shape {value} has a size that is too large for int32: use int64")
    return _constant(sizes, dtype, name=name or "shape_as_tensor")


def _from_dimension(value, dtype=None, name=None, as_ref=False):
    if value.value is None:
        raise ValueError("An unknown Dimension is no tensor: use tf.shape() for the sizes of a run")
    if dtype is not None and dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    return _constant(value.value, dtype or dtypes.int32, name=name or "shape_as_tensor")


def _holds_tensor(values):
    """The dtype of the first tensor in nested lists, or None."""
    for value in values:
        if isinstance(value, (list, tuple)):
            found = _holds_tensor(value)
        else:
            found = value.dtype if isinstance(value, Tensor) or hasattr(value, "_is_tensor_like") else None
        if found is not None:
            return found
    return None


def _autopack(value, dtype=None, name=None, as_ref=False):
    """A list with tensors in it becomes a stack of them."""
    if as_ref:
        return NotImplemented
    found = _holds_tensor(value)
    if found is None:
        return NotImplemented
    found = found.base_dtype
    if dtype is not None and dtype != found:
        value, found = _cast_tensors(value, dtype.base_dtype), dtype.base_dtype
    return pack_nested(value, found, name or "packed")


def _cast_tensors(values, dtype):
    """Nested lists with the tensors in them cast to a dtype."""
    if isinstance(values, (list, tuple)):
        return [_cast_tensors(v, dtype) for v in values]
    if isinstance(values, Tensor) or hasattr(values, "_is_tensor_like"):
        tensor = internal_convert_to_tensor(values)
        return tensor if tensor.dtype.base_dtype == dtype else raw.Cast(x=tensor, DstT=dtype)
    return values


def pack_nested(values, dtype, scope):
    """Stack nested lists of tensors and numbers of one dtype; what is not a tensor becomes a constant."""
    with name_scope(scope) as scope:
        converted, must_pack = [], False
        for i, element in enumerate(values):
            if isinstance(element, Tensor) or hasattr(element, "_is_tensor_like"):
                element = internal_convert_to_tensor(element)
                if not element.dtype.is_compatible_with(dtype) and element.dtype.base_dtype != dtype:
                    raise TypeError(
                        f"A list with a tensor of dtype {element.dtype} can't become {dtype}; cast {element!r} first"
                    )
                converted.append(element)
                must_pack = True
            elif isinstance(element, (list, tuple)):
                packed = pack_nested(element, dtype, str(i))
                must_pack = must_pack or isinstance(packed, Tensor)
                converted.append(packed)
            else:
                converted.append(element)
        if not must_pack:
            return converted
        parts = [e if isinstance(e, Tensor) else _constant(e, dtype, name=str(i)) for i, e in enumerate(converted)]
        return raw.Pack(parts, name=scope)


register_tensor_conversion_function((list, tuple), _autopack, 99)
register_tensor_conversion_function((list, tuple), _from_python_value, 100)
register_tensor_conversion_function(np.ndarray, _from_python_value, 100)
register_tensor_conversion_function(np.generic, _from_python_value, 100)
register_tensor_conversion_function(TensorShape, _from_shape, 99)
register_tensor_conversion_function(Dimension, _from_dimension, 100)
register_tensor_conversion_function(object, _from_python_value, 200)


def placeholder(dtype, shape=None, name=None):
    """A tensor whose value must be fed.

    Args:
        dtype: The type of the elements.
        shape: The shape of what will be fed; None for any, None in it for sizes that may be any.
        name: The name of the operation in the graph.

    Returns:
        A tensor; running what needs it without feeding it is an error.

    Raises:
        RuntimeError: When executing eagerly.

    Example:
        >>> x = tf.placeholder(tf.float32, [None, 2])
        >>> sess.run(tf.reduce_sum(x, axis=1), feed_dict={x: [[1.0, 2.0], [3.0, 4.0]]})
        array([3., 7.], dtype=float32)
    """
    return raw.Placeholder(dtype=dtype, shape=shape, name=name)


def placeholder_with_default(input, shape, name=None):
    """A tensor that may be fed, and passes `input` on where it is not.

    Args:
        input: The value where nothing is fed.
        shape: The lengths of the axes.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Example:
        >>> rate = tf.placeholder_with_default(0.5, [])
        >>> sess.run(rate), sess.run(rate, {rate: 0.1})
        (np.float32(0.5), array(0.1, dtype=float32))
    """
    return raw.PlaceholderWithDefault(input=input, shape=shape, name=name)


@shape_rule("Const")
def _const_shape(op):
    return op.attrs["value"].shape


shape_rule("Placeholder", "PlaceholderV2")(attribute_shape)


@shape_rule("PlaceholderWithDefault")
def _placeholder_with_default_shape(op):
    # What is fed may differ from the default in what the attribute leaves open.
    shape = op.attrs["shape"]
    if not shape.is_compatible_with(op.inputs[0].shape):
        raise ValueError(f"The default's shape {op.inputs[0].shape} does not fit the placeholder's {shape}")
    return shape


not_differentiable("Const", "Placeholder")


@gradient("PlaceholderWithDefault")
def _placeholder_with_default_grad(op, grad):
    return grad
