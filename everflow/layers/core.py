"""Dense, dropout and flatten layers, and their functional forms."""

from __future__ import annotations

from everflow.keras.layers import core as keras_core
from everflow.layers.base import Layer
from everflow.layers.derived import functional, start


class Dense(keras_core.Dense, Layer):
    """activation(inputs * kernel + bias); inputs of higher rank are multiplied along their last dimension.

    Args:
        units: How many numbers the result has for each example.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name, and that of its variable scope.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> layer = tf.layers.Dense(10, activation=tf.nn.relu)
        >>> layer(tf.ones([2, 3])).shape.as_list(), layer.kernel.shape.as_list()
        ([2, 10], [3, 10])
    """

    __init__ = start(keras_core.Dense)


dense = functional(
    Dense,
    "dense",
    """activation(inputs * kernel + bias), with variables `name/kernel` and `name/bias`.

    Args:
        inputs: The tensor to work on.
        units: How many numbers the result has for each example.
        activation: The function applied to the result, or its name; None leaves it as it is.
        use_bias: Whether a bias is added.
        kernel_initializer: What the kernel starts as.
        bias_initializer: What the bias starts as.
        kernel_regularizer: A function of the kernel whose result is added to the losses.
        bias_regularizer: A function of the bias whose result is added to the losses.
        activity_regularizer: A function of the output whose result is added to the losses.
        kernel_constraint: A function that gives the kernel back as it may be, applied after each step of an optimizer.
        bias_constraint: A function that gives the bias back as it may be, applied after each step of an optimizer.
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name, and that of its variable scope.
        reuse: Whether variables that are there under this name are used again.

    Returns:
        A tensor whose last dimension is `units`.

    Example:
        >>> y = tf.layers.dense(tf.ones([2, 3]), 10, activation=tf.nn.relu, name="hidden")
        >>> y.shape.as_list(), [v.name for v in tf.trainable_variables()]
        ([2, 10], ['hidden/kernel:0', 'hidden/bias:0'])
    """,
)


class Dropout(keras_core.Dropout, Layer):
    """While training, zeros for a part `rate` of the inputs and the rest scaled up; else the inputs.

    Args:
        rate: The part of the inputs that is dropped, between 0 and 1.
        noise_shape: The shape of what is decided; 1 where all entries along a dimension are kept or dropped together.
        seed: A number that makes the random numbers the same in each run of the program.
        name: The layer's name, and that of its variable scope.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> y = tf.layers.Dropout(0.4)(tf.ones([2, 3]), training=False)
        >>> sess.run(y)
        array([[1., 1., 1.],
               [1., 1., 1.]], dtype=float32)
    """

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(rate, noise_shape, seed, name=name, **kwargs)

    def call(self, inputs, training=False):
        return super().call(inputs, training=training)


def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None):
    """While `training`, zeros for a part `rate` of the inputs and the rest scaled up; else the inputs.

    Args:
        inputs: The tensor to work on.
        rate: The part of the inputs that is dropped, between 0 and 1.
        noise_shape: The shape of what is decided; 1 where all entries along a dimension are kept or dropped together.
        seed: A number that makes the random numbers the same in each run of the program.
        training: Whether this is training: a bool, or a tensor.
        name: The layer's name, and that of its variable scope.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.layers.dropout(tf.ones([3]), 0.4, training=False))
        array([1., 1., 1.], dtype=float32)
    """
    return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name).apply(inputs, training=training)


class Flatten(keras_core.Flatten, Layer):
    """Inputs as [batch, everything else].

    Args:
        data_format: `channels_last` or `channels_first`.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> tf.layers.Flatten()(tf.ones([2, 4, 4, 3])).shape.as_list()
        [2, 48]
    """


def flatten(inputs, name=None, data_format="channels_last"):
    """Inputs as [batch, everything else].

    Args:
        inputs: The tensor to work on.
        name: The layer's name, and that of its variable scope.
        data_format: `channels_last` or `channels_first`.

    Returns:
        A matrix.

    Example:
        >>> tf.layers.flatten(tf.ones([2, 4, 4, 3])).shape.as_list()
        [2, 48]
    """
    return Flatten(name=name, data_format=data_format).apply(inputs)


# Names from the days of tf.contrib.layers.
FullyConnected, fully_connected = Dense, dense
