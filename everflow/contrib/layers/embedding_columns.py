"""Categories as dense input before tf.feature_column: counts, learned vectors, vectors of hashed numbers."""

from __future__ import annotations

import collections
import math as python_math

from everflow.contrib.layers.embeddings import safe_embedding_lookup_sparse
from everflow.contrib.layers.feature_columns import OldColumn, inner_flatten, require
from everflow.contrib.layers.scattered_embeddings import scattered_embedding_lookup_sparse
from everflow.contrib.layers.sparse_columns import SparseColumn, WeightedSparseColumn, check_checkpoint
from everflow.feature_column.columns import DenseColumn
from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor_or_sparse_tensor
from everflow.framework.scopes import add_to_collection, get_collection
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.io.examples import VarLenFeature
from everflow.ops.sparse import functions as sparse
from everflow.ops.variables.initializers import truncated_normal_initializer
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.platform.signatures import options_of, takes
from everflow.train.checkpoint_initialization import init_from_checkpoint


class _DenseOfIds(OldColumn, DenseColumn):
    """A dense column over a column of sparse ids."""

    config = property(lambda self: self.sparse_id_column.config)
    parents = property(lambda self: [self.sparse_id_column])
    length = property(lambda self: self.sparse_id_column.length)

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.sparse_id_column)

    def _flat_ids(self, transformation_cache, output_rank):
        ids, weights = self.sparse_id_column.weighted_ids(transformation_cache.get(self))
        return inner_flatten(ids, output_rank), None if weights is None else inner_flatten(weights, output_rank)


class OneHotColumn(_DenseOfIds, collections.namedtuple("OneHotColumn", ("sparse_id_column",))):
    """See `one_hot_column`."""

    name = property(lambda self: f"{self.sparse_id_column.name}_one_hot")
    variable_shape = property(lambda self: TensorShape([self.length]))

    def get_dense_tensor(self, transformation_cache, state_manager, output_rank=2):
        ids, weights = self.sparse_id_column.weighted_ids(transformation_cache.get(self))
        ids = inner_flatten(ids, output_rank)
        if weights is not None:
            merged = sparse.sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=self.length)
            # Ids out of the vocabulary, -1, are cut off.
            merged = sparse.sparse_slice(merged, array.zeros_like(merged.dense_shape), merged.dense_shape)
            dense = sparse.sparse_tensor_to_dense(merged)
            return array.reshape(dense, array.concat([array.shape(dense)[:-1], [self.length]], 0))
        dense = sparse.sparse_tensor_to_dense(ids, default_value=-1)
        ones = array.one_hot(dense, depth=self.length, on_value=1.0, off_value=0.0)
        return math.reduce_sum(ones, axis=[output_rank - 1])


def one_hot_column(sparse_id_column):
    """How often each category is in a row."""
    return OneHotColumn(sparse_id_column)


_EMBEDDING = """sparse_id_column dimension combiner initializer ckpt_to_load_from tensor_name_in_ckpt
    shared_embedding_name shared_vocab_size max_norm trainable"""


class EmbeddingColumn(_DenseOfIds, collections.namedtuple("EmbeddingColumn", _EMBEDDING)):
    """See `embedding_column` and `shared_embedding_columns`."""

    key = property(lambda self: str(self._replace(initializer=None)))
    variable_shape = property(lambda self: TensorShape([self.dimension]))

    @property
    def name(self):
        return f"{self.sparse_id_column.name}_{'shared_' if self.shared_embedding_name else ''}embedding"

    def get_dense_tensor(self, transformation_cache, state_manager, output_rank=2):
        ids, weights = self._flat_ids(transformation_cache, output_rank)
        table = self._table(state_manager)
        if self.ckpt_to_load_from is not None:
            start = table._get_variable_list() if isinstance(table, PartitionedVariable) else table
            init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: start})
        given = {"sparse_weights": weights, "combiner": self.combiner, "max_norm": self.max_norm}
        return safe_embedding_lookup_sparse(table, ids, **given, name=f"{self.name}weights")

    def _table(self, state_manager):
        shape = [self.length, self.dimension]
        if not self.shared_embedding_name:
            settings = {"dtype": dtypes.float32, "trainable": self.trainable, "initializer": self.initializer}
            return state_manager.create_variable(self, "weights", shape, **settings)
        collection = f"SHARED_EMBEDDING_COLLECTION_{self.shared_embedding_name.upper()}"
        shared = get_collection(collection)
        if len(shared) > 1:
            raise ValueError(f"Collection {collection} can only contain one (partitioned) variable.")
        if shared:
            if shared[0].shape.as_list() != shape:
                found = f"{self.shared_embedding_name} already exists with shape {shared[0].shape}"
                raise ValueError(f"{found}; the embedding {self.name} would share it with shape {shape}.")
            return shared[0]
        settings = {"dtype": dtypes.float32, "trainable": self.trainable, "initializer": self.initializer}
        table = state_manager.create_variable(self, self.shared_embedding_name, shape, **settings)
        add_to_collection(collection, table)
        return table


def _checked_initializer(initializer, size, ckpt_to_load_from, tensor_name_in_ckpt, column_name):
    check_checkpoint(column_name, ckpt_to_load_from, tensor_name_in_ckpt)
    require(initializer is None or callable(initializer), column_name, "initializer must be a function", initializer)
    # Rows for more categories start smaller.
    return initializer or truncated_normal_initializer(mean=0.0, stddev=1 / python_math.sqrt(size))


def embedding_column(
    sparse_id_column,
    dimension,
    combiner="mean",
    initializer=None,
    ckpt_to_load_from=None,
    tensor_name_in_ckpt=None,
    max_norm=None,
    trainable=True,
):
    """Categories as learned vectors of `dimension` numbers; those of one row are combined."""
    restored = ckpt_to_load_from, tensor_name_in_ckpt
    initializer = _checked_initializer(initializer, sparse_id_column.length, *restored, sparse_id_column.name)
    table = combiner, initializer, *restored, None, None
    return EmbeddingColumn(sparse_id_column, dimension, *table, max_norm, trainable)


@takes(options_of(embedding_column, ["combiner"]))
def shared_embedding_columns(sparse_id_columns, dimension, combiner="mean", shared_embedding_name=None, **given):
    """Embedding columns, one for each sparse column, which all look up the same table."""
    if len(sparse_id_columns) < 1:
        raise ValueError("sparse_id_columns is empty: give the columns that share the embedding")
    for column in sparse_id_columns:
        if not isinstance(column, (SparseColumn, WeightedSparseColumn)):
            raise TypeError(f"sparse_id_columns are (weighted) sparse columns, {column} is a {type(column).__name__}")
    if len(sparse_id_columns) == 1:
        # Nobody to share with.
        return [embedding_column(sparse_id_columns[0], dimension, combiner, **given)]
    plain = [c.sparse_id_column if isinstance(c, WeightedSparseColumn) else c for c in sparse_id_columns]
    if len({(type(column), column[1:]) for column in plain}) > 1:
        raise ValueError(f"sparse_id_columns that share an embedding may differ in their names only: {plain}")
    if not shared_embedding_name:
        names = sorted(column.name for column in sparse_id_columns)
        others = f"_plus_{len(names) - 3}_others" if len(names) > 3 else ""
        shared_embedding_name = f"{'_'.join(names[:3])}{others}_shared_embedding"
    size = plain[0].length
    restored = given["ckpt_to_load_from"], given["tensor_name_in_ckpt"]
    initializer = _checked_initializer(given["initializer"], size, *restored, shared_embedding_name)
    table = combiner, initializer, *restored, shared_embedding_name, size, given["max_norm"], given["trainable"]
    return [EmbeddingColumn(column, dimension, *table) for column in sparse_id_columns]


_SCATTERED = "column_name size dimension hash_key combiner initializer"


class ScatteredEmbeddingColumn(OldColumn, DenseColumn, collections.namedtuple("ScatteredEmbeddingColumn", _SCATTERED)):
    """See `scattered_embedding_column`."""

    name = property(lambda self: f"{self.column_name}_scattered_embedding")
    key = property(lambda self: str(self._replace(initializer=None)))
    parents = property(lambda self: [self.column_name])
    config = property(lambda self: {self.column_name: VarLenFeature(dtypes.string)})
    variable_shape = property(lambda self: TensorShape([self.dimension]))

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.column_name)

    def get_dense_tensor(self, transformation_cache, state_manager, output_rank=2):
        values = convert_to_tensor_or_sparse_tensor(transformation_cache.get(self))
        if isinstance(values, SparseTensor):
            values = inner_flatten(values, output_rank)
        settings = {"dtype": dtypes.float32, "initializer": self.initializer}
        weights = state_manager.create_variable(self, "weights", [self.size], **settings)
        settings = {"hash_key": self.hash_key, "combiner": self.combiner, "name": "lookup"}
        return scattered_embedding_lookup_sparse(weights, values, self.dimension, **settings)


def scattered_embedding_column(column_name, size, dimension, hash_key, combiner="mean", initializer=None):
    """Strings as vectors whose numbers are picked from `size` learned ones by hashing: no vocabulary, little memory."""
    require(dimension > 0 and size > 0, column_name, "dimension and size must be greater than 0", (dimension, size))
    require(combiner in ("mean", "sqrtn", "sum"), column_name, "combiner must be 'mean', 'sqrtn' or 'sum'", combiner)
    require(initializer is None or callable(initializer), column_name, "initializer must be a function", initializer)
    # One number serves for many values; its scale is that of an embedding of fixed size.
    initializer = initializer or truncated_normal_initializer(mean=0, stddev=0.1)
    return ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, initializer)
