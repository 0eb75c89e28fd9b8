"""Slots: the variables that an optimizer keeps beside each variable it trains, named after it."""

from __future__ import annotations

from everflow.framework.scopes import colocate_with
from everflow.ops import array
from everflow.ops.variables import initializers
from everflow.ops.variables.resource import is_resource_variable
from everflow.ops.variables.scope import get_variable, get_variable_scope, variable_scope
from everflow.ops.variables.variable import SaveSliceInfo, Variable


def _create(primary, value, name, colocate_with_primary, validate_shape, shape=None, dtype=None):
    prefix = primary._shared_name if isinstance(primary, Variable) else primary.op.name
    with variable_scope(None, f"{prefix}/{name}"):
        if not colocate_with_primary:
            return _slot_variable(primary, value, validate_shape, shape, dtype)
        with colocate_with(primary.op):
            return _slot_variable(primary, value, validate_shape, shape, dtype)


def _slot_variable(primary, value, validate_shape, shape, dtype):
    # A slot of a part is not cut again.
    scope = get_variable_scope()
    partitioner = scope.partitioner
    scope.set_partitioner(None)
    kind = {"use_resource": is_resource_variable(primary), "validate_shape": validate_shape}
    slot = get_variable("", shape, dtype, initializer=value, trainable=False, **kind)
    scope.set_partitioner(partitioner)
    info = primary._get_save_slice_info() if isinstance(primary, Variable) else None
    if info is not None:
        # In a checkpoint the slots of all parts are one tensor, like the parts themselves.
        own_name = slot.name[len(primary.op.name + "/") : -2]
        slot._set_save_slice_info(
            SaveSliceInfo(f"{info.full_name}/{own_name}", info.full_shape[:], info.var_offset[:], info.var_shape[:])
        )
    return slot


def create_slot(primary, val, name, colocate_with_primary=True):
    """A slot that starts with the value of a tensor."""
    return _create(primary, val, name, colocate_with_primary, val.get_shape().is_fully_defined())


def create_slot_with_initializer(primary, initializer, shape, dtype, name, colocate_with_primary=True):
    """A slot that an initializer fills."""
    return _create(primary, initializer, name, colocate_with_primary, shape.is_fully_defined(), shape, dtype)


def create_zeros_slot(primary, name, dtype=None, colocate_with_primary=True):
    """A slot of zeros in the variable's shape."""
    if dtype is None:
        dtype = primary.dtype.base_dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(
            primary, initializers.zeros_initializer(), shape, dtype, name, colocate_with_primary
        )
    dims = array.shape(primary.initialized_value() if isinstance(primary, Variable) else primary)
    return create_slot(primary, array.zeros(dims, dtype=dtype), name, colocate_with_primary)
