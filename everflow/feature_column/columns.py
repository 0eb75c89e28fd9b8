"""What a feature column is: the base classes, and the checks and lists that all functions over columns share.

A column is a named tuple that says how features become numbers. It has a `name`, `parents` (feature keys and other
columns), a `parse_example_spec`, and `transform_feature(cache, state)`, which makes its tensor. Categorical columns
give sparse ids, dense columns a dense tensor. Variables come from a `state` object: the columns don't know whether they
live in a variable scope or in a Keras layer.

Columns of older programs say the same under older names: `_transform_feature(inputs)`, `_get_dense_tensor(inputs,
weight_collections, trainable)`. Each column has both sets of names, whichever of them its class was written with.
"""

from __future__ import annotations

import abc
import collections
import functools

from everflow.feature_column.state import ScopedVariables
from everflow.framework.graph_keys import GraphKeys

IdWeightPair = collections.namedtuple("IdWeightPair", ("id_tensor", "weight_tensor"))
TensorSequenceLengthPair = collections.namedtuple("TensorSequenceLengthPair", ("dense_tensor", "sequence_length"))


def _transformed(older, cache, state):
    return older(cache)


def _made(older, cache, state):
    return older(cache, weight_collections=state.weight_collections, trainable=state.trainable)


# How today's names are served by the older ones; None for what has the same value under both.
_BY_OLDER_NAMES = {
    "num_buckets": None,
    "parse_example_spec": None,
    "variable_shape": None,
    "transform_feature": _transformed,
    "get_dense_tensor": _made,
    "get_sequence_dense_tensor": _made,
    "get_sparse_tensors": _made,
}


def _in_scope(newer):
    """An older method by today's: variables are made in the variable scope of the caller."""

    def older(self, inputs, weight_collections=None, trainable=None):
        collections = [*(weight_collections or []), GraphKeys.GLOBAL_VARIABLES]
        state = ScopedVariables(collections, trainable is not False, weight_collections)
        return getattr(self, newer)(inputs, state)

    return older


class FeatureColumn(metaclass=abc.ABCMeta):  # noqa: B024, as programs derive from it: most of it has defaults
    """Base class of all feature columns."""

    # Classes that are the same kind of column as this one.
    same_kind: tuple = ()

    @property
    def for_layers(self):
        """Whether its variables are made by `create_state`, so that a Keras layer can hold them; columns of the older
        kinds alone make them in variable scopes.
        """
        kinds = type(self).__mro__
        return any(kind in kinds for kind in _NEWER) or not any(kind in kinds for kind in _OLDER)

    def create_state(self, state_manager):  # noqa: B027, most columns need none
        """Make the variables the column needs, with `state_manager.create_variable`. Most need none."""

    @property
    def var_scope_name(self):
        """The variable scope that `input_layer` and `linear_model` open for the column."""
        return self.name

    _is_v2_column = True
    _var_scope_name = property(lambda self: self.var_scope_name)
    _parse_example_spec = property(lambda self: self.parse_example_spec)
    _num_buckets = property(lambda self: self.num_buckets)
    _variable_shape = property(lambda self: self.variable_shape)
    _get_dense_tensor = _in_scope("get_dense_tensor")
    _get_sequence_dense_tensor = _in_scope("get_sequence_dense_tensor")
    _get_sparse_tensors = _in_scope("get_sparse_tensors")

    def _transform_feature(self, inputs):
        return self.transform_feature(inputs, None)

    def __getattr__(self, name):
        older = f"_{name}"
        if name not in _BY_OLDER_NAMES or getattr(type(self), older) is getattr(FeatureColumn, older):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        served, given = _BY_OLDER_NAMES[name], getattr(self, older)
        return given if served is None else functools.partial(served, given)

    @classmethod
    def __subclasshook__(cls, subclass):
        same = any(kind in subclass.__mro__ for kind in vars(cls).get("same_kind", ()))
        return same or NotImplemented

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
    """A column with a dense tensor for each step: `get_sequence_dense_tensor` gives a TensorSequenceLengthPair."""

    TensorSequenceLengthPair = TensorSequenceLengthPair


def _older(kind):
    """A kind of column under its older name. It is a class beside the other, since programs derive from both at once, in
    either order; what is of one kind is of the other.
    """
    own = {
        name: value
        for name, value in vars(kind).items()
        if name in ("has_steps", "IdWeightPair", "TensorSequenceLengthPair", "__doc__")
    }
    made = type(kind)(f"_{kind.__name__}", kind.__bases__, {**own, "__module__": kind.__module__})
    kind.same_kind = made.same_kind = (kind, made)
    return made


_NEWER = (DenseColumn, CategoricalColumn, SequenceDenseColumn)
OlderDenseColumn, OlderCategoricalColumn, OlderSequenceDenseColumn = _OLDER = tuple(map(_older, _NEWER))


def assert_key_is_string(key):
    """Raise ValueError for a feature key that is no string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: {key!r} of type {type(key)}.")


def assert_string_or_int(dtype, prefix):
    """Raise ValueError for a dtype that can be no category."""
    if dtype != "string" and not getattr(dtype, "is_integer", False):
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def assert_same_kind(column, tensor):
    """Raise ValueError where a column of numbers gets strings, or the other way round."""
    if column.dtype.is_integer != tensor.dtype.is_integer:
        raise ValueError(
            f"The feature {column.key!r} is of {tensor.dtype}, which is not compatible with its column's {column.dtype}: both have to be "
            "strings, or both integers."
        )


def assert_steps(column, kind, wanted):
    """Raise ValueError for a column with steps where a tensor without them is asked for, or the other way round."""
    given = column.categorical_column
    if given.has_steps != wanted:
        must, maker = (
            ("must", "sequence_categorical_column_with_*") if wanted else ("must not", "categorical_column_with_*")
        )
        layers = "sequence_input_layer and SequenceFeatures" if wanted else "input_layer and DenseFeatures"
        raise ValueError(
            f"In {kind}: {column.name}. categorical_column {must} be of type _SequenceCategoricalColumn here: {layers} take what {maker} "
            f"makes. It is {given}."
        )


def sorted_columns(feature_columns, *kinds, by_function=False):
    """A list of the columns by name, after checking that they are of one of these kinds and no name comes twice.

    Functions (`by_function`), unlike layers, speak of kinds by the names that columns of programs' own inherit from.
    """
    if isinstance(feature_columns, FeatureColumn):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, dict):
        raise ValueError("feature_columns is a list of columns, found dict: pass its values().")
    feature_columns = list(feature_columns)
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise not_such_a_column(column, FeatureColumn, by_function=by_function)
    named = {}
    for column in feature_columns:
        if column.name in named:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column.name!r}, "
                f"of {named[column.name]} and {column}. "
                "Leave one out, or give the features a second key for it."
            )
        named[column.name] = column
        if kinds and not isinstance(column, kinds):
            raise not_such_a_column(column, *kinds, by_function=by_function)
    return sorted(feature_columns, key=lambda column: column.name)


def assert_for_layers(columns):
    """Raise ValueError where a column is none that a layer can hold."""
    for column in columns:
        if not column.for_layers:
            raise not_such_a_column(column, FeatureColumn)


def not_such_a_column(column, *kinds, by_function=False):
    """The ValueError for something among feature_columns that is none of these kinds."""
    advice = ""
    if isinstance(column, CategoricalColumn):
        advice = " Categories become dense in an embedding_column or indicator_column."
    wanted = " or ".join(f"{'_' if by_function else ''}{kind.__name__}" for kind in kinds)
    either = "either " if len(kinds) > 1 else ""
    return ValueError(
        f"Items of feature_columns must be {either}a {wanted}, not {column}, a {type(column).__name__}.{advice}"
    )


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
                f"Batch size (first dimension) is not the same for all features: {columns[first].name!r} has "
                f"{tensors[first].shape.dims[0]}, {columns[i].name!r} {size}."
            )
