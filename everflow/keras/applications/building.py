"""What the models of ImageNet have in common: inputs, ends of those without a top, and where weights come from."""

from __future__ import annotations

import os
import warnings

from everflow.keras import backend as K
from everflow.keras import layers
from everflow.keras.engine.training import Model
from everflow.keras.utils.downloads import get_file
from everflow.keras.utils.models import get_source_inputs

_ORIGIN = "https://storage.googleapis.com/tensorflow/keras-applications/"


def channels_axis():
    """The axis of channels in a batch."""
    return 1 if K.image_data_format() == "channels_first" else 3


def check_weights(weights, include_top, classes):
    """ValueError for weights that are neither known nor a file, and for a top that ImageNet's weights don't fit."""
    if not (weights in {"imagenet", None} or os.path.exists(weights)):
        raise ValueError(
            f'`weights` is None, for random ones, "imagenet", or the path to the weights file; there is no file {weights!r}.'
        )
    if weights == "imagenet" and include_top and classes != 1000:
        raise ValueError(
            f"The top that was trained on ImageNet tells 1000 classes: `classes` should be 1000, not {classes}."
        )


def obtain_input_shape(input_shape, default_size, min_size, require_flatten, weights=None):
    """The shape of images: what was asked for where the model can take it, else the default."""
    channels_first = K.image_data_format() == "channels_first"

    def shaped(channels, height, width):
        return (channels, height, width) if channels_first else (height, width, channels)

    if weights != "imagenet" and input_shape and len(input_shape) == 3:
        channels = input_shape[0] if channels_first else input_shape[-1]
        if channels not in {1, 3}:
            warnings.warn(
                f"Images have 1 or 3 channels as a rule; input_shape={input_shape} has {channels}.",
                stacklevel=3,
            )
        default = shaped(channels, default_size, default_size)
    else:
        default = shaped(3, default_size, default_size)
    if weights == "imagenet" and require_flatten:
        if input_shape is not None and tuple(input_shape) != default:
            raise ValueError(
                f"For the top that was trained on ImageNet, `input_shape` should be {default}, not {input_shape}."
            )
        return default
    if input_shape:
        if len(input_shape) != 3:
            raise ValueError(f"`input_shape` has three sizes, without the batch; got {input_shape}.")
        channels, *sizes = input_shape if channels_first else (input_shape[-1], *input_shape[:-1])
        if channels != 3 and weights == "imagenet":
            raise ValueError(
                f"Images for weights of ImageNet must have 3 channels, not those of input_shape={input_shape}."
            )
        if any(size is not None and size < min_size for size in sizes):
            raise ValueError(
                f"The model takes images of at least {min_size}x{min_size}; input_shape={input_shape} is smaller."
            )
    else:
        input_shape = default if require_flatten else shaped(3, None, None)
    if require_flatten and None in input_shape:
        raise ValueError(
            f"The top of the model needs images of a known size: input_shape={input_shape} leaves it open."
        )
    return tuple(input_shape)


def image_input(input_tensor, input_shape):
    """The tensor of images: a new Input, the one given, or one around a tensor that isn't of Keras."""
    if input_tensor is None:
        return layers.Input(shape=input_shape)
    return input_tensor if K.is_keras_tensor(input_tensor) else layers.Input(tensor=input_tensor, shape=input_shape)


def pooled(x, pooling, name=None):
    """The end of a model without a top: the mean or the largest value of each channel, or the maps as they are."""
    if pooling == "avg":
        return layers.GlobalAveragePooling2D(name=name and "avg_pool")(x)
    if pooling == "max":
        return layers.GlobalMaxPooling2D(name=name and "max_pool")(x)
    return x


def finished(x, images, input_tensor, name, weights, file, folder=None):
    """The model from images to x, with ImageNet's weights or those of a file where wanted."""
    inputs = images if input_tensor is None else get_source_inputs(input_tensor)
    model = Model(inputs, x, name=name)
    if weights == "imagenet":
        model.load_weights(get_file(file, f"{_ORIGIN}{folder or name}/{file}", cache_subdir="models"))
    elif weights is not None:
        model.load_weights(weights)
    return model


def usual_file(name, include_top):
    """The name of most models' weights."""
    return f"{name}_weights_tf_dim_ordering_tf_kernels{'' if include_top else '_notop'}.h5"


def application(name, size, min_size, folder=None, head=None, names_pools=None):
    """Decorator: a function from images to maps of features becomes the public function that makes the model.

    `size` is what images have by default, `min_size` the least they may have. `head` makes probabilities of the maps;
    where it is the name of a layer, that one is dense, on the mean of each channel.
    """

    def decorate(features):
        def build(
            include_top=True,
            weights="imagenet",
            input_tensor=None,
            input_shape=None,
            pooling=None,
            classes=1000,
            **kwargs,
        ):
            check_weights(weights, include_top, classes)
            images = image_input(input_tensor, obtain_input_shape(input_shape, size, min_size, include_top, weights))
            x = features(images)
            if not include_top:
                x = pooled(x, pooling, name=names_pools)
            elif callable(head):
                x = head(x, classes)
            else:
                x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
                x = layers.Dense(classes, activation="softmax", name=head or "predictions")(x)
            return finished(x, images, input_tensor, name, weights, usual_file(name, include_top), folder)

        build.__name__ = build.__qualname__ = features.__name__
        build.__doc__, build.__module__ = features.__doc__, features.__module__
        return build

    return decorate


def correct_padding(x, size):
    """Padding for a convolution with stride 2, so that its output is half of an even size."""
    first = 2 if K.image_data_format() == "channels_first" else 1
    sizes = K.int_shape(x)[first : first + 2]
    before = [size // 2 - (1 if side is None else 1 - side % 2) for side in sizes]
    return tuple((start, size // 2) for start in before)
