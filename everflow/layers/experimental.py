"""tf.layers.experimental: layers that own their variables, as Keras layers do, rather than finding them by name."""

from __future__ import annotations

from contextlib import contextmanager

# Whether layers made from now on are of that style.
keras_style = False


@contextmanager
def keras_style_scope():
    """Within, layers share variables only as objects, and their names are unique.

    >>> with tf.layers.experimental.keras_style_scope():
    ...     layers = [tf.layers.Dense(3), tf.layers.Dense(3)]   # variables dense_1/kernel and dense_2/kernel, wherever they are called
    """
    global keras_style
    before, keras_style = keras_style, True
    try:
        yield
    finally:
        keras_style = before


def set_keras_style():
    """From now on layers are of that style."""
    global keras_style
    keras_style = True
