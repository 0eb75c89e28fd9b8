"""Layers as data and back."""

from __future__ import annotations

from everflow.keras.generic import deserialize_keras_object, serialize_keras_object


def serialize(layer):
    """A layer as {"class_name", "config"}."""
    return serialize_keras_object(layer)


def deserialize(config, custom_objects=None):
    """The layer that a config stands for.

    >>> layer = tf.keras.layers.deserialize({"class_name": "Dense", "config": {"units": 3}})
    """
    return deserialize_keras_object(config, module_objects=_known_classes(), custom_objects=custom_objects, printable_module_name="layer")


def _known_classes():
    from everflow.keras import layers, models
    from everflow.keras.engine.op_layers import TensorFlowOpLayer

    known = {name: value for name, value in vars(layers).items() if isinstance(value, type)}
    known.update(Model=models.Model, Network=models.Network, Sequential=models.Sequential, TensorFlowOpLayer=TensorFlowOpLayer)
    # Names of layers that other versions of Keras write.
    known.update(BatchNormalizationV1=layers.BatchNormalization, BatchNormalizationV2=layers.BatchNormalization)
    return known
