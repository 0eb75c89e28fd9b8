"""Classes by the names that configurations call them by. Layers, models and metrics register here, so that what is
below them can make them.
"""

from __future__ import annotations

from everflow.keras.generic import deserialize_keras_object, serialize_keras_object

_known: dict[str, type] = {}


def register_classes(**classes: type) -> None:
    """Let configurations name classes of Keras's own; a program's go into `custom_objects`."""
    _known.update(classes)


def known_class(name: str) -> type:
    """A class of Keras's own."""
    return _known[name]


def serialize(layer):
    """A layer as {"class_name", "config"}."""
    return serialize_keras_object(layer)


def deserialize(config, custom_objects=None):
    """The layer that a config stands for.

    >>> layer = tf.keras.layers.deserialize({"class_name": "Dense", "config": {"units": 3}})
    """
    return deserialize_keras_object(
        config, module_objects=_known, custom_objects=custom_objects, printable_module_name="layer"
    )
