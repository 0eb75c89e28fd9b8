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

    >>> y = tf.layers.BatchNormalization()(x, training=True)
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

    >>> y = tf.layers.batch_normalization(x, training=is_training)
    >>> updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)   # to be run with the training step
    """
    scoped = {"name": name, "_reuse": reuse, "_scope": name}
    layer = BatchNormalization(**given, dtype=convert_to_tensor(inputs).dtype.base_dtype, **scoped)
    return layer.apply(inputs, training=training)


BatchNorm, batch_norm = BatchNormalization, batch_normalization
