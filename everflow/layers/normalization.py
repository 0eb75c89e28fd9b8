"""Batch normalization, and its functional form."""

from __future__ import annotations

import contextlib

from everflow.framework.conversion import convert_to_tensor
from everflow.keras.layers import normalization as keras_normalization
from everflow.layers.base import Layer
from everflow.ops.variables import initializers
from everflow.platform.signatures import constructor, parameters_of, takes

_ZEROS, _ONES = initializers.zeros_initializer(), initializers.ones_initializer()


class BatchNormalization(keras_normalization.BatchNormalization, Layer):
    """Inputs scaled to zero mean and unit variance: of the batch while training, moving averages else.

    The averages are updated by ops in UPDATE_OPS; run them with the training step.

    Args:
        axis: The axis of channels.
        momentum: How slowly the moving averages forget.
        epsilon: A small number that keeps a division from being one by zero.
        center: Whether an offset is added.
        scale: Whether the result is multiplied by a scale.
        beta_initializer: What the offset starts as.
        gamma_initializer: What the scale starts as.
        moving_mean_initializer: What the moving mean starts as.
        moving_variance_initializer: What the moving variance starts as.
        beta_regularizer: A function of the offset whose result is added to the losses.
        gamma_regularizer: A function of the scale whose result is added to the losses.
        beta_constraint: A function that gives the offset back as it may be.
        gamma_constraint: A function that gives the scale back as it may be.
        renorm: Whether batch renormalization is used.
        renorm_clipping: The bounds of its corrections: `rmin`, `rmax`, `dmax`.
        renorm_momentum: How slowly its averages forget.
        fused: Whether one op does it; chosen if None.
        trainable: Whether the variables are among those that optimizers train.
        virtual_batch_size: The size of the parts of a batch that are normalized by themselves.
        adjustment: A function of the shape that gives a scale and an offset, for training.
        name: The layer's name, and that of its variable scope.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> layer = tf.layers.BatchNormalization()
        >>> y = layer(tf.ones([2, 3]), training=True)
        >>> len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)), [v.name for v in layer.variables]
        (2, ['batch_normalization/gamma:0', 'batch_normalization/beta:0', 'batch_normalization/moving_mean:0', 'batch_normalization/moving_variance:0'])
    """

    __init__ = constructor(
        parameters_of(
            keras_normalization.BatchNormalization.__init__,
            beta_initializer=_ZEROS,
            gamma_initializer=_ONES,
            moving_mean_initializer=_ZEROS,
            moving_variance_initializer=_ONES,
        ),
        keras_normalization.BatchNormalization.__init__,
    )

    @contextlib.contextmanager
    def _whole_variables(self):
        partitioner = self._scope.partitioner if self._scope else None
        if partitioner is not None:
            self._scope.set_partitioner(None)
        yield
        if partitioner is not None:
            self._scope.set_partitioner(partitioner)

    def call(self, inputs, training=False):
        return super().call(inputs, training=training)


@takes(
    """inputs, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer=ZEROS,
    gamma_initializer=ONES, moving_mean_initializer=ZEROS, moving_variance_initializer=ONES, beta_regularizer=None,
    gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, training=False, trainable=True, name=None,
    reuse=None, renorm=False, renorm_clipping=None, renorm_momentum=0.99, fused=None, virtual_batch_size=None,
    adjustment=None""",
    ZEROS=_ZEROS,
    ONES=_ONES,
)
def batch_normalization(inputs, training, reuse, name, **given):
    """Inputs scaled to zero mean and unit variance: of the batch while `training`, moving averages else.

    The averages are updated by operations in `tf.GraphKeys.UPDATE_OPS`, which have to be run with the training step.

    Args:
        inputs: The tensor to work on.
        axis: The axis of channels.
        momentum: How slowly the moving averages forget.
        epsilon: A small number that keeps a division from being one by zero.
        center: Whether an offset is added.
        scale: Whether the result is multiplied by a scale.
        beta_initializer: What the offset starts as.
        gamma_initializer: What the scale starts as.
        moving_mean_initializer: What the moving mean starts as.
        moving_variance_initializer: What the moving variance starts as.
        beta_regularizer: A function of the offset whose result is added to the losses.
        gamma_regularizer: A function of the scale whose result is added to the losses.
        beta_constraint: A function that gives the offset back as it may be.
        gamma_constraint: A function that gives the scale back as it may be.
        training: Whether this is training: a bool, or a tensor.
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name, and that of its variable scope.
        reuse: Whether variables that are there under this name are used again.
        renorm: Whether batch renormalization is used.
        renorm_clipping: The bounds of its corrections: `rmin`, `rmax`, `dmax`.
        renorm_momentum: How slowly its averages forget.
        fused: Whether one op does it; chosen if None.
        virtual_batch_size: The size of the parts of a batch that are normalized by themselves.
        adjustment: A function of the shape that gives a scale and an offset, for training.

    Returns:
        A tensor of the same shape.

    Example:
        >>> y = tf.layers.batch_normalization(tf.constant([[1.0], [3.0]]), training=True)
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(y)
        array([[-0.9995004],
               [ 0.9995005]], dtype=float32)
        >>> updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    """
    scoped = {"name": name, "_reuse": reuse, "_scope": name}
    inputs = convert_to_tensor(inputs)
    layer = BatchNormalization(**given, dtype=inputs.dtype.base_dtype, **scoped)
    return layer.apply(inputs, training=training)


BatchNorm, batch_norm = BatchNormalization, batch_normalization
