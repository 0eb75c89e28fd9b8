"""Columns as plain data and back, for the configs of layers."""

from __future__ import annotations

from everflow.feature_column.columns import FeatureColumn
from everflow.framework import dtypes
from everflow.keras import initializers
from everflow.keras.generic import deserialize_keras_object, serialize_keras_object


def serialize_feature_columns(columns):
    """Each column as {"class_name", "config"}; keys of features stay strings."""
    return [_serialized(column) for column in columns]


def _serialized(value):
    if isinstance(value, FeatureColumn):
        return {
            "class_name": type(value).__name__,
            "config": {key: _serialized(field) for key, field in value._asdict().items()},
        }
    if isinstance(value, dtypes.DType):
        return value.name
    if isinstance(value, tuple) and any(isinstance(item, FeatureColumn) for item in value):
        return tuple(_serialized(item) for item in value)
    if hasattr(value, "get_config"):
        return initializers.serialize(value)
    return serialize_keras_object(value) if callable(value) else value


def deserialize_feature_columns(configs):
    """The columns that `serialize_feature_columns` wrote down."""
    return [_column(config) for config in configs]


def _column_classes():
    from everflow.feature_column import categorical, crossed, embedding, numeric, sequence  # loads google_crc32c

    return {
        name: value
        for module in (categorical, crossed, embedding, numeric, sequence)
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, FeatureColumn)
    }


def _column(config):
    if isinstance(config, str):
        return config
    if isinstance(config, dict) and config.get("class_name") in _column_classes():
        fields = {key: _field(key, value) for key, value in config["config"].items()}
        return _column_classes()[config["class_name"]](**fields)
    raise ValueError(f"Improper config format: {config}")


def _field(key, value):
    if key == "dtype":
        return dtypes.as_dtype(value)
    if key == "initializer":
        return initializers.get(value)
    if key == "normalizer_fn":
        return deserialize_keras_object(value, module_objects={}) if value is not None else None
    if key in ("categorical_column", "source_column"):
        return _column(value)
    if key == "keys":
        return tuple(_column(item) for item in value)
    return tuple(_tupled(item) for item in value) if isinstance(value, list) else value


def _tupled(value):
    """Lists, which a file makes of tuples, as tuples again: columns can be hashed."""
    return tuple(_tupled(item) for item in value) if isinstance(value, list) else value


def _get_config(self):
    """The fields of a column as plain data."""
    return _serialized(self)["config"]


def _from_config(cls, config, custom_objects=None, columns_by_name=None):
    """The column that `_get_config` wrote down."""
    return cls(**{key: _field(key, value) for key, value in config.items()})


FeatureColumn._get_config = _get_config
FeatureColumn._from_config = classmethod(_from_config)
