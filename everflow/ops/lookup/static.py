"""Lookup tables that are filled once: static hash tables, their initializers, and tables with buckets for unknown keys.

Tables from files are in `lookup_files.py`, mutable ones in `lookup_mutable.py`.
"""

from __future__ import annotations

import collections
import functools
import uuid

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.scopes import add_to_collection, get_collection, name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops.array.basic import size as size_of
from everflow.ops.array.constants import constant
from everflow.ops.array.indexing import where_v2
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.functions.resources import TrackableResource
from everflow.ops.math import add, cast, not_equal
from everflow.ops.math import range as range_of
from everflow.ops.shape_rules import scalar_output
from everflow.ops.strings.text import as_string, string_to_hash_bucket_fast, string_to_hash_bucket_strong
from everflow.ops.variables.trackable import Trackable, is_trackable


def tables_initializer(name="init_all_tables"):
    """An op that fills all tables of the graph.

    Args:
        name: The name of the operation in the graph.

    Returns:
        An operation.

    Example:
        >>> words = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
        >>> sess.run(tf.tables_initializer())
        >>> sess.run(words.lookup(tf.constant(["b"])))
        array([1])
    """
    initializers = get_collection(GraphKeys.TABLE_INITIALIZERS)
    if initializers:
        return group(*initializers, name=name)
    return no_op(name=name)


def initialize_all_tables(name="init_all_tables"):
    """The old name of `tables_initializer`.

    Args:
        name: The name of the operation in the graph.

    Returns:
        An operation.

    Example:
        >>> words = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
        >>> sess.run(tf.initialize_all_tables())
        >>> sess.run(words.lookup(tf.constant(["b"])))
        array([1])
    """
    return tables_initializer(name)


def check_table_dtypes(table, key_dtype, value_dtype):
    """Raise TypeError unless a table has these dtypes."""
    if key_dtype.base_dtype != table.key_dtype:
        raise TypeError(f"Invalid key dtype, expected {key_dtype!s} but got {table.key_dtype!s}.")
    if value_dtype.base_dtype != table.value_dtype:
        raise TypeError(f"Invalid value dtype, expected {value_dtype!s} but got {table.value_dtype!s}.")


class LookupInterface(TrackableResource):
    """What every table has: dtypes, a handle, `lookup` and `size`."""

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)
        super().__init__()

    key_dtype = property(lambda self: self._key_dtype, doc="The dtype of the keys.")
    value_dtype = property(lambda self: self._value_dtype, doc="The dtype of the values.")

    @property
    def name(self):
        """The name of the table."""
        raise NotImplementedError

    @property
    def resource_handle(self):
        """The tensor that stands for the table in ops."""
        if self._resource_handle is None:
            self._resource_handle = self._create_resource()
        return self._resource_handle

    def _create_resource(self):
        raise NotImplementedError

    def size(self, name=None):
        """How many entries the table has, as a tensor."""
        raise NotImplementedError

    def lookup(self, keys, name=None):
        """The values of keys, as a tensor."""
        raise NotImplementedError

    def _check_keys(self, keys):
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype!s}, got {keys.dtype!s}.")


class InitializableLookupTableBase(LookupInterface):
    """A table that an initializer fills."""

    def __init__(self, default_value, initializer):
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        self._default_value.shape.merge_with(TensorShape([]))
        self._initializer = initializer
        if is_trackable(initializer):  # people's own initializers need not be
            self._track_trackable(initializer, "_initializer")
        self._resource_handle = self._create_resource()
        self._init_op = self._initialize()

    def _initialize(self):
        return self._initializer.initialize(self)

    default_value = property(lambda self: self._default_value, doc="What keys get that the table doesn't have.")
    initializer = property(lambda self: self._init_op, doc="The op that fills the table.")
    init = property(lambda self: self._init_op, doc="The old name of `initializer`.")

    @property
    def name(self):
        return self._resource_handle._op_name.split("/")[-1]

    def size(self, name=None):
        """How many entries the table has."""
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return raw.LookupTableSizeV2(self.resource_handle)

    def lookup(self, keys, name=None):
        """The values of keys (a tensor or SparseTensor); the default for those the table doesn't have."""
        key_tensor = keys.values if isinstance(keys, SparseTensor) else keys
        self._check_keys(keys)
        with name_scope(name, f"{self.name}_Lookup", (self.resource_handle, key_tensor, self._default_value)):
            values = raw.LookupTableFindV2(self.resource_handle, key_tensor, self._default_value)
        values.set_shape(key_tensor.shape)
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, values, keys.dense_shape)
        return values


class StaticHashTable(InitializableLookupTableBase):
    """A table that is filled by its initializer and doesn't change after.

    Args:
        initializer: What fills it.
        default_value: What stands for keys that aren't there.
        name: The name of the operation in the graph.

    Example:
        >>> table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1)
        >>> sess.run(tf.tables_initializer())
        >>> sess.run(table.lookup(tf.constant(["a", "z"])))
        array([ 1, -1], dtype=int32)
    """

    def __init__(self, initializer, default_value, name=None):
        self._given_name = name or "hash_table"
        self._shared_name = getattr(initializer, "_shared_name", "") or f"hash_table_{uuid.uuid4()}"
        super().__init__(default_value, initializer)
        self._value_shape = self._default_value.shape

    def _create_resource(self):
        return raw.HashTableV2(
            shared_name=self._shared_name,
            key_dtype=self._initializer.key_dtype,
            value_dtype=self._initializer.value_dtype,
            name=self._given_name,
        )

    def export(self, name=None):
        """All keys and all values, as two tensors."""
        with name_scope(name, f"{self.name}_Export", [self.resource_handle]):
            keys, values = raw.LookupTableExportV2(
                self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype
            )
        values.set_shape(keys.shape.concatenate(self._value_shape))
        return keys, values


class StaticHashTableV1(StaticHashTable):
    __doc__ = StaticHashTable.__doc__


class HashTable(StaticHashTableV1):
    """tf.contrib.lookup's static table, shared between sessions of a server only where `shared_name` says so."""

    def __init__(self, initializer, default_value, shared_name=None, name=None):
        self._given_name = name or "hash_table"
        self._shared_name = shared_name or ""
        InitializableLookupTableBase.__init__(self, default_value, initializer)
        self._value_shape = self._default_value.shape


class TableInitializerBase(Trackable):
    """What fills a static table."""

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    key_dtype = property(lambda self: self._key_dtype, doc="The dtype of the keys.")
    value_dtype = property(lambda self: self._value_dtype, doc="The dtype of the values.")

    def initialize(self, table):
        """An op that fills the table."""
        raise NotImplementedError


class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table from a tensor of keys and a tensor of values.

    Args:
        keys: The keys.
        values: The values, as many.
        key_dtype: The type of the keys; their own if None.
        value_dtype: The type of the values; their own if None.
        name: The name of the operation in the graph.

    Example:
        >>> table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
        >>> sess.run(tf.tables_initializer())
        >>> sess.run(table.lookup(tf.constant(["b", "c"])))
        array([ 2, -1], dtype=int32)
    """

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        self._keys = convert_to_tensor(keys, dtype=key_dtype, name="keys")
        self._values = convert_to_tensor(values, dtype=value_dtype, name="values")
        self._name = name if name is not None else "key_value_init"
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table):
        """An op that fills the table."""
        check_table_dtypes(table, self._keys.dtype, self._values.dtype)
        self._keys.shape.with_rank(1).merge_with(self._values.shape)  # as many values as keys
        with name_scope(self._name, values=(table.resource_handle, self._keys, self._values)):
            op = raw.LookupTableImportV2(table.resource_handle, self._keys, self._values)
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        return op


class HasherSpec(collections.namedtuple("HasherSpec", ["hasher", "key"])):
    """Which hash puts unknown keys into buckets, and its key."""


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A keyed hash; `key` is two unsigned integers."""

    __slots__ = ()

    def __new__(cls, key):
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(part, int) for part in key):
            raise TypeError("Invalid key. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


class IdTableWithHashBuckets(LookupInterface):
    """Ids of a table, and for other keys ids of `num_oov_buckets` buckets after them, by hash."""

    def __init__(self, table, num_oov_buckets, hasher_spec=FastHashSpec, name=None, key_dtype=None):
        # A name that ends in a slash would open that scope again.
        self._given_name = name.rstrip("/") if name else name
        if table:
            if key_dtype is None:
                key_dtype = table.key_dtype
            _check_id_table(table, key_dtype)
        elif num_oov_buckets <= 0:
            raise ValueError(
                f"Without a table all keys go to buckets: num_oov_buckets must be above zero, not {num_oov_buckets}"
            )
        else:
            key_dtype = dtypes.string if key_dtype is None else dtypes.as_dtype(key_dtype)
            if not (key_dtype == dtypes.string or key_dtype.is_integer):
                raise TypeError(f"key_dtype must be of strings or integers, not {key_dtype.name}")
            self._given_name = name or "hash_bucket"
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"hasher_spec must be FastHashSpec or a StrongHashSpec, not {type(hasher_spec)}")
        self._table = table
        if is_trackable(table):
            self._track_trackable(table, "_table")
        self._num_oov_buckets = num_oov_buckets
        self._hasher_spec = hasher_spec
        super().__init__(key_dtype, dtypes.int64)

    def _create_resource(self):
        return None if self._table is None else self._table._create_resource()

    @property
    def resource_handle(self):
        return None if self._table is None else self._table.resource_handle

    @property
    def initializer(self):
        """The op that fills the table."""
        if self._table is not None:
            return self._table.initializer
        with name_scope(None, "init"):
            return no_op()

    init = property(lambda self: self.initializer, doc="The old name of `initializer`.")

    @property
    def name(self):
        return self._table.name if self._table is not None and not self._given_name else self._given_name

    def size(self, name=None):
        """How many ids there are, those of buckets included."""
        with name_scope(name, f"{self.name}_Size"):
            known = self._table.size() if self._table else constant(0, dtype=dtypes.int64)
            return known + self._num_oov_buckets

    def _hash(self):
        if self._hasher_spec.hasher == "fasthash":
            return string_to_hash_bucket_fast
        if self._hasher_spec.hasher == "stronghash":
            return functools.partial(string_to_hash_bucket_strong, key=self._hasher_spec.key)
        raise ValueError(f"Unknown hasher {self._hasher_spec.hasher}")

    def lookup(self, keys, name=None):
        """The ids of keys (a tensor or SparseTensor)."""
        self._check_keys(keys)
        values = keys.values if isinstance(keys, SparseTensor) else keys
        if self._table and self._table.key_dtype.base_dtype == dtypes.int64:
            values = cast(values, dtypes.int64)
        if self._num_oov_buckets == 0:
            ids = self._table.lookup(values, name=name)
        else:
            with name_scope(name, f"{self.name}_Lookup"):
                text = values if values.dtype.base_dtype == dtypes.string else as_string(values)
                buckets = self._hash()(text, num_buckets=self._num_oov_buckets, name="hash_bucket")
                if self._table:
                    ids = self._table.lookup(values)
                    buckets = add(buckets, self._table.size())
                    known = not_equal(ids, self._table.default_value)
                    ids = where_v2(known, ids, buckets)
                else:
                    ids = buckets
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, ids, keys.dense_shape)
        return ids


def _check_id_table(table, key_dtype):
    supported = (dtypes.int32, dtypes.int64, dtypes.string)
    if table.key_dtype.is_integer:
        check_table_dtypes(table, dtypes.int64, dtypes.int64)
        if not dtypes.as_dtype(key_dtype).is_integer:
            raise TypeError(f"Invalid key dtype, expected integer but got {dtypes.as_dtype(key_dtype)!s}.")
    else:
        check_table_dtypes(table, dtypes.as_dtype(key_dtype), dtypes.int64)
    if key_dtype not in supported:
        raise TypeError("Invalid key dtype, expected one of (string, int32, int64)")


class StaticVocabularyTable(IdTableWithHashBuckets):
    """A vocabulary with at least one bucket for words it doesn't have.

    Args:
        initializer: What fills it, with int64 values.
        num_oov_buckets: How many buckets other keys are spread over.
        lookup_key_dtype: The type of the keys that are looked up; without an initializer they are strings.
        name: The name of the operation in the graph.

    Example:
        >>> words = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
        >>> table = tf.lookup.StaticVocabularyTable(words, num_oov_buckets=1)
        >>> sess.run(tf.tables_initializer())
        >>> sess.run(table.lookup(tf.constant(["b", "z"])))
        array([1, 2])
    """

    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None):
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        if initializer and lookup_key_dtype is None:
            lookup_key_dtype = initializer.key_dtype
        if initializer:
            if initializer.value_dtype != dtypes.int64:
                raise TypeError(f"Invalid value dtype, expected {dtypes.int64!s} but got {initializer.value_dtype!s}.")
            if initializer.key_dtype.is_integer != dtypes.as_dtype(lookup_key_dtype).is_integer:
                raise TypeError(f"Invalid key dtype, expected integer but got {initializer.key_dtype!s}.")
            table = self._table_class(initializer, default_value=-1, name=name)
        else:
            table, lookup_key_dtype = None, dtypes.string
        super().__init__(table, num_oov_buckets, key_dtype=lookup_key_dtype, name=name)

    _table_class = StaticHashTable

    @property
    def name(self):
        return self._table.name if self._table is not None else self._given_name


class StaticVocabularyTableV1(StaticVocabularyTable):
    __doc__ = StaticVocabularyTable.__doc__
    _table_class = StaticHashTableV1


def index_table_from_tensor(
    vocabulary_list=None, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec, dtype=dtypes.string, name=None
):
    """A table from the entries of a vector to their positions in it."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    check_buckets(num_oov_buckets)
    dtype = dtypes.as_dtype(dtype)
    if (not dtype.is_integer) and dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != dtype.is_integer:
            raise ValueError(f"Expected {'integer' if dtype.is_integer else 'non-integer'}, got {keys.dtype!s}.")
        if not dtype.is_integer and keys.dtype.base_dtype != dtype:
            raise ValueError(f"Expected {dtype!s}, got {keys.dtype!s}.")
        values = cast(range_of(size_of(keys)), dtypes.int64)
        with name_scope(None, "hash_table"):
            table_keys = cast(keys, dtypes.int64) if keys.dtype.is_integer else keys
            init = KeyValueTensorInitializer(
                table_keys, values, table_keys.dtype.base_dtype, dtypes.int64, name="table_init"
            )
            table = StaticHashTableV1(init, default_value)
            if num_oov_buckets:
                table = IdTableWithHashBuckets(
                    table, num_oov_buckets=num_oov_buckets, hasher_spec=hasher_spec, key_dtype=dtype
                )
            return table


def check_buckets(num_oov_buckets):
    """Raise ValueError for a number of buckets that can not be."""
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must not be below zero, but is {num_oov_buckets}")


def index_to_string_table_from_tensor(vocabulary_list, default_value="UNK", name=None):
    """A table from positions in a vector of strings to its entries."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    with name_scope(name, "index_to_string"):
        values = convert_to_tensor(vocabulary_list, dtypes.string)
        keys = cast(range_of(size_of(values)), dtypes.int64)
        init = KeyValueTensorInitializer(keys, values, dtypes.int64, dtypes.string, name="table_init")
        return StaticHashTableV1(init, default_value)


# --- shapes -----------------------------------------------------------------------------------


@shape_rule(
    "HashTable",
    "HashTableV2",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
)
def _handle_shape(op):
    return TensorShape([2]) if op.outputs[0].dtype.base_dtype == dtypes.string else TensorShape([])


shape_rule("LookupTableSize", "LookupTableSizeV2")(scalar_output)


@shape_rule("LookupTableFind", "LookupTableFindV2")
def _find_shape(op):
    default = op.inputs[2].shape
    if default.ndims is not None and default.ndims > 1:
        raise ValueError(f"Shape must be at most rank 1 but is rank {default.ndims}")
    keys, handle = op.inputs[1].shape, op.inputs[0].op
    # A handle from elsewhere, such as an argument of a function, says nothing of its keys.
    if handle.type not in _TABLES_OF_SCALAR_KEYS or default.ndims is None:
        return None
    return keys.concatenate(default)


_TABLES_OF_SCALAR_KEYS = frozenset(
    [
        "HashTable",
        "HashTableV2",
        "MutableHashTable",
        "MutableHashTableV2",
        "MutableHashTableOfTensors",
        "MutableHashTableOfTensorsV2",
    ]
)


@shape_rule("LookupTableExport", "LookupTableExportV2")
def _export_shape(op):
    table = op.inputs[0].op
    vector, unknown = TensorShape([None]), TensorShape(None)
    if table.type.startswith("MutableDenseHashTable"):
        return [vector, vector.concatenate(table.get_attr("value_shape"))]
    if table.type not in _TABLES_OF_SCALAR_KEYS:
        return [unknown, unknown]
    return [vector, unknown if table.type.startswith("MutableHashTableOfTensors") else vector]


@shape_rule("InitializeTableFromTextFile", "InitializeTableFromTextFileV2")
def _one_filename(op):
    op.inputs[1].shape.with_rank(0)
    return []


@shape_rule("InitializeTable", "InitializeTableV2")
def _as_many_values_as_keys(op):
    _, keys, values = op.inputs
    keys.shape.with_rank(1).merge_with(values.shape)
    return []


not_differentiable(
    "LookupTableFind",
    "LookupTableFindV2",
    "LookupTableInsert",
    "LookupTableInsertV2",
    "LookupTableSize",
    "LookupTableSizeV2",
    "HashTable",
    "HashTableV2",
    "InitializeTable",
    "InitializeTableV2",
    "InitializeTableFromTextFile",
    "InitializeTableFromTextFileV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
)
