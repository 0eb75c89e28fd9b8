"""Objects as data and back: configs of layers, losses and the like, and names of a program's own classes."""

from __future__ import annotations

import inspect

from everflow.platform.signatures import REQUIRED, takes

_GLOBAL_CUSTOM_OBJECTS: dict = {}


def get_custom_objects():
    """The dict of names of a program's own classes and functions, for loading models; it may be written to.

    Returns:
        A dictionary.

    Example:
        >>> tf.keras.utils.get_custom_objects()["Mine"] = tf.keras.layers.Dense
        >>> del tf.keras.utils.get_custom_objects()["Mine"]
    """
    return _GLOBAL_CUSTOM_OBJECTS


class CustomObjectScope:
    """A context in which more classes and functions are known by name.

    Args:
        *args: Dictionaries from names to classes and functions.

    Example:
        >>> with tf.keras.utils.CustomObjectScope({"double": lambda x: 2 * x}):
        ...     layer = tf.keras.layers.Dense(1, activation="double")
        >>> layer(tf.ones([1, 2])).shape.as_list()
        [1, 1]
    """

    def __init__(self, *args):
        self.custom_objects = args
        self.backup = None

    def __enter__(self):
        self.backup = dict(_GLOBAL_CUSTOM_OBJECTS)
        for objects in self.custom_objects:
            _GLOBAL_CUSTOM_OBJECTS.update(objects)
        return self

    def __exit__(self, *args, **kwargs):
        _GLOBAL_CUSTOM_OBJECTS.clear()
        _GLOBAL_CUSTOM_OBJECTS.update(self.backup)


def custom_object_scope(*args):
    """A context in which more classes and functions are known by name: dicts from names to them.

    Args:
        *args: Dictionaries from names to classes and functions.

    Returns:
        A context manager.

    Example:
        >>> with tf.keras.utils.custom_object_scope({"double": lambda x: 2 * x}):
        ...     layer = tf.keras.layers.Dense(1, activation="double")
        >>> layer(tf.ones([1, 2])).shape.as_list()
        [1, 1]
    """
    return CustomObjectScope(*args)


def named_config(instance):
    """An object's configuration with the name of its class, which it can be made from again."""
    return {"class_name": type(instance).__name__, "config": instance.get_config()}


def serialize_keras_object(instance):
    """An object as {"class_name", "config"}, a function as its name, None as None.

    Args:
        instance: The object or function.

    Returns:
        A dictionary, a name or None.

    Raises:
        ValueError: If it can't be written.

    Example:
        >>> tf.keras.utils.serialize_keras_object(tf.keras.regularizers.L1L2(l2=0.1))["class_name"]
        'L1L2'
    """
    if instance is None:
        return None
    if hasattr(instance, "get_config"):
        return {"class_name": instance.__class__.__name__, "config": _serialized(instance.get_config())}
    if hasattr(instance, "__name__"):
        return instance.__name__
    raise ValueError("Cannot serialize", instance)


def _serialized(config):
    """A config whose functions and objects are written down too."""
    result = {}
    for key, item in config.items():
        if isinstance(item, (str, type)) or not (hasattr(item, "get_config") or inspect.isfunction(item)):
            result[key] = item
        else:
            written = serialize_keras_object(item)
            if isinstance(written, dict) and not isinstance(item, (list, tuple, dict)):
                written["__passive_serialization__"] = True
            result[key] = written
    return result


def _is_written_object(config):
    return isinstance(config, dict) and "class_name" in config and "config" in config


def class_and_config_for_serialized_keras_object(
    config, module_objects=None, custom_objects=None, printable_module_name="object"
):
    """The class that a written object names, and the config to make it from."""
    if not _is_written_object(config):
        raise ValueError("Improper config format: " + str(config))
    class_name = config["class_name"]
    known = {**(module_objects or {}), **(custom_objects or {}), **_GLOBAL_CUSTOM_OBJECTS}
    cls = (custom_objects or {}).get(class_name) or _GLOBAL_CUSTOM_OBJECTS.get(class_name) or known.get(class_name)
    if cls is None:
        raise ValueError("Unknown " + printable_module_name + ": " + str(class_name))
    arguments = {}
    for key, item in config["config"].items():
        if isinstance(item, dict) and "__passive_serialization__" in item:
            item = deserialize_keras_object(item, module_objects, custom_objects, "config_item")
        elif isinstance(item, str) and inspect.isfunction(_GLOBAL_CUSTOM_OBJECTS.get(item)):
            item = _GLOBAL_CUSTOM_OBJECTS[item]
        elif isinstance(item, str) and inspect.isfunction((custom_objects or {}).get(item)):
            item = custom_objects[item]
        arguments[key] = item
    return cls, arguments


def deserialize_keras_object(identifier, module_objects=None, custom_objects=None, printable_module_name="object"):
    """The object or function that a written form or a name stands for; a function is taken as it is.

    Args:
        identifier: A dictionary, a name, a function or None.
        module_objects: Classes and functions by name.
        custom_objects: Classes and functions by the names that the configuration has for them.
        printable_module_name: What they are called in messages.

    Returns:
        The object or function.

    Raises:
        ValueError: If the name isn't known.

    Example:
        >>> layer = {"class_name": "Dense", "config": {"units": 3}}
        >>> tf.keras.utils.deserialize_keras_object(layer, vars(tf.keras.layers) | {"Dense": tf.keras.layers.Dense}).units
        3
    """
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        cls, config = class_and_config_for_serialized_keras_object(
            identifier, module_objects, custom_objects, printable_module_name
        )
        if not hasattr(cls, "from_config"):
            # A function that makes the object.
            with CustomObjectScope(custom_objects or {}):
                return cls(**config)
        if "custom_objects" in inspect.signature(cls.from_config).parameters:
            return cls.from_config(config, custom_objects={**_GLOBAL_CUSTOM_OBJECTS, **(custom_objects or {})})
        with CustomObjectScope(custom_objects or {}):
            return cls.from_config(config)
    if isinstance(identifier, str):
        own = (custom_objects or {}).get(identifier) or _GLOBAL_CUSTOM_OBJECTS.get(identifier)
        found = own or (module_objects or {}).get(identifier)
        if found is None:
            raise ValueError("Unknown " + printable_module_name + ":" + identifier)
        # A class's name stands for an object of it made without arguments.
        return found() if inspect.isclass(found) else found
    if inspect.isfunction(identifier):
        return identifier
    raise ValueError("Could not interpret serialized " + printable_module_name + ": ", identifier)


_SERIALIZE = """A {kind} as a dict, a function as its name.

Args:
    {kind}: The object, or a function.

Returns:
    A dictionary with `class_name` and `config`, or a name.

Example:
    >>> tf.{space}.serialize(tf.{space}.{example})["class_name"]
    '{class_name}'
"""
_DESERIALIZE = """A {kind} from its name, or from what `serialize` gave.

Args:
    {argument}: A dictionary, or a name.
    custom_objects: Classes and functions by the names that the configuration has for them.

Returns:
    The object, or a function.

Raises:
    ValueError: If the name isn't known.

Example:
    >>> written = tf.{space}.serialize(tf.{space}.{example})
    >>> type(tf.{space}.deserialize(written)).__name__
    '{class_name}'
"""


def reading_and_writing(kind, known, example, what=None, argument="config"):
    """(serialize, deserialize) of a kind of objects, which a namespace has by name; `example` makes one."""

    @takes({kind: REQUIRED})
    def serialize(**given):
        return serialize_keras_object(given[kind])

    @takes({argument: REQUIRED, "custom_objects": None})
    def deserialize(custom_objects, **given):
        return deserialize_keras_object(given[argument], known, custom_objects, what or kind)

    space, class_name = known["__name__"].removeprefix("everflow."), example.partition("(")[0]
    serialize.__doc__ = _SERIALIZE.format(kind=kind, space=space, example=example, class_name=class_name)
    deserialize.__doc__ = _DESERIALIZE.format(
        kind=kind, argument=argument, space=space, example=example, class_name=class_name
    )
    for function in (serialize, deserialize):
        function.__qualname__, function.__module__ = function.__name__, known["__name__"]
    return serialize, deserialize


def from_identifier(identifier, deserialize, kind):
    """What a layer's argument stands for: names and written objects are read, functions, objects and None stay."""
    if isinstance(identifier, (dict, str)):
        return deserialize(identifier)
    if identifier is None or callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret {kind} identifier: {identifier}")
