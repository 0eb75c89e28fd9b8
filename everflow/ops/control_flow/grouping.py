"""Ops that only order others: `no_op`, `group`, `tuple`, `with_dependencies`."""

from __future__ import annotations

from everflow.framework import nest
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor, convert_to_tensor_or_indexed_slices
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import colocate_with, control_dependencies, device, executing_eagerly, name_scope


def no_op(name=None):
    """An operation that does nothing, to hang control dependencies on.

    Args:
        name: The name of the operation in the graph.

    Returns:
        An operation.

    Example:
        >>> sess.run(tf.no_op())
    """
    return raw.NoOp(name=name)


def group(*inputs, **kwargs):
    """An operation that is done when all of `inputs` are.

    Args:
        *inputs: Operations and tensors, or lists of them.
        **kwargs: `name`.

    Returns:
        An operation.

    Raises:
        TypeError: If an input is something else.
        ValueError: If a keyword isn't known.

    Example:
        >>> a, b = tf.Variable(0), tf.Variable(0)
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(tf.group(a.assign(1), b.assign(2), name="both"))
        >>> sess.run([a, b])
        [np.int32(1), np.int32(2)]
    """
    if executing_eagerly():
        return None
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    with name_scope(name, "group_deps", inputs) as name:
        by_device: dict = {}
        for item in nest.flatten(inputs, expand_composites=True):
            if not hasattr(item, "device"):
                raise TypeError(f"Expected tf.group() expected Tensor objects not {item!r} with type '{type(item)}'")
            by_device.setdefault(item.device, []).append(item)
        if not by_device:
            return no_op(name=name)
        if len(by_device) == 1:
            ((where, items),) = by_device.items()
            return _group_on(where, items, name)
        parts = [_group_on(where, by_device[where]) for where in sorted(by_device, key=str)]
        with control_dependencies(parts):
            return no_op(name=name)


def _group_on(where, items, name=None):
    with control_dependencies(items):
        if where is None:
            return no_op(name=name)
        with device(where):
            return no_op(name=name)


def with_dependencies(dependencies, output_tensor, name=None):
    """`output_tensor`, to be had only after `dependencies` have run."""
    if executing_eagerly():
        return output_tensor
    with name_scope(name, "control_dependency", [*dependencies, output_tensor]) as name:
        with colocate_with(output_tensor), control_dependencies(dependencies):
            output_tensor = convert_to_tensor_or_indexed_slices(output_tensor)
            if isinstance(output_tensor, Tensor):
                return _identity(output_tensor, name)
            return IndexedSlices(
                _identity(output_tensor.values, name), output_tensor.indices, output_tensor.dense_shape
            )


def _identity(tensor, name):
    return raw.RefIdentity(tensor, name=name) if tensor.dtype._is_ref_dtype else raw.Identity(tensor, name=name)


def tuple(tensors, name=None, control_inputs=None):
    """The tensors again, each to be had only after all of them (and `control_inputs`) are computed.

    Args:
        tensors: The tensors, IndexedSlices or Nones.
        name: The name of the operation in the graph.
        control_inputs: Operations to wait for, too.

    Returns:
        A list.

    Raises:
        ValueError: If there are no tensors.
        TypeError: If a control input is no operation or tensor.

    Example:
        >>> a, b = tf.tuple([tf.constant(1), tf.constant(2)])
        >>> sess.run([a, b])
        [np.int32(1), np.int32(2)]
    """
    if executing_eagerly():
        return tensors
    with name_scope(name, "tuple", tensors) as name:
        tensors = [
            t if t is None or isinstance(t, Operation) or hasattr(t, "op") else convert_to_tensor(t) for t in tensors
        ]
        gates = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        for item in control_inputs or ():
            if isinstance(item, Tensor):
                item = item.op
            elif not isinstance(item, Operation):
                raise TypeError(f"Control input must be Operation or Tensor: {item}")
            gates.append(item)
        gates = sorted(set(gates), key=lambda op: op._id)
        if not gates:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*gates)
        result = []
        for item in tensors:
            if isinstance(item, Operation):
                with control_dependencies([gate]):
                    result.append(group(item))
            elif item is None:
                result.append(None)
            else:
                result.append(with_dependencies([gate], item))
        return result
