"""What a feature column is: the base classes, and the checks and lists that all functions over columns share.

A column is a named tuple that says how features become numbers. It has a `name`, `parents` (feature keys and other columns), a
`parse_example_spec`, and `transform_feature(cache, state)`, which makes its tensor. Categorical columns give sparse ids, dense columns a dense
tensor. Variables come from a `state` object: the columns don't know whether they live in a variable scope or in a Keras layer.
"""

from __future__ import annotations

import collections

IdWeightPair = collections.namedtuple("IdWeightPair", ("id_tensor", "weight_tensor"))
TensorSequenceLengthPair = collections.namedtuple("TensorSequenceLengthPair", ("dense_tensor", "sequence_length"))


class FeatureColumn:
    """Base class of all feature columns."""

    # Whether its variables are made by `create_state`, so that a Keras layer can hold them.
    for_layers = True

    def create_state(self, state_manager):
        """Make the variables the column needs, with `state_manager.create_variable`. Most need none."""

    @property
    def var_scope_name(self):
        """The variable scope that `input_layer` and `linear_model` open for the column."""
        return self.name

    # What older programs call them.
    _var_scope_name = property(lambda self: self.var_scope_name)
    _parse_example_spec = property(lambda self: self.parse_example_spec)
    _num_buckets = property(lambda self: self.num_buckets)
    _variable_shape = property(lambda self: self.variable_shape)

    def __lt__(self, other):
        return str(self) < str(other)

    def __gt__(self, other):
        return str(self) > str(other)


class DenseColumn(FeatureColumn):
    """A column with a dense tensor: `get_dense_tensor(cache, state)` of shape [batch, *variable_shape]."""


class CategoricalColumn(FeatureColumn):
    """A column of ids below `num_buckets`: `get_sparse_tensors(cache, state)` gives an IdWeightPair."""

    has_steps = False  # whether it is a column over sequences

    IdWeightPair = IdWeightPair


class SequenceDenseColumn(FeatureColumn):
    """A column with a dense tensor for each step: `get_sequence_dense_tensor(cache, state)`, a TensorSequenceLengthPair."""


def assert_key_is_string(key):
    """Raise ValueError for a feature key that is no string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def assert_string_or_int(dtype, prefix):
    """Raise ValueError for a dtype that can be no category."""
    if dtype != "string" and not getattr(dtype, "is_integer", False):
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def assert_same_kind(column, tensor):
    """Raise ValueError where a column of numbers gets strings, or the other way round."""
    if column.dtype.is_integer != tensor.dtype.is_integer:
        raise ValueError(
            f"Column dtype and SparseTensors dtype must be compatible. key: {column.key}, column dtype: {column.dtype}, "
            f"tensor dtype: {tensor.dtype}"
        )


def assert_not_sequence(column, kind):
    """Raise ValueError for a column over a sequence where a tensor without steps is asked for."""
    if column.categorical_column.has_steps:
        raise ValueError(
            f"In {kind}: {column.name}. categorical_column must not be of type SequenceCategoricalColumn. Either use a "
            "categorical_column_with_*, or make sequence input with sequence_input_layer or SequenceFeatures. "
            f"Given (type {type(column.categorical_column)}): {column.categorical_column}"
        )


def assert_sequence(column, kind):
    """Raise ValueError for a column without steps where sequence input is made."""
    if not column.categorical_column.has_steps:
        raise ValueError(
            f"In {kind}: {column.name}. categorical_column must be of type SequenceCategoricalColumn to use sequence_input_layer or "
            "SequenceFeatures. Use one of sequence_categorical_column_with_*. "
            f"Given (type {type(column.categorical_column)}): {column.categorical_column}"
        )


def sorted_columns(feature_columns):
    """A list of the columns by name, after checking that they are columns and that no name comes twice."""
    if isinstance(feature_columns, FeatureColumn):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    feature_columns = list(feature_columns)
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"Items of feature_columns must be a FeatureColumn. Given (type {type(column)}): {column}.")
    named = {}
    for column in feature_columns:
        if column.name in named:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {named[column.name]}. This usually means that these columns "
                "refer to same base feature. Either one must be discarded or a duplicated but renamed item must be inserted in features dict."
            )
        named[column.name] = column
    return sorted(feature_columns, key=lambda column: column.name)


def assert_equal_batches(tensors, columns):
    """Raise ValueError where batch sizes that are known before running differ."""
    first = None
    for i, tensor in enumerate(tensors):
        size = tensor.shape.dims[0].value
        if size is None:
            continue
        if first is None:
            first = i
        elif tensors[first].shape.dims[0].value != size:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. Batch size of columns "
                f"({columns[first].name}, {columns[i].name}): ({tensors[first].shape.dims[0]}, {size})"
            )
