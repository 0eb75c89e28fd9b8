"""Classes by their names in configurations. Layers, models and metrics register here for what is below them."""

from __future__ import annotations

from types import ModuleType

from everflow.keras.generic import deserialize_keras_object, serialize_keras_object

_known: dict[str, type] = {}
_namespaces: list[ModuleType] = []  # which may get names from floors above, loaded when touched


def register_classes(**classes: type) -> None:
    """Let configurations name classes of Keras's own; a program's go into `custom_objects`."""
    _known.update(classes)


def register_namespace(namespace: ModuleType) -> None:
    """Let configurations name any class that a namespace shows."""
    _namespaces.append(namespace)


def known_class(name: str) -> type:
    """A class of Keras's own."""
    return _known[name]


def is_known(name: str) -> bool:
    """Whether a name is that of a class of Keras's own; namespaces that show it are asked for it."""
    if name not in _known:
        for namespace in _namespaces:
            if isinstance(shown := getattr(namespace, name, None), type):
                _known[name] = shown
    return name in _known


def serialize(layer):
    """A layer as {"class_name", "config"}.

    Args:
        layer: The layer.

    Returns:
        A dictionary.

    Example:
        >>> tf.keras.layers.serialize(tf.keras.layers.Dense(3))["class_name"]
        'Dense'
    """
    return serialize_keras_object(layer)


def deserialize(config, custom_objects=None):
    """The layer that a config stands for.

    Args:
        config: A dictionary with `class_name` and `config`.
        custom_objects: Classes and functions by the names that the configuration has for them.

    Returns:
        A layer.

    Raises:
        ValueError: If the class isn't known.

    Example:
        >>> tf.keras.layers.deserialize({"class_name": "Dense", "config": {"units": 3}}).units
        3
    """
    name = config.get("class_name") if isinstance(config, dict) else config
    if isinstance(name, str):
        is_known(name)
    return deserialize_keras_object(
        config, module_objects=_known, custom_objects=custom_objects, printable_module_name="layer"
    )
