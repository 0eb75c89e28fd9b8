"""Blocks of pixels moved between space, batch and depth, and patches of images and volumes."""

from __future__ import annotations

import math

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, unknown_shape
from everflow.framework.static_values import constant_value, known_value
from everflow.framework.windows import slide
from everflow.ops.array.basic import either, known_ints, zeros
from everflow.ops.array.joining import stack


def space_to_batch_nd(input, block_shape, paddings, name=None):
    """Blocks of the (padded) spatial dimensions moved into the batch dimension.

    Args:
        input: The tensor to work on.
        block_shape: The extent of a block along each spatial dimension.
        paddings: How many zeros are added at the start and end of each: [dimensions, 2].
        name: The name of the operation in the graph.

    Returns:
        A tensor with a larger batch and smaller spatial dimensions.

    Example:
        >>> sess.run(tf.space_to_batch_nd([[1, 2, 3, 4]], [2], [[0, 0]]))
        array([[1, 3],
               [2, 4]], dtype=int32)
    """
    return raw.SpaceToBatchND(input=input, block_shape=block_shape, paddings=paddings, name=name)


def batch_to_space_nd(input, block_shape, crops, name=None):
    """What `space_to_batch_nd` did, undone; `crops` cut the spatial dimensions afterwards.

    Args:
        input: The tensor to work on.
        block_shape: The extent of a block along each spatial dimension.
        crops: How much is cut off at the start and end of each: [dimensions, 2].
        name: The name of the operation in the graph.

    Returns:
        A tensor with a smaller batch and larger spatial dimensions.

    Example:
        >>> sess.run(tf.batch_to_space_nd([[1], [2], [3], [4]], [2], [[0, 0]]))
        array([[1, 3],
               [2, 4]], dtype=int32)
    """
    return raw.BatchToSpaceND(input=input, block_shape=block_shape, crops=crops, name=name)


def space_to_batch(input, paddings, block_size=None, name=None, block_shape=None):
    """As `space_to_batch_nd` with blocks of `block_size` x `block_size`.

    Args:
        input: The tensor to work on.
        paddings: How many zeros are added at the start and end of rows and columns: [2, 2].
        block_size: The extent of a block.
        name: The name of the operation in the graph.
        block_shape: Another name of `block_size`.

    Returns:
        A larger batch of smaller images.

    Example:
        >>> sess.run(tf.space_to_batch([[[[1], [2]], [[3], [4]]]], [[0, 0], [0, 0]], block_size=2)).shape
        (4, 1, 1, 1)
    """
    block_size = either("block_shape", block_size, "block_size", block_shape)
    result = space_to_batch_nd(
        input, paddings=paddings, block_shape=np.array([block_size, block_size], dtype=np.int64), name=name
    )
    result.set_shape(result.shape.with_rank(4))
    return result


def batch_to_space(input, crops, block_size, name=None, block_shape=None):
    """As `batch_to_space_nd` with blocks of `block_size` x `block_size`.

    Args:
        input: The tensor to work on.
        crops: How much is cut off at the start and end of rows and columns: [2, 2].
        block_size: The extent of a block.
        name: The name of the operation in the graph.
        block_shape: Another name of `block_size`.

    Returns:
        A batch with fewer, larger images.

    Example:
        >>> sess.run(tf.batch_to_space([[[[1]]], [[[2]]], [[[3]]], [[[4]]]], [[0, 0], [0, 0]], block_size=2))[0, :, :, 0]
        array([[1, 2],
               [3, 4]], dtype=int32)
    """
    block_size = either("block_shape", block_size, "block_size", block_shape)
    result = batch_to_space_nd(
        input, crops=crops, block_shape=np.array([block_size, block_size], dtype=np.int64), name=name
    )
    result.set_shape(result.shape.with_rank(4))
    return result


def _block_inputs(source, blocks, pairs):
    """(static shape, known block sizes, known pairs, number of spatial dimensions) after checks shared by both
    directions.
    """
    if blocks.shape.rank not in (None, 1):
        raise ValueError("block_shape must have rank 1.")
    count = blocks.shape.size(0) if blocks.shape.rank is not None else None
    if count is None:
        raise ValueError("block_shape must have known size.")
    if source.rank is not None and source.rank < count + 1:
        raise ValueError(f"Shape must be at least rank {count + 1} but is rank {source.rank}")
    if pairs.shape.rank is not None and not pairs.shape.is_compatible_with([count, 2]):
        raise ValueError(f"paddings must have shape [{count}, 2]: {pairs.shape}")
    found = known_value(pairs)
    return source, known_ints(blocks), None if found is None else found.reshape(-1, 2).tolist(), count


def _with_known_blocks(rule):
    """A rule for the sizes after cutting into blocks, where rank and blocks are known; else only the dimensions behind
    are.
    """

    def shape(source, blocks, pairs, spatial):
        if source.rank is None:
            return unknown_shape()
        if blocks is None:
            return unknown_shape(1 + spatial).concatenate(source[1 + spatial :])
        if any(b < 1 for b in blocks):
            raise ValueError(f"block_shape must be positive, got {blocks}")
        return rule(source, blocks, pairs)

    return shape


@_with_known_blocks
def _to_batch(source, blocks, pairs):
    sizes = source.as_list()
    sizes[0] = None if sizes[0] is None else sizes[0] * math.prod(blocks)
    for i, block in enumerate(blocks, 1):
        if pairs is None or sizes[i] is None:
            sizes[i] = None
            continue
        if min(pairs[i - 1]) < 0:
            raise ValueError(f"paddings cannot be negative: {pairs[i - 1]}")
        whole = sizes[i] + sum(pairs[i - 1])
        if whole % block:
            raise ValueError(f"Dimension size must be evenly divisible by {block} but is {whole}")
        sizes[i] = whole // block
    return TensorShape(sizes)


@_with_known_blocks
def _from_batch(source, blocks, pairs):
    sizes = source.as_list()
    if sizes[0] is not None:
        if sizes[0] % math.prod(blocks):
            raise ValueError(f"Dimension size must be evenly divisible by {math.prod(blocks)} but is {sizes[0]}")
        sizes[0] //= math.prod(blocks)
    for i, block in enumerate(blocks, 1):
        if pairs is None or sizes[i] is None:
            sizes[i] = None
            continue
        if min(pairs[i - 1]) < 0:
            raise ValueError(f"crops cannot be negative: {pairs[i - 1]}")
        sizes[i] = sizes[i] * block - sum(pairs[i - 1])
        if sizes[i] < 0:
            raise ValueError(f"Negative dimension size caused by cropping with {pairs[i - 1]}")
    return TensorShape(sizes)


@shape_rule("SpaceToBatchND")
def _space_to_batch_nd_shape(op):
    return _to_batch(*_block_inputs(op.inputs[0].shape, op.inputs[1], op.inputs[2]))


@shape_rule("BatchToSpaceND")
def _batch_to_space_nd_shape(op):
    return _from_batch(*_block_inputs(op.inputs[0].shape, op.inputs[1], op.inputs[2]))


def _pairs_of(tensor):
    found = known_value(tensor)
    return None if found is None else found.reshape(-1, 2).tolist()


@shape_rule("SpaceToBatch")
def _space_to_batch_shape(op):
    return _to_batch(op.inputs[0].shape.with_rank(4), [op.attrs["block_size"]] * 2, _pairs_of(op.inputs[1]), 2)


@shape_rule("BatchToSpace")
def _batch_to_space_shape(op):
    return _from_batch(op.inputs[0].shape.with_rank(4), [op.attrs["block_size"]] * 2, _pairs_of(op.inputs[1]), 2)


def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """(paddings, crops) that make spatial sizes fit `space_to_batch_nd` and undo it; constants where all is known.

    Args:
        input_shape: The spatial sizes.
        block_shape: The extent of a block along each.
        base_paddings: The least paddings: [dimensions, 2].
        name: The name of the operation in the graph.

    Returns:
        Two tensors: paddings and crops.

    Example:
        >>> sess.run(tf.required_space_to_batch_paddings([5, 5], [2, 2]))
        (array([[0, 1],
               [0, 1]], dtype=int32), array([[0, 1],
               [0, 1]], dtype=int32))
    """
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        input_shape = convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
        block_shape = convert_to_tensor(block_shape, dtype=dtypes.int32, name="block_shape")
        block_shape.shape.assert_is_fully_defined()
        block_shape.shape.assert_has_rank(1)
        count = block_shape.shape.size(0)
        if count == 0:
            return zeros([0, 2], dtypes.int32), zeros([0, 2], dtypes.int32)
        input_shape.shape.assert_is_compatible_with([count])
        if base_paddings is not None:
            base_paddings = convert_to_tensor(base_paddings, dtype=dtypes.int32, name="base_paddings")
            base_paddings.shape.assert_is_compatible_with([count, 2])
        else:
            base_paddings = zeros([count, 2], dtypes.int32)
        sizes, blocks, base = (constant_value(t) for t in (input_shape, block_shape, base_paddings))
        if sizes is not None and blocks is not None and base is not None:
            start, end = base[:, 0], base[:, 1]
            extra = (blocks - (sizes + start + end) % blocks) % blocks
            paddings = [[int(a), int(b + c)] for a, b, c in zip(start, end, extra, strict=True)]
            crops = [[0, int(c)] for c in extra]
            return convert_to_tensor(paddings, name="paddings"), convert_to_tensor(crops, name="crops")
        start, end = base_paddings[:, 0], base_paddings[:, 1]
        full = _add(_add(input_shape, start), end)
        extra = _mod(raw.Sub(x=block_shape, y=_mod(full, block_shape), name="sub"), block_shape)
        end = _add(end, extra)
        paddings = stack([[start[i], end[i]] for i in range(count)], name="paddings")
        crops = stack([[0, extra[i]] for i in range(count)], name="crops")
        return paddings, crops


def _add(x, y):
    return raw.AddV2(x=x, y=y, name="add")


def _mod(x, y):
    return raw.FloorMod(x=x, y=y, name="mod")


def space_to_depth(input, block_size, name=None, data_format="NHWC"):
    """Blocks of an image moved into its channels.

    Args:
        input: The tensor to work on.
        block_size: The extent of a block.
        name: The name of the operation in the graph.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.

    Returns:
        Images with fewer pixels and more channels.

    Example:
        >>> sess.run(tf.space_to_depth([[[[1], [2]], [[3], [4]]]], 2))
        array([[[[1, 2, 3, 4]]]], dtype=int32)
    """
    return raw.SpaceToDepth(input=input, block_size=block_size, data_format=data_format, name=name)


def depth_to_space(input, block_size, name=None, data_format="NHWC"):
    """Channels of an image spread out into blocks.

    Args:
        input: The tensor to work on.
        block_size: The extent of a block.
        name: The name of the operation in the graph.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.

    Returns:
        Images with more pixels and fewer channels.

    Example:
        >>> sess.run(tf.depth_to_space([[[[1, 2, 3, 4]]]], 2))[0, :, :, 0]
        array([[1, 2],
               [3, 4]], dtype=int32)
    """
    return raw.DepthToSpace(input=input, block_size=block_size, data_format=data_format, name=name)


def _places(data_format):
    """(rank, height axis, width axis, channel axis)"""
    return {b"NHWC": (4, 1, 2, 3), b"NCHW": (4, 2, 3, 1), b"NCHW_VECT_C": (5, 2, 3, 1)}[data_format]


def _divided(size, by):
    if size is None:
        return None
    if size % by:
        raise ValueError(f"Dimension size must be evenly divisible by {by} but is {size}")
    return size // by


def _times(size, by):
    return None if size is None else size * by


@shape_rule("SpaceToDepth", "DepthToSpace")
def _space_and_depth_shape(op):
    rank, height, width, depth = _places(op.attrs["data_format"])
    sizes, block = op.inputs[0].shape.with_rank(rank).as_list(), op.attrs["block_size"]
    in_space, in_depth = (_divided, _times) if op.type == "SpaceToDepth" else (_times, _divided)
    for axis in (height, width):
        sizes[axis] = in_space(sizes[axis], block)
    sizes[depth] = in_depth(sizes[depth], block * block)
    return TensorShape(sizes)


# Patches


def extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None):
    """Windows of images laid out along the channels: [batch, rows, columns, window * channels].

    Args:
        images: A batch [batch, rows, columns, channels].
        ksizes: The extent of a window: [1, rows, columns, 1].
        strides: How far a window is from the next: [1, rows, columns, 1].
        rates: How far apart the pixels of a window are: [1, rows, columns, 1].
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        name: The name of the operation in the graph.
        sizes: Another name of `ksizes`.

    Returns:
        A tensor [batch, rows, columns, window * channels].

    Example:
        >>> images = tf.reshape(tf.range(9), [1, 3, 3, 1])
        >>> sess.run(tf.extract_image_patches(images, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"))[0, 0]
        array([[0, 1, 3, 4],
               [1, 2, 4, 5]], dtype=int32)
    """
    ksizes = either("sizes", ksizes, "ksizes", sizes)
    return raw.ExtractImagePatches(
        images=images, ksizes=ksizes, strides=strides, rates=rates, padding=padding, name=name
    )


def extract_image_patches_v2(images, sizes, strides, rates, padding, name=None):
    """As `extract_image_patches`, with `sizes` for the window.

    Args:
        images: A batch of images [batch, height, width, channels].
        sizes: The extent of a window: [1, rows, columns, 1].
        strides: How far a window is from the next: [1, rows, columns, 1].
        rates: How far apart the pixels of a window are: [1, rows, columns, 1].
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        name: The name of the operation in the graph.

    Returns:
        A tensor [batch, rows, columns, window * channels].

    Example:
        >>> tf.image.extract_patches(tf.ones([1, 4, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID").shape.as_list()
        [1, 2, 2, 4]
    """
    return raw.ExtractImagePatches(
        images=images, ksizes=sizes, strides=strides, rates=rates, padding=padding, name=name
    )


def extract_volume_patches(input, ksizes, strides, padding, name=None):
    """Windows of volumes laid out along the channels.

    Args:
        input: A batch [batch, planes, rows, columns, channels].
        ksizes: The extent of a window: [1, planes, rows, columns, 1].
        strides: How far a window is from the next: [1, planes, rows, columns, 1].
        padding: `SAME` pads with zeros so that all inputs are covered; `VALID` takes only places where the window fits.
        name: The name of the operation in the graph.

    Returns:
        A tensor [batch, planes, rows, columns, window * channels].

    Example:
        >>> tf.extract_volume_patches(tf.zeros([1, 4, 4, 4, 1]), [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "VALID").shape.as_list()
        [1, 2, 2, 2, 8]
    """
    return raw.ExtractVolumePatches(input=input, ksizes=ksizes, strides=strides, padding=padding, name=name)


def _patches_shape(op, spatial):
    source = op.inputs[0].shape.with_rank(spatial + 2)
    windows, strides = op.attrs["ksizes"], op.attrs["strides"]
    rates = op.attrs.get("rates", [1] * (spatial + 2))
    for what, values in (("ksizes", windows), ("strides", strides), ("rates", rates)):
        if len(values) != spatial + 2:
            raise ValueError(
                f"{op.type} requires the {what} attribute to contain {spatial + 2} values, but got: {len(values)}"
            )
    sizes, padding = source.as_list(), op.attrs["padding"].decode()
    sides = [None] * spatial
    if None not in sizes[1:-1]:
        sides = [slide(sizes[i], windows[i], strides[i], padding, rates[i]).output for i in range(1, spatial + 1)]
    return TensorShape([sizes[0], *sides, _times(sizes[-1], math.prod(windows[1:-1]))])


@shape_rule("ExtractImagePatches")
def _extract_image_patches_shape(op):
    return _patches_shape(op, 2)


@shape_rule("ExtractVolumePatches")
def _extract_volume_patches_shape(op):
    return _patches_shape(op, 3)
