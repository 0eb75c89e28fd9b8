"""Tables that are filled from the lines of a text file."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import add_to_collection, executing_eagerly, name_scope
from everflow.ops.functions.resources import TrackableAsset
from everflow.ops.lookup.static import (
    FastHashSpec,
    IdTableWithHashBuckets,
    StaticHashTableV1,
    TableInitializerBase,
    check_buckets,
    check_table_dtypes,
)


class TextFileIndex:
    """What stands for a key or value instead of a column: the whole line, or its number.

    Example:
        >>> tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
        (-2, -1)
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(TableInitializerBase):
    r"""Fills a table with a key and a value from each line of a file: columns, the whole line, or its number.

    Args:
        filename: The file.
        key_dtype: The type of the keys.
        key_index: The column of the keys, or a value of `TextFileIndex`.
        value_dtype: The type of the values.
        value_index: The column of the values, or a value of `TextFileIndex`.
        vocab_size: How many lines there are, where that is known.
        delimiter: What separates columns.
        name: The name of the operation in the graph.

    Example:
        >>> with open("words.txt", "w") as file:
        ...     print("a", "b", sep="\n", file=file)
        >>> index = tf.lookup.TextFileIndex
        >>> words = tf.lookup.TextFileInitializer("words.txt", tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
        >>> table = tf.lookup.StaticHashTable(words, -1)
        >>> sess.run(tf.tables_initializer())
        >>> sess.run(table.lookup(tf.constant(["b"])))
        array([1])
    """

    def __init__(
        self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None, delimiter="\t", name=None
    ):
        if not isinstance(filename, (Tensor, TrackableAsset)) and not filename:
            raise ValueError(f"Filename required for {name}.")
        self._filename_arg = filename
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        for what, index, dtype in (("key", key_index, key_dtype), ("value", value_index, value_dtype)):
            if index < -2:
                raise ValueError(f"Invalid {what} index {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError(f"Signature mismatch. As a {what}, the line's number is int64, not {dtype.name}")
            is_integer_key = what == "key" and dtype.is_integer
            if index == TextFileIndex.WHOLE_LINE and dtype != dtypes.string and not is_integer_key:
                raise ValueError(f"Signature mismatch. As a {what}, the whole line can't be {dtype.name}")
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size, self._delimiter, self._name = vocab_size, delimiter, name
        super().__init__(key_dtype, value_dtype)
        self._filename = filename if isinstance(filename, TrackableAsset) else TrackableAsset(filename)
        self._track_trackable(self._filename, "_filename")

    @property
    def _shared_name(self):
        """The name by which sessions share tables made from the same part of the same file."""
        if self._vocab_size:
            return f"hash_table_{self._filename_arg}_{self._vocab_size}_{self._key_index}_{self._value_index}"
        return f"hash_table_{self._filename_arg}_{self._key_index}_{self._value_index}"

    def initialize(self, table):
        """An op that fills the table."""
        check_table_dtypes(table, self.key_dtype, self.value_dtype)
        with name_scope(self._name, "text_file_init", (table.resource_handle,)):
            filename = convert_to_tensor(self._filename.asset_path, dtypes.string, name="asset_filepath")
            op = raw.InitializeTableFromTextFileV2(
                table.resource_handle,
                filename,
                key_index=self._key_index,
                value_index=self._value_index,
                vocab_size=-1 if self._vocab_size is None else self._vocab_size,
                delimiter=self._delimiter,
            )
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        # A name that is only known when the graph runs names no file to take along.
        if not executing_eagerly() and filename.op.type == "Const":
            add_to_collection(GraphKeys.ASSET_FILEPATHS, filename)
        return op


class TextFileStringTableInitializer(TextFileInitializer):
    """Fills a table from line numbers to lines."""

    def __init__(
        self,
        filename,
        key_column_index=TextFileIndex.LINE_NUMBER,
        value_column_index=TextFileIndex.WHOLE_LINE,
        vocab_size=None,
        delimiter="\t",
        name="text_file_string_table_init",
    ):
        super().__init__(
            filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size, delimiter, name
        )


class TextFileIdTableInitializer(TextFileInitializer):
    """Fills a table from lines to their numbers."""

    def __init__(
        self,
        filename,
        key_column_index=TextFileIndex.WHOLE_LINE,
        value_column_index=TextFileIndex.LINE_NUMBER,
        vocab_size=None,
        delimiter="\t",
        name="text_file_id_table_init",
        key_dtype=dtypes.string,
    ):
        super().__init__(
            filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter, name
        )


def _check_file(vocabulary_file, vocab_size):
    if vocabulary_file is None or (isinstance(vocabulary_file, (str, bytes)) and not vocabulary_file):
        raise ValueError(f"vocabulary_file must name a file; got {vocabulary_file!r}")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(
            f"vocab_size must be greater than 0, not {vocab_size}, for {vocabulary_file}; leave it out for"
            " the whole file"
        )


def index_table_from_file(
    vocabulary_file=None,
    num_oov_buckets=0,
    vocab_size=None,
    default_value=-1,
    hasher_spec=FastHashSpec,
    key_dtype=dtypes.string,
    name=None,
    key_column_index=TextFileIndex.WHOLE_LINE,
    value_column_index=TextFileIndex.LINE_NUMBER,
    delimiter="\t",
):
    """A table from the lines of a file to their numbers."""
    _check_file(vocabulary_file, vocab_size)
    check_buckets(num_oov_buckets)
    key_dtype = dtypes.as_dtype(key_dtype)
    if (not key_dtype.is_integer) and key_dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            init = TextFileIdTableInitializer(
                vocabulary_file,
                vocab_size=vocab_size,
                key_dtype=dtypes.int64 if key_dtype.is_integer else key_dtype,
                name="table_init",
                key_column_index=key_column_index,
                value_column_index=value_column_index,
                delimiter=delimiter,
            )
            table = StaticHashTableV1(init, default_value)
        if num_oov_buckets:
            table = IdTableWithHashBuckets(
                table, num_oov_buckets=num_oov_buckets, hasher_spec=hasher_spec, key_dtype=key_dtype
            )
        return table


def index_to_string_table_from_file(
    vocabulary_file,
    vocab_size=None,
    default_value="UNK",
    name=None,
    key_column_index=TextFileIndex.LINE_NUMBER,
    value_column_index=TextFileIndex.WHOLE_LINE,
    delimiter="\t",
):
    """A table from line numbers to the lines of a file."""
    _check_file(vocabulary_file, vocab_size)
    with name_scope(name, "index_to_string"):
        init = TextFileStringTableInitializer(
            vocabulary_file,
            vocab_size=vocab_size,
            name="table_init",
            key_column_index=key_column_index,
            value_column_index=value_column_index,
            delimiter=delimiter,
        )
        return StaticHashTableV1(init, default_value)
