"""Columns as plain data and back, for the configs of layers."""

from __future__ import annotations

from everflow.feature_column.columns import FeatureColumn
from everflow.framework import dtypes
from everflow.keras import initializers
from everflow.keras.generic import deserialize_keras_object, serialize_keras_object


def serialize_feature_column(fc):
    """A column as {"class_name", "config"}; the key of a feature stays a string."""
    if not isinstance(fc, str) and not (isinstance(fc, FeatureColumn) and fc.for_layers):
        raise ValueError(f"{fc!r} is not a FeatureColumn, nor the key of a feature")
    return _serialized(fc)


def serialize_feature_columns(feature_columns):
    """Each column as `serialize_feature_column` has it."""
    return [serialize_feature_column(column) for column in feature_columns]


def _serialized(value):
    if isinstance(value, FeatureColumn):
        return {"class_name": type(value).__name__, "config": value._get_config()}
    if isinstance(value, dtypes.DType):
        return value.name
    if isinstance(value, tuple) and any(isinstance(item, FeatureColumn) for item in value):
        return tuple(_serialized(item) for item in value)
    if hasattr(value, "get_config"):
        return initializers.serialize(value)
    return serialize_keras_object(value) if callable(value) else value


def deserialize_feature_column(config, custom_objects=None, columns_by_name=None):
    """The column that `serialize_feature_column` wrote down; `custom_objects` has people's own classes and functions by
    name, and `columns_by_name` the columns that were made before: equal ones are the same.
    """
    if isinstance(config, str):
        return config
    if not isinstance(config, dict) or not {"class_name", "config"} <= set(config):
        raise ValueError(
            f"Improper config format, as a column is written as a dict of class_name and config: {config!r}"
        )
    cls = {**_column_classes(), **(custom_objects or {})}.get(config["class_name"])
    if cls is None:
        raise ValueError(f"Unknown feature_column_v2: {config['class_name']}")
    known = {} if columns_by_name is None else columns_by_name
    made = cls._from_config(config["config"], custom_objects, known)
    return known.setdefault(_column_name_with_class_name(made), made)


def _column_name_with_class_name(fc):
    """By which name a column is known while others are read; its name inside TensorFlow."""
    return f"{type(fc).__name__}:{fc.name}"


def deserialize_feature_columns(configs, custom_objects=None):
    """The columns that `serialize_feature_columns` wrote down; those that are part of several are one."""
    known = {}
    return [deserialize_feature_column(config, custom_objects, known) for config in configs]


def _column_classes():
    from everflow.feature_column import categorical, crossed, embedding, numeric, sequence  # loads google_crc32c

    return {
        name: value
        for module in (categorical, crossed, embedding, numeric, sequence)
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, FeatureColumn)
    }


def _field(key, value, custom_objects, known):
    if key == "dtype":
        return dtypes.as_dtype(value)
    if key == "initializer":
        return initializers.get(value)
    if key == "normalizer_fn":
        return deserialize_keras_object(value, {}, custom_objects) if value is not None else None
    if key in ("categorical_column", "source_column"):
        return deserialize_feature_column(value, custom_objects, known)
    if key == "keys":
        return tuple(deserialize_feature_column(item, custom_objects, known) for item in value)
    return tuple(_tupled(item) for item in value) if isinstance(value, list) else value


def _tupled(value):
    """Lists, which a file makes of tuples, as tuples again: columns can be hashed."""
    return tuple(_tupled(item) for item in value) if isinstance(value, list) else value


def _get_config(self):
    """The fields of a column as plain data; one of people's own that has none says itself how it is written."""
    if not hasattr(self, "_asdict"):
        raise ValueError(f"{self!r} is no FeatureColumn that says how it is written: it has no _get_config()")
    return {key: _serialized(field) for key, field in self._asdict().items()}


def _from_config(cls, config, custom_objects=None, columns_by_name=None):
    """The column that `_get_config` wrote down."""
    if set(config) != set(cls._fields):
        raise ValueError(f"Invalid config: a {cls.__name__} is written with {cls._fields}, not {sorted(config)}")
    return cls(**{key: _field(key, value, custom_objects, columns_by_name) for key, value in config.items()})


FeatureColumn._get_config = _get_config
FeatureColumn._from_config = classmethod(_from_config)
