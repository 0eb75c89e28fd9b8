"""Ids to vectors: sequences of embeddings, bags of words, and lookups that bear missing and invalid ids."""

from __future__ import annotations

from everflow import nn
from everflow.contrib.framework.variables import model_variable
from everflow.contrib.layers.sparse_tensors import dense_to_sparse_tensor
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.nn.embedding import combined_rows
from everflow.ops.variables.scope import variable_scope
from everflow.platform.signatures import takes

_TABLE = {"initializer": None, "regularizer": None, "trainable": True, "scope": None, "reuse": None}


def _table(shape, given):
    settings = {key: given[key] for key in ("initializer", "regularizer", "trainable")}
    return model_variable("embeddings", shape, **settings)


@takes(_TABLE)
def embed_sequence(ids, vocab_size=None, embed_dim=None, unique=False, **given):
    """Vectors for ids: [batch, length] to [batch, length, embed_dim]; with `unique` each id is looked up once."""
    reuse = given["reuse"]
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(f"A new embedding needs vocab_size and embed_dim, which are {vocab_size} and {embed_dim}")
    with variable_scope(given["scope"], "EmbedSequence", [ids], reuse=reuse):
        shape = [vocab_size, embed_dim]
        if reuse and vocab_size is None or embed_dim is None:
            shape = None
        embeddings = _table(shape, given)
        return embedding_lookup_unique(embeddings, ids) if unique else nn.embedding_lookup(embeddings, ids)


@takes(_TABLE)
def bow_encoder(ids, vocab_size, embed_dim, sparse_lookup=True, **given):
    """The mean of the embeddings of each row's ids; 0 is padding."""
    with variable_scope(given["scope"], "bow_encoder", [ids], reuse=given["reuse"]):
        embeddings = _table([vocab_size, embed_dim], given)
        if not sparse_lookup:
            if isinstance(ids, SparseTensor):
                raise TypeError(f"With sparse_lookup=False ids must be a dense tensor, not {ids!r}")
            return math.reduce_mean(nn.embedding_lookup(embeddings, ids), axis=1)
        sparse_ids = ids if isinstance(ids, SparseTensor) else dense_to_sparse_tensor(ids)
        return safe_embedding_lookup_sparse([embeddings], sparse_ids, combiner="mean", default_id=0)


def embedding_lookup_unique(params, ids, partition_strategy="mod", name=None):
    """As `tf.nn.embedding_lookup`, looking up each id only once."""
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert_to_tensor(ids)
        shape = array.shape(ids)
        flat = array.reshape(ids, math.reduce_prod(shape, keepdims=True))
        unique_ids, positions = array.unique(flat)
        unique_vectors = nn.embedding_lookup(params, unique_ids, partition_strategy)
        vectors = array.gather(unique_vectors, positions)
        result = array.reshape(vectors, array.concat([shape, array.shape(unique_vectors)[1:]], 0))
        result.set_shape(ids.get_shape().concatenate(unique_vectors.get_shape()[1:]))
        return result


def safe_embedding_lookup_sparse(
    embedding_weights,
    sparse_ids,
    sparse_weights=None,
    combiner=None,
    default_id=None,
    name=None,
    partition_strategy="div",
    max_norm=None,
):
    """Combined embeddings of each row's ids; negative ids and weights that are not positive are left out.

    A row without ids gets the vector of `default_id`, or zeros.
    """
    combiner = combiner or "mean"
    if hasattr(embedding_weights, "_variable_list"):
        embedding_weights = list(embedding_weights)
    if embedding_weights is not None and not isinstance(embedding_weights, list):
        embedding_weights = [embedding_weights]
    if not embedding_weights:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    with name_scope(name, "embedding_lookup", embedding_weights + [sparse_ids, sparse_weights]) as scope:
        given = combiner, default_id, scope, partition_strategy, max_norm
        return combined_rows(embedding_weights, sparse_ids, sparse_weights, *given)
