"""Columns of categories: ids as they are, hashed, looked up in a vocabulary, and with weights."""

from __future__ import annotations

import collections

import numpy as np

from everflow.feature_column.cache import sparse_without
from everflow.feature_column.columns import (
    CategoricalColumn,
    IdWeightPair,
    assert_key_is_string,
    assert_same_kind,
    assert_string_or_int,
)
from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.io.examples import VarLenFeature
from everflow.ops.lookup import files as lookup_files
from everflow.ops.lookup import static as lookup
from everflow.ops.strings import text as strings
from everflow.platform import file_io, logging
from everflow.platform.signatures import takes


class KeyedCategoricalColumn(CategoricalColumn):
    """Categories of one feature. Subclasses turn its sparse values into ids."""

    name = property(lambda self: self.key)
    parents = property(lambda self: [self.key])
    parse_example_spec = property(lambda self: {self.key: VarLenFeature(self.dtype)})

    def transform_feature(self, transformation_cache, state_manager):
        values = sparse_without(transformation_cache.get(self.key, state_manager))
        return SparseTensor(values.indices, self._ids(values), values.dense_shape)

    def get_sparse_tensors(self, transformation_cache, state_manager):
        return IdWeightPair(transformation_cache.get(self, state_manager), None)


class IdentityCategoricalColumn(
    KeyedCategoricalColumn,
    collections.namedtuple("IdentityCategoricalColumn", ("key", "number_buckets", "default_value")),
):
    """See `categorical_column_with_identity`."""

    num_buckets = property(lambda self: self.number_buckets)
    parse_example_spec = property(lambda self: {self.key: VarLenFeature(dtypes.int64)})

    def _ids(self, sparse):
        if not sparse.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {sparse.dtype}")
        values = math.cast(sparse.values, dtypes.int64, name="values")
        num_buckets = math.cast(self.num_buckets, dtypes.int64, name="num_buckets")
        zero = math.cast(0, dtypes.int64, name="zero")
        if self.default_value is None:
            words = f'Bucket index for categorical column "{self.name}" exceeds number of buckets'
            told = {"data": (values, num_buckets), "message": words, "name": "assert_less_than_num_buckets"}
            too_large = check.assert_less(values, num_buckets, **told)
            words = f'Negative bucket index for categorical column "{self.name}"'
            told = {"data": (values,), "message": words, "name": "assert_greater_or_equal_0"}
            negative = check.assert_greater_equal(values, zero, **told)
            with control_dependencies((too_large, negative)):
                return array.identity(values)
        out_of_range = math.logical_or(values < zero, values >= num_buckets, name="out_of_range")
        defaults = array.fill(
            dims=array.shape(values), value=math.cast(self.default_value, dtypes.int64), name="default_values"
        )
        return array.where_v2(out_of_range, defaults, values)


def categorical_column_with_identity(key, num_buckets, default_value=None):
    """Integers below `num_buckets` as ids. Others become `default_value`; without one they are an error of the run.

    Args:
        key: The name of the feature.
        num_buckets: How many categories there are.
        default_value: What stands for a value that is not among the known ones.

    Returns:
        A column.

    Raises:
        ValueError: If a number isn't possible.

    Example:
        >>> tf.feature_column.categorical_column_with_identity("word", 1000).name
        'word'
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    assert_key_is_string(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)


class HashedCategoricalColumn(
    KeyedCategoricalColumn, collections.namedtuple("HashedCategoricalColumn", ("key", "hash_bucket_size", "dtype"))
):
    """See `categorical_column_with_hash_bucket`."""

    num_buckets = property(lambda self: self.hash_bucket_size)

    def _ids(self, sparse):
        assert_string_or_int(sparse.dtype, f"column_name: {self.key} input_tensor")
        assert_same_kind(self, sparse)
        values = sparse.values if self.dtype == dtypes.string else strings.as_string(sparse.values)
        return strings.string_to_hash_bucket_fast(values, self.hash_bucket_size, name="lookup")


def categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string):
    """Strings or integers, hashed to ids below `hash_bucket_size`: no vocabulary is needed, but values may collide.

    Args:
        key: The name of the feature.
        hash_bucket_size: How many buckets values are spread over.
        dtype: The type of the feature.

    Returns:
        A column.

    Raises:
        ValueError: If the size or type isn't possible.

    Example:
        >>> tf.feature_column.categorical_column_with_hash_bucket("word", 1000).name
        'word'
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1; that of column {key!r} is {hash_bucket_size}.")
    assert_key_is_string(key)
    assert_string_or_int(dtype, f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


class VocabularyColumn(KeyedCategoricalColumn):
    """Categories whose ids are their places in a vocabulary."""

    num_buckets = property(lambda self: self.vocabulary_length + self.num_oov_buckets)

    def _ids(self, sparse):
        assert_same_kind(self, sparse)
        values, key_dtype = sparse.values, self.dtype
        if sparse.dtype.is_integer:
            key_dtype, values = dtypes.int64, math.cast(values, dtypes.int64)
        return self._table(key_dtype, name=f"{self.key}_lookup").lookup(values)


_OF_FILES = ("key", "vocabulary_file", "vocabulary_size", "num_oov_buckets", "dtype", "default_value")


class VocabularyFileCategoricalColumn(
    VocabularyColumn, collections.namedtuple("VocabularyFileCategoricalColumn", _OF_FILES)
):
    """See `categorical_column_with_vocabulary_file`."""

    vocabulary_length = property(lambda self: self.vocabulary_size)

    def _table(self, key_dtype, name):
        vocabulary = self.vocabulary_file, self.num_oov_buckets, self.vocabulary_size, self.default_value
        return lookup_files.index_table_from_file(*vocabulary, key_dtype=key_dtype, name=name)


@takes(
    "key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0, default_value=None, dtype=string",
    string=dtypes.string,
)
def categorical_column_with_vocabulary_file(
    key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
):
    """Values by their line in a file. Unknown ones become `default_value`, or one of `num_oov_buckets` more ids.

    Args:
        key: The name of the feature.
        vocabulary_file: The file with a known value in each line.
        vocabulary_size: How many lines of the file count; all of them if None.
        num_oov_buckets: How many buckets other values are spread over.
        default_value: What stands for a value that is not among the known ones.
        dtype: The type of the feature.

    Returns:
        A column.

    Raises:
        ValueError: If the file is missing, or numbers aren't possible.

    Example:
        >>> with open("words.txt", "w") as file:
        ...     print("red", file=file)
        >>> tf.feature_column.categorical_column_with_vocabulary_file("word", "words.txt", 1).name
        'word'
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        if not file_io.file_exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        with file_io.FileIO(vocabulary_file, "rb") as lines:
            vocabulary_size = sum(1 for _ in lines)
        logging.info("Column %s: %s has %d lines, which is its vocabulary_size.", key, vocabulary_file, vocabulary_size)
    # The file may come to be only later.
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    default_value = _checked_oov(key, num_oov_buckets, default_value)
    assert_string_or_int(dtype, f"column_name: {key}")
    assert_key_is_string(key)
    return VocabularyFileCategoricalColumn(
        key, vocabulary_file, vocabulary_size, num_oov_buckets or 0, dtype, default_value
    )


def _checked_oov(key, num_oov_buckets, default_value, absent=None):
    if num_oov_buckets:
        if default_value != absent:
            raise ValueError(
                f"Unknown values of {key} go to one place: pass num_oov_buckets ({num_oov_buckets}) or "
                f"default_value ({default_value}), not both."
            )
        if num_oov_buckets < 0:
            raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")
    return -1 if default_value is None else default_value


class VocabularyListCategoricalColumn(
    VocabularyColumn,
    collections.namedtuple(
        "VocabularyListCategoricalColumn", ("key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets")
    ),
):
    """See `categorical_column_with_vocabulary_list`."""

    vocabulary_length = property(lambda self: len(self.vocabulary_list))

    def _table(self, key_dtype, name):
        return lookup.index_table_from_tensor(
            tuple(self.vocabulary_list), self.num_oov_buckets, self.default_value, dtype=key_dtype, name=name
        )


def categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0):
    """Values by their place in a list. Unknown ones become `default_value`, or one of `num_oov_buckets` more ids.

    Args:
        key: The name of the feature.
        vocabulary_list: The known values.
        dtype: The type of the feature.
        default_value: What stands for a value that is not among the known ones.
        num_oov_buckets: How many buckets other values are spread over.

    Returns:
        A column.

    Raises:
        ValueError: If the list is empty or has something twice, or numbers aren't possible.

    Example:
        >>> tf.feature_column.categorical_column_with_vocabulary_list("color", ["red", "green", "blue"]).name
        'color'
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty: column {key!r} has no value otherwise.")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    vocabulary_dtype = dtypes.as_dtype(np.array(vocabulary_list).dtype)
    default_value = _checked_oov(key, num_oov_buckets, default_value, absent=-1)
    assert_string_or_int(vocabulary_dtype, f"column_name: {key} vocabulary")
    if dtype is None:
        dtype = vocabulary_dtype
    elif dtype.is_integer != vocabulary_dtype.is_integer:
        raise ValueError(f"dtype {dtype} and vocabulary dtype {vocabulary_dtype} do not match in column {key!r}.")
    assert_string_or_int(dtype, f"column_name: {key}")
    assert_key_is_string(key)
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), dtype, default_value, num_oov_buckets)


class WeightedCategoricalColumn(
    CategoricalColumn,
    collections.namedtuple("WeightedCategoricalColumn", ("categorical_column", "weight_feature_key", "dtype")),
):
    """See `weighted_categorical_column`."""

    name = property(lambda self: f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}")
    parents = property(lambda self: [self.categorical_column, self.weight_feature_key])
    num_buckets = property(lambda self: self.categorical_column.num_buckets)

    @property
    def parse_example_spec(self):
        """The features of the categories, and the weights."""
        spec = dict(self.categorical_column.parse_example_spec)
        if self.weight_feature_key in spec:
            raise ValueError(
                f"Parse config {spec[self.weight_feature_key]} already exists for {self.weight_feature_key}."
            )
        return {**spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache, state_manager):
        weights = transformation_cache.get(self.weight_feature_key, state_manager)
        if weights is None:
            raise ValueError(f"Missing weights {self.weight_feature_key}.")
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        weights = sparse_without(weights, ignored=0.0)
        if not weights.dtype.is_floating:
            weights = math.cast(weights, dtypes.float32)
        return transformation_cache.get(self.categorical_column, state_manager), weights

    def get_sparse_tensors(self, transformation_cache, state_manager):
        ids, weights = transformation_cache.get(self, state_manager)
        return IdWeightPair(ids, weights)


def weighted_categorical_column(categorical_column, weight_feature_key, dtype=dtypes.float32):
    """Categories that count as much as the numbers of another feature, of the same sparse shape, say.

    Args:
        categorical_column: The column of categories.
        weight_feature_key: The name of the feature with the weights.
        dtype: The type of the feature.

    Returns:
        A column.

    Raises:
        ValueError: If the type isn't one of numbers.

    Example:
        >>> word = tf.feature_column.categorical_column_with_identity("word", 10)
        >>> tf.feature_column.weighted_categorical_column(word, "frequency").name
        'word_weighted_by_frequency'
    """
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)
