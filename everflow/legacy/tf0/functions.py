"""Functions and classes of TensorFlow 0.12 that are more than other words for one of today's."""

from __future__ import annotations

import numpy as np

import everflow as tf
from everflow.platform.flags import FLAGS as _TODAYS_FLAGS


def reverse(tensor, dims, name=None):
    """A tensor turned round along the dimensions for which a vector of booleans says so."""
    return tf.raw_ops.Reverse(tensor=tensor, dims=dims, name=name)


def resize_images(images, size=None, *more, method=0, align_corners=False, **sizes):
    """Images in another size: (images, [height, width], ...), or as until 0.10 (images, height, width, ...)."""
    if sizes or (size.shape.ndims if isinstance(size, tf.Tensor) else np.ndim(size)) == 0:
        width, *more = more or [sizes["new_width"]]
        size = [sizes.get("new_height", size), width]
    options = {"method": method, "align_corners": align_corners, **dict(zip(("method", "align_corners"), more))}
    return tf.image.resize_images(images, size, **options)


def random_crop(image, size, seed=None, name=None):
    """A part of an image with `size` [height, width], from a random place."""
    return tf.random_crop(image, [*size, tf.shape(image)[2]], seed=seed, name=name)


def get_variable(name, shape=None, dtype=tf.float32, initializer=None, *args, **kwargs):
    """As today's; without an initializer of its own or of its scope, uniform values of unit scaling."""
    scaled = initializer is None and tf.as_dtype(dtype).is_floating and tf.get_variable_scope().initializer is None
    if scaled:
        initializer = tf.uniform_unit_scaling_initializer()
    return tf.get_variable(name, shape, dtype, initializer, *args, **kwargs)


class _SparseTensorKind(type):
    """The class of `SparseTensor`, of which today's sparse tensors are instances."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, tf.SparseTensor)

    def __call__(cls, indices, values, shape):
        return tf.SparseTensor(indices, values, shape)


class SparseTensor(metaclass=_SparseTensorKind):
    """Today's SparseTensor, whose third argument was called `shape`."""

    from_value = tf.SparseTensor.from_value


class _Flags:
    """The values of flags. `FLAGS.__flags` is a dict of the values themselves, which programs liked to print."""

    def __getattr__(self, name):
        if name == "__flags":
            modules = _TODAYS_FLAGS.flags_by_module_dict().items()
            return {
                flag.name: flag.value for module, held in modules if not module.startswith("absl.") for flag in held
            }
        return getattr(_TODAYS_FLAGS, name)

    def __setattr__(self, name, value):
        setattr(_TODAYS_FLAGS, name, value)


FLAGS = _Flags()
