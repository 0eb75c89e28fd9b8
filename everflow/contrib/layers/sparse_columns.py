"""Feature columns of categories before tf.feature_column: hashed, integers, by vocabulary, weighted, crossed."""

from __future__ import annotations

import collections

from everflow.contrib.layers.feature_columns import BucketizedColumn, OldColumn, require
from everflow.contrib.layers.sparse_tensors import dense_to_sparse_tensor
from everflow.feature_column.columns import CategoricalColumn, IdWeightPair
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor_or_sparse_tensor
from everflow.framework.operation import Tensor
from everflow.ops import math
from everflow.ops.io.examples import VarLenFeature
from everflow.ops.lookup import files as lookup_files
from everflow.ops.lookup import static as lookup
from everflow.ops.sparse import functions as sparse
from everflow.ops.strings import text as strings

_LOOKUP = "vocabulary_file keys num_oov_buckets vocab_size default_value"
SparseIdLookupConfig = collections.namedtuple("SparseIdLookupConfig", _LOOKUP)
_FIELDS = ("column_name", "is_integerized", "bucket_size", "lookup_config", "combiner", "dtype")


class SparseIdColumn(OldColumn, CategoricalColumn):
    """A column whose transformed feature holds sparse ids below `length`, maybe with weights."""

    num_buckets = property(lambda self: self.length)

    def get_sparse_tensors(self, transformation_cache, state_manager):
        return IdWeightPair(*self.weighted_ids(transformation_cache.get(self)))

    def weighted_ids(self, transformed):
        return transformed, None


class SparseColumn(SparseIdColumn):
    """Categories of one feature. Subclasses turn its sparse values into ids."""

    name = property(lambda self: self.column_name)
    parents = property(lambda self: [self.column_name])
    config = property(lambda self: {self.column_name: VarLenFeature(self.dtype)})

    def feature(self, transformation_cache):
        """The raw feature; a dense one without empty strings or -1."""
        tensor = convert_to_tensor_or_sparse_tensor(transformation_cache.get(self.column_name))
        if isinstance(tensor, SparseTensor):
            return tensor
        return dense_to_sparse_tensor(tensor, ignore_value="" if self.dtype == dtypes.string else -1)

    def transform_feature(self, transformation_cache, state_manager):
        values = self.feature(transformation_cache)
        return SparseTensor(values.indices, self._ids(values.values), values.dense_shape)


class SparseColumnHashed(SparseColumn, collections.namedtuple("SparseColumnHashed", (*_FIELDS, "hash_keys"))):
    """See `sparse_column_with_hash_bucket`."""

    length = property(lambda self: self.bucket_size)

    def transform_feature(self, transformation_cache, state_manager):
        values = self.feature(transformation_cache)
        words = strings.as_string(values.values) if self.dtype.is_integer else values.values
        if not self.hash_keys:
            ids = strings.string_to_hash_bucket_fast(words, self.bucket_size, name="lookup")
            return SparseTensor(values.indices, ids, values.dense_shape)
        size, keys = self.bucket_size, [list(key) for key in self.hash_keys]
        hashed = [strings.string_to_hash_bucket_strong(words, size, key) for key in keys]
        hashed = [SparseTensor(values.indices, ids, values.dense_shape) for ids in hashed]
        return sparse.sparse_concat(axis=1, sp_inputs=hashed, name="lookup")


class SparseColumnIntegerized(SparseColumn, collections.namedtuple("SparseColumnIntegerized", _FIELDS)):
    """See `sparse_column_with_integerized_feature`."""

    length = property(lambda self: self.bucket_size)

    def _ids(self, values):
        return math.mod(values, self.bucket_size, name="mod")


class SparseColumnKeys(SparseColumn, collections.namedtuple("SparseColumnKeys", _FIELDS)):
    """See `sparse_column_with_keys`."""

    length = property(lambda self: len(self.lookup_config.keys))

    def _ids(self, values):
        config = self.lookup_config
        settings = {"default_value": config.default_value, "dtype": self.dtype, "name": "lookup"}
        table = lookup.index_table_from_tensor(tuple(config.keys), **settings)
        return table.lookup(values)


class SparseColumnVocabulary(SparseColumn, collections.namedtuple("SparseColumnVocabulary", _FIELDS)):
    """See `sparse_column_with_vocabulary_file`."""

    length = property(lambda self: self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets)

    def _ids(self, values):
        if self.dtype.is_integer:
            values = strings.as_string(values)
        config = self.lookup_config
        sizes = config.num_oov_buckets, config.vocab_size, config.default_value
        table = lookup_files.index_table_from_file(config.vocabulary_file, *sizes, name=f"{self.name}_lookup")
        return table.lookup(values)


def _check_dtype(dtype, column_name):
    require(dtype == dtypes.string or dtype.is_integer, column_name, "dtype must be string or integer", dtype)


def _check_size(bucket_size, column_name):
    require(bucket_size > 0, column_name, "bucket_size must be at least 1", bucket_size)


def check_checkpoint(column_name, ckpt_to_load_from, tensor_name_in_ckpt):
    """Raise ValueError where only one of a checkpoint and a tensor's name in it is given."""
    both_or_none = (ckpt_to_load_from is None) == (tensor_name_in_ckpt is None)
    wanted = "a checkpoint to load from and the tensor's name there must both be given, or neither"
    require(both_or_none, column_name, wanted, (ckpt_to_load_from, tensor_name_in_ckpt))


def sparse_column_with_hash_bucket(column_name, hash_bucket_size, combiner="sum", dtype=dtypes.string, hash_keys=None):
    """Strings or integers, hashed to ids below `hash_bucket_size`; to one id for each of `hash_keys`."""
    _check_dtype(dtype, column_name)
    _check_size(hash_bucket_size, column_name)
    pairs = all(isinstance(key, list) and len(key) == 2 for key in hash_keys or ())
    require(pairs, column_name, "hash_keys must be lists of two ints each", hash_keys)
    hash_keys = tuple(tuple(key) for key in hash_keys) if hash_keys else None
    return SparseColumnHashed(column_name, False, hash_bucket_size, None, combiner, dtype, hash_keys)


def sparse_column_with_integerized_feature(column_name, bucket_size, combiner="sum", dtype=dtypes.int64):
    """Integers as ids; those from `bucket_size` on begin at 0 again."""
    require(dtype.is_integer, column_name, "dtype must be an integer", dtype)
    _check_size(bucket_size, column_name)
    return SparseColumnIntegerized(column_name, True, bucket_size, None, combiner, dtype)


def sparse_column_with_keys(column_name, keys, default_value=-1, combiner="sum", dtype=dtypes.string):
    """Values by their place among `keys`."""
    keys = tuple(keys)
    _check_dtype(dtype, column_name)
    config = SparseIdLookupConfig(None, keys, 0, len(keys), default_value)
    return SparseColumnKeys(column_name, False, None, config, combiner, dtype)


def sparse_column_with_vocabulary_file(column_name, vocabulary_file, num_oov_buckets=0, vocab_size=None, default_value=-1, combiner="sum",
                                       dtype=dtypes.string):  # fmt: skip
    """Values by the number of their line in a file."""
    require(vocab_size is not None, column_name, "vocab_size must be given", vocab_size)
    _check_dtype(dtype, column_name)
    config = SparseIdLookupConfig(vocabulary_file, None, num_oov_buckets, vocab_size, default_value)
    return SparseColumnVocabulary(column_name, False, None, config, combiner, dtype)


class WeightedSparseColumn(
    SparseIdColumn, collections.namedtuple("WeightedSparseColumn", ("sparse_id_column", "weight_column_name", "dtype"))
):
    """See `weighted_sparse_column`. Its transformed feature is a pair: ids and weights."""

    name = property(lambda self: f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}")
    parents = property(lambda self: [self.sparse_id_column, self.weight_column_name])
    config = property(lambda self: {**self.sparse_id_column.config, self.weight_column_name: VarLenFeature(self.dtype)})
    length = property(lambda self: self.sparse_id_column.length)
    combiner = property(lambda self: self.sparse_id_column.combiner)

    def transform_feature(self, transformation_cache, state_manager):
        ids = transformation_cache.get(self.sparse_id_column)
        weights = transformation_cache.get(self.weight_column_name)
        if not isinstance(weights, SparseTensor):
            # Every id that is there has a weight, zeros among them.
            weights = dense_to_sparse_tensor(weights)
        if not self.dtype.is_floating:
            weights = math.cast(weights, dtypes.float32)
        return ids, weights

    def weighted_ids(self, transformed):
        return transformed


def weighted_sparse_column(sparse_id_column, weight_column_name, dtype=dtypes.float32):
    """Categories that count as much as the numbers of another feature say."""
    require(dtype.is_integer or dtype.is_floating, weight_column_name, "dtype must be convertible to float", dtype)
    return WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)


_CROSSED = "columns hash_bucket_size hash_key combiner ckpt_to_load_from tensor_name_in_ckpt"


class CrossedColumn(SparseIdColumn, collections.namedtuple("CrossedColumn", _CROSSED)):
    """See `crossed_column`."""

    name = property(lambda self: "_X_".join(sorted(column.name for column in self.columns)))
    parents = property(lambda self: list(self.columns))
    length = property(lambda self: self.hash_bucket_size)

    @property
    def config(self):
        return {key: spec for column in self.columns for key, spec in column.config.items()}

    def _crossed(self, transformation_cache):
        """What is crossed in the end: raw values of sparse columns, buckets, and the parts of inner crosses."""
        tensors = []
        for column in self.columns:
            if isinstance(column, CrossedColumn):
                tensors += column._crossed(transformation_cache)
            elif isinstance(column, BucketizedColumn):
                tensors.append(column.ids(transformation_cache.get(column)))
            else:
                tensors.append(transformation_cache.get(column.column_name))
        return tensors

    def transform_feature(self, transformation_cache, state_manager):
        features = self._crossed(transformation_cache)
        return sparse_feature_cross(features, True, self.hash_bucket_size, name="cross", hash_key=self.hash_key)


def sparse_feature_cross(inputs, hashed_output=False, num_buckets=0, name=None, hash_key=None):
    """Combinations of features, as strings like "a_X_b" or, with `hashed_output`, as ids below `num_buckets`."""
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    for item in inputs:
        if not isinstance(item, (SparseTensor, Tensor)):
            raise TypeError(f"Inputs must be SparseTensors or Tensors, not {item!r}")
    sparse_inputs = [i for i in inputs if isinstance(i, SparseTensor)]
    dense_inputs = [i for i in inputs if not isinstance(i, SparseTensor)]
    internal = dtypes.int64 if any(i.dtype != dtypes.string for i in inputs) else dtypes.string

    def as_int(tensor):
        return tensor if tensor.dtype == dtypes.string else math.cast(tensor, dtypes.int64)

    arguments = {
        "indices": [i.indices for i in sparse_inputs],
        "values": [as_int(i.values) for i in sparse_inputs],
        "shapes": [i.dense_shape for i in sparse_inputs],
        "dense": [as_int(i) for i in dense_inputs],
        "hashed_output": hashed_output,
        "num_buckets": num_buckets,
        "out_type": dtypes.int64 if hashed_output else dtypes.string,
        "internal_type": internal,
        "name": name,
    }
    if hash_key:
        return SparseTensor(*raw.SparseFeatureCrossV2(**arguments, hash_key=hash_key))
    return SparseTensor(*raw.SparseFeatureCross(**arguments))


def crossed_column(
    columns, hash_bucket_size, combiner="sum", ckpt_to_load_from=None, tensor_name_in_ckpt=None, hash_key=None
):
    """Combinations of values of sparse, bucketized or crossed columns, hashed to ids below `hash_bucket_size`."""
    for column in columns:
        if not isinstance(column, (SparseColumn, CrossedColumn, BucketizedColumn)):
            raise TypeError(f"Sparse, bucketized and crossed columns can be crossed; this is a {type(column).__name__}")
    if len(columns) < 2:
        raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
    by_name = tuple(sorted(columns, key=lambda column: column.name))
    crossed = CrossedColumn(by_name, hash_bucket_size, hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt)
    require(hash_bucket_size > 1, crossed.name, "hash_bucket_size must be at least 2", hash_bucket_size)
    check_checkpoint(crossed.name, ckpt_to_load_from, tensor_name_in_ckpt)
    return crossed
