"""Names that programs take from inside tf.contrib.layers: from its feature_column module, to ask what kind of column
they have, and from that of its layers.
"""

from everflow.contrib.layers.embedding_columns import EmbeddingColumn as _EmbeddingColumn
from everflow.contrib.layers.embedding_columns import OneHotColumn as _OneHotColumn
from everflow.contrib.layers.embedding_columns import ScatteredEmbeddingColumn as _ScatteredEmbeddingColumn
from everflow.contrib.layers.feature_columns import BucketizedColumn as _BucketizedColumn
from everflow.contrib.layers.feature_columns import DataFrameColumn
from everflow.contrib.layers.feature_columns import OldColumn as _FeatureColumn
from everflow.contrib.layers.feature_columns import RealValuedColumn as _RealValuedColumn
from everflow.contrib.layers.model_variables import model_variable_getter as _build_variable_getter
from everflow.contrib.layers.scattered_embeddings import sampled_lookup as _sampled_scattered_embedding_lookup
from everflow.contrib.layers.scattered_embeddings import (
    sampled_lookup_sparse as _sampled_scattered_embedding_lookup_sparse,
)
from everflow.contrib.layers.sparse_columns import CrossedColumn as _CrossedColumn
from everflow.contrib.layers.sparse_columns import SparseColumn as _SparseColumn
from everflow.contrib.layers.sparse_columns import WeightedSparseColumn as _WeightedSparseColumn
from everflow.framework.composites import is_sparse
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import add_to_collection, name_scope
from everflow.ops import array, math
from everflow.ops.sparse.functions import sparse_reshape
from everflow.ops.variables.partitioned import PartitionedVariable

__all__ = [
    "DataFrameColumn",
    "_add_variable_to_collections",
    "_dense_inner_flatten",
    "_inner_flatten",
    "_sampled_scattered_embedding_lookup",
    "_sampled_scattered_embedding_lookup_sparse",
    "_sparse_inner_flatten",
    "_build_variable_getter",
    "_BucketizedColumn",
    "_CrossedColumn",
    "_EmbeddingColumn",
    "_FeatureColumn",
    "_OneHotColumn",
    "_RealValuedColumn",
    "_ScatteredEmbeddingColumn",
    "_SparseColumn",
    "_WeightedSparseColumn",
]


def _add_variable_to_collections(variable, collections_set, collections_name):
    """Put a variable into collections: their names, or a dict that has them by what kind of variable it is."""
    if isinstance(collections_set, dict):
        collections_set = collections_set.get(collections_name)
    names = [collections_set] if isinstance(collections_set, str) else collections_set or ()
    for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
        for name in dict.fromkeys(names):
            add_to_collection(name, part)


def _inner_flatten(inputs, new_rank, output_collections=None, scope=None):
    """A tensor of fewer axes, dense or sparse: the last ones are taken together."""
    with name_scope(scope, "InnerFlatten", [inputs, new_rank]):
        flatten = _sparse_inner_flatten if is_sparse(inputs) else _dense_inner_flatten
        flat = flatten(inputs if is_sparse(inputs) else convert_to_tensor(inputs), new_rank)
        for collection in [output_collections] if isinstance(output_collections, str) else output_collections or ():
            add_to_collection(collection, flat)
        return flat


def _sparse_inner_flatten(inputs, new_rank):
    outer, inner = inputs.dense_shape[: new_rank - 1], inputs.dense_shape[new_rank - 1 :]
    return sparse_reshape(inputs, array.concat([outer, [math.reduce_prod(inner)]], 0))


def _dense_inner_flatten(inputs, new_rank):
    rank = inputs.shape.ndims
    if rank is not None and rank < new_rank:
        raise ValueError(f"A tensor of shape {inputs.shape} has too few axes for one of rank {new_rank}")
    sizes = inputs.shape.as_list()[new_rank - 1 :] if rank is not None else [None]
    flat = array.reshape(inputs, array.concat([array.shape(inputs)[: new_rank - 1], [-1]], 0))
    size = None
    if None not in sizes:
        size = 1
        for inner in sizes:
            size *= inner
    flat.set_shape([*(inputs.shape.as_list()[: new_rank - 1] if rank is not None else [None] * (new_rank - 1)), size])
    return flat
