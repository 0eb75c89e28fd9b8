"""OverFeat: Sermanet et al., "Integrated recognition, localization and detection" (2014)."""

from __future__ import annotations

from everflow.contrib.slim.nets import convolutional_classifier as cnn
from everflow.ops.variables import initializers

_POOLING = ([2, 2],)


def overfeat_arg_scope(weight_decay=0.0005):
    """Arguments of OverFeat's layers."""
    return cnn.unpadded_pooling(cnn.classifier_arg_scope(weight_decay, initializers.zeros_initializer()))


overfeat = cnn.network(
    "overfeat",
    (
        cnn.convolution(64, 11, _POOLING, stride=4, padding="VALID"),
        cnn.convolution(256, 5, _POOLING, padding="VALID"),
        cnn.convolution(512, 3),
        cnn.convolution(1024, 3),
        cnn.convolution(1024, 3, _POOLING),
    ),
    fc6=(3072, 6),
    by_variable_scope=True,
    of_fc=cnn.small_weights,
    of_logits=cnn.zero_biases,
)
