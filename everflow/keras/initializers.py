"""tf.keras.initializers: those of tf.initializers, some with other defaults, found by name."""

from __future__ import annotations

import inspect

from everflow.eager import version_mark
from everflow.keras import untyped_initializers
from everflow.keras.generic import deserialize_keras_object, from_identifier, serialize_keras_object
from everflow.ops.variables import initializers as _initializers
from everflow.ops.variables.initializers import Constant, Identity, Ones, Orthogonal, VarianceScaling, Zeros
from everflow.ops.variables.initializers import GlorotNormal as glorot_normal
from everflow.ops.variables.initializers import GlorotUniform as glorot_uniform
from everflow.ops.variables.initializers import Initializer as Initializer
from everflow.platform.signatures import constructor, parameters_of


def _close_to_zero(base, doc, **defaults):
    """An initializer of tf.initializers with other defaults."""
    start = constructor(parameters_of(base.__init__, **defaults), base.__init__)
    return type(base.__name__, (base,), {"__init__": start, "__doc__": doc, "__module__": __name__})


RandomNormal = _close_to_zero(
    _initializers.RandomNormal,
    """Normal values, close to zero by default.

Args:
    mean: The mean.
    stddev: The standard deviation.
    seed: A number that makes the random numbers the same in each run of the program.
    dtype: The type of the elements.

Example:
    >>> sess.run(tf.keras.initializers.RandomNormal(seed=1)([2, 3])).shape
    (2, 3)
""",
    stddev=0.05,
)
RandomUniform = _close_to_zero(
    _initializers.RandomUniform,
    """Uniform values, close to zero by default.

    Args:
        minval: The lower bound.
        maxval: The upper bound, which is not reached.
        seed: A number that makes the random numbers the same in each run of the program.
        dtype: The type of the elements.

    Example:
        >>> sess.run(tf.keras.initializers.RandomUniform(seed=1)([2, 3])).shape
        (2, 3)
    """,
    minval=-0.05,
    maxval=0.05,
)
TruncatedNormal = _close_to_zero(
    _initializers.TruncatedNormal,
    """Normal values within two deviations of the mean, close to zero by default.

    Args:
        mean: The mean.
        stddev: The standard deviation.
        seed: A number that makes the random numbers the same in each run of the program.
        dtype: The type of the elements.

    Example:
        >>> sess.run(tf.keras.initializers.TruncatedNormal(seed=1)([2, 3])).shape
        (2, 3)
    """,
    stddev=0.05,
)


_SCALING = """VarianceScaling with scale {scale}, the number of inputs, and a {distribution} distribution.

Args:
    seed: A number that makes the random numbers the same in each run of the program.

Returns:
    An initializer.

Example:
    >>> v = tf.get_variable("v", [100, 50], initializer=tf.keras.initializers.{name}(seed=1))
    >>> sess.run(v.initializer)
    >>> bool(abs(sess.run(v).std() - ({scale} / 100) ** 0.5) < 0.01)
    True
"""


def _scaling(name, scale, distribution):
    def make(seed=None):
        return VarianceScaling(scale=scale, mode="fan_in", distribution=distribution, seed=seed)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = _SCALING.format(scale=scale, distribution=distribution, name=name)
    return make


he_normal = _scaling("he_normal", 2.0, "truncated_normal")
he_uniform = _scaling("he_uniform", 2.0, "uniform")
lecun_normal = _scaling("lecun_normal", 1.0, "truncated_normal")
lecun_uniform = _scaling("lecun_uniform", 1.0, "uniform")

zeros = Zeros
ones = Ones
constant = Constant
identity = Identity
orthogonal = Orthogonal
normal = random_normal = RandomNormal
uniform = random_uniform = RandomUniform
truncated_normal = TruncatedNormal

# Names that files and programs use besides those above.
_BY_OTHER_NAMES = {"zero": Zeros, "one": Ones, "GlorotUniform": glorot_uniform, "GlorotNormal": glorot_normal}


def serialize(initializer):
    """An initializer as a dict.

    Args:
        initializer: The initializer.

    Returns:
        A dictionary with `class_name` and `config`.

    Example:
        >>> tf.keras.initializers.serialize(tf.keras.initializers.Zeros())["class_name"]
        'Zeros'
    """
    return serialize_keras_object(initializer)


def deserialize(config, custom_objects=None):
    """An initializer from its name or what `serialize` gave.

    Args:
        config: A dictionary, or a name.
        custom_objects: Classes and functions by the names that the configuration has for them.

    Returns:
        An initializer.

    Raises:
        ValueError: If the name isn't known.

    Example:
        >>> type(tf.keras.initializers.deserialize("zeros")).__name__
        'Zeros'
    """
    known = {**globals(), **_BY_OTHER_NAMES}
    if version_mark.enabled():
        known |= untyped_initializers.by_name
    made = deserialize_keras_object(
        config, module_objects=known, custom_objects=custom_objects, printable_module_name="initializer"
    )
    return made() if inspect.isfunction(made) and made in known.values() else made


def get(identifier):
    """An initializer from its name, a written one, an object or None.

    Args:
        identifier: A name, a dictionary, an object or function, or None.

    Returns:
        An initializer, or None.

    Raises:
        ValueError: If it stands for none.

    Example:
        >>> type(tf.keras.initializers.get("zeros")).__name__
        'Zeros'
    """
    return from_identifier(identifier, deserialize, "initializer")
