"""AlexNet, in the form of Krizhevsky, "One weird trick for parallelizing convolutional neural networks" (2014)."""

from __future__ import annotations

from everflow.contrib.slim.nets import convolutional_classifier as cnn
from everflow.ops.variables import initializers

_POOLING = ([3, 3], 2)


def alexnet_v2_arg_scope(weight_decay=0.0005):
    """Arguments of AlexNet's layers."""
    return cnn.unpadded_pooling(cnn.classifier_arg_scope(weight_decay, initializers.constant_initializer(0.1)))


alexnet_v2 = cnn.network(
    "alexnet_v2",
    (
        cnn.convolution(64, 11, _POOLING, stride=4, padding="VALID"),
        cnn.convolution(192, 5, _POOLING),
        cnn.convolution(384, 3),
        cnn.convolution(384, 3),
        cnn.convolution(256, 3, _POOLING),
    ),
    fc6=(4096, 5),
    image_size=224,
    of_fc=cnn.small_weights,
    of_logits=cnn.zero_biases,
)
