"""Rotations, translations and projective transforms of images, each given by eight numbers."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import gradient, shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import known_value
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.linalg import decompositions as linalg

_IMAGE_DTYPES = {dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64}


def _as_batch(images):
    """(images of rank 4, function that takes the result back to the rank they came with)."""
    rank = _rank(images, "images")
    if rank == 2:
        return images[None, :, :, None], lambda x: x[0, :, :, 0]
    if rank == 3:
        return images[None, :, :, :], lambda x: x[0, :, :, :]
    if rank == 4:
        return images, lambda x: x
    raise TypeError("Images should have rank between 2 and 4.")


def _rank(tensor, what):
    if tensor.shape.rank is None:
        raise TypeError(f"The rank of the {what} must be known when the graph is drawn; set_shape can tell it")
    return tensor.shape.rank


def _rows(tensor, rank, what):
    """One for each image, of this rank; one alone is for all of them."""
    if len(tensor.shape) == rank - 1:
        return tensor[None]
    if len(tensor.shape) != rank:
        raise TypeError(f"{what} should have rank {rank - 1} or {rank}, not {len(tensor.shape)}")
    return tensor


def _checked_images(images):
    if images.dtype.base_dtype not in _IMAGE_DTYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    return images


def rotate(images, angles, interpolation="NEAREST", name=None):
    """Turn images about their centre, counter-clockwise, by angles in radians.

    >>> tf.contrib.image.rotate(images, math.pi / 2)
    """
    with name_scope(name or "rotate"):
        images, back = _as_batch(_checked_images(convert_to_tensor(images)))
        height = math.cast(array.shape(images)[1], dtypes.float32)[None]
        width = math.cast(array.shape(images)[2], dtypes.float32)[None]
        output = transform(images, angles_to_projective_transforms(angles, height, width), interpolation=interpolation)
        return back(output)


def translate(images, translations, interpolation="NEAREST", name=None):
    """Move images by (dx, dy) each."""
    with name_scope(name or "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation=interpolation)


def angles_to_projective_transforms(angles, image_height, image_width, name=None):
    """The transforms that turn images of a size by angles."""
    with name_scope(name or "angles_to_projective_transforms"):
        angles = convert_to_tensor(angles, name="angles", dtype=dtypes.float32)
        angles = _rows(angles, 1, "Angles")
        x_offset = (
            (image_width - 1) - (math.cos(angles) * (image_width - 1) - math.sin(angles) * (image_height - 1))
        ) / 2.0
        y_offset = (
            (image_height - 1) - (math.sin(angles) * (image_width - 1) + math.cos(angles) * (image_height - 1))
        ) / 2.0
        count = array.shape(angles)[0]
        first = [math.cos(angles)[:, None], -math.sin(angles)[:, None], x_offset[:, None]]
        second = [math.sin(angles)[:, None], math.cos(angles)[:, None], y_offset[:, None]]
        return array.concat([*first, *second, array.zeros((count, 2), dtypes.float32)], axis=1)


def translations_to_projective_transforms(translations, name=None):
    """The transforms that move images by (dx, dy)."""
    with name_scope(name or "translations_to_projective_transforms"):
        translations = convert_to_tensor(translations, name="translations", dtype=dtypes.float32)
        _rank(translations, "translations")
        translations = _rows(translations, 2, "Translations")
        count = array.shape(translations)[0]
        column = (count, 1), dtypes.float32
        first = [array.ones(*column), array.zeros(*column), -translations[:, 0, None]]
        second = [array.zeros(*column), array.ones(*column), -translations[:, 1, None]]
        return array.concat([*first, *second, array.zeros((count, 2), dtypes.float32)], axis=1)


def transform(images, transforms, interpolation="NEAREST", output_shape=None, name=None):
    """Apply projective transforms: output (x, y) takes the input at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)."""
    with name_scope(name or "transform"):
        images = convert_to_tensor(images, name="images")
        transforms = convert_to_tensor(transforms, name="transforms", dtype=dtypes.float32)
        images, back = _as_batch(_checked_images(images))
        if output_shape is None:
            output_shape = array.shape(images)[1:3]
        output_shape = convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
        if not output_shape.shape.is_compatible_with([2]):
            raise ValueError(f"output_shape is a vector, [height, width]; its own shape is {output_shape.shape}")
        transforms = _rows(transforms, 2, "Transforms")
        given = {"transforms": transforms, "output_shape": output_shape, "interpolation": interpolation.upper()}
        output = raw.ImageProjectiveTransformV2(images=images, **given)
        return back(output)


def compose_transforms(*transforms):
    """One transform that does all of these, the last one first."""
    if not transforms:
        raise AssertionError("compose_transforms cannot be called with no arguments")
    with name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for one in transforms[1:]:
            composed = math.matmul(composed, flat_transforms_to_matrices(one))
        return matrices_to_flat_transforms(composed)


def flat_transforms_to_matrices(transforms):
    """[..., 3, 3] matrices of transforms of eight numbers."""
    with name_scope("flat_transforms_to_matrices"):
        transforms = convert_to_tensor(transforms, name="transforms")
        if transforms.shape.rank not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        flat = array.reshape(transforms, constant([-1, 8]))
        count = array.shape(flat)[0]
        return array.reshape(array.concat([flat, array.ones([count, 1])], axis=1), constant([-1, 3, 3]))


def matrices_to_flat_transforms(transform_matrices):
    """The eight numbers of [..., 3, 3] matrices, scaled to a last entry of one."""
    with name_scope("matrices_to_flat_transforms"):
        transform_matrices = convert_to_tensor(transform_matrices, name="transform_matrices")
        if transform_matrices.shape.rank not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {transform_matrices}")
        flat = array.reshape(transform_matrices, constant([-1, 9]))
        flat = flat / flat[:, 8:9]
        return flat[:, :8]


@shape_rule("ImageProjectiveTransform")
def _transform_shape(op):
    return op.inputs[0].shape


@shape_rule("ImageProjectiveTransformV2")
def _transform_v2_shape(op):
    images = op.inputs[0].shape.with_rank(4)
    size = known_value(op.inputs[2])
    sides = [None, None] if size is None else [int(n) for n in size]
    return TensorShape([images[0], *sides, images[3]])


@gradient("ImageProjectiveTransformV2")
def _image_projective_transform_grad(op, grad):
    """The gradient taken the other way; to the images only."""
    images, transforms = op.inputs[:2]
    inverse = matrices_to_flat_transforms(linalg.matrix_inverse(flat_transforms_to_matrices(transforms)))
    size, how = array.shape(images)[1:3], op.attrs["interpolation"]
    output = raw.ImageProjectiveTransformV2(images=grad, transforms=inverse, output_shape=size, interpolation=how)
    return [output, None, None]
