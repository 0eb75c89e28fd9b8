"""tf.keras.optimizers: how weights follow gradients, and finding optimizers by name."""

from __future__ import annotations

from everflow.keras import backend as K
from everflow.keras.generic import deserialize_keras_object, serialize_keras_object
from everflow.keras.mixed_precision import loss_scale_optimizer as _loss_scaling  # noqa: F401  enters itself
from everflow.keras.optimizers import schedules as schedules
from everflow.keras.optimizers.adam import Adam, Adamax, Nadam
from everflow.keras.optimizers.adaptive import Adadelta, Adagrad, Ftrl, RMSprop
from everflow.keras.optimizers.gradient_descent import SGD
from everflow.keras.optimizers.optimizer import Optimizer
from everflow.keras.optimizers.wrapped import TFOptimizer, is_train_optimizer

_BY_NAME = {cls.__name__.lower(): cls for cls in (Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop, SGD)}


def serialize(optimizer):
    """An optimizer as a dict.

    Args:
        optimizer: The optimizer.

    Returns:
        A dictionary.

    Example:
        >>> tf.keras.optimizers.serialize(tf.keras.optimizers.SGD())["class_name"]
        'SGD'
    """
    return serialize_keras_object(optimizer)


def deserialize(config, custom_objects=None):
    """An optimizer from what `serialize` gave.

    Args:
        config: A dictionary with `class_name` and `config`.
        custom_objects: Classes and functions by the names that the configuration has for them.

    Returns:
        An optimizer.

    Raises:
        ValueError: If the class isn't known.

    Example:
        >>> config = tf.keras.optimizers.serialize(tf.keras.optimizers.SGD())
        >>> type(tf.keras.optimizers.deserialize(config)).__name__
        'SGD'
    """
    # Names of Keras's own optimizers are found in any case.
    if config["class_name"].lower() in _BY_NAME:
        config["class_name"] = config["class_name"].lower()
        _BY_NAME[config["class_name"]]._bring_up_to_date(config["config"])
    return deserialize_keras_object(
        config, module_objects=_BY_NAME, custom_objects=custom_objects, printable_module_name="optimizer"
    )


def get(identifier):
    """An optimizer from its name, a written one, an object, or one of tf.train.

    Args:
        identifier: A name, a dictionary or an optimizer.

    Returns:
        An optimizer.

    Raises:
        ValueError: If it stands for none.

    Example:
        >>> type(tf.keras.optimizers.get("sgd")).__name__
        'SGD'
    """
    if isinstance(identifier, (Optimizer, TFOptimizer)):
        return identifier
    if is_train_optimizer(identifier):
        wrapped = TFOptimizer(identifier)
        K.track_tf_optimizer(wrapped.optimizer)
        return wrapped
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    raise ValueError("Could not interpret optimizer identifier:", identifier)
