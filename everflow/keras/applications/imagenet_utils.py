"""tf.keras.applications.imagenet_utils: images as the models of ImageNet want them, and their predictions by name."""

from __future__ import annotations

import json

import numpy as np

from everflow.keras import backend as K
from everflow.keras.utils.downloads import get_file

_CLASSES = "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"
_class_index = None
# Means of ImageNet's blue, green and red; and, of colours from 0 to 1, means and deviations of red, green and blue.
_CAFFE_MEANS = [103.939, 116.779, 123.68]
_TORCH_MEANS, _TORCH_DEVIATIONS = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def preprocess_input(x, data_format=None, mode="caffe", **kwargs):
    """Images, an array or a tensor, on the scale that models were trained with.

    Args:
        x: Images with values from 0 to 255, as a batch.
        data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
        mode: `caffe` is blue, green, red minus their means; `tf` is -1 to 1; `torch` is 0 to 1, minus means, over
            deviations.
        **kwargs: Modules that code outside of Keras hands on.

    Returns:
        Images of the same shape.

    Raises:
        ValueError: If the mode or data format isn't known.

    Example:
        >>> tf.keras.applications.imagenet_utils.preprocess_input(np.full([1, 1, 1, 3], 255.0), mode="tf")
        array([[[[1., 1., 1.]]]])
    """
    data_format = K.image_data_format() if data_format is None else data_format
    if data_format not in {"channels_first", "channels_last"}:
        raise ValueError("Unknown data_format " + str(data_format))
    if isinstance(x, np.ndarray):
        return _preprocess_array(x, data_format, mode)
    return _preprocess_tensor(x, data_format, mode)


def _preprocess_array(x, data_format, mode):
    if not issubclass(x.dtype.type, np.floating):
        x = x.astype(K.floatx(), copy=False)
    axis = -1 if data_format == "channels_last" else -3
    if mode == "tf":
        x /= 127.5
        x -= 1.0
        return x
    shape = [1] * x.ndim
    shape[axis] = 3
    if mode == "torch":
        x /= 255.0
        x -= np.reshape(_TORCH_MEANS, shape)
        x /= np.reshape(_TORCH_DEVIATIONS, shape)
        return x
    x = np.flip(x, axis)
    x = x - np.reshape(_CAFFE_MEANS, shape).astype(x.dtype)
    return x


def _preprocess_tensor(x, data_format, mode):
    if mode == "tf":
        x /= 127.5
        x -= 1.0
        return x
    if mode == "torch":
        x /= 255.0
        means, deviations = _TORCH_MEANS, _TORCH_DEVIATIONS
    else:
        x = x[:, ::-1, ...] if data_format == "channels_first" else x[..., ::-1]
        means, deviations = _CAFFE_MEANS, None
    minus = K.constant(-np.array(means))
    x = K.bias_add(x, K.cast(minus, K.dtype(x)) if K.dtype(x) != K.dtype(minus) else minus, data_format)
    return x if deviations is None else x / deviations


def decode_predictions(preds, top=5, **kwargs):
    """For each row of predictions, the best classes: tuples (id, name, score)."""
    global _class_index
    if len(preds.shape) != 2 or preds.shape[1] != 1000:
        raise ValueError(
            f"`decode_predictions` expects a batch of predictions, (samples, 1000), not an array of shape {preds.shape}."
        )
    if _class_index is None:
        path = get_file(
            "imagenet_class_index.json", _CLASSES, cache_subdir="models", file_hash="c2c37ea517e94d9795004a39431a14cb"
        )
        with open(path) as file:
            _class_index = json.load(file)
    results = []
    for row in preds:
        best = row.argsort()[-top:][::-1]
        results.append([(*_class_index[str(i)], row[i]) for i in best])
    return results


_PREPROCESSING = """Images on the scale that the model was trained with, which is that of mode {mode!r}.

Args:
    x: Images with values from 0 to 255, as a batch.
    data_format: `channels_last` or `channels_first`; None takes what `keras.json` says.
    **kwargs: Modules that code outside of Keras hands on.

Returns:
    Images of the same shape.

Example:
    >>> tf.keras.applications.{model}.preprocess_input(np.full([1, 1, 1, 3], 255.0))
    {gives}
"""
# A model of each mode, and what it makes of a white pixel.
_OF_WHITE = {
    "caffe": {"model": "vgg16", "gives": "array([[[[151.061, 138.221, 131.32 ]]]])"},
    "tf": {"model": "xception", "gives": "array([[[[1., 1., 1.]]]])"},
    "torch": {"model": "densenet", "gives": "array([[[[2.2489083 , 2.42857143, 2.64      ]]]])"},
}


def preprocessing(mode):
    """`preprocess_input` of a model whose images are in this mode."""

    def preprocess_input(x, data_format=None, **kwargs):
        return _preprocess(x, data_format, mode, kwargs)

    preprocess_input.__doc__ = _PREPROCESSING.format(mode=mode, **_OF_WHITE[mode])
    return preprocess_input


def _preprocess(x, data_format, mode, kwargs):
    return preprocess_input(x, data_format=data_format, mode=kwargs.pop("mode", mode))
