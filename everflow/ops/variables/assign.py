"""Functions that change variables: assignments, scatters, counting; shape rules of the ops that hold and change state."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape
from everflow.ops import array
from everflow.ops.shape_rules import attribute_shape, like_first, like_first_two, scalar_output

SCATTER_KINDS = {
    "Update": "Set",
    "Add": "Add to",
    "Sub": "Subtract from",
    "Mul": "Multiply",
    "Div": "Divide",
    "Min": "Take the minimum with",
    "Max": "Take the maximum with",
}


def is_variable_initialized(ref, name=None):
    """Whether a variable has a value."""
    if ref.dtype._is_ref_dtype:
        return raw.IsVariableInitialized(ref, name=name)
    return ref.is_initialized(name=name)


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """Set a variable; the result is its new value.

    Args:
        ref: The variable.
        value: The new value.
        validate_shape: Whether the value must have the variable's shape; True if None.
        use_locking: Whether others wait until an update of the variable is done.
        name: The name of the operation in the graph.

    Returns:
        A tensor with the variable's new value; for a resource variable, an object that reads it.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(tf.assign(v, 5.0)), sess.run(v)
        (np.float32(5.0), np.float32(5.0))
    """
    if ref.dtype._is_ref_dtype:
        return raw.Assign(ref, value, validate_shape=validate_shape, use_locking=use_locking, name=name)
    return ref.assign(value, name=name)


def assign_add(ref, value, use_locking=None, name=None):
    """Add to a variable.

    Args:
        ref: The variable.
        value: What it is changed by.
        use_locking: Whether others wait until an update of the variable is done.
        name: The name of the operation in the graph.

    Returns:
        A tensor with the variable's new value; for a resource variable, an object that reads it.

    Example:
        >>> count = tf.Variable(0)
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(tf.assign_add(count, 2)), sess.run(tf.assign_add(count, 2))
        (np.int32(2), np.int32(4))
    """
    if ref.dtype._is_ref_dtype:
        return raw.AssignAdd(ref, value, use_locking=use_locking, name=name)
    return ref.assign_add(value)


def assign_sub(ref, value, use_locking=None, name=None):
    """Subtract from a variable.

    Args:
        ref: The variable.
        value: What it is changed by.
        use_locking: Whether others wait until an update of the variable is done.
        name: The name of the operation in the graph.

    Returns:
        A tensor with the variable's new value; for a resource variable, an object that reads it.

    Example:
        >>> v = tf.Variable([5.0, 5.0])
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(tf.assign_sub(v, [1.0, 2.0]))
        array([4., 3.], dtype=float32)
    """
    if ref.dtype._is_ref_dtype:
        return raw.AssignSub(ref, value, use_locking=use_locking, name=name)
    return ref.assign_sub(value)


def count_up_to(ref, limit, name=None):
    """Add one to an integer variable and give the value before; OutOfRangeError at `limit`.

    Args:
        ref: The variable.
        limit: The value at which it ends.
        name: The name of the operation in the graph.

    Returns:
        The value before it was counted up.

    Raises:
        OutOfRangeError: When it runs and the variable is at the limit.

    Example:
        >>> v = tf.Variable(0)
        >>> sess.run(tf.global_variables_initializer())
        >>> next_number = tf.count_up_to(v, 2)
        >>> sess.run(next_number), sess.run(next_number)
        (np.int32(0), np.int32(1))
    """
    if ref.dtype._is_ref_dtype:
        return raw.CountUpTo(ref, limit=limit, name=name)
    return raw.ResourceCountUpTo(ref.handle, limit=limit, T=ref.dtype, name=name)


_SCATTER = """{meaning}.

Args:
    ref: The variable.
    indices: {indices}
    updates: The values.
    use_locking: Whether others wait until an update of the variable is done.
    name: The name of the operation in the graph.

Returns:
    The variable, after it is changed.

Example:
    >>> v = tf.Variable([1.0, 2.0, 3.0])
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(tf.{name}(v, {at}, [2.0, 4.0]))
    {gives}
"""


def _scatter(kind, default_locking, nd="", *, gives):
    def scatter(ref, indices, updates, use_locking=default_locking, name=None):
        if ref.dtype._is_ref_dtype:
            return getattr(raw, f"Scatter{nd}{kind}")(ref, indices, updates, use_locking=use_locking, name=name)
        resource_scatter = getattr(raw, f"ResourceScatter{nd}{kind}")
        read = ref._lazy_read
        return read(resource_scatter(ref.handle, indices, convert_to_tensor(updates, ref.dtype), name=name))

    scatter.__name__ = scatter.__qualname__ = f"scatter_nd_{kind.lower()}" if nd else f"scatter_{kind.lower()}"
    places = "the slices of a variable that the last axis of `indices` addresses" if nd else "rows of a variable"
    scatter.__doc__ = _SCATTER.format(
        meaning=f"{SCATTER_KINDS[kind]} {places}",
        indices="Index vectors along the last axis." if nd else "The rows.",
        name=scatter.__name__,
        at="[[0], [2]]" if nd else "[0, 2]",
        gives=gives,
    )
    return scatter


scatter_update = _scatter("Update", True, gives="array([2., 2., 4.], dtype=float32)")
scatter_add = _scatter("Add", False, gives="array([3., 2., 7.], dtype=float32)")
scatter_sub = _scatter("Sub", False, gives="array([-1.,  2., -1.], dtype=float32)")
scatter_mul = _scatter("Mul", False, gives="array([ 2.,  2., 12.], dtype=float32)")
scatter_div = _scatter("Div", False, gives="array([0.5 , 2.  , 0.75], dtype=float32)")
scatter_min = _scatter("Min", False, gives="array([1., 2., 3.], dtype=float32)")
scatter_max = _scatter("Max", False, gives="array([2., 2., 4.], dtype=float32)")
scatter_nd_update = _scatter("Update", True, nd="Nd", gives="array([2., 2., 4.], dtype=float32)")
scatter_nd_add = _scatter("Add", False, nd="Nd", gives="array([3., 2., 7.], dtype=float32)")
scatter_nd_sub = _scatter("Sub", False, nd="Nd", gives="array([-1.,  2., -1.], dtype=float32)")


def batch_scatter_update(ref, indices, updates, use_locking=True, name=None):
    """Set rows inside each batch entry: `ref[b, indices[b, i]] = updates[b, i]`.

    Args:
        ref: The variable.
        indices: For each batch entry the rows to set.
        updates: The new rows.
        use_locking: Whether others wait until an update of the variable is done.
        name: The name of the operation in the graph.

    Returns:
        The variable, after it is changed.

    Raises:
        ValueError: If the shapes don't go together.

    Example:
        >>> v = tf.Variable([[1, 2, 3], [4, 5, 6]])
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(tf.batch_scatter_update(v, [[0], [2]], [[9], [9]]))
        array([[9, 2, 3],
               [4, 5, 9]], dtype=int32)
    """
    indices = convert_to_tensor(indices, name="indices")
    indices_shape = array.shape(indices)
    dimensions = indices.shape.ndims
    if dimensions is None:
        raise ValueError("The indices of batch_scatter_update have an unknown rank; give them a shape (set_shape)")
    nd_indices = array.expand_dims(indices, axis=-1)
    parts = []
    for axis in range(dimensions - 1):
        size = indices_shape[axis]
        positions = raw.Range(0, size, 1)
        shape = [1] * axis + [size] + [1] * (dimensions - axis)
        parts.append(array.reshape(positions, shape) * array.ones_like(nd_indices))
    parts.append(nd_indices)
    final = array.concat(parts, axis=-1)
    return scatter_nd_update(ref, final, updates, use_locking, name=name)


def slices_of(sparse_delta):
    """(values, indices) of an IndexedSlices; TypeError for anything else."""
    if not isinstance(sparse_delta, IndexedSlices):
        raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
    return sparse_delta.values, sparse_delta.indices


not_differentiable(
    "Assign",
    "AssignAdd",
    "AssignSub",
    *(f"Scatter{kind}" for kind in ("Add", "Sub", "Mul", "Div")),
    *(f"ScatterNd{kind}" for kind in ("Update", "Add", "Sub")),
)


# --- static shapes ------------------------------------------------------------------------


shape_rule("VariableV2", "TemporaryVariable")(attribute_shape)


@shape_rule("Variable")
def _old_variable_shape(op):
    # The first form of variables wrote an unknown shape as a scalar's.
    shape = op.attrs["shape"]
    return TensorShape(None) if shape.ndims == 0 else shape


@shape_rule("Assign")
def _assign_shape(op):
    ref, value = (t.shape for t in op.inputs)
    return ref.merge_with(value) if op.attrs["validate_shape"] else value


shape_rule("AssignAdd", "AssignSub")(like_first_two)


@shape_rule("CountUpTo")
def _count_up_to_shape(op):
    return op.inputs[0].shape.with_rank(0)


shape_rule("DestroyTemporaryVariable")(like_first)
shape_rule("IsVariableInitialized", "VarIsInitializedOp", "ResourceCountUpTo")(scalar_output)


@shape_rule(*(f"Scatter{kind}" for kind in SCATTER_KINDS))
def _scatter_shape(op):
    ref, indices, updates = (t.shape for t in op.inputs)
    check_scatter(ref, indices, updates)
    return ref


def check_scatter(ref, indices, updates):
    """Raise ValueError where updates can't be rows of `ref` at `indices`; a scalar update fits everywhere."""
    if updates.ndims == 0:
        return
    ref = ref.with_rank_at_least(1)
    if ref.ndims is not None and indices.ndims is not None:
        updates.merge_with(indices.concatenate(ref[1:]))


def check_scatter_nd(ref, indices, updates):
    """Raise ValueError where updates can't be slices of `ref` addressed by `indices`."""
    if ref.ndims is None or indices.ndims is None or updates.ndims is None:
        return
    indices = indices.with_rank_at_least(1)
    depth = indices.size(-1)
    outer = indices.ndims - 1
    if updates.ndims < outer:
        both = f"indices[shape={indices}] must match dimensions [0,{outer}) of updates[shape={updates}]"
        raise ValueError(f"Dimensions [0,{outer}) of {both}")
    updates[:outer].merge_with(indices[:-1])
    if depth is not None and depth <= ref.ndims:  # deeper ones are refused when running
        updates[outer:].merge_with(ref[depth:])


@shape_rule("ScatterNdUpdate", "ScatterNdAdd", "ScatterNdSub")
def _scatter_nd_shape(op):
    ref, indices, updates = (t.shape for t in op.inputs)
    check_scatter_nd(ref, indices, updates)
    return ref


shape_rule("StridedSliceAssign")(like_first)
