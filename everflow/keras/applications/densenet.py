"""tf.keras.applications.densenet: each block sees the outputs of all blocks before it."""

from __future__ import annotations

from everflow.keras import backend as K
from everflow.keras import layers
from everflow.keras.applications.building import application, channels_axis
from everflow.keras.applications.imagenet_utils import decode_predictions as decode_predictions
from everflow.keras.applications.imagenet_utils import preprocessing

preprocess_input = preprocessing("torch")

_GROWTH = 32
_BLOCKS = {121: (6, 12, 24, 16), 169: (6, 12, 32, 32), 201: (6, 12, 48, 32)}


def _active(x, name, suffix=""):
    x = layers.BatchNormalization(axis=channels_axis(), epsilon=1.001e-5, name=name + "bn" + suffix)(x)
    return layers.Activation("relu", name=name + "relu" + suffix)(x)


def _block(x, name):
    new = _active(x, name + "_0_")
    new = layers.Conv2D(4 * _GROWTH, 1, use_bias=False, name=name + "_1_conv")(new)
    new = _active(new, name + "_1_")
    new = layers.Conv2D(_GROWTH, 3, padding="same", use_bias=False, name=name + "_2_conv")(new)
    return layers.Concatenate(axis=channels_axis(), name=name + "_concat")([x, new])


def _transition(x, name):
    """Half as many channels, half the size."""
    x = _active(x, name + "_")
    x = layers.Conv2D(int(K.int_shape(x)[channels_axis()] * 0.5), 1, use_bias=False, name=name + "_conv")(x)
    return layers.AveragePooling2D(2, strides=2, name=name + "_pool")(x)


def _features(images, blocks):
    x = layers.ZeroPadding2D(padding=((3, 3), (3, 3)))(images)
    x = layers.Conv2D(64, 7, strides=2, use_bias=False, name="conv1/conv")(x)
    x = _active(x, "conv1/")
    x = layers.ZeroPadding2D(padding=((1, 1), (1, 1)))(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1")(x)
    for number, count in enumerate(blocks, 2):
        for i in range(1, count + 1):
            x = _block(x, f"conv{number}_block{i}")
        if number < 5:
            x = _transition(x, f"pool{number}")
    return _active(x, "")


def _densenet(layer_count):
    def features(images):
        return _features(images, _BLOCKS[layer_count])

    features.__name__, features.__doc__ = f"DenseNet{layer_count}", f"DenseNet with {layer_count} layers."
    return application(f"densenet{layer_count}", 224, 32, folder="densenet", head="fc1000", names_pools=True)(features)


DenseNet121, DenseNet169, DenseNet201 = (_densenet(count) for count in (121, 169, 201))
