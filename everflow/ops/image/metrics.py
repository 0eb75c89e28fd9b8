"""Measures of images: how far two are apart (PSNR, SSIM), total variation, gradients and edges."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, control_flow, math
from everflow.ops.array.constants import constant
from everflow.ops.image.color import convert_image_dtype
from everflow.ops.nn.activations import relu, softmax
from everflow.ops.nn.atrous import depthwise_conv2d
from everflow.ops.nn.pooling import avg_pool


def total_variation(images, name=None):
    """The sum of the differences of neighbouring pixels of each image, a measure of noise.

    Args:
        images: An image [height, width, channels], or a batch of images.
        name: The name of the operation in the graph.

    Returns:
        A number for each image.

    Raises:
        ValueError: If the rank isn't 3 or 4.

    Example:
        >>> sess.run(tf.image.total_variation(tf.constant([[[1.0], [3.0]], [[1.0], [3.0]]])))
        np.float32(4.0)
    """
    with name_scope(name, "total_variation"):
        rank = images.shape.rank
        if rank == 3:
            down, across = images[1:, :, :] - images[:-1, :, :], images[:, 1:, :] - images[:, :-1, :]
            axes = None
        elif rank == 4:
            down, across = images[:, 1:, :, :] - images[:, :-1, :, :], images[:, :, 1:, :] - images[:, :, :-1, :]
            axes = [1, 2, 3]
        else:
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        return math.reduce_sum(math.abs(down), axis=axes) + math.reduce_sum(math.abs(across), axis=axes)


def image_gradients(image):
    """(dy, dx): the difference of each pixel of a batch from the one below and the one to the right, zero at the edges.

    Args:
        image: A batch of images [batch, height, width, channels].

    Returns:
        Two tensors of the same shape.

    Raises:
        ValueError: If it is no batch.

    Example:
        >>> dy, dx = tf.image.image_gradients(tf.reshape([1, 2, 4, 8], [1, 2, 2, 1]))
        >>> sess.run(dx)[0, :, :, 0]
        array([[1, 0],
               [4, 0]], dtype=int32)
    """
    if image.shape.rank != 4:
        raise ValueError(
            f"image_gradients() wants a batch [batch, height, width, channels]; got the shape {image.shape}"
        )
    shape = array.shape(image)
    batch, height, width, depth = array.unstack(shape)
    down = image[:, 1:, :, :] - image[:, :-1, :, :]
    across = image[:, :, 1:, :] - image[:, :, :-1, :]
    bottom = array.zeros(array.stack([batch, 1, width, depth]), image.dtype)
    dy = array.reshape(array.concat([down, bottom], 1), shape)
    right = array.zeros(array.stack([batch, height, 1, depth]), image.dtype)
    dx = array.reshape(array.concat([across, right], 2), shape)
    return dy, dx


def sobel_edges(image):
    """[batch, height, width, depth, 2] of Sobel's vertical and horizontal edge filters.

    Args:
        image: A batch of images [batch, height, width, channels].

    Returns:
        A tensor with one axis more.

    Example:
        >>> tf.image.sobel_edges(tf.zeros([1, 4, 4, 3])).shape.as_list()
        [1, 4, 4, 3, 2]
    """
    static_shape = image.shape
    shape = array.shape(image)
    filters = [[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]]
    filters = np.expand_dims(np.transpose(np.asarray(filters), (1, 2, 0)), -2)
    kernel = array.tile(constant(filters, dtype=image.dtype), [1, 1, shape[-1], 1], name="sobel_filters")
    padded = array.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(padded, kernel, [1, 1, 1, 1], "VALID")
    edges = array.reshape(edges, array.concat([shape, [2]], 0))
    edges.set_shape(static_shape.concatenate([2]))
    return edges


def psnr(a, b, max_val, name=None):
    """The peak signal-to-noise ratio of pairs of images, in decibels.

    Args:
        a: Images.
        b: Images of the same shape.
        max_val: The greatest value a pixel can have.
        name: The name of the operation in the graph.

    Returns:
        A number for each pair.

    Example:
        >>> sess.run(tf.image.psnr(tf.zeros([8, 8, 1]), tf.ones([8, 8, 1]), max_val=255))
        np.float32(48.130802)
    """
    with name_scope(name, "PSNR", [a, b]):
        max_val = math.cast(max_val, a.dtype)
        max_val = convert_image_dtype(max_val, dtypes.float32)
        a, b = convert_image_dtype(a, dtypes.float32), convert_image_dtype(b, dtypes.float32)
        error = math.reduce_mean(math.squared_difference(a, b), [-3, -2, -1])
        value = math.subtract(
            20 * math.log(max_val) / math.log(10.0),
            np.float32(10 / np.log(10)) * math.log(error),
            name="psnr",
        )
        _, _, checks = _same_shape_checks(a, b)
        with control_dependencies(checks):
            return array.identity(value)


def _same_shape_checks(img1, img2):
    """(shape, shape, assertions) of images that must agree in their last three dimensions."""
    shape1, shape2 = img1.shape.with_rank_at_least(3), img2.shape.with_rank_at_least(3)
    if shape1.rank is not None and shape2.rank is not None:
        shape1[-3:].assert_is_compatible_with(shape2[-3:])
        for size1, size2 in zip(reversed(shape1.sizes[:-3]), reversed(shape2.sizes[:-3])):
            if size1 != 1 and size2 != 1 and None not in (size1, size2) and size1 != size2:
                raise ValueError(f"Two images are not compatible: {shape1} and {shape2}")
    shape1, shape2 = array.shape_n([img1, img2])
    checks = [
        control_flow.Assert(math.greater_equal(array.size(shape1), 3), [shape1, shape2], summarize=10),
        control_flow.Assert(math.reduce_all(math.equal(shape1[-3:], shape2[-3:])), [shape1, shape2], summarize=10),
    ]
    return shape1, shape2, checks


def _gaussian_kernel(size, sigma):
    """A [size, size, 1, 1] filter that sums to one."""
    size, sigma = convert_to_tensor(size, dtypes.int32), convert_to_tensor(sigma)
    coordinates = math.cast(math.range(size), sigma.dtype)
    coordinates = coordinates - math.cast(size - 1, sigma.dtype) / 2.0
    g = math.square(coordinates)
    g = g * (-0.5 / math.square(sigma))
    g = array.reshape(g, shape=[1, -1]) + array.reshape(g, shape=[-1, 1])
    g = array.reshape(g, shape=[1, -1])
    g = softmax(g)
    return array.reshape(g, shape=[size, size, 1, 1])


def _ssim_per_channel(img1, img2, max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
    """(structural similarity, its contrast-structure part), the mean over each channel."""
    filter_size = constant(filter_size, dtype=dtypes.int32)
    filter_sigma = constant(filter_sigma, dtype=img1.dtype)
    shape1, shape2 = array.shape_n([img1, img2])
    checks = [
        control_flow.Assert(
            math.reduce_all(math.greater_equal(shape[-3:-1], filter_size)), [shape, filter_size], summarize=8
        )
        for shape in (shape1, shape2)
    ]
    with control_dependencies(checks):
        img1 = array.identity(img1)
    kernel = _gaussian_kernel(filter_size, filter_sigma)
    kernel = array.tile(kernel, multiples=[1, 1, shape1[-1], 1])

    def smooth(x):
        shape = array.shape(x)
        x = array.reshape(x, shape=array.concat([[-1], shape[-3:]], 0))
        y = depthwise_conv2d(x, kernel, strides=[1, 1, 1, 1], padding="VALID")
        return array.reshape(y, array.concat([shape[:-3], array.shape(y)[1:]], 0))

    luminance_and_contrast, contrast = _ssim_parts(img1, img2, smooth, max_val, 1.0, k1, k2)
    axes = constant([-3, -2], dtype=dtypes.int32)
    similarity = math.reduce_mean(luminance_and_contrast * contrast, axes)
    return similarity, math.reduce_mean(contrast, axes)


def _ssim_parts(x, y, smooth, max_val, compensation, k1, k2):
    c1 = (k1 * max_val) ** 2
    c2 = (k2 * max_val) ** 2
    mean_x, mean_y = smooth(x), smooth(y)
    products = mean_x * mean_y * 2.0
    squares = math.square(mean_x) + math.square(mean_y)
    luminance = (products + c1) / (squares + c1)
    covariances = smooth(x * y) * 2.0
    variances = smooth(math.square(x) + math.square(y))
    c2 = c2 * compensation
    contrast = (covariances - products + c2) / (variances - squares + c2)
    return luminance, contrast


def _checked_floats(img1, img2, max_val, checks):
    """Both images and their largest value as floats, after the checks."""
    with control_dependencies(checks):
        img1 = array.identity(img1)
    max_val = convert_image_dtype(math.cast(max_val, img1.dtype), dtypes.float32)
    return convert_image_dtype(img1, dtypes.float32), convert_image_dtype(img2, dtypes.float32), max_val


def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
    """The structural similarity of pairs of images, at most 1.

    Args:
        img1: Images.
        img2: Images of the same shape.
        max_val: The greatest value a pixel can have.
        filter_size: The extent of the Gaussian window.
        filter_sigma: The width of the Gaussian window.
        k1: The first small constant.
        k2: The second small constant.

    Returns:
        A number for each pair.

    Example:
        >>> sess.run(tf.image.ssim(tf.ones([16, 16, 1]), tf.ones([16, 16, 1]), max_val=1.0))
        np.float32(1.0)
    """
    _, _, checks = _same_shape_checks(img1, img2)
    img1, img2, max_val = _checked_floats(img1, img2, max_val, checks)
    by_channel, _ = _ssim_per_channel(img1, img2, max_val, filter_size, filter_sigma, k1, k2)
    return math.reduce_mean(by_channel, [-1])


# Weights of the scales, from the first paper on the measure.
_SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def ssim_multiscale(
    img1, img2, max_val, power_factors=_SCALE_WEIGHTS, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03
):
    """Structural similarity over several scales, each half as large as the one before.

    Args:
        img1: Images.
        img2: Images of the same shape.
        max_val: The greatest value a pixel can have.
        power_factors: The weight of each scale.
        filter_size: The extent of the Gaussian window.
        filter_sigma: The width of the Gaussian window.
        k1: The first small constant.
        k2: The second small constant.

    Returns:
        A number for each pair.

    Example:
        >>> images = tf.ones([1, 64, 64, 1])
        >>> sess.run(tf.image.ssim_multiscale(images, images, max_val=1.0, filter_size=3))
        array([1.], dtype=float32)
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1, img2 = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
        shape1, shape2, checks = _same_shape_checks(img1, img2)
        *images, max_val = _checked_floats(img1, img2, max_val, checks)
        shapes = [shape1, shape2]
        heads = [s[:-3] for s in shapes]
        tails = [s[-3:] for s in shapes]
        divisor = [1, 2, 2, 1]
        divisor_tensor = constant(divisor[1:], dtype=dtypes.int32)

        def padded(images, remainder):
            padding = array.pad(array.expand_dims(remainder, -1), [[1, 0], [1, 0]])
            return [array.pad(x, padding, mode="SYMMETRIC") for x in images]

        parts = []
        for k in range(len(power_factors)):
            with name_scope(None, f"Scale{k}", images):
                if k > 0:
                    # The pool takes one batch dimension; sides that are odd are mirrored by one.
                    flat = [array.reshape(x, array.concat([[-1], t], 0)) for x, t in zip(images, tails)]
                    remainder = tails[0] % divisor_tensor
                    odd = math.reduce_any(math.not_equal(remainder, 0))
                    even = control_flow.cond(odd, lambda: padded(flat, remainder), lambda: flat)  # noqa: B023  called at once
                    pooled = [avg_pool(x, ksize=divisor, strides=divisor, padding="VALID") for x in even]
                    tails = [x[1:] for x in array.shape_n(pooled)]
                    images = [array.reshape(x, array.concat([h, t], 0)) for x, h, t in zip(pooled, heads, tails)]
                similarity, contrast = _ssim_per_channel(*images, max_val, filter_size, filter_sigma, k1, k2)
                parts.append(relu(contrast))
        # The last scale counts with its luminance too.
        parts.pop()
        stacked = array.stack([*parts, relu(similarity)], axis=-1)
        by_channel = math.reduce_prod(math.pow(stacked, power_factors), [-1])
        return math.reduce_mean(by_channel, [-1])
