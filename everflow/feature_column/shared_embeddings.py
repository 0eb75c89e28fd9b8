"""`tf.compat.v2.feature_column`, where it differs: tables shared through an object, arguments in another order."""

from __future__ import annotations

import collections
import weakref

from everflow.feature_column import categorical
from everflow.feature_column.embedding import (
    SHARED_PARAMETERS,
    SharedEmbeddingBase,
    shared_name,
    start_from_checkpoint,
    with_initializer,
)
from everflow.framework import dtypes
from everflow.framework.scopes import get_default_graph
from everflow.ops.variables.scope import get_variable
from everflow.platform.signatures import takes


class SharedEmbeddingColumnCreator:
    """The table that several columns look up: one variable in each graph, made when it is first needed."""

    def __init__(self, dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, num_buckets, trainable, name):
        self.dimension, self._num_buckets, self._name = dimension, num_buckets, name
        self._initializer, self._trainable = initializer, trainable
        self._checkpoint = (ckpt_to_load_from, tensor_name_in_ckpt)
        self._tables = weakref.WeakKeyDictionary()

    @property
    def embedding_weights(self):
        """The variable in the default graph."""
        graph = get_default_graph()
        if graph not in self._tables:
            shape = (self._num_buckets, self.dimension)
            table = get_variable(self._name, shape, dtypes.float32, self._initializer, trainable=self._trainable)
            self._tables[graph] = start_from_checkpoint(table, *self._checkpoint)
        return self._tables[graph]


class SharedEmbeddingColumn(
    SharedEmbeddingBase,
    collections.namedtuple(
        "SharedEmbeddingColumn", ("categorical_column", "shared_embedding_column_creator", "combiner", "max_norm")
    ),
):
    """See `shared_embeddings`."""

    name = property(lambda self: f"{self.categorical_column.name}_shared_embedding")
    dimension = property(lambda self: self.shared_embedding_column_creator.dimension)

    def _refused(self, *_, **__):
        raise ValueError(
            f"`linear_model` and `input_layer` look for tables in collections, where {self.name!r} has none: use "
            "`DenseFeatures`, or make the column with `shared_embedding_columns`."
        )

    var_scope_name = property(_refused)
    _get_dense_tensor = _get_sequence_dense_tensor = _refused

    def _get_config(self):
        raise NotImplementedError("A table that columns share can't be written down")

    def _table(self, state_manager):
        return self.shared_embedding_column_creator.embedding_weights


@takes(SHARED_PARAMETERS)
def shared_embeddings(categorical_columns, combiner, shared_embedding_collection_name, max_norm, **settings):
    """Embedding columns for layers, one for each categorical column, which all look up the same table."""
    settings = with_initializer(settings)
    name = shared_name(categorical_columns, shared_embedding_collection_name)
    creator = SharedEmbeddingColumnCreator(**settings, num_buckets=categorical_columns[0].num_buckets, name=name)
    return [SharedEmbeddingColumn(column, creator, combiner, max_norm) for column in categorical_columns]


@takes(
    """key, vocabulary_file, vocabulary_size=None, dtype=string, default_value=None, num_oov_buckets=0""",
    string=dtypes.string,
)
def categorical_column_with_vocabulary_file_v2(**given):
    """As `categorical_column_with_vocabulary_file`, with the arguments in TensorFlow 2's order."""
    return categorical.categorical_column_with_vocabulary_file(**given)
