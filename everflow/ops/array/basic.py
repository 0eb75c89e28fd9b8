"""Shapes, filled tensors, reshaping and passing on: build functions and shape rules."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from everflow.framework import dtypes, shapes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor, SparseTensorValue
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import executing_eagerly, name_scope
from everflow.framework.shapes import TensorShape, unknown_shape
from everflow.framework.static_values import known_shape, known_value, shaped
from everflow.ops.array.constants import constant
from everflow.ops.array.ragged_rows import has_ragged_form, takes_ragged
from everflow.ops.shape_rules import scalar_output

# Filled tensors of fewer elements become constants.
_SMALL = 1000


def cast_to(x, dtype, name=None):
    """`x` itself where it has this dtype, else a Cast of it."""
    return x if x.dtype.base_dtype == dtype else raw.Cast(x=x, DstT=dtype, name=name)


def known_int(tensor):
    """The int that a tensor of one element is known to hold, else None."""
    value = known_value(tensor)
    return None if value is None else int(np.ravel(value)[0])


def known_ints(tensor):
    """The ints that a vector is known to hold, else None."""
    value = known_value(tensor)
    return None if value is None else [int(v) for v in np.ravel(value)]


def wrap(axis, rank):
    """A nonnegative axis of a tensor of this rank; ValueError where there is none."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is not in [{-rank}, {rank})")
    return axis % rank


# Shapes


def shape(input, name=None, out_type=dtypes.int32):
    """The shape of a tensor as an int vector; a constant where it is known before running.

    Args:
        input: The tensor to work on.
        name: The name of the operation in the graph.
        out_type: The type of the result.

    Returns:
        A vector.

    Example:
        >>> sess.run(tf.shape([[1, 2, 3], [4, 5, 6]]))
        array([2, 3], dtype=int32)
    """
    return shape_internal(input, name, out_type=out_type)


def shape_internal(input, name=None, optimize=True, out_type=dtypes.int32):
    """As `shape`; without `optimize` always a Shape op."""
    with name_scope(name, "Shape", [input]) as name:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            return cast_to(convert_to_tensor(input.dense_shape), dtypes.as_dtype(out_type))
        tensor = convert_to_tensor(input)
        if optimize and tensor.shape.is_fully_defined():
            return constant(tensor.shape.as_list(), out_type, name=name)
        # The op converts its input itself: a resource variable is read once more, as in TensorFlow.
        return raw.Shape(input=input, out_type=out_type, name=name)


def shape_n(input, out_type=dtypes.int32, name=None):
    """The shapes of several tensors of one dtype.

    Args:
        input: A list of tensors.
        out_type: The type of the result.
        name: The name of the operation in the graph.

    Returns:
        A list of vectors.

    Example:
        >>> sess.run(tf.shape_n([[1, 2], [3]]))
        [array([2], dtype=int32), array([1], dtype=int32)]
    """
    return raw.ShapeN(input=input, out_type=out_type, name=name)


@has_ragged_form
def size(input, name=None, out_type=dtypes.int32):
    """How many elements a tensor has; a constant where that is known before running.

    Args:
        input: The tensor to work on.
        name: The name of the operation in the graph.
        out_type: The type of the result.

    Returns:
        A scalar.

    Example:
        >>> sess.run(tf.size([[1, 2, 3], [4, 5, 6]]))
        np.int32(6)
    """
    return size_internal(input, name, out_type=out_type)


def size_internal(input, name=None, optimize=True, out_type=dtypes.int32):
    """As `size`; without `optimize` always a Size op."""
    with name_scope(name, "Size", [input]) as name:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            return raw.Prod(
                input=cast_to(convert_to_tensor(input.dense_shape), dtypes.as_dtype(out_type)),
                reduction_indices=0,
                name=name,
            )
        tensor = convert_to_tensor(input)
        if optimize:
            if tensor.shape.is_fully_defined():
                return constant(tensor.shape.num_elements(), out_type, name=name)
            if tensor.shape.rank is not None and 0 in tensor.shape.as_list():
                return constant(0, out_type, name=name)
        return raw.Size(input=input, out_type=out_type, name=name)


@has_ragged_form
def rank(input, name=None):
    """How many dimensions a tensor has; a constant where that is known before running.

    Args:
        input: The tensor to work on.
        name: The name of the operation in the graph.

    Returns:
        A scalar, int32.

    Example:
        >>> sess.run(tf.rank([[1, 2], [3, 4]]))
        np.int32(2)
    """
    return rank_internal(input, name)


def rank_internal(input, name=None, optimize=True):
    """As `rank`; without `optimize` always a Rank op."""
    with name_scope(name, "Rank", [input]) as name:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            return raw.Size(input=convert_to_tensor(input.dense_shape), name=name)
        tensor = convert_to_tensor(input)
        if optimize and tensor.shape.rank is not None:
            return constant(tensor.shape.rank, dtypes.int32, name=name)
        return raw.Rank(input=input, name=name)


@shape_rule("Shape")
def _shape_shape(op):
    return TensorShape([op.inputs[0].shape.rank])


@shape_rule("ShapeN")
def _shape_n_shape(op):
    return [TensorShape([t.shape.rank]) for t in op.inputs]


shape_rule("Size", "Rank")(scalar_output)


def reshape(tensor, shape, name=None):
    """The same elements in another shape; one size may be -1 and is worked out.

    Args:
        tensor: The tensor.
        shape: The new sizes; -1 for the one that follows from the others.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Raises:
        ValueError: If the number of elements can't be the same.

    Example:
        >>> sess.run(tf.reshape([1, 2, 3, 4, 5, 6], [2, -1]))
        array([[1, 2, 3],
               [4, 5, 6]], dtype=int32)
    """
    return shaped(raw.Reshape(tensor=tensor, shape=shape, name=name), shape)


@shape_rule("Reshape")
def _reshape_shape(op):
    return reshaped(op.inputs[0].shape, op.inputs[1])


@shape_rule("QuantizedReshape")
def _quantized_reshape_shape(op):
    for t in op.inputs[2:]:
        t.shape.assert_has_rank(0)
    return [reshaped(op.inputs[0].shape, op.inputs[1]), TensorShape([]), TensorShape([])]


def reshaped(source, shape_tensor):
    """The static shape of a reshape, with as much of its open sizes filled in as the source allows."""
    if shape_tensor.shape.rank not in (None, 1):
        raise ValueError(f"Shape must be rank 1 but is rank {shape_tensor.shape.rank}")
    wanted = known_shape(shape_tensor)
    if wanted.rank is None:
        return wanted
    sizes = wanted.as_list()
    known = math.prod(s for s in sizes if s is not None)
    open_sizes = [i for i, s in enumerate(sizes) if s is None]
    count = source.num_elements()
    if count is None and source.rank is not None and 0 in source.as_list():
        count = 0  # whatever the other sizes are
    if count is not None:
        if not open_sizes or (len(open_sizes) == 1 and not known):
            if count != known:
                raise cannot_reshape(count, sizes, known)
        elif len(open_sizes) == 1:
            if count % known:
                raise ValueError(f"Dimension size must be evenly divisible by {known} but is {count}")
            sizes[open_sizes[0]] = count // known
    return TensorShape(sizes)


def cannot_reshape(count, sizes, known):
    """What is said of a shape that asks for other than `count` elements: its sizes, None where open, have room for
    `known`.
    """
    shown = ",".join("?" if size is None else str(size) for size in sizes)
    return ValueError(f"Cannot reshape a tensor with {count} elements to [{shown}], which has {known}")


@has_ragged_form
def expand_dims(input, axis=None, name=None, dim=None):
    """Add a dimension of size 1 at an axis.

    Args:
        input: The tensor to work on.
        axis: Where the new axis is put, from `-rank - 1` to `rank`.
        name: The name of the operation in the graph.
        dim: An older name of `axis`.

    Returns:
        A tensor with one axis more.

    Raises:
        ValueError: If `axis` and `dim` are both given, or neither.

    Example:
        >>> sess.run(tf.expand_dims([1, 2], -1))
        array([[1],
               [2]], dtype=int32)
    """
    axis = either("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("expand_dims() wants an axis: the place of the new dimension")
    return raw.ExpandDims(input=input, dim=axis, name=name)


def either(new_name, new, old_name, old):
    """The value of an argument that has an older name; both may not be given."""
    if old is not None:
        if new is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old
    return new


@shape_rule("ExpandDims")
def _expand_dims_shape(op):
    if op.inputs[1].shape.num_elements() not in (None, 1):
        raise ValueError(f"'dim' input must be a tensor with a single value, not of shape {op.inputs[1].shape}")
    source, axis = op.inputs[0].shape, known_int(op.inputs[1])
    if source.rank is None or axis is None:
        return None
    if not -source.rank - 1 <= axis <= source.rank:
        raise ValueError(f"dim {axis} not in the interval [{-source.rank - 1}, {source.rank}].")
    sizes = source.as_list()
    sizes.insert(axis if axis >= 0 else axis + source.rank + 1, 1)
    return TensorShape(sizes)


@has_ragged_form
def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """Drop dimensions of size 1: all of them, or those at `axis`.

    Args:
        input: The tensor to work on.
        axis: The axis or axes to drop; all of size 1 if None.
        name: The name of the operation in the graph.
        squeeze_dims: An older name of `axis`.

    Returns:
        A tensor with fewer axes.

    Raises:
        ValueError: If an axis to drop has another size.

    Example:
        >>> sess.run(tf.squeeze([[[1], [2]]]))
        array([1, 2], dtype=int32)
        >>> sess.run(tf.squeeze([[[1], [2]]], axis=0)).shape
        (2, 1)
    """
    axis = either("axis", axis, "squeeze_dims", squeeze_dims)
    if np.isscalar(axis):
        axis = [axis]
    return raw.Squeeze(input=input, squeeze_dims=axis, name=name)


@shape_rule("Squeeze")
def _squeeze_shape(op):
    source, axes = op.inputs[0].shape, op.attrs["squeeze_dims"]
    if source.rank is None:
        return None
    sizes = source.as_list()
    if not axes:
        return unknown_shape() if None in sizes else TensorShape([s for s in sizes if s != 1])
    gone = set()
    for axis in axes:
        if not -source.rank <= axis < source.rank:
            raise ValueError(f"squeeze_dims[{axes.index(axis)}] not in [{-source.rank},{source.rank}).")
        gone.add(axis % source.rank)
        if sizes[axis] not in (None, 1):
            raise ValueError(f"Can not squeeze dim[{axis % source.rank}], expected a dimension of 1, got {sizes[axis]}")
    return TensorShape([s for i, s in enumerate(sizes) if i not in gone])


def ensure_shape(x, shape, name=None):
    """`x`, checked when it runs to have this (perhaps partly known) shape, and known to have it from here on.

    Args:
        x: A tensor, or what can be made one.
        shape: The shape it must have; None for sizes that may be any.
        name: The name of the operation in the graph.

    Returns:
        `x`, whose static shape is the one given.

    Example:
        >>> x = tf.placeholder(tf.float32)
        >>> y = tf.ensure_shape(x, [None, 2])
        >>> y.shape.as_list(), sess.run(y, {x: [[1.0, 2.0]]}).shape
        ([None, 2], (1, 2))
    """
    return raw.EnsureShape(input=x, shape=TensorShape(shape), name=name)


@shape_rule("EnsureShape")
def _ensure_shape_shape(op):
    return op.inputs[0].shape.merge_with(op.attrs["shape"])


# Broadcasting


def broadcast_static_shape(shape_x, shape_y):
    """The TensorShape that two TensorShapes broadcast to.

    Args:
        shape_x: One TensorShape.
        shape_y: The other TensorShape.

    Returns:
        A TensorShape.

    Raises:
        ValueError: If they don't fit.

    Example:
        >>> tf.broadcast_static_shape(tf.TensorShape([1, 2]), tf.TensorShape([3, 1])).as_list()
        [3, 2]
    """
    try:
        return shapes.broadcast(shapes.as_shape(shape_x), shapes.as_shape(shape_y))
    except ValueError:
        raise ValueError(f"Incompatible shapes for broadcasting: {shape_x} and {shape_y}") from None


def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape, as a tensor, that two shape tensors broadcast to.

    Args:
        shape_x: One shape, a vector of whole numbers.
        shape_y: The other shape.

    Returns:
        A vector of whole numbers.

    Example:
        >>> sess.run(tf.broadcast_dynamic_shape([1, 2], [3, 1]))
        array([3, 2], dtype=int32)
    """
    return raw.BroadcastArgs(s0=shape_x, s1=shape_y)


def broadcast_to(input, shape, name=None):
    """A tensor repeated along dimensions of size 1 (or missing ones in front) to have this shape.

    Args:
        input: The tensor to work on.
        shape: The lengths of the axes.
        name: The name of the operation in the graph.

    Returns:
        A tensor of that shape.

    Example:
        >>> sess.run(tf.broadcast_to([1, 2], [2, 2]))
        array([[1, 2],
               [1, 2]], dtype=int32)
    """
    return raw.BroadcastTo(input=input, shape=shape, name=name)


@shape_rule("BroadcastTo")
def _broadcast_to_shape(op):
    op.inputs[1].shape.with_rank(1)
    wanted, source = known_shape(op.inputs[1]), op.inputs[0].shape
    if wanted.rank is None or source.rank is None:
        return wanted
    if source.rank > wanted.rank:
        raise ValueError(f"Shape must be at most rank {wanted.rank} but is rank {source.rank}")
    sizes = wanted.as_list()
    for i, have in enumerate(source.as_list(), wanted.rank - source.rank):
        if have in (None, 1):
            continue
        if sizes[i] not in (None, have):
            raise ValueError(f"Dimensions must be equal, but are {have} and {sizes[i]}")
        sizes[i] = have  # only a one is repeated
    return TensorShape(sizes)


@shape_rule("BroadcastArgs")
def _broadcast_args_shape(op):
    ranks = [t.shape.with_rank(1).size(0) for t in op.inputs]
    return TensorShape([None if None in ranks else max(ranks)])


@shape_rule("BroadcastGradientArgs")
def _broadcast_gradient_args_shape(op):
    for t in op.inputs:
        t.shape.assert_has_rank(1)
    return [TensorShape([None])] * 2


# Filled tensors


def zeros(shape, dtype=dtypes.float32, name=None):
    """A tensor of zeros (empty strings, False).

    Args:
        shape: The lengths of the axes.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.zeros([2, 2]))
        array([[0., 0.],
               [0., 0.]], dtype=float32)
    """
    dtype = dtypes.as_dtype(dtype).base_dtype
    return _filled(shape, {dtypes.bool: False, dtypes.string: ""}.get(dtype, 0), dtype, name, "zeros")


def ones(shape, dtype=dtypes.float32, name=None):
    """A tensor of ones (True).

    Args:
        shape: The lengths of the axes.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.ones([2, 2], tf.int32))
        array([[1, 1],
               [1, 1]], dtype=int32)
    """
    dtype = dtypes.as_dtype(dtype).base_dtype
    return _filled(shape, dtype == dtypes.bool or 1, dtype, name, "ones")


def _filled(shape, value, dtype, name, default_name):
    with name_scope(name, default_name, [shape]) as name:
        if not isinstance(shape, Tensor):
            try:
                if not executing_eagerly() and _is_small(shape):
                    return constant(value, dtype, shape=shape, name=name)
            except TypeError:
                pass  # a single number, or sizes that are tensors: the general way below
            try:
                shape = convert_to_tensor(TensorShape(shape), dtypes.int32)
            except (TypeError, ValueError):
                shape = convert_to_tensor(shape, dtypes.int32)
        if shape.shape.rank in (0, None):
            shape = reshape(shape, [-1])
        return fill(shape, constant(value, dtype), name=name)


def _is_small(shape):
    """Whether so few elements are asked for that a constant will do.

    Sizes that are tensors are multiplied and compared all the same, and then raise a TypeError when looked at, since
    that leaves the nodes TensorFlow's graphs have.
    """
    if hasattr(shape, "_is_tensor_like"):  # a variable, which is compared as it is
        return bool(shape < _SMALL)
    if not isinstance(shape, (list, tuple, TensorShape, np.ndarray)):
        raise TypeError(f"{shape!r} is no list of sizes")
    if executing_eagerly() and any(isinstance(size, Tensor) for size in shape):
        raise TypeError("sizes that are tensors")
    return bool(functools.reduce(operator.mul, shape, *([1] if len(shape) == 0 else [])) < _SMALL)


def fill(dims, value, name=None):
    """A tensor of this shape with one value everywhere.

    Args:
        dims: The shape.
        value: The value, a scalar.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.fill([2, 3], 9))
        array([[9, 9, 9],
               [9, 9, 9]], dtype=int32)
    """
    return shaped(raw.Fill(dims=dims, value=value, name=name), dims)


@shape_rule("Fill")
def _fill_shape(op):
    if op.inputs[1].shape.rank not in (None, 0):
        raise ValueError(f"Shape must be rank 0 but is rank {op.inputs[1].shape.rank}")
    op.inputs[0].shape.with_rank(1)
    value = known_value(op.inputs[0])
    if value is not None and (value < 0).any():
        raise ValueError(f"Fill dimensions must be >= 0: {value.tolist()}")
    return known_shape(op.inputs[0])


@shape_rule("Empty")
def _empty_shape(op):
    return known_shape(op.inputs[0])


@takes_ragged()
def zeros_like(tensor, dtype=None, name=None, optimize=True):
    """Zeros of a tensor's shape, and of its dtype unless another is given.

    Args:
        tensor: The tensor.
        dtype: The type of the elements.
        name: The name of the operation in the graph.
        optimize: Whether a shape that is known becomes a constant.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.zeros_like([[1, 2], [3, 4]]))
        array([[0, 0],
               [0, 0]], dtype=int32)
    """
    with name_scope(name, "zeros_like", [tensor]) as name:
        tensor = convert_to_tensor(tensor, name="tensor")
        wanted = tensor.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype).base_dtype
        if optimize and tensor.shape.is_fully_defined() and tensor.dtype != dtypes.variant:
            return zeros(tensor.shape, wanted, name=name)
        if wanted != tensor.dtype.base_dtype and wanted != dtypes.variant:
            return zeros(shape_internal(tensor, optimize=optimize), wanted, name=name)
        return raw.ZerosLike(x=tensor, name=name)


@takes_ragged()
def ones_like(tensor, dtype=None, name=None, optimize=True):
    """Ones of a tensor's shape, and of its dtype unless another is given.

    Args:
        tensor: The tensor.
        dtype: The type of the elements.
        name: The name of the operation in the graph.
        optimize: Whether a shape that is known becomes a constant.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.ones_like([[1, 2], [3, 4]]))
        array([[1, 1],
               [1, 1]], dtype=int32)
    """
    with name_scope(name, "ones_like", [tensor]) as name:
        tensor = convert_to_tensor(tensor, name="tensor")
        sizes = shape_internal(tensor, optimize=optimize)
        result = ones(sizes, tensor.dtype if dtype is None else dtype, name=name)
        result.set_shape(tensor.shape)
        return result


# Passing on


@takes_ragged()
def identity(input, name=None):
    """A tensor with the same value, made by an op of its own.

    Args:
        input: The tensor to work on.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.identity([1, 2], name="output"))
        array([1, 2], dtype=int32)
    """
    return raw.Identity(input=input, name=name)


def identity_n(input, name=None):
    """The same values, made by one op; one output is ready only when all inputs are.

    Args:
        input: A list of tensors.
        name: The name of the operation in the graph.

    Returns:
        A list of tensors.

    Example:
        >>> sess.run(tf.identity_n([1, 2.0]))
        [np.int32(1), np.float32(2.0)]
    """
    return raw.IdentityN(input=input, name=name)


def stop_gradient(input, name=None):
    """The same value, through which no gradient flows back.

    Args:
        input: The tensor to work on.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Example:
        >>> x = tf.constant(3.0)
        >>> sess.run(tf.gradients(x * tf.stop_gradient(x), x))
        [np.float32(3.0)]
    """
    return raw.StopGradient(input=input, name=name)


def guarantee_const(input, name=None):
    """The same value, promised never to change.

    Args:
        input: The tensor to work on.
        name: The name of the operation in the graph.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.guarantee_const([1, 2]))
        array([1, 2], dtype=int32)
    """
    return raw.GuaranteeConst(input=input, name=name)


def prevent_gradient(input, message="", name=None):
    """The same value; asking for a gradient through it raises."""
    return raw.PreventGradient(input=input, message=message, name=name)


@shape_rule(
    "Identity",
    "RefIdentity",
    "Snapshot",
    "DeepCopy",
    "StopGradient",
    "PreventGradient",
    "GuaranteeConst",
    "XlaClusterOutput",
    "ZerosLike",
    "OnesLike",
    "DebugGradientIdentity",
    "DebugGradientRefIdentity",
    "InplaceUpdate",
    "InplaceAdd",
    "InplaceSub",
)
def _same_shape(op):
    if op.inputs[0]._handle_data is not None:
        op.outputs[0]._handle_data = op.inputs[0]._handle_data
    return op.inputs[0].shape


@shape_rule("IdentityN")
def _same_shapes(op):
    return [t.shape for t in op.inputs]


def bitcast(input, type, name=None):
    """The same bits read as another dtype; a change of size adds or takes the last dimension.

    Args:
        input: The tensor to work on.
        type: The type to read the bits as.
        name: The name of the operation in the graph.

    Returns:
        A tensor of that type.

    Example:
        >>> sess.run(tf.bitcast(1.0, tf.int32))
        np.int32(1065353216)
    """
    return raw.Bitcast(input=input, type=type, name=name)


@shape_rule("Bitcast")
def _bitcast_shape(op):
    source = op.inputs[0].shape
    have, want = op.inputs[0].dtype.base_dtype.size, op.attrs["type"].size
    if source.rank is None:
        return None
    if have == want:
        return source
    if have > want:
        return source.concatenate([have // want])
    if source.rank < 1:
        raise ValueError("Cannot convert from a smaller type to a larger one without a last dimension")
    if source.size(-1) not in (None, want // have):
        raise ValueError(f"Cannot bitcast due to shape. {source.size(-1)} does not match {want // have}")
    return source[:-1]
