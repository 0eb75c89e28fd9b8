"""Models from their configurations: Python data, JSON, YAML."""

from __future__ import annotations

import json

from everflow.keras.engine.known_classes import deserialize


def require_yaml():
    """The yaml module; an ImportError that says what to install."""
    try:
        import yaml
    except ImportError as e:
        raise ImportError("YAML needs the package PyYAML: pip install pyyaml. JSON (`to_json`) needs nothing.") from e
    return yaml


def yaml_text(config, **kwargs):
    """A configuration as YAML; lists and dicts that models hold are written as plain ones."""
    yaml = require_yaml()

    class Dumper(yaml.Dumper):
        pass

    Dumper.add_multi_representer(list, yaml.Dumper.represent_list)
    Dumper.add_multi_representer(dict, yaml.Dumper.represent_dict)
    return yaml.dump(config, **{"Dumper": Dumper} | kwargs)


def model_from_config(config, custom_objects=None):
    """A model from {"class_name", "config"}.

    Args:
        config: A dictionary as `get_config` returns it.
        custom_objects: Classes and functions by the names that the configuration has for them.

    Returns:
        A model.

    Raises:
        TypeError: If it is a list.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=[2])])
        >>> config = {"class_name": "Sequential", "config": model.get_config()}
        >>> tf.keras.models.model_from_config(config).output_shape
        (None, 3)
    """
    if isinstance(config, list):
        raise TypeError(
            f"A model's config is a dictionary, not a list; `Sequential.from_config` takes lists of layers: {str(config)[:200]}"
        )
    return deserialize(config, custom_objects=custom_objects)


def model_from_json(json_string, custom_objects=None):
    """A model from what `to_json` gave, with new weights.

    Args:
        json_string: The text.
        custom_objects: Classes and functions by the names that the configuration has for them.

    Returns:
        A model.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=[2])])
        >>> tf.keras.models.model_from_json(model.to_json()).output_shape
        (None, 3)
    """
    return model_from_config(json.loads(json_string), custom_objects=custom_objects)


def model_from_yaml(yaml_string, custom_objects=None):
    """A model from what `to_yaml` gave, with new weights.

    Args:
        yaml_string: The text. Nothing in it runs as code: of Python's own tags it may have that of tuples only.
        custom_objects: Classes and functions by the names that the configuration has for them.

    Returns:
        A model.

    Raises:
        ImportError: Without the package PyYAML.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=[2])])
        >>> tf.keras.models.model_from_yaml(model.to_yaml()).output_shape
        (None, 3)
    """
    yaml = require_yaml()

    class Loader(yaml.SafeLoader):
        """Plain data, and the tuples that shapes are."""

    Loader.add_constructor(
        "tag:yaml.org,2002:python/tuple", lambda loader, node: tuple(loader.construct_sequence(node, deep=True))
    )
    return model_from_config(yaml.load(yaml_string, Loader), custom_objects=custom_objects)
