"""tf.layers.experimental: layers that own their variables, as Keras layers do, rather than finding them by name."""

from __future__ import annotations

from contextlib import contextmanager

# Whether layers made from now on are of that style.
keras_style = False


@contextmanager
def keras_style_scope():
    """Within, layers share variables only as objects, and their names are unique.

    Yields:
        None.

    Example:
        >>> with tf.layers.experimental.keras_style_scope():
        ...     layers = [tf.layers.Dense(3), tf.layers.Dense(3)]
        >>> [layer.name for layer in layers]
        ['dense_1', 'dense_2']
    """
    global keras_style
    before, keras_style = keras_style, True
    try:
        yield
    finally:
        keras_style = before


def set_keras_style():
    """From now on layers are of that style.

    Returns:
        None.

    Example:
        >>> with tf.layers.experimental.keras_style_scope():
        ...     tf.layers.experimental.set_keras_style()
    """
    global keras_style
    keras_style = True
