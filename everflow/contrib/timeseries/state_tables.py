"""Tables of states by number: tensors of any shape, and structures of them."""

from __future__ import annotations

from everflow.framework import nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies
from everflow.ops import array
from everflow.ops.control_flow.grouping import group
from everflow.ops.lookup.mutable import DenseHashTable
from everflow.ops.lookup.static import LookupInterface


class TensorValuedMutableDenseHashTable(DenseHashTable):
    """A `DenseHashTable` of tensors that needn't be vectors.

    Args:
        key_dtype: The type of the keys.
        value_dtype: The type of the values.
        default_value: What stands for keys that aren't there; values have its shape.
        *args: As `DenseHashTable` takes them.
        **kwargs: As `DenseHashTable` takes them.
    """

    def __init__(self, key_dtype, value_dtype, default_value, *args, **kwargs):
        default_value = convert_to_tensor(default_value, dtype=value_dtype)
        self._non_vector_value_shape = array.shape(default_value)
        self._static_value_shape = default_value.shape
        super().__init__(key_dtype, value_dtype, array.reshape(default_value, [-1]), *args, **kwargs)

    def insert(self, keys, values, name=None):
        """An op that gives keys these values."""
        keys = array.reshape(keys, [-1])
        return super().insert(keys, array.reshape(values, [array.shape(keys)[0], -1]), name)

    def lookup(self, keys, name=None):
        """The values of keys; the default for those the table doesn't have."""
        found = super().lookup(array.reshape(keys, [-1]), name=name)
        found = array.reshape(found, array.concat([array.shape(keys), self._non_vector_value_shape], axis=0))
        found.set_shape(keys.shape.concatenate(self._static_value_shape))
        return found


class TupleOfTensorsLookup(LookupInterface):
    """A table of structures of tensors: a table for each tensor, of the same keys.

    Args:
        key_dtype: The type of the keys.
        default_values: The structure that stands for keys that aren't there; values are like it.
        empty_key: A key that is never used.
        deleted_key: Another key that is never used.
        name: The beginning of the tables' names.
        checkpoint: Whether checkpoints save them.
    """

    def __init__(self, key_dtype, default_values, empty_key, deleted_key, name, checkpoint=True):
        # No resource is its own, so there is nothing to make: its tables have one each.
        parts = [
            TensorValuedMutableDenseHashTable(
                key_dtype=key_dtype,
                value_dtype=part.dtype.base_dtype,
                default_value=part,
                empty_key=empty_key,
                deleted_key=deleted_key,
                name=f"{name}_{number}",
                checkpoint=checkpoint,
            )
            for number, part in enumerate(nest.flatten(default_values))
        ]
        self._hash_tables = nest.pack_sequence_as(default_values, parts)
        self._name = name

    def lookup(self, keys):
        """The structures of keys, with a first dimension for each key."""
        tables = nest.flatten(self._hash_tables)
        return nest.pack_sequence_as(self._hash_tables, [table.lookup(keys) for table in tables])

    def insert(self, keys, values):
        """An op that gives keys these structures."""
        nest.assert_same_structure(self._hash_tables, values)
        # All values are there before any table is written: they may have been looked up in one.
        copies = [array.identity(value) for value in nest.flatten(values)]
        with control_dependencies(copies):
            pairs = zip(nest.flatten(self._hash_tables), copies, strict=True)
            written = [table.insert(keys, copy) for table, copy in pairs]
        return group(*written)

    def check_table_dtypes(self, key_dtype, value_dtype):
        """Nothing to look at: its tables have types of their own."""
