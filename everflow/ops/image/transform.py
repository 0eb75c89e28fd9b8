"""Flips, turns, crops and pads of images: the same pixels at other places."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, control_flow, math
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.image.checks import as_batch, at_least_3d_checks, checked_3d, dimensions, is_tensor, require
from everflow.ops.random import distributions as random


def flip_left_right(image):
    """Mirror images (one, or a batch) along the width.

    Args:
        image: An image [height, width, channels], or a batch of images.

    Returns:
        Images of the same shape and type.

    Example:
        >>> sess.run(tf.image.flip_left_right([[[1], [2]]]))[:, :, 0]
        array([[2, 1]], dtype=int32)
    """
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image):
    """Mirror images along the height.

    Args:
        image: An image [height, width, channels], or a batch of images.

    Returns:
        Images of the same shape and type.

    Example:
        >>> sess.run(tf.image.flip_up_down([[[1]], [[2]]]))[:, :, 0]
        array([[2],
               [1]], dtype=int32)
    """
    return _flip(image, 0, "flip_up_down")


def _flip(image, axis, scope):
    with name_scope(None, scope, [image]):
        image = checked_3d(convert_to_tensor(image, name="image"))
        rank = image.shape.rank
        if rank in (None, 3):
            return _with_image_shape(image, array.reverse(image, [axis]))
        if rank == 4:
            return array.reverse(image, [axis + 1])
        raise ValueError("'image' must have either 3 or 4 dimensions.")


def _with_image_shape(image, result):
    result.set_shape(image.shape if image.shape.rank is not None else [None, None, None])
    return result


def random_flip_left_right(image, seed=None):
    """Mirror an image along the width with a chance of a half; in a batch each image for itself.

    Args:
        image: An image [height, width, channels], or a batch of images.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        Images of the same shape and type.

    Example:
        >>> tf.set_random_seed(1)
        >>> sess.run(tf.image.random_flip_left_right([[[1], [2]], [[3], [4]]])).shape
        (2, 2, 1)
    """
    return _random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image, seed=None):
    """Mirror an image along the height with a chance of a half; in a batch each image for itself.

    Args:
        image: An image [height, width, channels], or a batch of images.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        Images of the same shape and type.

    Example:
        >>> tf.set_random_seed(1)
        >>> sess.run(tf.image.random_flip_up_down([[[1], [2]], [[3], [4]]])).shape
        (2, 2, 1)
    """
    return _random_flip(image, 0, seed, "random_flip_up_down")


def _random_flip(image, axis, seed, scope_name):
    with name_scope(None, scope_name, [image]) as scope:
        image = checked_3d(convert_to_tensor(image, name="image"))
        rank = image.shape.rank
        if rank in (None, 3):
            drawn = random.random_uniform([], 0, 1.0, seed=seed)
            mirror = math.less(drawn, 0.5)
            result = control_flow.cond(mirror, lambda: array.reverse(image, [axis]), lambda: image, name=scope)
            return _with_image_shape(image, result)
        if rank != 4:
            raise ValueError("'image' must have either 3 or 4 dimensions.")
        batch = array.shape(image)[0]
        drawn = random.random_uniform([batch], 0, 1.0, seed=seed)
        flips = math.round(array.reshape(drawn, [batch, 1, 1, 1]))
        flips = math.cast(flips, image.dtype)
        mirrored = array.reverse(image, [axis + 1])
        return flips * mirrored + (1 - flips) * image


def rot90(image, k=1, name=None):
    """Turn images counter-clockwise by `k` quarters.

    Args:
        image: An image [height, width, channels], or a batch of images.
        k: How many quarters.
        name: The name of the operation in the graph.

    Returns:
        Images, with height and width exchanged where `k` is odd.

    Raises:
        ValueError: If the rank isn't 3 or 4.

    Example:
        >>> sess.run(tf.image.rot90([[[1], [2]]]))[:, :, 0]
        array([[2],
               [1]], dtype=int32)
    """
    with name_scope(name, "rot90", [image, k]) as scope:
        image = checked_3d(convert_to_tensor(image, name="image"))
        k = convert_to_tensor(k, dtype=dtypes.int32, name="k")
        k.shape.assert_has_rank(0)
        k = math.mod(k, 4)
        rank = image.shape.rank
        if rank in (None, 3):
            result = _quarter_turns(image, k, scope, 0, [1, 0, 2])
            result.set_shape([None, None, image.shape[2]])
        elif rank == 4:
            result = _quarter_turns(image, k, scope, 1, [0, 2, 1, 3])
            result.set_shape([image.shape[0], None, None, image.shape[3]])
        else:
            raise ValueError("'image' must have either 3 or 4 dimensions.")
        return result


def _quarter_turns(image, k, scope, height_axis, order):
    width_axis = height_axis + 1
    turns = [
        (math.equal(k, 1), lambda: array.transpose(array.reverse(image, [width_axis]), order)),
        (math.equal(k, 2), lambda: array.reverse(image, [height_axis, width_axis])),
        (math.equal(k, 3), lambda: array.reverse(array.transpose(image, order), [width_axis])),
    ]
    return control_flow.case(turns, default=lambda: image, exclusive=True, name=scope)


def transpose(image, name=None):
    """Exchange the height and width of images.

    Args:
        image: An image [height, width, channels], or a batch of images.
        name: The name of the operation in the graph.

    Returns:
        Images with height and width exchanged.

    Raises:
        ValueError: If the rank isn't 3 or 4.

    Example:
        >>> sess.run(tf.image.transpose([[[1], [2]]]))[:, :, 0]
        array([[1],
               [2]], dtype=int32)
    """
    with name_scope(name, "transpose", [image]):
        image = checked_3d(convert_to_tensor(image, name="image"))
        rank = image.shape.rank
        if rank in (None, 3):
            return array.transpose(image, [1, 0, 2])
        if rank == 4:
            return array.transpose(image, [0, 2, 1, 3])
        raise ValueError("'image' must have either 3 or 4 dimensions.")


# Crops and pads


def central_crop(image, central_fraction):
    """The middle of images: `central_fraction` of each side.

    Args:
        image: An image [height, width, channels], or a batch of images.
        central_fraction: The part of each side, greater than 0 and at most 1.

    Returns:
        Smaller images.

    Raises:
        ValueError: If the part isn't in range, or the rank isn't known.

    Example:
        >>> tf.image.central_crop(tf.zeros([6, 8, 3]), 0.5).shape.as_list()
        [4, 4, 3]
    """
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        if central_fraction <= 0.0 or central_fraction > 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image
        checked_3d(image)
        rank = image.shape.rank
        if rank not in (3, 4):
            raise ValueError(f"An image to crop has three dimensions, or four in a batch, not {rank}")
        height, width = (_side(image, axis) for axis in (rank - 3, rank - 2))
        top, left = (_margin(side, central_fraction) for side in (height, width))
        crop_height, crop_width = height - top * 2, width - left * 2
        if rank == 3:
            begin, size = array.stack([top, left, 0]), array.stack([crop_height, crop_width, -1])
        else:
            begin, size = array.stack([0, top, left, 0]), array.stack([-1, crop_height, crop_width, -1])
        result = array.slice_(image, begin, size)
        sides = [None if is_tensor(side) else side for side in (crop_height, crop_width)]
        result.set_shape([*image.shape[: rank - 3], *sides, image.shape[rank - 1]])
        return result


def _side(image, axis):
    static = image.shape.size(axis)
    return array.shape(image)[axis] if static is None else static


def _margin(side, fraction):
    if is_tensor(side):
        side = math.cast(side, dtypes.float64)
        return math.cast((side - side * fraction) / 2, dtypes.int32)
    return int((float(side) - float(side) * fraction) / 2)


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Images set into zeros of the target size, at the offset.

    Args:
        image: An image [height, width, channels], or a batch of images.
        offset_height: How far from the upper edge.
        offset_width: How far from the left edge.
        target_height: The new height.
        target_width: The new width.

    Returns:
        Images of the target size.

    Raises:
        ValueError: If the image doesn't fit.

    Example:
        >>> sess.run(tf.image.pad_to_bounding_box([[[5]]], 1, 0, 2, 2))[:, :, 0]
        array([[0, 0],
               [5, 0]], dtype=int32)
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        checks = at_least_3d_checks(image, require_static=False)
        batch, height, width, depth = dimensions(image, rank=4)
        right = target_width - offset_width - width
        below = target_height - offset_height - height
        checks += require(offset_height >= 0, "offset_height must be >= 0")
        checks += require(offset_width >= 0, "offset_width must be >= 0")
        checks += require(right >= 0, "width must be <= target - offset")
        checks += require(below >= 0, "height must be <= target - offset")
        image = with_dependencies(checks, image)
        paddings = array.reshape(array.stack([0, 0, offset_height, below, offset_width, right, 0, 0]), [4, 2])
        padded = array.pad(image, paddings)
        padded.set_shape([None if is_tensor(size) else size for size in (batch, target_height, target_width, depth)])
        return padded if is_batch else array.squeeze(padded, axis=[0])


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The piece of images that starts at the offset and has the target size.

    Args:
        image: An image [height, width, channels], or a batch of images.
        offset_height: How far from the upper edge.
        offset_width: How far from the left edge.
        target_height: The new height.
        target_width: The new width.

    Returns:
        Images of the target size.

    Raises:
        ValueError: If the piece isn't within the image.

    Example:
        >>> sess.run(tf.image.crop_to_bounding_box(tf.reshape(tf.range(9), [3, 3, 1]), 1, 1, 2, 2))[:, :, 0]
        array([[4, 5],
               [7, 8]], dtype=int32)
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        checks = at_least_3d_checks(image, require_static=False)
        batch, height, width, depth = dimensions(image, rank=4)
        checks += require(offset_width >= 0, "offset_width must be >= 0.")
        checks += require(offset_height >= 0, "offset_height must be >= 0.")
        checks += require(target_width > 0, "target_width must be > 0.")
        checks += require(target_height > 0, "target_height must be > 0.")
        checks += require(width >= (target_width + offset_width), "width must be >= target + offset.")
        checks += require(height >= (target_height + offset_height), "height must be >= target + offset.")
        image = with_dependencies(checks, image)
        begin = array.stack([0, offset_height, offset_width, 0])
        cropped = array.slice_(image, begin, array.stack([-1, target_height, target_width, -1]))
        cropped.set_shape([None if is_tensor(size) else size for size in (batch, target_height, target_width, depth)])
        return cropped if is_batch else array.squeeze(cropped, axis=[0])


def maximum(x, y):
    """The larger one: a number where both are, else a tensor."""
    return math.maximum(x, y) if is_tensor(x) or is_tensor(y) else max(x, y)


def _minimum(x, y):
    return math.minimum(x, y) if is_tensor(x) or is_tensor(y) else min(x, y)


def _equal(x, y):
    return math.equal(x, y) if is_tensor(x) or is_tensor(y) else x == y


def resize_image_with_crop_or_pad(image, target_height, target_width):
    """Images cut in the middle, or padded evenly, to the target size.

    Args:
        image: An image [height, width, channels], or a batch of images.
        target_height: The new height.
        target_width: The new width.

    Returns:
        Images of the new size.

    Raises:
        ValueError: If a size is not positive, or the rank isn't known.

    Example:
        >>> tf.image.resize_image_with_crop_or_pad(tf.zeros([6, 8, 3]), 4, 10).shape.as_list()
        [4, 10, 3]
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        checks = at_least_3d_checks(image, require_static=False)
        checks += require(target_width > 0, "target_width must be > 0.")
        checks += require(target_height > 0, "target_height must be > 0.")
        image = with_dependencies(checks, image)
        if is_tensor(target_height):
            target_height = with_dependencies(checks, target_height)
        if is_tensor(target_width):
            target_width = with_dependencies(checks, target_width)
        _, height, width, _ = dimensions(image, rank=4)
        extra_width = target_width - width
        crop_left, pad_left = maximum(-extra_width // 2, 0), maximum(extra_width // 2, 0)
        extra_height = target_height - height
        crop_top, pad_top = maximum(-extra_height // 2, 0), maximum(extra_height // 2, 0)
        cropped = crop_to_bounding_box(
            image, crop_top, crop_left, _minimum(target_height, height), _minimum(target_width, width)
        )
        resized = pad_to_bounding_box(cropped, pad_top, pad_left, target_height, target_width)
        if resized.shape.rank is None:
            raise ValueError("resized contains no shape.")
        _, resized_height, resized_width, _ = dimensions(resized, rank=4)
        checks = require(_equal(resized_height, target_height), "resized height is not correct.")
        checks += require(_equal(resized_width, target_width), "resized width is not correct.")
        resized = with_dependencies(checks, resized)
        return resized if is_batch else array.squeeze(resized, axis=[0])
