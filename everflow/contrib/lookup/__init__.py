"""tf.contrib.lookup: tables under their old names, with `mapping` for what became `vocabulary_list`."""

from __future__ import annotations

# ruff: noqa: F401  The re-exports are the purpose of this file.
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops.lookup import files as _files
from everflow.ops.lookup import static as _lookup
from everflow.ops.lookup.files import (
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
    index_table_from_file,
    index_to_string_table_from_file,
)
from everflow.ops.lookup.mutable import DenseHashTable as MutableDenseHashTable
from everflow.ops.lookup.mutable import MutableHashTable
from everflow.ops.lookup.static import (
    FastHashSpec,
    HasherSpec,
    HashTable,
    IdTableWithHashBuckets,
    InitializableLookupTableBase,
    KeyValueTensorInitializer,
    LookupInterface,
    StrongHashSpec,
    TableInitializerBase,
)


def _given(mapping):
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return mapping


def index_table_from_tensor(
    mapping, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec, dtype=dtypes.string, name=None
):
    """A table from the entries of a vector to their positions in it."""
    return _lookup.index_table_from_tensor(_given(mapping), num_oov_buckets, default_value, hasher_spec, dtype, name)


def string_to_index_table_from_tensor(
    mapping, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec, name=None
):
    """A table from strings to their positions in a vector."""
    with name_scope(name, "string_to_index") as name:
        mapping = convert_to_tensor(_given(mapping))
    if dtypes.string != mapping.dtype.base_dtype:
        raise ValueError(f"The mapping should be a vector of strings, not of {mapping.dtype.name}")
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, name=name)


def string_to_index_table_from_file(
    vocabulary_file=None, num_oov_buckets=0, vocab_size=None, default_value=-1, hasher_spec=FastHashSpec, name=None
):
    """A table from the lines of a file to their numbers."""
    settings = num_oov_buckets, vocab_size, default_value, hasher_spec
    return _files.index_table_from_file(vocabulary_file, *settings, name=name)


def string_to_index(tensor, mapping, default_value=-1, name=None):
    """The positions of strings in a vector of strings."""
    table = index_table_from_tensor(mapping=mapping, default_value=default_value, name=name)
    return table.lookup(tensor)


def index_to_string_table_from_tensor(mapping, default_value="UNK", name=None):
    """A table from positions in a vector of strings to its entries."""
    return _lookup.index_to_string_table_from_tensor(_given(mapping), default_value=default_value, name=name)


def index_to_string(tensor, mapping, default_value="UNK", name=None):
    """The strings at positions of a vector of strings."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)
