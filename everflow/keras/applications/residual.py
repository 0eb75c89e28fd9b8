"""ResNet: blocks whose output is added to their input; in version 2, normalisation comes before convolutions."""

from __future__ import annotations

from everflow.keras import layers
from everflow.keras.applications.building import application, channels_axis

# Blocks of each of the four stacks, by the number of layers.
_BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
_FILTERS = (64, 128, 256, 512)


def _normalized(x, name):
    return layers.BatchNormalization(axis=channels_axis(), epsilon=1.001e-5, name=name)(x)


def _active(x, name):
    return layers.Activation("relu", name=name + "_relu")(_normalized(x, name + "_bn"))


def _block(x, filters, name, stride=1, shortcut=False):
    """A block of version 1: 1x1, 3x3, 1x1 convolutions, each with normalisation."""
    if shortcut:
        beside = layers.Conv2D(4 * filters, 1, strides=stride, name=name + "_0_conv")(x)
        beside = _normalized(beside, name + "_0_bn")
    else:
        beside = x
    x = layers.Conv2D(filters, 1, strides=stride, name=name + "_1_conv")(x)
    x = _active(x, name + "_1")
    x = layers.Conv2D(filters, 3, padding="same", name=name + "_2_conv")(x)
    x = _active(x, name + "_2")
    x = layers.Conv2D(4 * filters, 1, name=name + "_3_conv")(x)
    x = _normalized(x, name + "_3_bn")
    x = layers.Add(name=name + "_add")([beside, x])
    return layers.Activation("relu", name=name + "_out")(x)


def _block_v2(x, filters, name, stride=1, shortcut=False):
    """A block of version 2."""
    active = _active(x, name + "_preact")
    if shortcut:
        beside = layers.Conv2D(4 * filters, 1, strides=stride, name=name + "_0_conv")(active)
    else:
        beside = layers.MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = layers.Conv2D(filters, 1, strides=1, use_bias=False, name=name + "_1_conv")(active)
    x = _active(x, name + "_1")
    x = layers.ZeroPadding2D(padding=((1, 1), (1, 1)), name=name + "_2_pad")(x)
    x = layers.Conv2D(filters, 3, strides=stride, use_bias=False, name=name + "_2_conv")(x)
    x = _active(x, name + "_2")
    x = layers.Conv2D(4 * filters, 1, name=name + "_3_conv")(x)
    return layers.Add(name=name + "_out")([beside, x])


def _stacks(x, counts):
    for number, (filters, count) in enumerate(zip(_FILTERS, counts), 2):
        for i in range(1, count + 1):
            # The first block of a stack halves the size, but for the first stack.
            stride = 2 if i == 1 and number > 2 else 1
            x = _block(x, filters, f"conv{number}_block{i}", stride, shortcut=i == 1)
    return x


def _stacks_v2(x, counts):
    for number, (filters, count) in enumerate(zip(_FILTERS, counts), 2):
        for i in range(1, count + 1):
            # The last block of a stack halves the size, but for the last stack.
            stride = 2 if i == count and number < 5 else 1
            x = _block_v2(x, filters, f"conv{number}_block{i}", stride, shortcut=i == 1)
    return x


def _features(images, blocks, version):
    x = layers.ZeroPadding2D(padding=((3, 3), (3, 3)), name="conv1_pad")(images)
    x = layers.Conv2D(64, 7, strides=2, use_bias=True, name="conv1_conv")(x)
    if version == 1:
        x = _active(x, "conv1")
    x = layers.ZeroPadding2D(padding=((1, 1), (1, 1)), name="pool1_pad")(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    if version == 1:
        return _stacks(x, blocks)
    return _active(_stacks_v2(x, blocks), "post")


def _resnet(layer_count, version):
    def features(images):
        return _features(images, _BLOCKS[layer_count], version)

    features.__name__ = f"ResNet{layer_count}" + ("V2" if version == 2 else "")
    features.__doc__ = f"ResNet version {version} with {layer_count} layers."
    return application(features.__name__.lower(), 224, 32, folder="resnet", head="probs", names_pools=True)(features)


ResNet50, ResNet101, ResNet152 = (_resnet(count, 1) for count in _BLOCKS)
ResNet50V2, ResNet101V2, ResNet152V2 = (_resnet(count, 2) for count in _BLOCKS)
