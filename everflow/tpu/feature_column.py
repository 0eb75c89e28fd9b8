"""Embedding columns whose tables are a TPU's. On other machines they are embedding columns like any other."""

from __future__ import annotations

from everflow.feature_column import columns, sequence
from everflow.feature_column.embedding import EmbeddingColumn, GraphSharedEmbeddingColumn, shared_name, with_initializer

_NO_CHECKPOINT = {"ckpt_to_load_from": None, "tensor_name_in_ckpt": None, "max_norm": None, "trainable": True}


class _TPUColumn:
    """What a TPU wants to know of a column; kept beside it."""

    def get_combiner(self):
        return self.combiner

    def get_embedding_table_size(self):
        """Rows and columns of the table."""
        return self.table_shape

    def get_feature_key_name(self):
        """The feature that the column reads."""
        return self._unweighted().name

    def get_weight_key_name(self):
        """The feature with the weights, if it has some."""
        return self.categorical_column.weight_feature_key if self.is_categorical_column_weighted() else None

    def is_categorical_column_weighted(self):
        return hasattr(self.categorical_column, "weight_feature_key")

    def _unweighted(self):
        column = self.categorical_column
        return column.categorical_column if self.is_categorical_column_weighted() else column

    def get_initializer(self):
        return self.initializer

    def get_max_sequence_length(self):
        return self._max_sequence_length

    def get_learning_rate_fn(self):
        return self._learning_rate_fn

    def is_sequence_column(self):
        """Whether the column gives steps rather than their combination."""
        return isinstance(self._unweighted(), sequence.SequenceCategoricalColumn)


class TPUEmbeddingColumn(_TPUColumn, EmbeddingColumn):
    """See `embedding_column`."""

    def get_embedding_var_name(self):
        return self.name


class TPUSharedEmbeddingColumn(_TPUColumn, GraphSharedEmbeddingColumn):
    """See `shared_embedding_columns`."""

    def get_embedding_var_name(self):
        return self.shared_embedding_collection_name


def _check(column, max_sequence_length, learning_rate_fn):
    if not isinstance(column, columns.CategoricalColumn):
        raise TypeError(f"An embedding column is made of a categorical column, not of {column!r}.")
    if max_sequence_length < 0:
        raise ValueError(f"max_sequence_length must be 0 or more, not {max_sequence_length}.")
    if learning_rate_fn is not None and not callable(learning_rate_fn):
        raise ValueError(f"learning_rate_fn must be a function, not {learning_rate_fn!r}.")
    is_sequence = isinstance(column, sequence.SequenceCategoricalColumn)
    if is_sequence != bool(max_sequence_length):
        wanted = "positive for a sequence" if is_sequence else "0 for a column that is no sequence"
        raise ValueError(f"max_sequence_length must be {wanted}, not {max_sequence_length}.")


def embedding_column(
    categorical_column, dimension, combiner="mean", initializer=None, max_sequence_length=0, learning_rate_fn=None
):
    """An embedding column whose table a TPU may hold; sequences are cut to `max_sequence_length` steps there."""
    _check(categorical_column, max_sequence_length, learning_rate_fn)
    settings = with_initializer(
        {"dimension": dimension, "combiner": combiner, "initializer": initializer, **_NO_CHECKPOINT}
    )
    column = TPUEmbeddingColumn(categorical_column, **settings)
    column._max_sequence_length, column._learning_rate_fn = max_sequence_length, learning_rate_fn
    return column


def shared_embedding_columns(
    categorical_columns,
    dimension,
    combiner="mean",
    initializer=None,
    shared_embedding_collection_name=None,
    max_sequence_lengths=None,
    learning_rate_fn=None,
):
    """Embedding columns that share one table, which a TPU may hold."""
    lengths = max_sequence_lengths or [0] * len(categorical_columns)
    if len(lengths) != len(categorical_columns):
        raise ValueError(f"{len(lengths)} max_sequence_lengths were given for {len(categorical_columns)} columns.")
    for column, length in zip(categorical_columns, lengths, strict=True):
        _check(column, length, learning_rate_fn)
    settings = with_initializer(
        {"dimension": dimension, "combiner": combiner, "initializer": initializer, **_NO_CHECKPOINT}
    )
    name = shared_name(categorical_columns, shared_embedding_collection_name)
    made = []
    for column, length in zip(categorical_columns, lengths, strict=True):
        column = TPUSharedEmbeddingColumn(column, shared_embedding_collection_name=name, **settings)
        column._max_sequence_length, column._learning_rate_fn = length, learning_rate_fn
        made.append(column)
    return made
