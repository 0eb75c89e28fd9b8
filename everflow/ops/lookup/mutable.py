"""Lookup tables that can change while a graph runs, and that a Saver saves."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, colocate_with, name_scope
from everflow.ops.lookup.static import LookupInterface
from everflow.ops.variables.saveables import SaveableObject, SaveSpec


class TableSaveable(SaveableObject):
    """A mutable table as a Saver sees it: its keys and its values."""

    def __init__(self, table, name):
        keys, values = table.export()
        super().__init__(table, [SaveSpec(keys, "", name + "-keys"), SaveSpec(values, "", name + "-values")], name)

    def restore(self, restored_tensors, restored_shapes):
        with name_scope(f"{self.name}_table_restore"), colocate_with(self.op.resource_handle):
            return raw.LookupTableImportV2(self.op.resource_handle, restored_tensors[0], restored_tensors[1])


class _MutableTable(LookupInterface):
    """What mutable tables have in common: every op sits beside the table."""

    # Whether an op is named as the scope it is in, or made inside of it.
    _ops_take_names_of_scopes = False

    def __init__(self, key_dtype, value_dtype, default_value, name, checkpoint):
        super().__init__(key_dtype, value_dtype)
        self._default_value = default_value
        self._value_shape = default_value.shape
        self._given_name = name
        self._checkpoint = checkpoint

    def _make(self):
        self._resource_handle = self._create_resource()
        if self._checkpoint:
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, TableSaveable(self, self._checkpoint_key()))

    def _gather_saveables_for_checkpoint(self):
        return {"table": lambda name: TableSaveable(self, name)}

    @property
    def name(self):
        return self.resource_handle._op_name.split("/")[-1]

    def _checkpoint_key(self):
        return self._resource_handle._op_name

    def _named(self, scope):
        return scope if self._ops_take_names_of_scopes else None

    def size(self, name=None):
        """How many entries the table has."""
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]) as scope:
            with colocate_with(self.resource_handle):
                return raw.LookupTableSizeV2(self.resource_handle, name=self._named(scope))

    def lookup(self, keys, name=None):
        """The values of keys; the default for those the table doesn't have."""
        with name_scope(
            name, f"{self.name}_lookup_table_find", [self.resource_handle, keys, self._default_value]
        ) as scope:
            keys = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            with colocate_with(self.resource_handle):
                return raw.LookupTableFindV2(self.resource_handle, keys, self._default_value, name=self._named(scope))

    def insert(self, keys, values, name=None):
        """An op that gives keys these values."""
        with name_scope(name, f"{self.name}_lookup_table_insert", [self.resource_handle, keys, values]) as scope:
            keys = convert_to_tensor(keys, self._key_dtype, name="keys")
            values = convert_to_tensor(values, self._value_dtype, name="values")
            with colocate_with(self.resource_handle):
                return raw.LookupTableInsertV2(self.resource_handle, keys, values, name=self._named(scope))

    def remove(self, keys, name=None):
        """An op that takes keys out; those that are not there are passed over."""
        self._check_keys(keys)
        with name_scope(name, f"{self.name}_lookup_table_remove", (self.resource_handle, keys, self._default_value)):
            return raw.LookupTableRemoveV2(self.resource_handle, keys)

    def export(self, name=None):
        """All keys and all values, as two tensors."""
        with name_scope(name, f"{self.name}_lookup_table_export_values", [self.resource_handle]) as scope:
            with colocate_with(self.resource_handle):
                keys, values = raw.LookupTableExportV2(
                    self.resource_handle,
                    Tkeys=self._key_dtype,
                    Tvalues=self._value_dtype,
                    name=self._named(scope),
                )
        return keys, values


class MutableHashTable(_MutableTable):
    """A table whose entries can be inserted and removed by ops.

    >>> table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, default_value=-1)
    >>> table.insert(keys, values)
    """

    def __init__(self, key_dtype, value_dtype, default_value, name="MutableHashTable", checkpoint=True):
        default_value = convert_to_tensor(default_value, dtype=value_dtype)
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)
        self._make()

    def _create_resource(self):
        # By its node's name the table is found again when it is restored.
        common = {
            "use_node_name_sharing": self._checkpoint,
            "key_dtype": self._key_dtype,
            "value_dtype": self._value_dtype,
            "name": self._given_name,
        }
        if self._default_value.shape.ndims == 0:
            return raw.MutableHashTableV2(**common)
        return raw.MutableHashTableOfTensorsV2(value_shape=self._default_value.shape, **common)


class DenseHashTable(_MutableTable):
    """A faster mutable table that uses more memory and sets two keys aside.

    Args:
        key_dtype: The type of the keys.
        value_dtype: The type of the values.
        default_value: What stands for keys that aren't there.
        empty_key: A key that is never used.
        deleted_key: Another key that is never used.
        initial_num_buckets: How many buckets there are at first, a power of 2.
        name: The name of the operation in the graph.
        checkpoint: Whether checkpoints save it.

    Example:
        >>> table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1)
        >>> sess.run(table.insert(tf.constant([5], tf.int64), tf.constant([50], tf.int64)))
        >>> sess.run(table.lookup(tf.constant([5, 6], tf.int64)))
        array([50, -1])
    """

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        empty_key,
        deleted_key,
        initial_num_buckets=None,
        name="MutableDenseHashTable",
        checkpoint=True,
    ):
        default_value = convert_to_tensor(default_value, dtype=value_dtype, name="default_value")
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)
        self._empty_key = convert_to_tensor(empty_key, dtype=key_dtype, name="empty_key")
        self._deleted_key = convert_to_tensor(deleted_key, dtype=key_dtype, name="deleted_key")
        self._initial_num_buckets = initial_num_buckets
        self._make()

    def _create_resource(self):
        buckets = {} if self._initial_num_buckets is None else {"initial_num_buckets": self._initial_num_buckets}
        return raw.MutableDenseHashTableV2(
            self._empty_key,
            self._deleted_key,
            use_node_name_sharing=self._checkpoint,
            value_dtype=self._value_dtype,
            value_shape=self._value_shape,
            name=self._given_name,
            **buckets,
        )

    def insert_or_assign(self, keys, values, name=None):
        """An op that gives keys these values."""
        return self.insert(keys, values, name)

    def erase(self, keys, name=None):
        """An op that takes keys out."""
        return self.remove(keys, name)

    def lookup(self, keys, name=None):
        """The values of keys; the default for those the table doesn't have."""
        values = super().lookup(keys, name)
        shape, of_a_key = convert_to_tensor(keys, dtype=self._key_dtype).shape, self._empty_key.shape.ndims
        outer = shape[: shape.ndims - of_a_key] if shape.ndims is not None else shape
        values.set_shape(outer.concatenate(self._value_shape))
        return values
