"""OverFeat: Sermanet et al., "OverFeat: integrated recognition, localization and detection using convolutional networks" (2014)."""

from __future__ import annotations

from everflow.contrib.slim.nets.convolutional_classifier import classifier, classifier_arg_scope
from everflow.ops import initializers
from everflow.ops.variable_scope import variable_scope

_CONVOLUTIONS = (
    (64, 11, {"stride": 4, "padding": "VALID"}, ([2, 2],)),
    (256, 5, {"padding": "VALID"}, ([2, 2],)),
    (512, 3, {}, None),
    (1024, 3, {}, None),
    (1024, 3, {}, ([2, 2],)),
)


def overfeat_arg_scope(weight_decay=0.0005):
    """Arguments of OverFeat's layers."""
    return classifier_arg_scope(weight_decay, initializers.zeros_initializer())


def overfeat(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope="overfeat"):
    """(logits, end points) of OverFeat on images of 231 by 231."""
    with variable_scope(scope, "overfeat", [inputs]) as sc:
        collection = sc.name + "_end_points"
        return classifier(inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, sc, collection, _CONVOLUTIONS, (3072, 6))
