"""Inception: Szegedy et al. (2014, 2015) and Ioffe and Szegedy (2015), versions 1 to 3."""

from __future__ import annotations

import re

from everflow import nn
from everflow.contrib import layers
from everflow.contrib.framework.arg_scope import arg_scope
from everflow.contrib.framework.kept_arguments import keep
from everflow.contrib.slim.nets import inception_tables
from everflow.contrib.slim.nets.convolutional_classifier import trunc_normal
from everflow.framework.graph_keys import GraphKeys
from everflow.ops import array
from everflow.ops.variables.scope import variable_scope
from everflow.platform.signatures import inserted, options_of, takes

_LAYER = re.compile(
    r"(?P<name>\w+?_(?P<height>\d)x(?P<width>\d))(@(?P<window>\d)x\d)?(:(?P<channels>\d+))?(/(?P<stride>\d))?$"
)
_POOLS = {"MaxPool": layers.max_pool2d, "AvgPool": layers.avg_pool2d}


class _Builder:
    """Builds a network from its table; `depth` scales numbers of channels, `initializer_of` gives those of weights."""

    def __init__(self, depth=lambda d: d, initializer_of=lambda name, after_pool, is_last: None, first=None):
        keep(self, locals())

    def build(self, net, table, final_endpoint):
        """(net, end points) up to and with `final_endpoint`; ValueError where the table has no such layer."""
        end_points = {}
        for i, line in enumerate(filter(None, table.splitlines())):
            name, equals, mixed = line.partition(" = ")
            if equals:
                form, *channels = mixed.split()
                net = self._mixed(net, name, inception_tables.FORMS[form].format(*channels))
            else:
                text, _, padding = line.partition(" ")
                name = _LAYER.match(text)["name"]
                same = {"padding": padding} if padding else {}
                if i == 0 and self._first is not None:
                    net = self._first(net, name)
                else:
                    net = self._layer(net, text, after_pool=name.startswith("Conv2d_2b"), is_last=True, **same)
            end_points[name] = net
            if name == final_endpoint:
                return net, end_points
        raise ValueError(f"Unknown final endpoint {final_endpoint}")

    def _mixed(self, net, name, text):
        with variable_scope(name):
            branches = []
            for i, branch in enumerate(text.split("|")):
                with variable_scope(f"Branch_{i}"):
                    branches.append(self._branch(net, branch.split()))
            return array.concat(branches, 3)

    def _branch(self, net, texts):
        pooled = "Pool" in texts[0]
        for i, text in enumerate(texts):
            is_last = i == len(texts) - 1
            if "+" in text:
                return array.concat([self._layer(net, part, pooled, is_last) for part in text.split("+")], 3)
            net = self._layer(net, text, pooled, is_last)
        return net

    def _layer(self, net, text, after_pool, is_last, **options):
        found = _LAYER.match(text)
        name, stride = found["name"], int(found["stride"] or 1)
        window = [int(found["window"])] * 2 if found["window"] else [int(found["height"]), int(found["width"])]
        if name.split("_")[0] in _POOLS:
            return _POOLS[name.split("_")[0]](net, window, stride=stride, scope=name, **self._padding(stride, options))
        initializer = self._initializer_of(name, after_pool, is_last)
        given = {"weights_initializer": initializer} if initializer is not None else {}
        given.update(self._padding(stride, options), stride=stride, scope=name)
        return layers.conv2d(net, self._depth(int(found["channels"])), window, **given)

    def _padding(self, stride, options):
        return options


class _V3(_Builder):
    """Version 3: before the mixed layers nothing is padded; within them, all but what has a stride."""

    def build(self, net, table, final_endpoint):
        with arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d], stride=1, padding="VALID"):
            return super().build(net, table, final_endpoint)

    def _mixed(self, net, name, text):
        with arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d], stride=1, padding="SAME"):
            return super()._mixed(net, name, text)

    def _padding(self, stride, options):
        return {"padding": "VALID", **options} if stride > 1 else options


def inception_v1_base(inputs, final_endpoint="Mixed_5c", scope="InceptionV1"):
    """(net, end points) of Inception version 1 up to a layer."""
    with variable_scope(scope, "InceptionV1", [inputs]):
        with arg_scope([layers.conv2d, layers.fully_connected], weights_initializer=trunc_normal(0.01)):
            with arg_scope([layers.conv2d, layers.max_pool2d], stride=1, padding="SAME"):
                return _Builder().build(inputs, inception_tables.V1, final_endpoint)


def inception_v1(
    inputs,
    num_classes=1000,
    is_training=True,
    dropout_keep_prob=0.8,
    prediction_fn=layers.softmax,
    spatial_squeeze=True,
    reuse=None,
    scope="InceptionV1",
):
    """(logits, end points) of Inception version 1 on images of 224 by 224."""
    with variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as sc:
        with arg_scope([layers.batch_norm, layers.dropout], is_training=is_training):
            net, end_points = inception_v1_base(inputs, scope=sc)
            with variable_scope("Logits"):
                net = layers.avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
                net = layers.dropout(net, dropout_keep_prob, scope="Dropout_0b")
                end_points["Logits"] = logits = _logits(net, num_classes, spatial_squeeze, "Conv2d_0c_1x1")
                end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


def _logits(net, num_classes, spatial_squeeze, scope, **options):
    logits = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, **options, scope=scope)
    return array.squeeze(logits, [1, 2], name="SpatialSqueeze") if spatial_squeeze else logits


def _depth_fn(depth_multiplier, min_depth):
    if depth_multiplier <= 0:
        raise ValueError(f"depth_multiplier is not greater than zero: {depth_multiplier}")
    return lambda d: max(int(d * depth_multiplier), min_depth)


def inception_v2_base(inputs, final_endpoint="Mixed_5c", min_depth=16, depth_multiplier=1.0, scope=None):
    """(net, end points) of Inception version 2 up to a layer."""
    depth = _depth_fn(depth_multiplier, min_depth)

    def first(net, name):
        # A depthwise convolution here, for an image has few channels.
        options = {"depth_multiplier": min(int(depth(64) / 3), 8), "weights_initializer": trunc_normal(1.0)}
        return layers.separable_conv2d(net, depth(64), [7, 7], stride=2, **options, scope=name)

    def initializer_of(name, after_pool, is_last):
        if not name.endswith("_1x1"):
            return None
        return trunc_normal(0.1) if after_pool else None if is_last else trunc_normal(0.09)

    with variable_scope(scope, "InceptionV2", [inputs]):
        padded = [layers.conv2d, layers.max_pool2d, layers.avg_pool2d, layers.separable_conv2d]
        with arg_scope(padded, stride=1, padding="SAME"):
            return _Builder(depth, initializer_of, first).build(inputs, inception_tables.V2, final_endpoint)


def inception_v3_base(inputs, final_endpoint="Mixed_7c", min_depth=16, depth_multiplier=1.0, scope=None):
    """(net, end points) of Inception version 3 up to a layer."""
    depth = _depth_fn(depth_multiplier, min_depth)
    with variable_scope(scope, "InceptionV3", [inputs]):
        return _V3(depth).build(inputs, inception_tables.V3, final_endpoint)


def _classifier(net, window, num_classes, end_points, given, keep_prelogits):
    """Logits and predictions at the end of versions 2 and 3."""
    with variable_scope("Logits"):
        size = _fitting(net, window)
        net = layers.avg_pool2d(net, size, padding="VALID", scope=f"AvgPool_1a_{size[0]}x{size[1]}")
        net = layers.dropout(net, keep_prob=given["dropout_keep_prob"], scope="Dropout_1b")
        if keep_prelogits:
            end_points["PreLogits"] = net
        logits = _logits(net, num_classes, given["spatial_squeeze"], "Conv2d_1c_1x1")
    end_points["Logits"] = logits
    end_points["Predictions"] = given["prediction_fn"](logits, scope="Predictions")
    return logits


def _fitting(net, window):
    """A window, or one as large as the image where that is smaller."""
    _, height, width, _ = net.get_shape().as_list()
    return window if height is None or width is None else [min(height, window[0]), min(width, window[1])]


def _depths(given):
    return {name: given[name] for name in ("min_depth", "depth_multiplier")}


_DEPTHS = {"min_depth": 16, "depth_multiplier": 1.0}
_CLASSIFIER = inserted(options_of(inception_v1, ["num_classes"]), dropout_keep_prob=_DEPTHS)


@takes({**_CLASSIFIER, "scope": "InceptionV2"})
def inception_v2(inputs, num_classes=1000, **given):
    """(logits, end points) of Inception version 2 on images of 224 by 224."""
    with variable_scope(given["scope"], "InceptionV2", [inputs, num_classes], reuse=given["reuse"]) as sc:
        with arg_scope([layers.batch_norm, layers.dropout], is_training=given["is_training"]):
            net, end_points = inception_v2_base(inputs, scope=sc, **_depths(given))
            logits = _classifier(net, [7, 7], num_classes, end_points, given, keep_prelogits=False)
    return logits, end_points


@takes({**_CLASSIFIER, "scope": "InceptionV3"})
def inception_v3(inputs, num_classes=1000, **given):
    """(logits, end points) of Inception version 3 on images of 299 by 299, with a second classifier, "AuxLogits"."""
    depth = _depth_fn(**_depths(given))
    with variable_scope(given["scope"], "InceptionV3", [inputs, num_classes], reuse=given["reuse"]) as sc:
        with arg_scope([layers.batch_norm, layers.dropout], is_training=given["is_training"]):
            net, end_points = inception_v3_base(inputs, scope=sc, **_depths(given))
            with arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d], stride=1, padding="SAME"):
                with variable_scope("AuxLogits"):
                    aux = end_points["Mixed_6e"]
                    aux = layers.avg_pool2d(aux, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
                    aux = layers.conv2d(aux, depth(128), [1, 1], scope="Conv2d_1b_1x1")
                    size = _fitting(aux, [5, 5])
                    wide = {"weights_initializer": trunc_normal(0.01), "padding": "VALID"}
                    aux = layers.conv2d(aux, depth(768), size, **wide, scope=f"Conv2d_2a_{size[0]}x{size[1]}")
                    narrow = {"weights_initializer": trunc_normal(0.001)}
                    squeeze = given["spatial_squeeze"]
                    end_points["AuxLogits"] = _logits(aux, num_classes, squeeze, "Conv2d_2b_1x1", **narrow)
            logits = _classifier(net, [8, 8], num_classes, end_points, given, keep_prelogits=True)
    return logits, end_points


inception_v1.default_image_size = inception_v2.default_image_size = 224
inception_v3.default_image_size = 299


def _arg_scope(weight_decay, normalization):
    """Arguments of convolutions, normalized by batches with these parameters; None for those that aren't normalized."""
    normalizer = {"normalizer_fn": None, "normalizer_params": {}}
    if normalization is not None:
        normalizer = {"normalizer_fn": layers.batch_norm, "normalizer_params": normalization}
    options = {"weights_initializer": layers.variance_scaling_initializer(), "activation_fn": nn.relu, **normalizer}
    with arg_scope([layers.conv2d, layers.fully_connected], weights_regularizer=layers.l2_regularizer(weight_decay)):
        with arg_scope([layers.conv2d], **options) as scope:
            return scope


def _normalization(collection, **others):
    averages = {"beta": None, "gamma": None, "moving_mean": [collection], "moving_variance": [collection]}
    defaults = {"decay": 0.9997, "epsilon": 0.001, "updates_collections": GraphKeys.UPDATE_OPS}
    return {**defaults, "variables_collections": averages, **others}


def inception_v1_arg_scope(weight_decay=0.00004, use_batch_norm=True, batch_norm_var_collection="moving_vars"):
    """Arguments of the layers of Inception version 1."""
    return _arg_scope(weight_decay, _normalization(batch_norm_var_collection) if use_batch_norm else None)


def inception_v2_arg_scope(weight_decay=0.00004, batch_norm_var_collection="moving_vars"):
    """Arguments of the layers of Inception version 2."""
    return inception_v1_arg_scope(weight_decay, True, batch_norm_var_collection)


def inception_v3_arg_scope(
    weight_decay=0.00004,
    batch_norm_var_collection="moving_vars",
    batch_norm_decay=0.9997,
    batch_norm_epsilon=0.001,
    updates_collections=GraphKeys.UPDATE_OPS,
    use_fused_batchnorm=True,
):
    """Arguments of the layers of Inception version 3."""
    others = {"decay": batch_norm_decay, "epsilon": batch_norm_epsilon, "updates_collections": updates_collections}
    return _arg_scope(weight_decay, _normalization(batch_norm_var_collection, **others, fused=use_fused_batchnorm))
