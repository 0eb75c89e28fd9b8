"""VGG: Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition" (2014)."""

from __future__ import annotations

from everflow.contrib.slim.nets import convolutional_classifier as cnn
from everflow.ops.variables import initializers

_CHANNELS = (64, 128, 256, 512, 512)


def vgg_arg_scope(weight_decay=0.0005):
    """Arguments of VGG's layers: ReLU, and weight decay."""
    return cnn.classifier_arg_scope(weight_decay, initializers.zeros_initializer())


def _vgg(name, counts, **options):
    """`counts`: how many convolutions before each of the five poolings."""
    pooling = ([2, 2],)
    convolutions = [cnn.convolution(size, 3, pooling, repeated=count) for size, count in zip(_CHANNELS, counts)]
    return cnn.network(name, convolutions, fc6=(4096, 7), image_size=224, **options)


vgg_a = _vgg("vgg_a", (1, 1, 2, 2, 2))
vgg_16 = vgg_d = _vgg("vgg_16", (2, 2, 3, 3, 3))
vgg_19 = vgg_e = _vgg("vgg_19", (2, 2, 4, 4, 4), by_variable_scope=True)
