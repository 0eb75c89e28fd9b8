"""Colours of images: types and their ranges, brightness, contrast, hue, saturation, gamma, colour spaces."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.checks import values as check
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.image.checks import checked_3d, require
from everflow.ops.random import distributions as random


def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Images in another type, scaled: integers use their whole positive range, floats [0, 1].

    Args:
        image: An image [height, width, channels], or a batch of images.
        dtype: The type of the result.
        saturate: Whether values beyond the range take its limit.
        name: The name of the operation in the graph.

    Returns:
        Images of the same shape.

    Raises:
        AttributeError: If the type is neither float nor integer.

    Example:
        >>> sess.run(tf.image.convert_image_dtype(tf.constant([0, 255], tf.uint8), tf.float32))
        array([0., 1.], dtype=float32)
    """
    image = convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError(f"Images are of a floating point or integer dtype, not {dtype.name}")
    if dtype == image.dtype:
        return array.identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as name:
        if image.dtype.is_integer and dtype.is_integer:
            return _rescaled_integers(image, dtype, saturate, name)
        if image.dtype.is_floating and dtype.is_floating:
            return math.cast(image, dtype, name=name)
        if image.dtype.is_integer:
            return math.multiply(math.cast(image, dtype), 1.0 / image.dtype.max, name=name)
        # Half a step more, so that 1.0 becomes the largest integer and the steps are of one size.
        scaled = math.multiply(image, dtype.max + 0.5)
        return math.saturate_cast(scaled, dtype, name=name) if saturate else math.cast(scaled, dtype, name=name)


def _rescaled_integers(image, dtype, saturate, name):
    source, target = int(image.dtype.max), int(dtype.max)
    if source > target:
        scaled = math.floordiv(image, (source + 1) // (target + 1), name="div")
        return math.saturate_cast(scaled, dtype, name=name) if saturate else math.cast(scaled, dtype, name=name)
    cast = math.saturate_cast(image, dtype) if saturate else math.cast(image, dtype)
    return math.multiply(cast, (target + 1) // (source + 1), name=name)


def _as_float(image):
    """Floats are used as they are; anything else becomes float32 in [0, 1]."""
    return image if image.dtype in (dtypes.float16, dtypes.float32) else convert_image_dtype(image, dtypes.float32)


def adjust_brightness(image, delta):
    """Add `delta` to every value; integers are converted to floats in [0, 1] and back.

    Args:
        image: An image [height, width, channels], or a batch of images.
        delta: How much.

    Returns:
        Images of the same shape and type.

    Example:
        >>> sess.run(tf.image.adjust_brightness([[[0.25]]], 0.5))
        array([[[0.75]]], dtype=float32)
    """
    with name_scope(None, "adjust_brightness", [image, delta]) as name:
        image = convert_to_tensor(image, name="image")
        floats = _as_float(image)
        adjusted = math.add(floats, math.cast(delta, floats.dtype), name=name)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


def adjust_contrast(images, contrast_factor):
    """Scale each channel's distance from its mean over the image.

    Args:
        images: An image [height, width, channels], or a batch of images.
        contrast_factor: The factor.

    Returns:
        Images of the same shape and type.

    Example:
        >>> sess.run(tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0))
        array([[[0.],
                [4.]]], dtype=float32)
    """
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as name:
        images = convert_to_tensor(images, name="images")
        adjusted = raw.AdjustContrastv2(images=_as_float(images), contrast_factor=contrast_factor, name=name)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


def adjust_gamma(image, gamma=1, gain=1):
    """gain · imageᵞ.

    Args:
        image: An image [height, width, channels], or a batch of images.
        gamma: The power.
        gain: What the result is multiplied by.

    Returns:
        Images of the same shape and type.

    Example:
        >>> sess.run(tf.image.adjust_gamma(tf.constant([[[0.5]]]), gamma=2.0))
        array([[[0.25]]], dtype=float32)
    """
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        floats = _as_float(image)
        checks = require(gamma >= 0, "Gamma should be a non-negative real number.")
        if checks:
            gamma = with_dependencies(checks, gamma)
        return convert_image_dtype(gain * floats**gamma, image.dtype, saturate=True)


def adjust_hue(image, delta, name=None):
    """Turn the hue of RGB images by `delta`, a part of the circle in [-1, 1].

    Args:
        image: An image [height, width, channels], or a batch of images.
        delta: A part of the circle, from -1 to 1.
        name: The name of the operation in the graph.

    Returns:
        Images of the same shape and type.

    Example:
        >>> sess.run(tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 1 / 3))
        array([[[0., 1., 0.]]], dtype=float32)
    """
    with name_scope(name, "adjust_hue", [image]):
        image = convert_to_tensor(image, name="image")
        adjusted = raw.AdjustHue(images=_as_float(image), delta=delta)
        return convert_image_dtype(adjusted, image.dtype)


def adjust_saturation(image, saturation_factor, name=None):
    """Multiply the saturation of RGB images.

    Args:
        image: An image [height, width, channels], or a batch of images.
        saturation_factor: The factor.
        name: The name of the operation in the graph.

    Returns:
        Images of the same shape and type.

    Example:
        >>> sess.run(tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 0.0))
        array([[[1., 1., 1.]]], dtype=float32)
    """
    with name_scope(name, "adjust_saturation", [image]):
        image = convert_to_tensor(image, name="image")
        adjusted = raw.AdjustSaturation(images=_as_float(image), scale=saturation_factor)
        return convert_image_dtype(adjusted, image.dtype)


def random_brightness(image, max_delta, seed=None):
    """Brightness changed by an amount drawn from [-max_delta, max_delta).

    Args:
        image: An image [height, width, channels], or a batch of images.
        max_delta: The greatest change, not negative.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        Images of the same shape and type.

    Raises:
        ValueError: If it is negative.

    Example:
        >>> tf.set_random_seed(1)
        >>> sess.run(tf.image.random_brightness([[[0.5]]], 0.1))
        array([[[0.4391212]]], dtype=float32)
    """
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random.random_uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(image, lower, upper, seed=None):
    """Contrast changed by a factor drawn from [lower, upper).

    Args:
        image: An image [height, width, channels], or a batch of images.
        lower: The lower bound.
        upper: The upper bound.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        Images of the same shape and type.

    Raises:
        ValueError: If the bounds don't fit.

    Example:
        >>> tf.set_random_seed(1)
        >>> sess.run(tf.image.random_contrast([[[0.0], [1.0]]], 0.5, 1.5))
        array([[[0.152197],
                [0.847803]]], dtype=float32)
    """
    _check_factors(lower, upper)
    return adjust_contrast(image, random.random_uniform([], lower, upper, seed=seed))


def random_hue(image, max_delta, seed=None):
    """Hue turned by an amount drawn from [-max_delta, max_delta).

    Args:
        image: An image [height, width, channels], or a batch of images.
        max_delta: The greatest change, from 0 to 0.5.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        Images of the same shape and type.

    Raises:
        ValueError: If it is out of range.

    Example:
        >>> tf.set_random_seed(1)
        >>> sess.run(tf.image.random_hue([[[1.0, 0.0, 0.0]]], 0.1))
        array([[[1.      , 0.      , 0.365273]]], dtype=float32)
    """
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, random.random_uniform([], -max_delta, max_delta, seed=seed))


def random_saturation(image, lower, upper, seed=None):
    """Saturation changed by a factor drawn from [lower, upper).

    Args:
        image: An image [height, width, channels], or a batch of images.
        lower: The lower bound.
        upper: The upper bound.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        Images of the same shape and type.

    Raises:
        ValueError: If the bounds don't fit.

    Example:
        >>> tf.set_random_seed(1)
        >>> sess.run(tf.image.random_saturation([[[1.0, 0.5, 0.5]]], 0.5, 1.5))
        array([[[1.      , 0.652197, 0.652197]]], dtype=float32)
    """
    _check_factors(lower, upper)
    return adjust_saturation(image, random.random_uniform([], lower, upper, seed=seed))


def _check_factors(lower, upper):
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


def per_image_standardization(image):
    """Each image with mean 0 and variance 1; a constant one becomes zeros.

    Args:
        image: An image [height, width, channels], or a batch of images.

    Returns:
        Images of the same shape, floats.

    Example:
        >>> sess.run(tf.image.per_image_standardization([[[1.0], [3.0]]]))
        array([[[-1.],
                [ 1.]]], dtype=float32)
    """
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = checked_3d(convert_to_tensor(image, name="image"))
        dtype = image.dtype
        image = _as_float(image)
        count = math.reduce_prod(array.shape(image)[-3:])
        mean = math.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = math.reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        # A constant image has none: don't divide by less than that of a single pixel off by one.
        least = math.rsqrt(math.cast(count, image.dtype))
        deviation = math.maximum(deviation, least)
        image = image - mean
        image = math.divide(image, deviation, name=scope)
        return convert_image_dtype(image, dtype, saturate=True)


# Colour spaces


def rgb_to_grayscale(images, name=None):
    """The brightness of RGB images, with one channel.

    Args:
        images: An image [height, width, channels], or a batch of images.
        name: The name of the operation in the graph.

    Returns:
        Images with one channel.

    Example:
        >>> sess.run(tf.image.rgb_to_grayscale([[[1.0, 0.0, 0.0]]]))
        array([[[0.2989]]], dtype=float32)
    """
    with name_scope(name, "rgb_to_grayscale", [images]) as name:
        images = convert_to_tensor(images, name="images")
        floats = convert_image_dtype(images, dtypes.float32)
        gray = math.tensordot(floats, [0.2989, 0.5870, 0.1140], [-1, -1])
        gray = array.expand_dims(gray, -1)
        return convert_image_dtype(gray, images.dtype, name=name)


def grayscale_to_rgb(images, name=None):
    """Images of one channel with that channel three times.

    Args:
        images: An image [height, width, channels], or a batch of images.
        name: The name of the operation in the graph.

    Returns:
        Images with three channels.

    Example:
        >>> sess.run(tf.image.grayscale_to_rgb([[[7]]]))
        array([[[7, 7, 7]]], dtype=int32)
    """
    with name_scope(name, "grayscale_to_rgb", [images]) as name:
        images = convert_to_tensor(images, name="images")
        images = with_dependencies(_grayscale_checks(images), images)
        rank = array.expand_dims(array.rank(images) - 1, 0)
        multiples = array.concat([array.ones(rank, dtype=dtypes.int32), array.expand_dims(3, 0)], 0)
        rgb = array.tile(images, multiples, name=name)
        rgb.set_shape(images.shape[:-1].concatenate([3]))
        return rgb


def _grayscale_checks(image):
    shape = image.shape
    if shape.rank is not None:
        if shape.rank < 2:
            raise ValueError(f"A grayscale image has two dimensions and a channel, or more; got the shape {shape}")
        if shape.size(-1) not in (None, 1):
            raise ValueError(f"The last dimension of a grayscale image is its one channel; got the shape {shape}")
        if shape.is_fully_defined():
            return []
    return [
        check.assert_equal(array.shape(image)[-1], 1, message="Last dimension of a grayscale image should be size 1."),
        check.assert_greater_equal(array.rank(image), 3, message="A grayscale image must be at least two-dimensional."),
    ]


def rgb_to_hsv(images, name=None):
    """Hue, saturation and value of RGB images, all in [0, 1].

    Args:
        images: An image [height, width, channels], or a batch of images.
        name: The name of the operation in the graph.

    Returns:
        Images of the same shape.

    Example:
        >>> sess.run(tf.image.rgb_to_hsv([[[1.0, 0.0, 0.0]]]))
        array([[[0., 1., 1.]]], dtype=float32)
    """
    return raw.RGBToHSV(images=images, name=name)


def hsv_to_rgb(images, name=None):
    """RGB of images given by hue, saturation and value.

    Args:
        images: An image [height, width, channels], or a batch of images.
        name: The name of the operation in the graph.

    Returns:
        Images of the same shape and type.

    Example:
        >>> sess.run(tf.image.hsv_to_rgb([[[0.0, 1.0, 1.0]]]))
        array([[[1., 0., 0.]]], dtype=float32)
    """
    return raw.HSVToRGB(images=images, name=name)


_RGB_TO_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_YIQ_TO_RGB = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_RGB_TO_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_YUV_TO_RGB = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _linear_conversion(name, matrix, doc):
    def convert(images):
        images = convert_to_tensor(images, name="images")
        kernel = convert_to_tensor(matrix, dtype=images.dtype, name="kernel")
        rank = images.shape.rank
        return math.tensordot(images, kernel, axes=[[rank - 1], [0]])

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = doc
    return convert


rgb_to_yiq = _linear_conversion(
    "rgb_to_yiq",
    _RGB_TO_YIQ,
    """RGB images in the YIQ space of NTSC.

Args:
    images: An image [height, width, channels], or a batch of images.

Returns:
    Images of the same shape.

Example:
    >>> np.round(sess.run(tf.image.rgb_to_yiq([[[1.0, 0.5, 0.25]]])), 3)
    array([[[0.621, 0.378, 0.028]]], dtype=float32)
""",
)
yiq_to_rgb = _linear_conversion(
    "yiq_to_rgb",
    _YIQ_TO_RGB,
    """YIQ images in RGB.

Args:
    images: An image [height, width, channels], or a batch of images.

Returns:
    Images of the same shape.

Example:
    >>> np.round(sess.run(tf.image.yiq_to_rgb([[[1.0, 0.5, 0.25]]])), 3)
    array([[[1.633, 0.702, 0.873]]], dtype=float32)
""",
)
rgb_to_yuv = _linear_conversion(
    "rgb_to_yuv",
    _RGB_TO_YUV,
    """RGB images in the YUV space of PAL.

Args:
    images: An image [height, width, channels], or a batch of images.

Returns:
    Images of the same shape.

Example:
    >>> np.round(sess.run(tf.image.rgb_to_yuv([[[1.0, 0.5, 0.25]]])), 3)
    array([[[ 0.621, -0.183,  0.332]]], dtype=float32)
""",
)
yuv_to_rgb = _linear_conversion(
    "yuv_to_rgb",
    _YUV_TO_RGB,
    """YUV images in RGB.

Args:
    images: An image [height, width, channels], or a batch of images.

Returns:
    Images of the same shape.

Example:
    >>> np.round(sess.run(tf.image.yuv_to_rgb([[[1.0, 0.5, 0.25]]])), 3)
    array([[[1.285, 0.658, 2.016]]], dtype=float32)
""",
)


# Shape rules


@shape_rule("RGBToHSV", "HSVToRGB")
def _color_space_shape(op):
    shape = op.inputs[0].shape
    if shape.rank is None:
        return None
    if shape.rank < 1:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if shape.size(-1) not in (None, 3):
        raise ValueError(f"Dimension must be 3 but is {shape.size(-1)}")
    return shape[:-1].concatenate([3])


@shape_rule("AdjustContrastv2", "AdjustContrast", "AdjustHue", "AdjustSaturation")
def _adjusted_shape(op):
    shape = op.inputs[0].shape
    if shape.rank is not None and shape.rank < 3:
        raise ValueError(f"Shape must be at least rank 3 but is rank {shape.rank}")
    return shape
