"""Batch normalization, and its functional form."""

from __future__ import annotations

import contextlib

from everflow.framework.conversion import convert_to_tensor
from everflow.keras.layers import normalization as keras_normalization
from everflow.layers.base import Layer
from everflow.ops import initializers

_ZEROS, _ONES = initializers.zeros_initializer(), initializers.ones_initializer()


class BatchNormalization(keras_normalization.BatchNormalization, Layer):
    """Inputs scaled to zero mean and unit variance: of the batch while training, moving averages else.

    The averages are updated by ops in UPDATE_OPS; run them with the training step.

    >>> y = tf.layers.BatchNormalization()(x, training=True)
    """

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer=_ZEROS, gamma_initializer=_ONES,
                 moving_mean_initializer=_ZEROS, moving_variance_initializer=_ONES, beta_regularizer=None, gamma_regularizer=None,
                 beta_constraint=None, gamma_constraint=None, renorm=False, renorm_clipping=None, renorm_momentum=0.99, fused=None,
                 trainable=True, virtual_batch_size=None, adjustment=None, name=None, **kwargs):  # fmt: skip
        super().__init__(axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer, moving_mean_initializer,
                         moving_variance_initializer, beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint, renorm,
                         renorm_clipping, renorm_momentum, fused, trainable, virtual_batch_size, adjustment, name, **kwargs)  # fmt: skip

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


def batch_normalization(inputs, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer=_ZEROS,
                        gamma_initializer=_ONES, moving_mean_initializer=_ZEROS, moving_variance_initializer=_ONES, beta_regularizer=None,
                        gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, training=False, trainable=True, name=None,
                        reuse=None, renorm=False, renorm_clipping=None, renorm_momentum=0.99, fused=None, virtual_batch_size=None,
                        adjustment=None):  # fmt: skip
    """Inputs scaled to zero mean and unit variance: of the batch while `training`, moving averages else.

    >>> y = tf.layers.batch_normalization(x, training=is_training)
    >>> updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)   # to be run with the training step
    """
    layer = BatchNormalization(
        axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer,
        beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint, renorm, renorm_clipping, renorm_momentum, fused, trainable,
        virtual_batch_size, adjustment, name, dtype=convert_to_tensor(inputs).dtype.base_dtype, _reuse=reuse, _scope=name,
    )  # fmt: skip
    return layer.apply(inputs, training=training)


BatchNorm, batch_norm = BatchNormalization, batch_normalization
