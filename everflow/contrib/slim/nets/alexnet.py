"""AlexNet, in the form of Krizhevsky, "One weird trick for parallelizing convolutional neural networks" (2014)."""

from __future__ import annotations

from everflow.contrib.slim.nets.convolutional_classifier import classifier, classifier_arg_scope
from everflow.ops import initializers
from everflow.ops.variable_scope import variable_scope

_CONVOLUTIONS = (
    (64, 11, {"stride": 4, "padding": "VALID"}, ([3, 3], 2)),
    (192, 5, {}, ([3, 3], 2)),
    (384, 3, {}, None),
    (384, 3, {}, None),
    (256, 3, {}, ([3, 3], 2)),
)


def alexnet_v2_arg_scope(weight_decay=0.0005):
    """Arguments of AlexNet's layers."""
    return classifier_arg_scope(weight_decay, initializers.constant_initializer(0.1))


def alexnet_v2(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="alexnet_v2"):
    """(logits, end points) of AlexNet on images of 224 by 224."""
    with variable_scope(scope, "alexnet_v2", [inputs]) as sc:
        collection = sc.original_name_scope + "_end_points"
        return classifier(inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, sc, collection, _CONVOLUTIONS, (4096, 5))


alexnet_v2.default_image_size = 224
