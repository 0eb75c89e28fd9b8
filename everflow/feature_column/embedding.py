"""Categories as dense tensors: learned vectors, of one column or shared by several, and counts of each category."""

from __future__ import annotations

import collections
import math as python_math

from everflow.feature_column.categorical import WeightedCategoricalColumn
from everflow.feature_column.columns import DenseColumn, SequenceDenseColumn, TensorSequenceLengthPair, assert_steps
from everflow.feature_column.sequence_lengths import sequence_length_from_sparse_tensor
from everflow.framework import dtypes
from everflow.framework.scopes import add_to_collection, executing_eagerly, get_collection, name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.nn.embedding import safe_embedding_lookup_sparse
from everflow.ops.sparse import functions as sparse
from everflow.ops.variables.initializers import truncated_normal_initializer
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.platform.signatures import parameters, takes
from everflow.train.checkpoint_initialization import init_from_checkpoint


def with_initializer(settings, column_name=None):
    """The settings of a table with vectors of `dimension` numbers and an initializer, after checking what goes with it."""
    dimension, initializer = settings["dimension"], settings["initializer"]
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (settings["ckpt_to_load_from"] is None) != (settings["tensor_name_in_ckpt"] is None):
        raise ValueError(
            "An embedding starts from a tensor of a checkpoint if `ckpt_to_load_from` is given together with "
            "its `tensor_name_in_ckpt`; one of them is missing: "
            f"{settings['ckpt_to_load_from']!r} and {settings['tensor_name_in_ckpt']!r}."
        )
    if initializer is not None and not callable(initializer):
        embedding = f" Embedding of column_name: {column_name}" if column_name else ""
        raise ValueError(f"initializer must be callable if specified.{embedding}")
    initializer = initializer or truncated_normal_initializer(mean=0.0, stddev=1 / python_math.sqrt(dimension))
    return {**settings, "initializer": initializer}


class EmbeddingBase(DenseColumn, SequenceDenseColumn):
    """What embedding columns have in common: ids looked up in a table, combined within a row or kept as steps."""

    _maker = "embedding_column"  # the function that makes such columns
    parents = property(lambda self: [self.categorical_column])
    parse_example_spec = property(lambda self: self.categorical_column.parse_example_spec)
    variable_shape = property(lambda self: TensorShape([self.dimension]))
    table_shape = property(lambda self: (self.categorical_column.num_buckets, self.dimension))

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.categorical_column, state_manager)

    def _embedded(self, transformation_cache, state_manager):
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        options = {"combiner": self.combiner, "name": f"{self.name}_weights", "max_norm": self.max_norm}
        return ids, safe_embedding_lookup_sparse(self._table(state_manager), ids, weights, **options)

    def get_dense_tensor(self, transformation_cache, state_manager):
        assert_steps(self, self._maker, False)
        return self._embedded(transformation_cache, state_manager)[1]

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        assert_steps(self, self._maker, True)
        ids, embedded = self._embedded(transformation_cache, state_manager)
        return TensorSequenceLengthPair(embedded, sequence_length_from_sparse_tensor(ids))


def start_from_checkpoint(table, checkpoint, tensor_name):
    """Let a table start from a tensor of a checkpoint, if there is one; the table."""
    if checkpoint is not None:
        parts = table._get_variable_list() if isinstance(table, PartitionedVariable) else table
        init_from_checkpoint(checkpoint, {tensor_name: parts})
    return table


# What embedding columns are made with, besides what they embed and the name of a table that they share.
OF_EMBEDDINGS = """dimension, combiner="mean", initializer=None, %s ckpt_to_load_from=None, tensor_name_in_ckpt=None,
    max_norm=None, trainable=True"""
_PARAMETERS = parameters("categorical_column, " + OF_EMBEDDINGS % "")
SHARED_PARAMETERS = parameters("categorical_columns, " + OF_EMBEDDINGS % "shared_embedding_collection_name=None,")


class EmbeddingColumn(EmbeddingBase, collections.namedtuple("EmbeddingColumn", _PARAMETERS)):
    """See `embedding_column`."""

    name = property(lambda self: f"{self.categorical_column.name}_embedding")

    def create_state(self, state_manager):
        made = {"trainable": self.trainable, "use_resource": True, "initializer": self.initializer}
        state_manager.create_variable(self, "embedding_weights", self.table_shape, dtypes.float32, **made)

    def _table(self, state_manager):
        table = state_manager.get_variable(self, name="embedding_weights")
        return start_from_checkpoint(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)


@takes(_PARAMETERS)
def embedding_column(categorical_column, **settings):
    """Categories as learned vectors of `dimension` numbers; those of one row are combined: "mean", "sqrtn" or "sum".

    Args:
        categorical_column: The column of categories.
        dimension: How many numbers stand for a category.
        combiner: How several values are joined: `sum`, `mean` or `sqrtn`.
        initializer: What the numbers start as.
        ckpt_to_load_from: A checkpoint whose values they start with.
        tensor_name_in_ckpt: The variable's name in that checkpoint.
        max_norm: The longest a category's vector may be; longer ones are scaled down.
        trainable: Whether they are trained.

    Returns:
        A column.

    Raises:
        ValueError: If a number or initializer isn't possible.

    Example:
        >>> word = tf.feature_column.categorical_column_with_identity("word", 10)
        >>> layer = tf.feature_column.input_layer({"word": [[3], [4]]}, [tf.feature_column.embedding_column(word, 4)])
        >>> layer.shape.as_list()
        [2, 4]
    """
    name = getattr(categorical_column, "name", None)
    return EmbeddingColumn(categorical_column, **with_initializer(settings, name))


class SharedEmbeddingBase(EmbeddingBase):
    """What embedding columns with one table for several of them have in common."""

    def get_dense_tensor(self, transformation_cache, state_manager):
        assert_steps(self, self._maker, False)
        # Several of these columns share one variable scope; each has a name scope of its own in it.
        with name_scope(None, default_name=self.name):
            return self._embedded(transformation_cache, state_manager)[1]

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        assert_steps(self, self._maker, True)
        with name_scope(None, default_name=self.name):
            _, embedded = self._embedded(transformation_cache, state_manager)
        ids, _ = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return TensorSequenceLengthPair(embedded, sequence_length_from_sparse_tensor(ids))


_SHARED_FIELDS = ["categorical_column", *list(SHARED_PARAMETERS)[1:]]


class GraphSharedEmbeddingColumn(SharedEmbeddingBase, collections.namedtuple("_SharedEmbeddingColumn", _SHARED_FIELDS)):
    """See `shared_embedding_columns`. The first column that needs the table puts it into a collection of the graph."""

    _maker = "shared_embedding_column"
    for_layers = False
    name = property(lambda self: f"{self.categorical_column.name}_shared_embedding")
    var_scope_name = property(lambda self: self.shared_embedding_collection_name)

    def _table(self, state_manager):
        collection = self.shared_embedding_collection_name
        shared = get_collection(collection)
        if len(shared) > 1:
            raise ValueError(
                f"Collection {shared} can only contain one variable. Pick another shared_embedding_collection_name."
            )
        if shared:
            table = shared[0]
            if tuple(table.shape.as_list()) != self.table_shape:
                raise ValueError(
                    f"Collection {collection!r} holds {table.name!r} of shape {table.shape}, and column {self.name!r} needs a table of shape "
                    f"{self.table_shape}. Pick another shared_embedding_collection_name."
                )
        else:
            made = {"trainable": self.trainable, "initializer": self.initializer}
            shape = self.table_shape
            table = state_manager.create_variable(self, "embedding_weights", shape, dtypes.float32, **made)
            add_to_collection(collection, table)
        return start_from_checkpoint(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)


@takes(SHARED_PARAMETERS)
def shared_embedding_columns(categorical_columns, shared_embedding_collection_name, **settings):
    """Embedding columns, one for each categorical column, which all look up the same table.

    Args:
        categorical_columns: The columns of categories.
        dimension: How many numbers stand for a category.
        combiner: How several values are joined: `sum`, `mean` or `sqrtn`.
        initializer: What the numbers start as.
        shared_embedding_collection_name: The name of what the columns share.
        ckpt_to_load_from: A checkpoint whose values they start with.
        tensor_name_in_ckpt: The variable's name in that checkpoint.
        max_norm: The longest a category's vector may be; longer ones are scaled down.
        trainable: Whether they are trained.

    Returns:
        A list of columns.

    Raises:
        ValueError: If columns don't go together, or a number isn't possible.
        RuntimeError: When executing eagerly.

    Example:
        >>> columns = [tf.feature_column.categorical_column_with_identity(key, 10) for key in ("watched", "wanted")]
        >>> len(tf.feature_column.shared_embedding_columns(columns, 4))
        2
    """
    if executing_eagerly():
        raise RuntimeError(
            "Columns that share a table look it up in a graph's collections: they need a graph, or `shared_embeddings` "
            "of TensorFlow 2 instead"
        )
    settings = with_initializer(settings)
    name = shared_name(categorical_columns, shared_embedding_collection_name)
    return [
        GraphSharedEmbeddingColumn(column, shared_embedding_collection_name=name, **settings)
        for column in categorical_columns
    ]


def shared_name(columns, given):
    """The name of the table that columns share; ValueError where they differ in kind or number of categories."""

    def plain(column):
        return column.categorical_column if isinstance(column, WeightedCategoricalColumn) else column

    first, *rest = sorted(columns, key=lambda column: column.name)
    for column in rest:
        if type(plain(column)) is not type(plain(first)):
            raise ValueError(
                "Columns that share a table are of one type, with weights or without, and these are not: "
                f"{first}, {column}."
            )
        if column.num_buckets != first.num_buckets:
            raise ValueError(
                f"Columns that share a table have as many buckets as each other; these have not: {first} and {column}."
            )

    return given or "_".join(column.name for column in (first, *rest)) + "_shared_embedding"


class IndicatorColumn(
    DenseColumn, SequenceDenseColumn, collections.namedtuple("IndicatorColumn", ("categorical_column",))
):
    """See `indicator_column`."""

    name = property(lambda self: f"{self.categorical_column.name}_indicator")
    parents = property(lambda self: [self.categorical_column])
    parse_example_spec = property(lambda self: self.categorical_column.parse_example_spec)
    variable_shape = property(lambda self: TensorShape([1, self.categorical_column.num_buckets]))

    def transform_feature(self, transformation_cache, state_manager):
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        buckets = self.variable_shape.size(-1)
        if weights is not None:
            merged = sparse.sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=buckets)
            # What is out of the vocabulary is cut off.
            merged = sparse.sparse_slice(merged, [0, 0], merged.dense_shape)
            return array.scatter_nd(merged.indices, merged.values, merged.dense_shape)
        dense = sparse.sparse_tensor_to_dense(ids, default_value=-1)
        one_hot = array.one_hot(dense, depth=buckets, on_value=1.0, off_value=0.0)
        return math.reduce_sum(one_hot, axis=[-2])

    def get_dense_tensor(self, transformation_cache, state_manager):
        assert_steps(self, "indicator_column", False)
        return transformation_cache.get(self, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        assert_steps(self, "indicator_column", True)
        dense = transformation_cache.get(self, state_manager)
        ids, _ = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return TensorSequenceLengthPair(dense, sequence_length_from_sparse_tensor(ids))


def indicator_column(categorical_column):
    """How often each category is in a row: [2, 0, 1] for two of the first and one of the third.

    Args:
        categorical_column: The column of categories.

    Returns:
        A column.

    Example:
        >>> word = tf.feature_column.categorical_column_with_identity("word", 3)
        >>> layer = tf.feature_column.input_layer({"word": [[0], [2]]}, [tf.feature_column.indicator_column(word)])
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(layer)
        array([[1., 0., 0.],
               [0., 0., 1.]], dtype=float32)
    """
    return IndicatorColumn(categorical_column)
